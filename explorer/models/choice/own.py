"""Checkpoints of the reader's own: looked at before the start, then one more row of a column."""

import json
import re
import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from huggingface_hub import snapshot_download
from huggingface_hub.utils import get_session
from safetensors import safe_open

from explorer.models.choice.counts import shape_total
from explorer.models.choice.family import OWN, all_specs, column
from explorer.models.choice.memory import BYTES, LIMIT, gigabytes
from explorer.models.hub import STALL_SECONDS, WEIGHTS
from explorer.models.kinds import KINDS, MORE_KINDS, ModelKind
from explorer.models.specs import MODEL_KEYS, Architecture, ModelSpec

REPO = re.compile(r"[\w.-]+/[\w.-]+")
SMALL = ["config.json", "*token*.json", "vocab.*", "merges.txt", "spiece.model"]
ANY: list[bool] = [False]
"""Whether a visitor may type the name of a repository of the hub; whoever starts the page says."""
MOST = 64
"""Models that visitors may add."""
_adding = threading.Lock()
TOKENIZERS = ("tokenizer.json", "vocab.txt", "spiece.model", "vocab.json")
HEADS = ("cls.predictions.transform", "vocab_transform", "predictions.dense", "lm_head.dense")
"""Names that a masked-LM head's own weights begin with, in one kind of checkpoint or another."""
SENTIMENT = (["negative", "positive"], ["neg", "pos"], ["label_0", "label_1"])
"""What the two classes of a sentiment head are called, in this order."""
OLD_NAMES = {"gamma": "weight", "beta": "bias"}
"""How layer norms were called in the first checkpoints."""


class NotAModel(ValueError):
    """A checkpoint that cannot stand in a column; the message is one sentence."""


def add_models(given: Iterable[str]) -> None:
    """Put ``bert=PATH_OR_REPO[@REVISION]`` into its column, a known kind without one in its own.

    Raises:
        NotAModel: one of them cannot be used.
    """
    for one in given:
        key, _, source = one.partition("=")
        if not source or key not in {**KINDS, **MORE_KINDS}:
            known = ", ".join({**KINDS, **MORE_KINDS})
            raise NotAModel(
                f"--model takes NAME=PATH_OR_REPO, with a NAME of {known}, not {one!r}."
            )
        spec = own_spec(key, source)
        if key not in KINDS:
            KINDS[key] = MORE_KINDS[key]
            MODEL_KEYS.append(key)
        OWN[spec.name] = spec


def typed_model(key: str, typed: str) -> str:
    """The size of what a visitor typed into a column: one of its choices, or a repository.

    Raises:
        NotAModel: it is neither, or no repository may be typed here.
    """
    repo, _, revision = typed.partition("@")
    if typed in column(key):
        return typed
    if not (ANY[-1] and REPO.fullmatch(repo)):
        raise NotAModel(f"{typed!r} is none of this column's choices.")
    with _adding:
        same = (spec for spec in OWN.values() if (spec.key, spec.repo) == (key, repo))
        known = next((spec for spec in same if spec.revision == revision), None)
        if known is None and len(OWN) >= MOST:
            raise NotAModel(f"This page has {MOST} models of its visitors; it takes no more.")
        spec = known or own_spec(key, typed, hub_only=True)
        OWN[spec.name] = spec
    return spec.size


def own_spec(key: str, source: str, *, hub_only: bool = False) -> ModelSpec:
    """What is known of a checkpoint from its files alone.

    Raises:
        NotAModel: it is not there, of another kind, contradicts itself or would run code.
    """
    kind, folder = KINDS.get(key) or MORE_KINDS[key], Path(source).expanduser()
    repo, _, revision = source.partition("@")
    is_here = folder.is_dir() and not hub_only
    if not is_here:
        folder = _downloaded(repo, revision, kind)
    config = _config(folder, source)
    _check_kind(config, kind, source)
    tensors = _tensors(folder, source)
    shape = replace(
        _shape(config, kind, source), has_pooler=any("pooler" in name for name in tensors)
    )
    _check_tensors(shape, tensors, source)
    name = _name(folder.resolve().name if is_here else repo, key)
    return ModelSpec(
        key,
        name,
        shape,
        size=name,
        repo="" if is_here else repo,
        revision="" if is_here else revision,
        is_own=True,
        has_head=any(part in tensor for tensor in tensors for part in HEADS),
        tuned_for=_task(config),
        folder=folder.resolve() if is_here else None,
        lower_case=_is_lower_case(folder),
    )


def _name(source: str, key: str) -> str:
    """The last part of its path, as links and columns can have it; no other model's."""
    name = re.sub(r"[^a-z0-9.]+", "-", source.rpartition("/")[2].lower()).strip("-.") or "own"
    taken = {*all_specs(), *(size for column_key in MODEL_KEYS for size in column(column_key))}
    names = (name, f"own-{name}", f"own-{key}-{name}", *(f"{name}-{n}" for n in range(2, 99)))
    return next(one for one in names if one not in taken)


