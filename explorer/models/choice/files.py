"""What a checkpoint's files say of it, read before a network is loaded, and where they disagree."""

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import safe_open

from explorer.models.damage import TOKENIZERS
from explorer.models.hub import has_weights, weight_files
from explorer.models.specs import MOST_LAYERS, Architecture, ModelKind
from explorer.refusal import Refusal, brief

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel

logger = logging.getLogger(__name__)
HEADS = ("cls.predictions.transform", "vocab_transform", "predictions.dense", "lm_head.dense")
"""Names that a masked-LM head's own weights begin with, in one kind of checkpoint or another."""
SENTIMENT = (["negative", "positive"], ["neg", "pos"])
"""What the two classes of a sentiment head are called, in this order."""
OLD_NAMES = {"gamma": "weight", "beta": "bias"}
"""How layer norms were called in the first checkpoints."""
NO_NETWORK = "a config.json that describes no network"
MOST_LOGGED = 1_000
"""Characters of a library's report."""
Tensors = Mapping[str, tuple[int, ...]]
"""Shape by name of every tensor of a checkpoint."""


class NotAModel(Refusal):
    """A checkpoint that cannot stand in a column; the message is one sentence."""


def unreadable(source: str, why: str, error: Exception) -> NotAModel:
    """Refuse a checkpoint that a library cannot read; what the library says is only logged."""
    # Its report may hold what a stranger wrote into the files: repr keeps it on one line.
    logger.warning("a checkpoint is refused: %s", brief(repr(error), MOST_LOGGED))
    return NotAModel(f"{source} has {why}.")


def read_config(folder: Path, kind: ModelKind, source: str) -> "PreTrainedConfig":
    """The config as transformers understands it, with its defaults where the file says nothing.

    Raises:
        NotAModel: it cannot be read, is of another kind, names no shape or would run code.
    """
    said = _json(folder / "config.json", source)
    if "auto_map" in said or "auto_map" in _json(folder / "tokenizer_config.json", source, "{}"):
        raise NotAModel(f"{source} would run code of its own; only plain checkpoints are loaded.")
    if not any((folder / name).exists() for name in TOKENIZERS):
        raise NotAModel(f"{source} has no tokenizer beside its weights.")
    found = said.get("model_type")
    if found != kind.config_type:
        raise NotAModel(
            f"{source} is of type {brief(found)!r}; this column takes {kind.config_type!r}."
        )
    _check_numbers(said, kind, source)
    from transformers import AutoConfig

    try:
        return AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:
        # transformers checks each field and raises its own errors, dataclasses' and Python's.
        raise unreadable(source, NO_NETWORK, error) from error


def _json(path: Path, source: str, absent: str = "") -> dict[str, Any]:
    try:
        said = json.loads(path.read_text("utf-8") if path.exists() else absent)
        return dict(said.items())
    except (OSError, ValueError, AttributeError) as error:
        raise NotAModel(f"{source} has no {path.name} that can be read.") from error


def _check_numbers(said: Mapping[str, Any], kind: ModelKind, source: str) -> None:
    names = [name for at, name in kind.config.items() if at != "activation" and name in said]
    for name in names:
        if type(said[name]) is not int or said[name] < 1:
            shown = brief(json.dumps(said[name]))
            raise NotAModel(
                f"{source} has {shown} as {name} in its config.json, which is not a whole number."
            )
    for name, wanted in kind.only.items():
        if said.get(name, wanted) != wanted:
            raise NotAModel(
                f"{source} has {brief(said[name])} as {name}; only {wanted} is supported for "
                f"{kind.label}."
            )


def shape_of(config: "PreTrainedConfig", kind: ModelKind, source: str) -> Architecture:
    """The architecture that a config describes.

    Raises:
        NotAModel: its heads do not divide its width, or there are too many to be shown.
    """
    said = {at: getattr(config, name) for at, name in kind.config.items()}
    stored, layers = said.pop("n_stored_layers", said["n_layers"]), said["n_layers"]
    if said["d_model"] % said["n_heads"]:
        raise NotAModel(
            f"{source} contradicts itself: {said['n_heads']} attention heads do not divide a "
            f"width of {said['d_model']}."
        )
    if max(layers, said["n_heads"]) > MOST_LAYERS:
        raise NotAModel(f"{source} has more than {MOST_LAYERS} layers or heads in a layer.")
    return Architecture(
        **({"d_embedding": said["d_model"], "n_segments": 0} | said),
        shares_layers=stored < layers,
        has_projection="d_embedding" in kind.config,
    )


