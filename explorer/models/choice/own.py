"""Checkpoints of the user: their files inspected before loading, then one more size of a column."""

import json
import logging
import re
import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from huggingface_hub import snapshot_download
from huggingface_hub.utils import get_session
from safetensors import safe_open

from explorer.context import context
from explorer.models.choice.family import OWN, all_specs, column
from explorer.models.choice.memory import too_large
from explorer.models.hub import (
    STALL_SECONDS,
    TOKENIZERS,
    WEIGHT_PATTERNS,
    OnProgress,
    has_weights,
    reporting_bar,
    weight_files,
)
from explorer.models.specs import (
    KINDS,
    MAX_LAYERS,
    MODEL_KEYS,
    MORE_KINDS,
    Architecture,
    ModelKind,
    ModelSpec,
)
from explorer.refusal import Refusal, brief

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerFast

logger = logging.getLogger(__name__)
HEADS = ("cls.predictions.transform", "vocab_transform", "predictions.dense", "lm_head.dense")
"""Name prefixes of a masked-LM head's own weights, by kind of checkpoint."""
SENTIMENT = (["negative", "positive"], ["neg", "pos"])
"""Labels of the two classes of a sentiment head, in this order."""
OLD_NAMES = {"gamma": "weight", "beta": "bias"}
"""Layer norm parameter names of the first checkpoints, and their names today."""
NO_NETWORK = "a config.json that describes no network"
MAX_LOGGED = 1_000
"""Maximum characters of a library's error message in the log."""
Tensors = Mapping[str, tuple[int, ...]]
"""Shape of every tensor of a checkpoint, by name."""
REPO = re.compile(r"\w[\w.-]*/[\w.-]+")
SMALL = ["config.json", "*token*.json", "vocab.*", "merges.txt", "spiece.model"]
NOT_THERE = "no such repository or revision is open to everybody"
NO_ANSWER = "the hub did not answer, or the download broke off"
LONGEST = 200
"""Maximum characters of a typed repository and revision; the hub allows 96 for a name."""
MAX_MODELS = 64
"""Maximum number of models that visitors may add."""
_adding = threading.Lock()
_fetching: "WeakValueDictionary[str, threading.Lock]" = WeakValueDictionary()
"""Locks held while a repository is inspected and downloaded, so that it is done once."""


class NotAModel(Refusal):
    """Refusal of a checkpoint that cannot be used in a column; the message is one sentence."""


def unreadable(source: str, reason: str, error: Exception) -> NotAModel:
    """Return the refusal of an unreadable checkpoint; the library's error is only logged."""
    # The error may quote text from untrusted files: repr keeps it on one line.
    logger.warning("a checkpoint is refused: %s", brief(repr(error), MAX_LOGGED))
    return NotAModel(f"{source} has {reason}.")


def read_config(folder: Path, kind: ModelKind, source: str) -> "PreTrainedConfig":
    """Return the config as transformers parses it, with its defaults for absent fields.

    Raises:
        NotAModel: it cannot be read, is of another kind, names no shape or would run code.
    """
    values = _json(folder / "config.json", source)
    if "auto_map" in values or "auto_map" in _json(folder / "tokenizer_config.json", source, "{}"):
        raise NotAModel(f"{source} would run code of its own; only plain checkpoints are loaded.")
    if not any((folder / name).exists() for name in TOKENIZERS):
        raise NotAModel(f"{source} has no tokenizer beside its weights.")
    check_numbers(values, kind, source)
    from transformers import AutoConfig

    try:
        return AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:
        # transformers validates each field and raises its own, dataclasses' and Python's errors.
        raise unreadable(source, NO_NETWORK, error) from error


def _json(path: Path, source: str, absent: str = "") -> dict[str, Any]:
    try:
        values = json.loads(path.read_text("utf-8") if path.exists() else absent)
        return dict(values.items())
    except (OSError, ValueError, AttributeError) as error:
        raise NotAModel(f"{source} has no {path.name} that can be read.") from error