def _downloaded(repo: str, revision: str, kind: ModelKind) -> Path:
    """The checkpoint's folder; its weights are fetched once its config says that they fit."""
    if not REPO.fullmatch(repo):
        raise NotAModel(f"There is no folder {repo!r}, and no repository of the hub is called so.")
    get_session().timeout = STALL_SECONDS
    try:
        found = Path(snapshot_download(repo, revision=revision or None, allow_patterns=SMALL))
        config = _config(found, repo)
        _check_kind(config, kind, repo)
        _check_room(_shape(config, kind, repo), repo)
        snapshot_download(repo, revision=revision or None, allow_patterns=WEIGHTS)
    except NotAModel:
        raise
    except Exception as error:
        # The hub client raises its own, httpx's and the operating system's errors here.
        raise NotAModel(f"{repo} cannot be had from the model hub: {_first_line(error)}") from error
    return found


def _check_room(shape: Architecture, repo: str) -> None:
    weights = shape_total(shape) * BYTES["float32"]
    if weights > LIMIT[-1]:
        raise NotAModel(
            f"{repo} needs {gigabytes(weights)}; the networks may take {gigabytes(LIMIT[-1])}."
        )


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _config(folder: Path, source: str) -> dict[str, Any]:
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise NotAModel(f"{source} has no config.json that can be read.") from error
    if not isinstance(config, dict) or "auto_map" in config:
        raise NotAModel(f"{source} would run code of its own; only plain checkpoints are loaded.")
    if not any((folder / name).exists() for name in TOKENIZERS):
        raise NotAModel(f"{source} has no tokenizer beside its weights.")
    return config


def _check_kind(config: Mapping[str, Any], kind: ModelKind, source: str) -> None:
    found = config.get("model_type")
    if found != kind.config_type:
        raise NotAModel(
            f"{source} is of the type {found!r}; this column takes {kind.config_type!r}."
        )


def _tensors(folder: Path, source: str) -> dict[str, tuple[int, ...]]:
    """Shape by name of every tensor of the checkpoint; only the files' heads are read."""
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        pickled = [*folder.glob("*.bin"), *folder.glob("*.pt"), *folder.glob("*.ckpt")]
        why = "only pickled weights, which can run code" if pickled else "no weights"
        raise NotAModel(f"{source} holds {why}; save it as safetensors.")
    found: dict[str, tuple[int, ...]] = {}
    try:
        for file in files:
            with safe_open(file, "pt") as opened:
                found |= {n: tuple(opened.get_slice(n).get_shape()) for n in opened.keys()}  # noqa: SIM118
    except Exception as error:
        # safetensors raises its own error for every way in which a file can be damaged.
        raise NotAModel(f"{source} has a damaged file: {_first_line(error)}") from error
    return {_new_name(name): shape for name, shape in found.items()}


def _new_name(name: str) -> str:
    start, _, last = name.rpartition(".")
    return f"{start}.{OLD_NAMES[last]}" if last in OLD_NAMES else name


def _shape(config: Mapping[str, Any], kind: ModelKind, source: str) -> Architecture:
    """The architecture that its config names.

    Raises:
        NotAModel: it does not say all of it.
    """
    try:
        said = {at: config[name] for at, name in kind.config.items() if name in config}
        width = int(said["d_model"])
        stored = int(said.pop("n_stored_layers", said["n_layers"]))
        shape = Architecture(
            **({"d_embedding": width, "n_segments": 0} | said),
            shares_layers=stored < int(said["n_layers"]),
            has_projection="d_embedding" in kind.config,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise NotAModel(f"{source} has a config.json that lacks {error}.") from error
    return shape


def _check_tensors(
    shape: Architecture, tensors: Mapping[str, tuple[int, ...]], source: str
) -> None:
    wanted = {
        "word_embeddings.weight": (shape.d_vocab, shape.d_embedding),
        "position_embeddings.weight": (shape.n_positions, shape.d_embedding),
    }
    for ending, size in wanted.items():
        found = next((s for name, s in tensors.items() if name.endswith(ending)), None)
        if found != size:
            has = "none" if found is None else " x ".join(map(str, found))
            raise NotAModel(
                f"{source} contradicts itself: by its config.json {ending} is "
                f"{size[0]} x {size[1]}, in its file {has}."
            )
    layers = {int(n) for name in tensors for n in re.findall(r"\.layer\.(\d+)\.", name)}
    if layers and len(layers) != shape.n_layers:
        raise NotAModel(
            f"{source} contradicts itself: {shape.n_layers} layers by its config.json, "
            f"{len(layers)} in its file."
        )


def _task(config: Mapping[str, Any]) -> str:
    """The task that a fine-tuned checkpoint does, if it is one that the page asks for."""
    named = str((config.get("architectures") or [""])[0])
    if named.endswith("ForQuestionAnswering"):
        return "squad"
    labels = [str(one).lower() for _, one in sorted(config.get("id2label", {}).items())]
    judges = named.endswith("ForSequenceClassification") and (not labels or labels in SENTIMENT)
    return "sst2" if judges else ""


def _is_lower_case(folder: Path) -> bool:
    path = folder / "tokenizer_config.json"
    said = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return bool(said.get("do_lower_case", (folder / "spiece.model").exists()))
