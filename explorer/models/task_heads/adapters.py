"""LoRA adapters: small weights added to a frozen network for one task, and checks that they fit."""

import copy
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary, proxy

import torch
from safetensors import safe_open
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import (
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    PreTrainedModel,
)

from explorer.assets import ROOT
from explorer.models.choice.files import new_name, wrapper_in
from explorer.models.choice.own import written_shape
from explorer.models.hub import (
    ADAPTER_FILES,
    UNREADABLE,
    adapter_folder,
    check_weights,
    checkpoint_path,
    checksum,
    file_checksum,
    has_adapter,
    weight_files,
)
from explorer.models.loading import LoadedModel, building
from explorer.models.specs import SENTIMENT, ModelSpec, TaskHead
from explorer.refusal import Refusal, Sentence

(CARD, WEIGHTS), CONFIG = ADAPTER_FILES, "adapter_config.json"
NETWORKS = {
    "sst2": AutoModelForSequenceClassification,
    "classes": AutoModelForSequenceClassification,
    "tokens": AutoModelForTokenClassification,
    "squad": AutoModelForQuestionAnswering,
}
OUTPUTS = ("classifier", "qa_outputs")
"""Names of the module with a task's outputs in the classes of transformers."""
PREFIX = "base_model.model."
"""Prefix of peft before the module names of the wrapped network."""
OTHER_LABELS = Sentence(
    "labels-not-of-sentiment",
    "{label} brings a classifier with the labels {labels}. A sentiment head has two, negative and "
    "then positive, in the id2label of its config.json, and one of them holds for each text.",
)
NO_HEAD_OF = {
    "classes": Sentence("no-classifier", "{label} brings no head that classifies texts."),
    "tokens": Sentence("no-token-classifier", "{label} brings no head that labels tokens."),
}
OTHER_SHAPE = Sentence(
    "head-of-other-shape",
    "{label}'s head contradicts its config.json: {name} is {found} in its file, {wanted} by the "
    "{n} labels of id2label.",
)
MOST_LABELS = 5
COMMAND = "python -m training tasks {whom} --task {task} --data FOLDER"


BROUGHT: Mapping[str, Any] = {"window": 384, "stride": 128}
"""Card of a head that a checkpoint contains: the usual windows for SQuAD passages."""


def _some(labels: Sequence[str]) -> str:
    """Name the first labels, and say how many there are where they are more."""
    named = ", ".join(labels[:MOST_LABELS])
    return named if len(labels) <= MOST_LABELS else f"{named} and {len(labels) - MOST_LABELS} more"


class NotTuned(Refusal):
    """Refusal where no adapter fits; the message is the plain sentence on the model's card."""


@dataclass(frozen=True, slots=True, eq=False)
class TunedModel:
    """Network for one task; all weights but the adapter's are shared with the base network."""

    loaded: LoadedModel
    network: PreTrainedModel
    card: Mapping[str, Any]
    """Training settings of the adapter and its scores on the task's dev set."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while the network runs."""


_tuned: "WeakKeyDictionary[PreTrainedModel, dict[tuple[str, bool], TunedModel]]" = (
    WeakKeyDictionary()
)
"""By base network, because one network serves several columns, each with a spec of its own; then by
task, and whether the head is the checkpoint's own."""
_tuning = threading.Lock()


def adapter_path(spec: ModelSpec, task: str = "sst2") -> str:
    """Return the path of a model's adapter in the repository, with slashes.

    Of a folder of the owner's, which stays private, the name alone is in the path.
    """
    folder = adapter_folder(spec, task)
    if spec.folder:
        folder = spec.name / folder.relative_to(spec.folder)
    path = folder.relative_to(ROOT) if folder.is_relative_to(ROOT) else folder
    return path.as_posix()


def read_card(spec: ModelSpec, task: str) -> dict[str, Any] | None:
    """Return an adapter's card, or that of a checkpoint's own head; None where there is neither."""
    if spec.tuned_for == task:
        return dict(BROUGHT)
    if not has_adapter(spec, task):
        return None
    return json.loads((adapter_folder(spec, task) / CARD).read_text("utf-8"))