def check_numbers(values: Mapping[str, Any], kind: ModelKind, source: str) -> None:
    """Check that the numbers of a config are whole, and are those that the pictures need.

    Raises:
        NotAModel: one is not, or the config is of another kind.
    """
    model_type = values.get("model_type")
    if model_type != kind.config_type:
        raise NotAModel(
            f"{source} is of type {brief(model_type)!r}; this column takes {kind.config_type!r}."
        )
    names = [
        name for field, name in kind.config.items() if field != "activation" and name in values
    ]
    for name in names:
        if type(values[name]) is not int or values[name] < 1:
            value = brief(json.dumps(values[name]))
            raise NotAModel(
                f"{source} has {value} as {name} in its config.json, which is not a whole number."
            )
    for name, required in kind.only.items():
        if values.get(name, required) != required:
            raise NotAModel(
                f"{source} has {brief(values[name])} as {name}; only {required} is supported for "
                f"{kind.label}."
            )


def shape_of(config: "PreTrainedConfig", kind: ModelKind, source: str) -> Architecture:
    """Return the architecture that a config describes.

    Raises:
        NotAModel: its heads do not divide its width, or there are too many to be shown.
    """
    shape = {field: getattr(config, name) for field, name in kind.config.items()}
    stored, layers = shape.pop("n_stored_layers", shape["n_layers"]), shape["n_layers"]
    if shape["d_model"] % shape["n_heads"]:
        raise NotAModel(
            f"{source} contradicts itself: {shape['n_heads']} attention heads do not divide a "
            f"width of {shape['d_model']}."
        )
    if max(layers, shape["n_heads"]) > MAX_LAYERS:
        raise NotAModel(f"{source} has more than {MAX_LAYERS} layers or heads in a layer.")
    return Architecture(
        **({"d_embedding": shape["d_model"], "n_segments": 0} | shape),
        shares_layers=stored < layers,
        has_projection="d_embedding" in kind.config,
        ties_words=config.tie_word_embeddings,
    )


def is_lower_case(folder: Path, config: "PreTrainedConfig", source: str) -> bool:
    """Return whether its tokenizer lower-cases a text, found by a trial: no file has to state it.

    Raises:
        NotAModel: it cannot be read or used: see ``lowers_case``.
    """
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        )
        return lowers_case(tokenizer, config, source)
    except NotAModel:
        raise
    except Exception as error:
        # tokenizers, sentencepiece and json raise their own errors.
        raise unreadable(source, "a tokenizer that cannot be read", error) from error


def lowers_case(
    tokenizer: "PreTrainedTokenizerFast", config: "PreTrainedConfig", source: str
) -> bool:
    """Return whether a tokenizer lower-cases a text.

    Raises:
        NotAModel: it is not fast, has no mask or padding token, knows no word, or has more pieces
            than the network.
    """
    if not getattr(tokenizer, "is_fast", False):
        raise NotAModel(
            f"{source} has a tokenizer that does not say where its tokens are in a text; take a "
            "fast one."
        )
    for token in ("mask", "pad"):
        if getattr(tokenizer, f"{token}_token_id") is None:
            raise NotAModel(f"{source} has a tokenizer without a {token} token.")
    if len(tokenizer) <= len(set(tokenizer.all_special_tokens)):
        # transformers 5 reads an ALBERT's vocab.txt so: findings/albert-vocab-txt.sh.
        raise NotAModel(
            f"{source} has a tokenizer of {len(tokenizer)} special tokens and no words: its "
            "vocabulary was not read."
        )
    if len(tokenizer) > config.vocab_size:
        raise NotAModel(
            f"{source} contradicts itself: its tokenizer has {len(tokenizer)} pieces, its "
            f"network {config.vocab_size}."
        )
    normalizer = tokenizer.backend_tokenizer.normalizer
    return normalizer is not None and "A" not in normalizer.normalize_str("A")


def read_tensors(folder: Path, source: str) -> Tensors:
    """Return the tensors' shapes, by their names of today; only the file headers are read.

    Raises:
        NotAModel: there are none, or a file is damaged.
    """
    if not has_weights(folder):
        raise NotAModel(
            f"{source} has no model.safetensors; pickled weights can run code and are not read."
        )
    shapes: dict[str, tuple[int, ...]] = {}
    try:
        for file in weight_files(folder):
            with safe_open(file, "pt") as opened:
                shapes |= {n: tuple(opened.get_slice(n).get_shape()) for n in opened.keys()}  # noqa: SIM118
    except Exception as error:
        # safetensors and json raise their own errors for each kind of damage.
        raise unreadable(source, "a damaged file of weights", error) from error
    return {_new_name(name): shape for name, shape in shapes.items()}


