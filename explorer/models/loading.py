"""Loading of networks and tokenizers: bundled, from the hub or given in memory; a copy of each."""

import logging
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import torch
import transformers
from transformers import AutoModelForPreTraining, AutoTokenizer, PreTrainedModel

from explorer.models.choice.fields import unread_fields
from explorer.models.choice.files import check_network, saved_bias, wrapper_in
from explorer.models.choice.memory import Key, WeightMemory, gigabytes, running_bytes, weight_bytes
from explorer.models.choice.own import (
    HEADS,
    check_numbers,
    config_from,
    kind_of,
    named_uniquely,
    shape_of,
    task_head_of,
    with_heads,
)
from explorer.models.choice.reading import (
    case_note,
    check_tokenizer,
    lowers_case,
    read_tokenizer,
    rows_note,
)
from explorer.models.choice.refused import NotAModel, read_json
from explorer.models.devices import computes_in, forget_free_memory
from explorer.models.hub import (
    TOKENIZERS,
    ModelUnavailable,
    OnProgress,
    Stamp,
    checkpoint_path,
    damage,
    remember,
    remembered,
    stamp,
)
from explorer.models.specs import HEAD_WEIGHTS, ModelKind, ModelSpec
from explorer.refusal import Sentence, brief, is_of_memory