def fitting_card(spec: ModelSpec, task: str) -> dict[str, Any]:
    """Return the card of the adapter that fits the weights on disk.

    Raises:
        NotTuned: there is none, or it was trained on other weights. ModelUnavailable: no weights.
    """
    if spec.tuned_for == task:
        raise NotTuned(
            Sentence(
                "own-head-not-scored",
                f"{spec.label} brings its own head, whose score was not measured here.",
            )
        )
    card = read_card(spec, task)
    command = COMMAND.format(whom=describe_family(spec), task=task)
    head = spec.task_head
    if card is None and head and head.task == "classes" and task == "sst2":
        raise NotTuned(OTHER_LABELS.format(label=spec.label, labels=_some(head.labels)))
    if card is None:
        raise NotTuned(
            Sentence(
                "no-adapter", f"{spec.label} has no adapter for this task; {command} makes one."
            )
        )
    if card["base_sha256"] != checksum(checkpoint_path(spec)):
        raise NotTuned(
            Sentence(
                "adapter-of-other-weights",
                f"{spec.label} has an adapter for other weights than those that are here; "
                f"{command} makes a new one.",
            )
        )
    return card


def describe_family(spec: ModelSpec) -> str:
    """Return the command-line arguments with which the training tunes this model."""
    if spec.is_own:
        return f"--model {spec.key}={spec.repo or 'PATH'} --only {spec.name}"
    is_plain = spec.size in ("mini", "base")
    whom = spec.size if is_plain else f"{spec.key}={spec.size} --only {spec.name}"
    return f"--family {whom}"


def adapter_checksum(spec: ModelSpec, task: str) -> str:
    """Return the SHA-256 of an adapter's weights."""
    return file_checksum(adapter_folder(spec, task) / WEIGHTS)


def card_of(loaded: LoadedModel, task: str) -> dict[str, Any]:
    """Return the card of the adapter that a network uses for a task.

    Raises:
        NotTuned: there is no adapter that fits these weights.
    """
    return dict(tuned_of(loaded, task).card)


def head_for(spec: ModelSpec, task: str) -> tuple[str, TaskHead]:
    """Return the head with which a model labels texts or tokens, and its task in ``tuned_of``.

    For texts, it is the checkpoint's own head, or else the sentiment adapter, whose labels may have
    other names.

    Raises:
        NotTuned: the model has neither.
    """
    own = spec.task_head
    if own is not None and own.task == task:
        return task, own
    if task == "classes" and read_card(spec, "sst2"):
        names = own.labels if own and own.task == "sst2" else SENTIMENT[0]
        return "sst2", TaskHead("classes", names)
    raise NotTuned(NO_HEAD_OF[task].format(label=spec.label))


def brings_head(spec: ModelSpec, task: str) -> bool:
    """Return whether the head of a task is the checkpoint's own, and no adapter."""
    own = spec.task_head
    return spec.tuned_for == task or (own is not None and own.task == task != "sst2")


def is_whole_network(loaded: LoadedModel) -> bool:
    """Return whether a network in memory is the one of the task, with its head."""
    return any(hasattr(loaded.network, name) for name in OUTPUTS)


def tuned_of(loaded: LoadedModel, task: str) -> TunedModel:
    """Return ``tuned_model``, built once for each loaded network; a caller's network is not kept.

    Raises:
        NotTuned: there is no adapter that fits these weights.
    """
    if is_whole_network(loaded):
        return TunedModel(loaded, loaded.network, BROUGHT, loaded.lock)
    # One reader's names may make a sentiment head of a classifier, which it is for no other reader.
    which = task, brings_head(loaded.spec, task)
    with _tuning:
        by_task = _tuned.setdefault(loaded.network, {})
        if which not in by_task:
            # A strong reference to the key in its own entry would keep both for ever.
            kept = replace(loaded, network=proxy(loaded.network))
            by_task[which] = replace(tuned_model(loaded, task), loaded=kept)
        return replace(by_task[which], loaded=loaded)


