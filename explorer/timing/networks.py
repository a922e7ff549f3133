"""Networks to be timed: the explorer's own where it has the weights, else random ones."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import nn
from transformers import PreTrainedModel

from explorer.models.architectures import Check, meta_network, random_network
from explorer.models.hub import cached_path
from explorer.models.loading import DTYPES, forget_all, leased, leased_as
from explorer.models.specs import ModelSpec
from explorer.refusal import Sentence
from explorer.timing.machine import free_bytes
from explorer.timing.workload import BadWorkload, Workload, check_size

# torch announces a successor package that is not needed to run 8-bit weights. Filtered once at
# import: warning filters are global to the process and must not change while other threads run.
warnings.filterwarnings("ignore", r"torch\.ao\.quantization is deprecated", DeprecationWarning)
warnings.filterwarnings("ignore", r"torch\.quantize_per_tensor", UserWarning)
MADE = " made of "
"""Infix in the keys of derived networks, which no checkpoint has; a model's name has no blank."""
TOO_LONG = Sentence("timed-too-long", "{label} has positions for {most} tokens at most.")


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class TimedNetwork:
    """Network ready to be timed, and the source of its weights."""

    spec: ModelSpec
    network: PreTrainedModel
    weights: str
    """``bundled``, ``checkpoint`` or ``random``: time depends on the shape, not on the weights."""
    dtype: str = "float32"

    def n_bytes(self, head: bool) -> int:
        """Return the bytes of the weights used by a pass: the encoder, or all with the head."""
        return weight_bytes(self.network if head else self.network.base_model)


@contextmanager
def timed_network(
    spec: ModelSpec, workload: Workload, check: Check = lambda: None
) -> Iterator[TimedNetwork]:
    """Use the network of a spec on the workload's device and dtype; nothing is ever downloaded.

    Raises:
        BadWorkload: the device is not there, or the pass does not fit the machine.
        Cancelled: ``check`` raised it while random weights were drawn.
    """
    check_pass(spec, workload)
    if has_weights(spec):
        with leased(spec, workload.device, workload.dtype) as loaded:
            yield TimedNetwork(spec, loaded.network, weights_of(spec), workload.dtype)
    else:
        with _random(spec, workload, check) as random:
            yield random


def check_pass(spec: ModelSpec, workload: Workload, held: int = 0) -> int:
    """Return the bytes of a network's weights if its pass, beside ``held`` bytes, can run here.

    Raises:
        BadWorkload: the device is not there, or the pass does not fit the machine or the model.
    """
    check_device(workload.device)
    if not spec.architecture.d_vocab:
        raise BadWorkload(
            Sentence(
                "no-bundled-shape",
                f"The bundled files of {spec.label} are missing, so it has no shape.",
            )
        )
    if workload.length > spec.max_tokens:
        raise BadWorkload(TOO_LONG.format(label=spec.label, most=spec.max_tokens))
    weights = bytes_of_pass(spec, replace(workload, head=True))
    check_size(spec.architecture, workload, free_bytes(workload.device), held + weights)
    return weights


def bytes_of_pass(spec: ModelSpec, workload: Workload) -> int:
    """Return the bytes of the weights that a pass uses: the encoder's, or all with the head."""
    network = meta_network(spec)
    used = weight_bytes(network if workload.head else network.base_model)
    return used * element_size(workload.dtype) // 4


def weights_of(spec: ModelSpec) -> str:
    """Return where the weights of a spec come from here: ``TimedNetwork.weights``."""
    if not has_weights(spec):
        return "random"
    return "checkpoint" if spec.repo or spec.folder else "bundled"


def has_weights(spec: ModelSpec) -> bool:
    """Return whether the spec's checkpoint is on this machine."""
    return checkpoint_here(spec) is not None


def checkpoint_here(spec: ModelSpec) -> Path | None:
    """Return the folder of the spec's checkpoint; None if it is not on this machine."""
    if spec.repo or spec.folder:
        return spec.folder or cached_path(spec)
    return spec.bundled_path if (spec.bundled_path / "model.safetensors").exists() else None