def _new_name(name: str) -> str:
    start, _, last = name.rpartition(".")
    return f"{start}.{OLD_NAMES[last]}" if last in OLD_NAMES else name


def has_head(tensors: Tensors) -> bool:
    """Return whether the tensors include a masked-LM head."""
    return any(part in name for name in tensors for part in HEADS)


def check_tensors(config: "PreTrainedConfig", tensors: Tensors, source: str) -> None:
    """Check the file's tensors against the network of the config, built on the meta device.

    Tensors outside the network, such as the head of another task, are ignored.

    Raises:
        NotAModel: a shape differs, the encoder has no parameter for a tensor, or one is missing.
    """
    from explorer.models.architectures import meta_of

    try:
        network = meta_of(config)
    except Exception as error:
        # The error depends on the first module that cannot be built.
        raise unreadable(source, NO_NETWORK, error) from error
    start = f"{network.base_model_prefix}."
    encoder = {name for name, _ in network.base_model.named_children()} - {"pooler"}
    parameters = {n: tuple(p.shape) for n, p in network.named_parameters(remove_duplicate=False)}
    tensors_by_name = {
        f"{start}{n}" if f"{start}{n}" in parameters else n: size for n, size in tensors.items()
    }
    for name, size in tensors_by_name.items():
        is_encoders = name.removeprefix(start).partition(".")[0] in encoder
        expected = parameters.get(name)
        if expected != size and (expected or (is_encoders and not name.endswith("_ids"))):
            raise NotAModel(
                f"{source} contradicts itself: by its config.json {brief(name, 100)} is "
                f"{_by(expected)}, in its file {_by(size)}."
            )
    if missing := _lost(network, set(tensors_by_name), has_head(tensors)):
        raise NotAModel(f"{source} contradicts itself: its file lacks {missing[0]}.")


def _lost(network: "PreTrainedModel", names: set[str], with_head: bool) -> list[str]:
    """Return the required weights that are absent; a tied weight is present under either name."""
    from explorer.models.loading import optional_weights

    named = list(network.named_parameters(remove_duplicate=False))
    present = {id(parameter) for name, parameter in named if name in names}
    missing = [name for name, parameter in named if id(parameter) not in present]
    return [n for n in missing if not any(part in n for part in optional_weights(with_head))]


def _by(size: tuple[int, ...] | None) -> str:
    return " x ".join(map(str, size)) if size else "none"


def task_of(config: "PreTrainedConfig") -> str:
    """Return the task that a fine-tuned checkpoint is for, if the page has it: ``squad``, ``sst2``.

    Two classes count as sentiment only by their labels: most classifiers have two.
    """
    architecture = str((config.architectures or [""])[0])
    if architecture.endswith("ForQuestionAnswering"):
        return "squad"
    labels = [str(label).lower() for _, label in sorted((config.id2label or {}).items())]
    is_sentiment = architecture.endswith("ForSequenceClassification") and labels in SENTIMENT
    return "sst2" if is_sentiment else ""


def add_models(arguments: Iterable[str], dtype: str = "float32") -> None:
    """Add each ``bert=PATH_OR_REPO[@REVISION]`` to its column; a kind without one gets a column.

    Raises:
        NotAModel: one of them cannot be used.
    """
    for argument in arguments:
        key, _, source = argument.partition("=")
        if not source or key not in {**KINDS, **MORE_KINDS}:
            known = ", ".join({**KINDS, **MORE_KINDS})
            raise NotAModel(
                f"--model takes NAME=PATH_OR_REPO, with a NAME of {known}, not {argument!r}."
            )
        add_spec(own_spec(key, source, dtype=dtype))


def add_spec(spec: ModelSpec) -> ModelSpec:
    """Add a checkpoint to its column, under a unique name; a kind without a column gets one."""
    if spec.key not in KINDS:
        KINDS[spec.key] = MORE_KINDS[spec.key]
        MODEL_KEYS.append(spec.key)
    return _put(spec)


