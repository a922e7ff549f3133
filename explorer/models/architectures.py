"""Networks built from a spec alone, to count or to time, and those that the live checks inspect."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TypeVar, cast

import torch
from torch import nn
from transformers import AutoConfig, AutoModelForPreTraining, PreTrainedConfig, PreTrainedModel

from explorer.models.choice.family import specs_by_key
from explorer.models.loading import LoadedModel, building, leased, leave_out_pooler
from explorer.models.specs import ModelSpec

SHARING_MODES: tuple[str, ...] = ("none", "attention", "ffn", "all")
"""Sharing modes: the parts of a layer that all layers share (ALBERT paper, Table 4)."""
_SHARED_PARTS = {
    "none": (),
    "attention": ("attention",),
    "ffn": ("ffn", "ffn_output", "full_layer_layer_norm"),
    "all": ("attention", "ffn", "ffn_output", "full_layer_layer_norm"),
}
INIT_SCALE = 0.02
Check = Callable[[], None]
Value = TypeVar("Value")


def config_of(spec: ModelSpec) -> PreTrainedConfig:
    """Return the transformers config of a spec's architecture."""
    return AutoConfig.for_model(**spec.config)


def meta_network(spec: ModelSpec) -> PreTrainedModel:
    """Return the pre-training network of a spec on the meta device: shapes and ties, no memory.

    ``.base_model`` is the encoder as released, with its pooler where it has one.
    """
    network = meta_of(config_of(spec))
    leave_out_pooler(spec, network)
    return network


def meta_of(config: PreTrainedConfig) -> PreTrainedModel:
    """Return the pre-training network of a transformers config on the meta device."""
    with building, torch.device("meta"):
        network = AutoModelForPreTraining.from_config(
            config, attn_implementation="eager", dtype=torch.float32
        )
    return cast(PreTrainedModel, network.eval().requires_grad_(False))


def random_network(spec: ModelSpec, seed: int = 0, check: Check = lambda: None) -> PreTrainedModel:
    """Return the pre-training network of a spec with random weights, reproducible for a seed.

    The largest network takes seconds; ``check`` is called before every parameter and can cancel by
    raising.
    """
    network = meta_network(spec).to_empty(device="cpu")
    network.tie_weights()
    return cast(PreTrainedModel, fill_randomly(network, seed, check))


def fill_randomly(network: nn.Module, seed: int, check: Check = lambda: None) -> nn.Module:
    """Fill a network: normal weights of scale 0.02, zero biases, unit norms, position ids.

    Uses its own generator, not torch's global one, which other threads may be using.
    """
    generator = torch.Generator().manual_seed(seed)
    norms = {id(m.weight) for m in network.modules() if isinstance(m, nn.LayerNorm)}
    with torch.no_grad():
        for parameter in network.parameters():
            check()
            if id(parameter) in norms:
                parameter.fill_(1.0)
            elif parameter.dim() < 2:
                parameter.zero_()
            else:
                parameter.normal_(0.0, INIT_SCALE, generator=generator)
        for name, buffer in network.named_buffers():
            if name.endswith("position_ids"):
                buffer.copy_(torch.arange(buffer.shape[-1]).expand_as(buffer))
            else:
                buffer.zero_()
    return network.eval()


def sharing_network(spec: ModelSpec, mode: str) -> PreTrainedModel:
    """Return a meta network of a shared-layer spec that shares only the parts a mode names.

    The libraries offer only "none" and "all". Each part keeps the layer norm that follows it, so
    the four counts are those of the paper's Table 4.

    Raises:
        ValueError: unknown mode, or a spec whose layers are not shared.
    """
    if mode not in SHARING_MODES or not spec.architecture.shares_layers:
        raise ValueError(f"There is no sharing mode {mode!r} for {spec.label}.")
    config = config_of(spec)
    config.num_hidden_groups = 1 if mode == "all" else spec.architecture.n_layers
    network = meta_of(config)
    share_parts(network, mode)
    return network


def share_parts(network: PreTrainedModel, mode: str) -> None:
    """Give every layer of an unshared ALBERT the first layer's module for each shared part."""
    groups = network.base_model.encoder.albert_layer_groups
    first = groups[0].albert_layers[0]
    for group in groups:
        for part in _SHARED_PARTS[mode]:
            setattr(group.albert_layers[0], part, getattr(first, part))


@dataclass(frozen=True, slots=True)
class CheckModels:
    """Sources of the networks for a check: meta shapes, random weights, the chosen family."""

    family: str
    leased: Callable[[str], AbstractContextManager[LoadedModel]]
    """A lease on the family's model of a key; raises ModelUnavailable where there is none."""
    shape: Callable[[ModelSpec], PreTrainedModel] = meta_network
    """Builder of a spec's network on the meta device."""
    random: Callable[[ModelSpec], PreTrainedModel] = random_network
    """Builder of a spec's network with random weights."""
    sharing: Callable[[ModelSpec, str], PreTrainedModel] = sharing_network
    """Builder of an ALBERT whose layers share the parts of a mode, on the meta device."""
    presses: int = 1
    """Number of requests for the check so far: a timed check multiplies its rounds by it."""

    def of_each(
        self, keys: Iterable[str], measure: Callable[[LoadedModel], Value]
    ) -> dict[str, Value]:
        """Return a measurement of each of the family's models, by key; one lease at a time."""
        results = {}
        for key in keys:
            with self.leased(key) as loaded:
                results[key] = measure(loaded)
        return results


def family_check_models(
    family: str,
    lease: Callable[[ModelSpec], AbstractContextManager[LoadedModel]] = leased,
    presses: int = 1,
) -> CheckModels:
    """Return the untampered networks of a family; each model is loaded on its first lease."""
    specs = specs_by_key(family)
    return CheckModels(family, lambda key: lease(specs[key]), presses=presses)