logger = logging.getLogger(__name__)
transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
Network = PreTrainedModel
"""A pre-training network of any kind, with the module names of transformers."""
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
OPTIONAL_WEIGHTS = ("pooler", "seq_relationship", "sop_classifier")
"""Weights that no picture reads; a checkpoint that lacks others would predict noise."""
LACKING = Sentence("incomplete-weights", "{n} of its weights are missing from the file")
DAMAGED = Sentence("damaged-files", "its files are damaged or incomplete")
NOT_READ = Sentence("files-not-read", "its files cannot be read at the moment")
ZERO_BIAS = (
    "Its output bias {applied} is zero and {saved} is not: transformers 5 applies the first. Load "
    "the folder by its path, and the second is applied."
)
NO_NETWORK = Sentence(
    "not-a-model-object",
    "{source} is no model of transformers: give the model object, or it and its tokenizer.",
)
INSIDE = {
    "DataParallel": "model.module",
    "DistributedDataParallel": "model.module",
    "OptimizedModule": "model._orig_mod",
    "PeftModel": "model.merge_and_unload()",
    "FillMaskPipeline": "(pipe.model, pipe.tokenizer)",
    "SentenceTransformer": "(model[0].auto_model, model.tokenizer)",
    "Trainer": "(trainer.model, trainer.processing_class)",
}
"""Objects that hold a model, by a class of theirs, and how the model in them is written."""
A_HOLDER = Sentence("holds-a-model", "{source} holds a model: give {inside}.")
WITHOUT_VALUES = Sentence(
    "weights-without-values",
    "{source} has weights without values, on the device meta: load them first.",
)
NO_TOKENIZER = Sentence(
    "object-without-tokenizer",
    "The model given as {key} comes without a tokenizer, and none is next to its files: give both, "
    "as (model, tokenizer).",
)
NO_DTYPE = Sentence(
    "weights-of-other-precision",
    "The model given as {key} has weights in {dtype}; {known} can be used.",
)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class LoadedModel:
    """A network in eval mode with its tokenizer, on one device in one dtype."""

    spec: ModelSpec
    network: PreTrainedModel
    tokenizer: transformers.PreTrainedTokenizerFast
    device: str
    dtype: str
    missing: tuple[str, ...]
    """Weights that the checkpoint lacks, which are random in the network."""
    vocabulary: tuple[str, ...]
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while hooks are on the network, so that no other thread runs it with them."""

    @property
    def max_tokens(self) -> int:
        """The longest input the position embeddings allow."""
        return self.spec.max_tokens


Leased = TypeVar("Leased")
_loaded: dict[Key, Any] = {}
"""Networks in memory; the ``spec`` and ``dtype`` of each give its size."""
_registry = threading.RLock()
weight_memory = WeightMemory(_registry)
building = threading.Lock()
"""from_pretrained uses global state for the meta device: concurrent calls break each other."""


@contextmanager
def leased(
    spec: ModelSpec, device: str = "cpu", dtype: str = "float32", report: OnProgress | None = None
) -> Iterator[LoadedModel]:
    """Use the network of a spec, loaded once per device and dtype; never evicted while in use.

    Raises:
        ModelUnavailable: the weights are absent, unreachable, damaged or exceed the memory limit of
            the networks; the message is one sentence.
    """
    if not is_loaded(spec, device, dtype) and (reason := remembered(spec)):
        raise ModelUnavailable(spec, reason)

    def read() -> LoadedModel:
        path = checkpoint_path(spec, report)
        if report:
            report(f"Loading {spec.label}: {gigabytes(weight_bytes(spec, dtype))}", 0.0)
        return read_checkpoint(spec, path, device, dtype)

    with leased_as((spec.name, device, dtype), spec, read) as network:
        # One network may serve several columns: each lease names its own.
        yield network if network.spec == spec else replace(network, spec=spec)


def load_model(
    spec: ModelSpec, device: str = "cpu", dtype: str = "float32", report: OnProgress | None = None
) -> LoadedModel:
    """Load the network of a spec without a lease, for a program with a single thread.

    The network may be evicted at any time: concurrent code uses ``leased``.

    Raises:
        ModelUnavailable: see ``leased``.
    """
    with leased(spec, device, dtype, report) as network:
        return network


def leased_as(
    key: Key, spec: ModelSpec, make: Callable[[], Leased]
) -> AbstractContextManager[Leased]:
    """Use the network in memory under a key, built by ``make`` if absent.

    Raises:
        ModelUnavailable: there is no room for it.
    """
    return weight_memory.lease(key, spec, make, _loaded)


def reserve_pass(
    spec: ModelSpec, dtype: str, tokens: int = 512, texts: int = 1
) -> AbstractContextManager[None]:
    """Return a context that counts the memory of a forward pass while it runs."""
    return weight_memory.reserve_pass(texts * running_bytes(spec, dtype, tokens), _loaded)


def is_loaded(spec: ModelSpec, device: str, dtype: str) -> bool:
    """Return whether the network is in memory."""
    return (spec.name, device, dtype) in _loaded


@contextmanager
def lent(loaded: LoadedModel) -> Iterator[None]:
    """Keep a caller's own network among those in memory inside this context; never copied.

    It answers in eval mode with eager attention, without which there are no attention weights;
    both are set back.
    """
    network, key = loaded.network, (loaded.spec.name, loaded.device, loaded.dtype)
    in_training = [module for module in network.modules() if module.training]
    implementation = network.config._attn_implementation
    network.eval().set_attn_implementation("eager")
    with _registry:
        _loaded[key] = loaded
    try:
        yield
    finally:
        weight_memory.forget(lambda other: other == key, _loaded)
        network.set_attn_implementation(implementation)
        for module in in_training:
            module.training = True


def forget_all(matches: Callable[[str], bool]) -> None:
    """Remove the networks whose name matches from memory as soon as no lease is held."""
    weight_memory.forget(lambda key: matches(key[0]), _loaded)


def forget_model(spec: ModelSpec, device: str, dtype: str) -> None:
    """Remove a network from its device as soon as no lease is held; it is reloaded on demand."""
    weight_memory.forget(lambda key: key == (spec.name, device, dtype), _loaded)
    forget_free_memory()


def optional_weights(has_head: bool) -> tuple[str, ...]:
    """Return name parts of the weights that a checkpoint may lack."""
    return OPTIONAL_WEIGHTS if has_head else (*OPTIONAL_WEIGHTS, *HEAD_WEIGHTS)


def read_checkpoint(spec: ModelSpec, path: Path, device: str, dtype: str) -> LoadedModel:
    """Return a network and its tokenizer read from a folder; not kept in memory here.

    Unreadable files are logged once and remembered until one of them changes.

    Raises:
        ModelUnavailable: the files are damaged or incomplete, or the device lacks the precision.
    """
    if not computes_in(device, DTYPES[dtype]):
        raise ModelUnavailable(
            spec,
            Sentence(
                "precision-not-on-device",
                f"this {device} cannot compute in {dtype}; choose float32",
            ),
        )
    before, reason = stamp(path), damage(path)
    if reason:
        logger.warning("%s: %s", spec.name, reason)
        remember(spec, path, before, reason)
        raise ModelUnavailable(spec, reason)
    network, tokenizer, lacking = _from_files(spec, path, dtype, before)
    network = network.eval().requires_grad_(False).to(device)
    vocabulary = vocabulary_of(network, tokenizer)
    return LoadedModel(spec, network, tokenizer, device, dtype, lacking, vocabulary)


def vocabulary_of(
    network: PreTrainedModel, tokenizer: transformers.PreTrainedTokenizerFast
) -> tuple[str, ...]:
    """Return the piece of each id of a network; empty for ids that its tokenizer lacks."""
    pieces = tokenizer.convert_ids_to_tokens(range(int(network.config.vocab_size)))
    return tuple(piece or "" for piece in pieces)


def _from_files(
    spec: ModelSpec, path: Path, dtype: str, before: Stamp
) -> tuple[PreTrainedModel, transformers.PreTrainedTokenizerFast, tuple[str, ...]]:
    """Return the network, the tokenizer and the weights that the files lack."""
    try:
        with building:
            network, info = AutoModelForPreTraining.from_pretrained(
                path,
                dtype=DTYPES[dtype],
                attn_implementation="eager",
                local_files_only=True,
                use_safetensors=True,
                trust_remote_code=False,
                output_loading_info=True,
                **_own_options(spec, path),
            )
            tokenizer = _tokenizer(spec, path)
    except Exception as error:
        # safetensors, tokenizers and json raise their own errors; the page shows one sentence.
        if is_of_memory(error) or "memory" in str(error).lower():
            raise MemoryError from error
        logger.warning("loading %s failed", spec.name, exc_info=error)
        if getattr(error, "errno", None) or "(os error" in str(error):
            raise ModelUnavailable(spec, NOT_READ) from error
        remember(spec, path, before, DAMAGED)
        raise ModelUnavailable(spec, DAMAGED) from error
    optional = optional_weights(spec.has_head)
    info["missing_keys"] = use_one_bias(network, set(info["missing_keys"]))
    missing = [name for name in info["missing_keys"] if not any(part in name for part in optional)]
    if missing:
        logger.warning("%s lacks %d weights, %s first", spec.name, len(missing), min(missing))
        reason = LACKING.format(n=len(missing))
        remember(spec, path, before, reason)
        raise ModelUnavailable(spec, reason)
    leave_out_pooler(spec, network)
    return network, tokenizer, tuple(sorted(info["missing_keys"]))


def _own_options(spec: ModelSpec, path: Path) -> dict[str, Any]:
    """Return how the files of a user's checkpoint are read: with its column's type, unwrapped."""
    if not spec.is_own:
        return {}
    config = config_from(read_json(path / "config.json", spec.name), spec.kind)
    prefix = wrapper_in(path, spec.name)
    # With the part that follows, because 5.5 removes what matches anywhere in a name.
    mapping = {rf"^{re.escape(prefix)}(\w+)\.": r"\1."} if prefix else None
    return {"config": config, "key_mapping": mapping}


def _tokenizer(spec: ModelSpec, path: Path) -> transformers.PreTrainedTokenizerFast:
    """Return the tokenizer of a folder; a user's is read as its publishers mean it."""
    if spec.is_own:
        return read_tokenizer(path, spec.architecture.d_vocab, spec.name).tokenizer
    return AutoTokenizer.from_pretrained(path, local_files_only=True, trust_remote_code=False)


