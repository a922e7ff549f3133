"""The parts of one layer as modules, whatever the model calls them."""

import re
from dataclasses import dataclass

import torch
from torch import nn

from explorer.models.kinds import ModelKind
from explorer.models.loading import LoadedModel


@dataclass(frozen=True, slots=True, eq=False)
class LayerParts:
    """One layer of post-norm attention and feed-forward, ready to be applied part by part."""

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
        """[position, d_model] to [head, position, d_head]."""
        return projected.unflatten(-1, (self.n_heads, -1)).transpose(0, 1)

    def attended(
        self, states: torch.Tensor, position: int
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Of one position: query [head, 1, d_head], keys, values, scores, what each head reads."""
        query = self.by_head(self.query(states[position : position + 1]))
        key = self.by_head(self.key(states))
        scores = query @ key.transpose(-1, -2) * key.shape[-1] ** -0.5
        value = self.by_head(self.value(states))
        return query, key, value, scores, (scores.softmax(-1) @ value)[:, 0]

    def feed_forward(self, state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The inner units [d_ffn] after their activation, and what they write [d_model]."""
        units = self.activation(self.inner(state))
        return units, self.outer(units)


def parts_of(loaded: LoadedModel) -> tuple[LayerParts, ...]:
    """The parts of every application of a layer, the same again and again where it is shared.

    Of several that are shared each is applied as often as the others, one after another.

    The caller holds ``loaded.lock`` while it applies one that others may have hooks on.
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
