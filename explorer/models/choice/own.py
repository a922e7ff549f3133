"""Checkpoints of the user: their files inspected before loading, then one more size of a column."""

import json
import logging
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from huggingface_hub import snapshot_download
from huggingface_hub.constants import HF_HUB_OFFLINE
from huggingface_hub.utils import get_session

from explorer.context import context
from explorer.models.choice.family import (
    BAD_NUMBER,
    COLUMN,
    MAX_COLUMNS,
    OWN,
    all_specs,
    column,
    has_own_name,
)
from explorer.models.choice.fields import check_fields, unread_fields
from explorer.models.choice.files import (
    NO_TOKENIZER,
    Tensors,
    check_folder,
    check_values,
    read_otherwise,
    read_tensors,
    refuse_path,
    saved_bias,
    two_biases,
)
from explorer.models.choice.labels import further_heads_note
from explorer.models.choice.memory import too_large
from explorer.models.choice.reading import read_tokenizer
from explorer.models.choice.refused import (
    MAX_LOGGED,
    NO_ACTIVATION,
    NO_CHOICE,
    NO_COLUMN,
    NO_NETWORK,
    NO_PLACE,
    NO_WEIGHT,
    NOT_A_NAME,
    NOT_LOADED,
    NOT_WHOLE,
    OTHER_COLUMN,
    OTHER_NETWORK,
    OTHER_SIZE,
    TOO_DEEP,
    UNEVEN_HEADS,
    UNKNOWN_TYPE,
    NotAModel,
    read_json,
    unreadable,
)
from explorer.models.hub import (
    STALL_SECONDS,
    TOKENIZERS,
    WEIGHT_PATTERNS,
    OnProgress,
    reporting_bar,
)
from explorer.models.specs import (
    KINDS,
    MAX_LAYERS,
    MODEL_KEYS,
    MORE_KINDS,
    ONE_LABEL,
    PROBLEMS,
    SAME_NETWORKS,
    SCORE,
    Architecture,
    ModelKind,
    ModelSpec,
    TaskHead,
    kind_named,
)
from explorer.refusal import Sentence, brief

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel

logger = logging.getLogger(__name__)
HEADS = ("cls.predictions.transform", "vocab_transform", "predictions.dense", "lm_head.dense")
"""Name prefixes of a masked-LM head's own weights, by kind of checkpoint."""
TASKS = {
    "ForSequenceClassification": "classes",
    "ForTokenClassification": "tokens",
    "ForQuestionAnswering": "squad",
}
"""Task of each class of transformers, by the end of its name."""
STATED_BY_CALLS = (
    "return_dict",
    "output_attentions",
    "output_hidden_states",
    "torchscript",
    "attn_implementation",
    "dtype",
    "torch_dtype",
)
"""Fields of a config that each load and each pass of ours states itself."""
NAMELESS = re.compile(
    r"(best[-_]?)?(model|checkpoint|output|final|pytorch_model)s?(-\d+)?"
    r"|\d_transformer|snapshots|[0-9a-f]{40}"
)
"""Names of folders that say nothing about the model in them."""
REPO = re.compile(r"\w[\w.-]*/[\w.-]+")
SMALL = ["config.json", "*token*.json", "vocab.*", "merges.txt", "spiece.model", "*.bpe.model"]
NOT_THERE = "no such repository or revision is open to everybody"
OFFLINE = "HF_HUB_OFFLINE is set, and it is not in the cache"
NO_ANSWER = "the hub did not answer, or the download broke off"
LONGEST = 200
"""Maximum characters of a typed repository and revision; the hub allows 96 for a name."""
TAKEN: set[str] = set()
"""Names of the checkpoints that families of ``load`` hold and no page offers."""
MAX_MODELS = 64
"""Maximum number of models that visitors may add."""
_adding = threading.Lock()
_fetching: "WeakValueDictionary[str, threading.Lock]" = WeakValueDictionary()
"""Locks held while a repository is inspected and downloaded, so that it is done once."""


def read_config(folder: Path, kind: ModelKind, source: str) -> "PreTrainedConfig":
    """Return the config as transformers parses it, with its defaults for absent fields.

    An old one without ``model_type`` has the type of its column: the tensors are checked anyway.

    Raises:
        NotAModel: it cannot be read, is of another kind, names no shape or would run code.
    """
    values = read_json(folder / "config.json", source)
    settings = read_json(folder / "tokenizer_config.json", source, "{}")
    if "auto_map" in values or "auto_map" in settings:
        raise NotAModel(
            Sentence(
                "runs-code",
                f"{source} would run code of its own; only plain checkpoints are loaded.",
            )
        )
    if not any((folder / name).exists() for name in TOKENIZERS):
        raise NotAModel(NO_TOKENIZER.format(source=source))
    check_numbers({"model_type": kind.config_type} | values, kind, source)
    try:
        return config_from(values, kind)
    except Exception as error:
        # transformers validates each field and raises its own, dataclasses' and Python's errors.
        raise unreadable(source, NO_NETWORK, error) from error


