"""The parts of a post-norm layer, and the last layer computed at one position of each text."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from explorer.models.loading import LoadedModel
from explorer.models.specs import ModelKind

PLAIN = ("torch.nn.modules.", "transformers.")
"""Beginnings of the names of the modules whose classes compute a layer as the papers define it."""


@dataclass(frozen=True, slots=True, eq=False)
class LayerParts:
    """Modules of one post-norm layer, attention and feed-forward, applied part by part."""

    n_heads: int
    query: nn.Linear
    key: nn.Linear
    value: nn.Linear
    output: nn.Linear
    attention_norm: nn.LayerNorm
    inner: nn.Linear
    activation: nn.Module
    outer: nn.Linear
    norm: nn.LayerNorm

    def by_head(self, projected: torch.Tensor) -> torch.Tensor:
        """Reshape [..., position, d_model] to [..., head, position, d_head]."""
        return projected.unflatten(-1, (self.n_heads, -1)).transpose(-3, -2)

    def attended(
        self, states: torch.Tensor, position: int
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Compute attention from one position.

        Returns:
            Query [head, 1, d_head], keys and values [head, position, d_head], scores
            [head, 1, position], and the weighted values of each head [head, d_head].
        """
        query = self.by_head(self.query(states[position : position + 1]))
        key = self.by_head(self.key(states))
        scores = query @ key.transpose(-1, -2) * key.shape[-1] ** -0.5
        value = self.by_head(self.value(states))
        return query, key, value, scores, (scores.softmax(-1) @ value)[:, 0]

    def feed_forward(self, state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the inner units [d_ffn] after the activation, and the block's output [d_model]."""
        units = self.activation(self.inner(state))
        return units, self.outer(units)


def parts_of(loaded: LoadedModel) -> tuple[LayerParts, ...]:
    """Return the parts of every application of a layer, repeated where the layer is shared.

    Of several shared layers each is applied equally often, one after another.

    The caller holds ``loaded.lock`` while it applies a part that may have hooks of other threads.
    """
    named = loaded.network.base_model.named_modules()
    kind, shape = loaded.spec.kind, loaded.spec.architecture
    layers = [module for name, module in named if re.search(kind.layer, name)]
    parts = [_parts(kind, layer, shape.n_heads) for layer in layers]
    return tuple(parts[i * len(parts) // shape.n_layers] for i in range(shape.n_layers))


def _parts(kind: ModelKind, layer: nn.Module, n_heads: int) -> LayerParts:
    modules = dict(layer.named_modules())
    patterns = (kind.query, kind.key, kind.value, kind.output)
    products = [next(m for n, m in modules.items() if re.search(p, n)) for p in patterns]
    names = (kind.attention_norm, kind.inner, kind.activation, kind.outer, kind.norm)
    return LayerParts(n_heads, *products, *(modules[name] for name in names))  # type: ignore[arg-type]


class _Reached(Exception):
    """The states [text, position, d_model] that enter a layer."""

    def __init__(self, states: torch.Tensor) -> None:
        super().__init__()
        self.states = states


def known_parts(loaded: LoadedModel) -> tuple[LayerParts, ...]:
    """Return ``parts_of`` a network that computes nothing else; none of any other network.

    All its modules have classes of PyTorch or transformers, and no hook of anyone else: an adapter,
    a wrapped layer or a caller's own class may compute what the parts do not show. Networks may be
    wrapped at any time, so this is not kept. The caller holds ``loaded.lock``.
    """
    base, shape = loaded.network.base_model, loaded.spec.architecture
    config, modules = base.config, list(base.modules())
    if getattr(config, "is_decoder", False) or getattr(config, "inner_group_num", 1) != 1:
        return ()
    names = {type(module).__module__ for module in modules} | {
        str(getattr(hook, "__module__", ""))
        for module in modules
        for hooks in (module._forward_hooks, module._forward_pre_hooks)
        for hook in hooks.values()
    }
    is_replaced = any("forward" in vars(module) for module in modules)
    if is_replaced or not all(name.startswith(PLAIN) for name in names):
        return ()
    layers = _layers(loaded)
    if not layers or shape.n_layers % len(layers):
        return ()
    return parts_of(loaded)


def _layers(loaded: LoadedModel) -> list[nn.Module]:
    named = loaded.network.base_model.named_modules()
    return [module for name, module in named if re.search(loaded.spec.kind.layer, name)]


def states_before(
    loaded: LoadedModel, layer: int, inputs: Mapping[str, torch.Tensor]
) -> torch.Tensor:
    """Return the states [text, position, d_model] that enter a layer; those after it are not run.

    The caller holds ``loaded.lock``.

    Args:
        loaded: A network whose structure is known.
        layer: Which of its layers, from 0; a shared layer counts each time it is applied.
        inputs: Arguments of the encoder.
    """
    calls = 0

    def stop(_: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        nonlocal calls
        if calls == layer:
            raise _Reached(given[0] if given else named["hidden_states"])
        calls += 1

    handles = [
        module.register_forward_pre_hook(stop, with_kwargs=True) for module in _layers(loaded)
    ]
    try:
        loaded.network.base_model(**inputs)
    except _Reached as reached:
        return reached.states
    finally:
        for handle in handles:
            handle.remove()
    raise RuntimeError(f"{loaded.spec.name} has no layer {layer}")


def state_at(
    parts: LayerParts,
    states: torch.Tensor,
    is_read: torch.Tensor | None,
    where: tuple[torch.Tensor, torch.Tensor],
) -> torch.Tensor:
    """Return a layer's output [text, d_model] at one position of each text.

    Keys and values are those of all tokens; the query, the feed-forward block and both norms are
    computed at this position only.

    Args:
        parts: The layer.
        states: Its input [text, position, d_model].
        is_read: bool [text, 1, 1, position], False for padding; None where no text is padded.
        where: Indices of the texts and of their positions.
    """
    own = states[where]
    query = parts.by_head(parts.query(own)[:, None])
    key, value = parts.by_head(parts.key(states)), parts.by_head(parts.value(states))
    read = functional.scaled_dot_product_attention(query, key, value, is_read).flatten(1)
    attended = parts.attention_norm(parts.output(read) + own)
    return parts.norm(parts.feed_forward(attended)[1] + attended)


def states_after(
    parts: LayerParts, states: torch.Tensor, is_read: torch.Tensor | None
) -> torch.Tensor:
    """Return a layer's output [text, position, d_model]; its arguments are as in ``state_at``."""
    query, key, value = (
        parts.by_head(product(states)) for product in (parts.query, parts.key, parts.value)
    )
    read = functional.scaled_dot_product_attention(query, key, value, is_read)
    attended = parts.attention_norm(parts.output(read.transpose(-3, -2).flatten(-2)) + states)
    return parts.norm(parts.feed_forward(attended)[1] + attended)


def tokens_read(inputs: Mapping[str, torch.Tensor]) -> torch.Tensor | None:
    """Return which tokens are no padding, bool [text, 1, 1, position]; None where all are read."""
    mask = inputs.get("attention_mask")
    return None if mask is None else mask[:, None, None].bool()