def use_one_bias(network: PreTrainedModel, missing: set[str]) -> set[str]:
    """Give an untied output layer the one bias of its file; return the weights still missing.

    transformers 4 saved ``predictions.bias`` alone and applied it; 5.23 applies ``decoder.bias``
    and fills it with zeros: findings/untied-output-bias.sh.
    """
    lacking = {name for name in missing if saved_bias(name) and saved_bias(name) not in missing}
    for name in lacking:
        network.get_parameter(name).data.copy_(network.get_parameter(saved_bias(name)).data)
    return missing - lacking


def leave_out_pooler(spec: ModelSpec, network: PreTrainedModel) -> None:
    """Remove the pooler that a network has by its class and the spec's checkpoint lacks."""
    if not spec.architecture.has_pooler and hasattr(network.base_model, "pooler"):
        network.base_model.pooler = None


def given_model(key: str, network: Any, tokenizer: Any = None) -> LoadedModel:  # noqa: ANN401
    """Describe a network in memory and its tokenizer as a model of a column; nothing is copied.

    Raises:
        NotAModel: it cannot be used in this column; the message is one sentence.
    """
    source = f"The model given as {key}"
    _refuse_object(network, source)
    config = network.config
    kind_key, kind = kind_of(key, config.to_dict(), source)
    check_numbers(config.to_dict(), kind, source)
    if tokenizer is None or isinstance(tokenizer, str | Path):
        tokenizer = _tokenizer_of(network, key, str(tokenizer or network.config._name_or_path))
    device = str(network.device).removesuffix(":0")
    dtype = str(network.dtype).removeprefix("torch.")
    if dtype not in DTYPES:
        raise NotAModel(NO_DTYPE.format(key=key, dtype=dtype, known=", ".join(DTYPES)))
    check_network(network, source)
    check_tokenizer(tokenizer, config.vocab_size, source)
    names = [name for name, _ in network.named_parameters()]
    shape = shape_of(config, kind, source)
    spec = ModelSpec(
        key,
        str(config._name_or_path or "given"),
        with_heads(shape, kind, names),
        is_own=True,
        has_head=any(part in name for name in names for part in HEADS),
        lower_case=lowers_case(tokenizer),
        task_head=task_head_of(config, type(network).__name__),
        notes=_notes_of(network, tokenizer, kind),
        kind_key=kind_key,
    )
    wanted = (kind.pair.weights, "pooler") if kind.pair else ()
    missing = tuple(part for part in wanted if not any(part in name for name in names))
    pieces = vocabulary_of(network, tokenizer)
    return LoadedModel(named_uniquely(spec), network, tokenizer, device, dtype, missing, pieces)