def config_from(values: Mapping[str, Any], kind: ModelKind) -> "PreTrainedConfig":
    """Return the config of a kind with the values of a file; what each call states is left out."""
    from transformers import AutoConfig

    stated = {"model_type", *STATED_BY_CALLS}
    given = {name: value for name, value in values.items() if name not in stated}
    return AutoConfig.for_model(kind.config_type, **given)


def check_numbers(values: Mapping[str, Any], kind: ModelKind, source: str) -> None:
    """Check that the numbers of a config are whole, and are those that the pictures need.

    Raises:
        NotAModel: one is not, or the config is of another kind.
    """
    model_type = values.get("model_type")
    if model_type != kind.config_type:
        if kind_named(str(model_type)) is None:
            raise _unknown_type(model_type, source)
        key = model_type if model_type in {**KINDS, **MORE_KINDS} else "mine"
        given, taken = brief(model_type), kind.config_type
        raise NotAModel(OTHER_COLUMN.format(source=source, given=given, taken=taken, key=key))
    activation = kind.config["activation"]
    if activation in values and not _is_activation(values[activation]):
        value = brief(values[activation])
        raise NotAModel(NO_ACTIVATION.format(source=source, value=value, name=activation))
    names = [
        name for field, name in kind.config.items() if field != "activation" and name in values
    ]
    for name in names:
        if type(values[name]) is not int or values[name] < 1:
            value = brief(json.dumps(values[name]))
            raise NotAModel(NOT_WHOLE.format(source=source, value=value, name=name))
    check_fields(values, kind, source)


def _is_activation(name: object) -> bool:
    from transformers.activations import ACT2FN

    return isinstance(name, str) and name in ACT2FN


def shape_of(config: "PreTrainedConfig", kind: ModelKind, source: str) -> Architecture:
    """Return the architecture that a config describes.

    Raises:
        NotAModel: its heads do not divide its width, or there are too many to be shown.
    """
    shape = {field: getattr(config, name) for field, name in kind.config.items()}
    stored, layers = shape.pop("n_stored_layers", shape["n_layers"]), shape["n_layers"]
    if shape["d_model"] % shape["n_heads"]:
        raise NotAModel(UNEVEN_HEADS.format(source=source, **shape))
    if max(layers, shape["n_heads"]) > MAX_LAYERS:
        raise NotAModel(TOO_DEEP.format(source=source, most=MAX_LAYERS))
    return Architecture(
        **({"d_embedding": shape["d_model"], "n_segments": 0} | shape),
        shares_layers=stored < layers,
        has_projection="d_embedding" in kind.config,
        ties_words=config.tie_word_embeddings,
    )


def has_head(tensors: Tensors) -> bool:
    """Return whether the tensors include a masked-LM head."""
    return any(part in name for name in tensors for part in HEADS)


def with_heads(shape: Architecture, kind: ModelKind, names: Iterable[str]) -> Architecture:
    """Return a shape with the pooler and the pair head that the tensors of these names are."""
    named = " ".join(names)
    has_pair_head = kind.pair is None or kind.pair.weights in named
    return replace(shape, has_pooler="pooler" in named, has_pair_head=has_pair_head)


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
    if not tensors_by_name.keys() & parameters.keys():
        found, wanted = brief(min(tensors, default="none"), 100), min(parameters)
        kind = config.model_type
        raise NotAModel(OTHER_NETWORK.format(source=source, found=found, kind=kind, wanted=wanted))
    for name, size in tensors_by_name.items():
        is_encoders = name.removeprefix(start).partition(".")[0] in encoder
        expected = parameters.get(name)
        if expected != size and (expected or (is_encoders and not name.endswith("_ids"))):
            shapes = {"expected": written_shape(expected), "found": written_shape(size)}
            raise NotAModel(OTHER_SIZE.format(source=source, name=brief(name, 100), **shapes))
    if missing := _lost(network, set(tensors_by_name), has_head(tensors)):
        raise NotAModel(NO_WEIGHT.format(source=source, name=missing[0]))