def is_lower_case(folder: Path, config: "PreTrainedConfig", source: str) -> bool:
    """Whether its tokenizer puts a text in lower case, which no file needs to say.

    Raises:
        NotAModel: it cannot be read, has no mask or more pieces than the network.
    """
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        )
        normalizer = tokenizer.backend_tokenizer.normalizer
    except Exception as error:
        # tokenizers, sentencepiece and json each raise their own.
        raise unreadable(source, "a tokenizer that cannot be read", error) from error
    if tokenizer.mask_token_id is None:
        raise NotAModel(f"{source} has a tokenizer without a mask token.")
    if len(tokenizer) > config.vocab_size:
        raise NotAModel(
            f"{source} contradicts itself: its tokenizer has {len(tokenizer)} pieces, its "
            f"network {config.vocab_size}."
        )
    return normalizer is not None and "A" not in normalizer.normalize_str("A")


def read_tensors(folder: Path, source: str) -> Tensors:
    """The tensors' shapes, by their names of today; only the files' heads are read.

    Raises:
        NotAModel: there are none, or a file is damaged.
    """
    if not has_weights(folder):
        raise NotAModel(
            f"{source} has no model.safetensors; pickled weights can run code and are not read."
        )
    found: dict[str, tuple[int, ...]] = {}
    try:
        for file in weight_files(folder):
            with safe_open(file, "pt") as opened:
                found |= {n: tuple(opened.get_slice(n).get_shape()) for n in opened.keys()}  # noqa: SIM118
    except Exception as error:
        # safetensors raises its own error for each way in which a file can be damaged, json too.
        raise unreadable(source, "a damaged file of weights", error) from error
    return {_new_name(name): shape for name, shape in found.items()}


def _new_name(name: str) -> str:
    start, _, last = name.rpartition(".")
    return f"{start}.{OLD_NAMES[last]}" if last in OLD_NAMES else name


def has_head(tensors: Tensors) -> bool:
    """Whether a masked-LM head is among them."""
    return any(part in name for name in tensors for part in HEADS)


def check_tensors(config: "PreTrainedConfig", tensors: Tensors, source: str) -> None:
    """Hold the file's tensors against the network of the config, built without numbers.

    What stands beside the network, as the head of another task does, is of no account.

    Raises:
        NotAModel: a shape differs, the encoder has no place for a tensor, or one is missing.
    """
    from explorer.models.architectures import meta_of

    try:
        network = meta_of(config)
    except Exception as error:
        # Each network raises what its first impossible part raises.
        raise unreadable(source, NO_NETWORK, error) from error
    start = f"{network.base_model_prefix}."
    encoder = {name for name, _ in network.base_model.named_children()} - {"pooler"}
    places = {n: tuple(p.shape) for n, p in network.named_parameters(remove_duplicate=False)}
    found = {f"{start}{n}" if f"{start}{n}" in places else n: size for n, size in tensors.items()}
    for name, size in found.items():
        is_encoders = name.removeprefix(start).partition(".")[0] in encoder
        wanted = places.get(name)
        if wanted != size and (wanted or (is_encoders and not name.endswith("_ids"))):
            raise NotAModel(
                f"{source} contradicts itself: by its config.json {brief(name, 100)} is "
                f"{_by(wanted)}, in its file {_by(size)}."
            )
    if lost := _lost(network, set(found), has_head(tensors)):
        raise NotAModel(f"{source} contradicts itself: its file lacks {lost[0]}.")


def _lost(network: "PreTrainedModel", found: set[str], with_head: bool) -> list[str]:
    """The weights that nothing can be read without; one with two names is there under either."""
    from explorer.models.loading import optional_weights

    named = list(network.named_parameters(remove_duplicate=False))
    there = {id(parameter) for name, parameter in named if name in found}
    lost = [name for name, parameter in named if id(parameter) not in there]
    return [n for n in lost if not any(part in n for part in optional_weights(with_head))]


def _by(size: tuple[int, ...] | None) -> str:
    return " x ".join(map(str, size)) if size else "none"


def task_of(config: "PreTrainedConfig") -> str:
    """The task that a fine-tuned checkpoint does, if it is one that the page asks for.

    Two classes are a sentiment only where they are called so: most classifiers have two.
    """
    named = str((config.architectures or [""])[0])
    if named.endswith("ForQuestionAnswering"):
        return "squad"
    labels = [str(one).lower() for _, one in sorted((config.id2label or {}).items())]
    judges = named.endswith("ForSequenceClassification") and labels in SENTIMENT
    return "sst2" if judges else ""