def check_device(device: str) -> None:
    """Refuse a device this machine does not have.

    Raises:
        BadWorkload: in one sentence.
    """
    from explorer.models.devices import available_devices

    if device not in available_devices():
        raise BadWorkload(Sentence("device-not-here", f"This machine has no {device} device."))


def _random(
    spec: ModelSpec, workload: Workload, check: Check
) -> AbstractContextManager[TimedNetwork]:
    device, dtype = workload.device, workload.dtype

    def make() -> TimedNetwork:
        network = random_network(spec, check=check).to(device, DTYPES[dtype])
        return TimedNetwork(spec, network, "random", dtype)

    return leased_as((f"random{MADE}{spec.name}", device, dtype), spec, make)


def forget_timed_networks(name: str = "") -> None:
    """Remove the networks that were built for timing from memory: a model's, by default all."""
    forget_all(lambda key: MADE in key and name in ("", _made_of(key)))


def _made_of(key: str) -> str:
    """Return the name of the model that a network was derived from."""
    return key.partition(MADE)[2].partition(", ")[0]


def weight_bytes(network: nn.Module) -> int:
    """Return the bytes of a module's parameters, tied ones counted once."""
    return sum(p.numel() * p.element_size() for p in network.parameters())


def element_size(dtype: str) -> int:
    """Return the bytes of one number of a dtype."""
    return torch.empty(0, dtype=DTYPES[dtype]).element_size()


class WeightsOnly(nn.Module):
    """Linear layer with 8-bit weights, one scale per row; it is computed in float."""

    scale: torch.Tensor
    int8_weight: torch.Tensor

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.in_features = linear.in_features
        weight = linear.weight.detach()
        scale = weight.abs().amax(1).clamp(min=torch.finfo(weight.dtype).tiny) / 127
        self.register_buffer("scale", scale)
        self.register_buffer("int8_weight", (weight / scale[:, None]).round().to(torch.int8))
        self.bias = linear.bias

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map states [..., in] to [..., out]."""
        product = nn.functional.linear(x, self.int8_weight.to(x.dtype)) * self.scale
        return product if self.bias is None else product + self.bias


def int8_network(timed: TimedNetwork) -> AbstractContextManager[TimedNetwork]:
    """Use the same network with linear layers in int8, inputs too (dynamic quantisation).

    One scale per row of a weight matrix: with one per matrix more predictions change.
    """
    return _kept_network(timed, "int8", TORCH_WAYS["int8"])


def int8_weights_network(timed: TimedNetwork) -> AbstractContextManager[TimedNetwork]:
    """Use the same network with only its weights in int8: smaller, nearly equal predictions."""
    return _kept_network(timed, "int8 weights", TORCH_WAYS["int8 weights"])


def _kept_network(
    timed: TimedNetwork, name: str, make: Callable[[nn.Module], nn.Module]
) -> AbstractContextManager[TimedNetwork]:
    key = (f"{name}{MADE}{timed.spec.name}, {timed.weights}", "cpu", timed.dtype)
    return leased_as(key, timed.spec, lambda: replace(timed, network=make(timed.network)))


def _dynamic(network: nn.Module) -> nn.Module:
    quantization = torch.ao.quantization
    return quantization.quantize_dynamic(
        network, {nn.Linear: quantization.per_channel_dynamic_qconfig}
    )


def _weights_only(network: nn.Module) -> nn.Module:
    copied = deepcopy(network)
    for module in list(copied.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.Linear):
                setattr(module, name, WeightsOnly(child))
    return copied


TORCH_WAYS: dict[str, Callable[[nn.Module], nn.Module]] = {
    "float32": lambda network: network,
    "bfloat16": lambda network: network.to(torch.bfloat16),
    "int8": _dynamic,
    "int8 weights": _weights_only,
}
"""Variants of a float32 network that torch runs on a processor, and their builders."""