def _lost(network: "PreTrainedModel", names: set[str], with_head: bool) -> list[str]:
    """Return the required weights that are absent; a tied weight is present under either name."""
    from explorer.models.loading import optional_weights

    named = list(network.named_parameters(remove_duplicate=False))
    present = {id(parameter) for name, parameter in named if name in names}
    missing = [name for name, parameter in named if id(parameter) not in present]
    # The one output bias of transformers 4 stands for both: see ``loading.use_one_bias``.
    missing = [name for name in missing if saved_bias(name) not in names]
    return [n for n in missing if not any(part in n for part in optional_weights(with_head))]


def written_shape(size: Sequence[int] | None) -> str:
    """Return a tensor's shape as a sentence has it: ``3 x 72``; ``none`` without one."""
    return " x ".join(map(str, size)) if size else "none"


def task_head_of(config: "PreTrainedConfig", network: str) -> TaskHead | None:
    """Return the head of a task that a class of transformers adds to an encoder; None without one.

    A head with one label gives a score: transformers trains it so. ``problem_type`` decides about
    others, and is a softmax where it is absent.

    Args:
        config: The config, with ``id2label`` and ``problem_type``.
        network: Name of the class, for example ``BertForTokenClassification``.
    """
    task = next((task for end, task in TASKS.items() if network.endswith(end)), "")
    if task in ("", "squad"):
        return TaskHead("squad") if task else None
    labels = _told_apart(str(label) for _, label in sorted((config.id2label or {}).items()))
    if not labels:
        return None
    if task == "tokens":
        return TaskHead(task, labels)
    problem = config.problem_type if config.problem_type in PROBLEMS else ONE_LABEL
    if len(labels) == 1 and problem == ONE_LABEL:
        problem = SCORE
    return TaskHead(task, labels, problem)


def _told_apart(labels: Iterable[str]) -> tuple[str, ...]:
    """Return labels under different names: a second ``a`` is ``a (2)``, for names select them."""
    told: list[str] = []
    for label in labels:
        names = (label, *(f"{label} ({n})" for n in range(2, len(told) + 2)))
        told.append(next(name for name in names if name not in told))
    return tuple(told)


def add_models(arguments: Iterable[str], dtype: str = "float32") -> dict[str, str]:
    """Add each ``bert=PATH_OR_REPO[@REVISION]`` to its column; a kind without one gets a column.

    Returns:
        The size in each column, if one has a name of its own: then there are no other columns.

    Raises:
        NotAModel: one of them cannot be used, a column's name is none, or there are too many.
    """
    known = ", ".join({**KINDS, **MORE_KINDS})
    pairs = []
    for argument in arguments:
        key, _, source = argument.partition("=")
        pairs.append((key, source))
        if not source or not COLUMN.fullmatch(key):
            raise NotAModel(NO_COLUMN.format(known=known, argument=argument))
    is_exact = any(has_own_name(key) for key, _ in pairs)
    if is_exact and len(dict(pairs)) > MAX_COLUMNS:
        raise NotAModel(BAD_NUMBER)
    sizes: dict[str, str] = {}
    for key, source in pairs:
        if is_exact and source in column(key):
            sizes[key] = source
        else:
            sizes[key] = add_spec(own_spec(key, source, dtype=dtype)).size
    return sizes if is_exact else {}


def add_spec(spec: ModelSpec) -> ModelSpec:
    """Add a checkpoint to its column, under a unique name; a kind without a column gets one."""
    if spec.key in MORE_KINDS and spec.key not in KINDS:
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
        raise NotAModel(NO_CHOICE.format(typed=brief(typed)))
    with _adding:
        fetching = _fetching.setdefault(repo, threading.Lock())
    with fetching:
        request = (key, repo, revision)
        specs = [own for own in [*OWN.values()] if (own.key, own.repo, own.revision) == request]
        if not specs and len(OWN) >= MAX_MODELS:
            raise NotAModel(NO_PLACE.format(most=MAX_MODELS))
        spec = specs[0] if specs else _put(own_spec(key, typed, hub_only=True, report=report))
    return spec.size


def _put(spec: ModelSpec) -> ModelSpec:
    """Add the model as one more size of its column, under a unique name."""
    with _adding:
        name = _name(spec.name, spec.key)
        OWN[name] = replace(spec, name=name, size=name)
        return OWN[name]


def named_uniquely(spec: ModelSpec) -> ModelSpec:
    """Return a checkpoint that no page offers, under a name that no other model has."""
    with _adding:
        name = _name(spec.name, spec.architecture_key)
        TAKEN.add(name)
    return replace(spec, name=name, size=name)