def tuned_model(loaded: LoadedModel, task: str) -> TunedModel:
    """Return a loaded network with its adapter for a task merged in: W + (alpha / r) B A.

    Raises:
        NotTuned: there is no adapter that fits these weights, or it is damaged.
    """
    if brings_head(loaded.spec, task):
        return TunedModel(loaded, brought(loaded, task), BROUGHT)
    card = fitting_card(loaded.spec, task)
    folder = adapter_folder(loaded.spec, task)
    settings = json.loads((folder / CONFIG).read_text("utf-8"))
    scale = settings["lora_alpha"] / settings["r"]
    try:
        check_weights(folder / WEIGHTS)
    except UNREADABLE as error:
        raise NotTuned(
            Sentence(
                "damaged-adapter", f"The adapter of {loaded.spec.label} for this task is damaged."
            )
        ) from error
    network = headed(loaded, task)
    weights = {
        name.removeprefix(PREFIX): value.float()
        for name, value in load_file(folder / WEIGHTS).items()
    }
    merge(network, weights, scale)
    return TunedModel(loaded, network.eval().requires_grad_(False), card)


def brought(loaded: LoadedModel, task: str) -> PreTrainedModel:
    """Return the network of the task that a checkpoint was tuned for: encoder and its own head.

    Raises:
        NotTuned: the file lacks a weight of the head, or has another number of labels.
    """
    network = headed(loaded, task)
    head: dict[str, Tensor] = {}
    wanted = {n: tuple(p.shape) for n, p in network.named_parameters() if p.is_meta}
    folder = checkpoint_path(loaded.spec)
    wrapper = wrapper_in(folder, loaded.spec.label)
    for file in weight_files(folder):
        with safe_open(file, "pt") as opened:
            names = {new_name(name, wrapper): name for name in opened.keys()}  # noqa: SIM118
            head |= {n: opened.get_tensor(names[n]) for n in wanted if n in names}
    for name, value in head.items():
        if tuple(value.shape) != wanted[name]:
            shapes = {"found": written_shape(value.shape), "wanted": written_shape(wanted[name])}
            n, label = int(network.config.num_labels), loaded.spec.label
            raise NotTuned(OTHER_SHAPE.format(label=label, name=name, n=n, **shapes))
    merge(network, head, 1.0)
    return network.eval().requires_grad_(False)


def headed(loaded: LoadedModel, task: str) -> PreTrainedModel:
    """Return the task's network on the loaded encoder: tensors are shared, the head is still meta.

    The encoder is copied under its lock: hooks of an ablation, or a changed depth, would be copied
    along and stay.
    """
    shared = {id(p): p for p in loaded.network.base_model.parameters()}
    with loaded.lock:
        config = copy.deepcopy(loaded.network.config)
        encoder = copy.deepcopy(loaded.network.base_model, shared)
    for module in encoder.modules():
        # The hooks that cancel a measurement are set without holding the lock.
        module._forward_pre_hooks.clear()
    with building, torch.device("meta"):
        network = NETWORKS[task].from_config(
            config, attn_implementation="eager", dtype=loaded.network.dtype
        )
    if getattr(network.base_model, "pooler", None) and not encoder.pooler:
        # The checkpoint has none; the adapter brings it.
        encoder.pooler = network.base_model.pooler
    setattr(network, network.base_model_prefix, encoder)
    return network


@torch.no_grad()
def merge(network: nn.Module, weights: Mapping[str, Tensor], scale: float) -> None:
    """Merge an adapter into a network; every tensor it changes is replaced by a new one.

    Raises:
        NotTuned: a weight of the network would be left without a value.
    """
    parameters = dict(network.named_parameters())
    like = next(p for p in parameters.values() if not p.is_meta)
    new = {name: value for name, value in weights.items() if ".lora_" not in name}
    for name, down in weights.items():
        if name.endswith(".lora_A.weight"):
            prefix = name.removesuffix("lora_A.weight")
            up = weights[f"{prefix}lora_B.weight"]
            new[f"{prefix}weight"] = parameters[f"{prefix}weight"].float().cpu() + scale * up @ down
    for name, value in new.items():
        module, _, last = name.rpartition(".")
        setattr(
            network.get_submodule(module), last, nn.Parameter(value.to(like.device, like.dtype))
        )
    missing = [name for name, p in network.named_parameters() if p.is_meta]
    if missing:
        raise NotTuned(
            Sentence("incomplete-head", f"The head of the task lacks {', '.join(missing)}.")
        )