def typed_model(key: str, typed: str, report: OnProgress | None = None) -> str:
    """Return the size for what a visitor typed into a column: one of its sizes, or a repository.

    Raises:
        NotAModel: it is neither, or repositories may not be typed here.
    """
    repo, _, revision = typed.partition("@")
    if typed in column(key):
        return typed
    if not (context().any_model and REPO.fullmatch(repo) and len(typed) <= LONGEST):
        raise NotAModel(f"{brief(typed)!r} is not a choice for this column.")
    with _adding:
        fetching = _fetching.setdefault(repo, threading.Lock())
    with fetching:
        request = (key, repo, revision)
        specs = [own for own in [*OWN.values()] if (own.key, own.repo, own.revision) == request]
        if not specs and len(OWN) >= MAX_MODELS:
            raise NotAModel(f"This page has {MAX_MODELS} models of its visitors; it takes no more.")
        spec = specs[0] if specs else _put(own_spec(key, typed, hub_only=True, report=report))
    return spec.size


def _put(spec: ModelSpec) -> ModelSpec:
    """Add the model as one more size of its column, under a unique name."""
    with _adding:
        name = _name(spec.name, spec.key)
        OWN[name] = replace(spec, name=name, size=name)
        return OWN[name]


def own_spec(
    key: str,
    source: str,
    *,
    hub_only: bool = False,
    dtype: str = "float32",
    report: OnProgress | None = None,
) -> ModelSpec:
    """Return the spec of a checkpoint from its files alone; its weights are downloaded if they fit.

    Raises:
        NotAModel: it is not there, of another kind, too large, or contradicts itself.
    """
    kind, folder = KINDS.get(key) or MORE_KINDS[key], Path(source).expanduser()
    repo, _, revision = source.partition("@")
    is_local = folder.is_dir() and not hub_only
    if not is_local:
        folder = _fetched(repo, revision, SMALL)
    config = read_config(folder, kind, source)
    spec = ModelSpec(
        key,
        folder.resolve().name if is_local else repo,
        shape_of(config, kind, source),
        repo="" if is_local else repo,
        revision="" if is_local else revision,
        is_own=True,
        tuned_for=task_of(config),
        folder=folder.resolve() if is_local else None,
        lower_case=is_lower_case(folder, config, source),
    )
    if reason := too_large(spec, dtype):
        raise NotAModel(f"{source} cannot be used: {reason}.")
    if not is_local:
        folder = _fetched(repo, revision, [*SMALL, *WEIGHT_PATTERNS], report)
    tensors = read_tensors(folder, source)
    check_tensors(config, tensors, source)
    shape = replace(spec.architecture, has_pooler=any("pooler" in name for name in tensors))
    return replace(spec, architecture=shape, has_head=has_head(tensors))


def _name(source: str, key: str) -> str:
    """Return a unique name from the last part of its path, valid in links and columns."""
    name = re.sub(r"[^a-z0-9.]+", "-", source.rpartition("/")[2].lower()).strip("-.") or "own"
    taken = {*all_specs(), *(size for column_key in MODEL_KEYS for size in column(column_key))}
    names = (name, f"own-{name}", f"own-{key}-{name}", *(f"{name}-{n}" for n in range(2, 99)))
    return next(candidate for candidate in names if candidate not in taken)


def _fetched(
    repo: str, revision: str, patterns: list[str], report: OnProgress | None = None
) -> Path:
    """Return the folder with the files of these patterns, downloaded where they are not cached."""
    if not REPO.fullmatch(repo):
        raise NotAModel(
            f"{brief(repo, LONGEST)!r} is neither a folder here nor the name of a hub repository."
        )
    get_session().timeout = STALL_SECONDS
    try:
        folder = snapshot_download(
            repo,
            revision=revision or None,
            allow_patterns=patterns,
            tqdm_class=reporting_bar(repo, report),
        )
    except Exception as error:
        # The hub client raises its own, httpx's and the operating system's errors here.
        logger.warning("a download failed: %s", brief(repr(error), MAX_LOGGED))
        response = getattr(error.__cause__ or error, "response", None)
        why = NOT_THERE if getattr(response, "status_code", 0) in (401, 403, 404) else NO_ANSWER
        raise NotAModel(f"{repo} could not be downloaded from the hub: {why}.") from error
    return Path(folder)