def kind_of(key: str, config: Mapping[str, Any], source: str) -> tuple[str, ModelKind]:
    """Return the architecture in a column and its key: the column's, or that of the config.

    Raises:
        NotAModel: the column may hold any architecture, and the config names none that is known.
    """
    name = config.get("model_type") if has_own_name(key) else key
    kind = kind_named(name) if isinstance(name, str) else None
    if not isinstance(name, str) or kind is None:
        raise _unknown_type(name, source)
    return name, kind


def _unknown_type(name: object, source: str) -> NotAModel:
    known = ", ".join((*KINDS, *MORE_KINDS, *SAME_NETWORKS))
    return NotAModel(UNKNOWN_TYPE.format(source=source, given=brief(name), known=known))


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
    folder = Path(source).expanduser()
    is_local = folder.is_dir() and not hub_only
    repo, _, revision = source.partition("@")
    if is_local:
        check_folder(folder, source)
    else:
        if not hub_only:
            refuse_path(folder, source)
        folder = fetched(repo, revision, SMALL)
    kind_key, kind = kind_of(key, read_json(folder / "config.json", source), source)
    config = read_config(folder, kind, source)
    reading = read_tokenizer(folder, config.vocab_size, source)
    spec = ModelSpec(
        key,
        _own_name(folder.resolve(), config) if is_local else repo,
        shape_of(config, kind, source),
        repo="" if is_local else repo,
        revision="" if is_local else revision,
        is_own=True,
        task_head=task_head_of(config, str((config.architectures or [""])[0])),
        folder=folder.resolve() if is_local else None,
        lower_case=reading.lower_case,
        notes=(*reading.notes, *unread_fields(read_json(folder / "config.json", source), kind)),
        kind_key=kind_key,
    )
    if reason := too_large(spec, dtype):
        raise NotAModel(Sentence("cannot-be-used", f"{source} cannot be used: {reason}."))
    if not is_local:
        folder = fetched(repo, revision, [*SMALL, *WEIGHT_PATTERNS], report)
    tensors = read_tensors(folder, source)
    check_tensors(config, tensors, source)
    check_values(folder, source)
    shape = with_heads(spec.architecture, kind, tensors)
    of_weights = (*two_biases(folder), *further_heads_note(tensors, shape.d_model, source))
    notes = (*spec.notes, *of_weights, *read_otherwise(folder, shape.ties_words, source))
    return replace(spec, architecture=shape, has_head=has_head(tensors), notes=notes)


def _own_name(folder: Path, config: "PreTrainedConfig") -> str:
    """Return what a folder is called; for one called ``model``, what its parent is called."""
    for part in (folder, *folder.parents[:2]):
        if part.name and not NAMELESS.fullmatch(part.name.lower()):
            return part.name.rpartition("--")[2]  # a cache of the hub: models--OWNER--NAME
    return str(config._name_or_path or folder.name)


def _name(source: str, key: str) -> str:
    """Return a unique name from the last part of its path, valid in links and columns."""
    name = re.sub(r"[^a-z0-9.]+", "-", source.rpartition("/")[2].lower()).strip("-.") or "own"
    taken = {
        *all_specs(),
        *TAKEN,
        *(size for column_key in MODEL_KEYS for size in column(column_key)),
    }
    names = (name, f"own-{name}", f"own-{key}-{name}", *(f"{name}-{n}" for n in range(2, 99)))
    return next(candidate for candidate in names if candidate not in taken)


def fetched(
    repo: str, revision: str, patterns: list[str], report: OnProgress | None = None
) -> Path:
    """Return the folder with the files of these patterns, downloaded where they are not cached."""
    if not REPO.fullmatch(repo):
        raise NotAModel(NOT_A_NAME.format(source=brief(repo, LONGEST)))
    get_session().timeout = STALL_SECONDS
    try:
        folder = snapshot_download(
            repo,
            revision=revision or None,
            allow_patterns=patterns,
            tqdm_class=reporting_bar(repo, report),
        )
    except Exception as error:
        # The hub client raises its own, its HTTP library's and the operating system's errors here.
        logger.warning("a download failed: %s", brief(repr(error), MAX_LOGGED))
        response = getattr(error.__cause__ or error, "response", None)
        is_absent = getattr(response, "status_code", 0) in (401, 403, 404)
        why = OFFLINE if HF_HUB_OFFLINE else NOT_THERE if is_absent else NO_ANSWER
        raise NotAModel(NOT_LOADED.format(repo=repo, why=why)) from error
    return Path(folder)