def _refuse_object(network: object, source: str) -> None:
    """Refuse what is no network with weights in it, by what to give in its place."""
    if not isinstance(network, PreTrainedModel):
        kinds = [kind.__name__ for kind in type(network).__mro__]
        inside = next((INSIDE[kind] for kind in kinds if kind in INSIDE), "")
        sentence = A_HOLDER if inside else NO_NETWORK
        raise NotAModel(sentence.format(source=brief(kinds[0]), inside=inside))
    if network.device.type == "meta":
        raise NotAModel(WITHOUT_VALUES.format(source=source))


def _notes_of(network: PreTrainedModel, tokenizer: Any, kind: ModelKind) -> tuple[str, ...]:  # noqa: ANN401
    """Return what a reader has to know of a network in memory and its tokenizer."""
    rows = int(network.config.vocab_size)
    notes = (*case_note(tokenizer), *rows_note(tokenizer, rows))
    notes += unread_fields(network.config.to_dict(), kind)
    for name, bias in network.named_parameters():
        if (saved := saved_bias(name)) and not bool(bias.any()):
            other = dict(network.named_parameters()).get(saved)
            if other is not None and bool(other.any()):
                notes += (ZERO_BIAS.format(applied=name, saved=saved),)
    return notes


def _tokenizer_of(network: PreTrainedModel, key: str, place: str) -> Any:  # noqa: ANN401
    """Return the tokenizer in a folder or in the hub's cache; nothing is downloaded for it."""
    try:
        folder = Path(place).expanduser()
        if any((folder / name).exists() for name in TOKENIZERS):
            return read_tokenizer(folder, int(network.config.vocab_size), str(folder)).tokenizer
        return AutoTokenizer.from_pretrained(place, local_files_only=True)
    except NotAModel:
        raise
    except Exception as error:
        # transformers, the hub's client and json raise their own errors.
        raise NotAModel(NO_TOKENIZER.format(key=key)) from error
