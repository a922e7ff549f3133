"""Heads switched off: their output is set to zero before the output projection mixes the heads."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import nn

from explorer.models.forward import apply_head, inputs_of
from explorer.models.inside.hooks import hooked
from explorer.models.loading import LoadedModel
from explorer.models.run import read_only
from explorer.models.tokens import Tokens


@contextmanager
def heads_kept(loaded: LoadedModel, kept: torch.Tensor) -> Iterator[None]:
    """Multiply every head's output by its entry of ``kept`` [batch, layer, head] while inside.

    The caller holds ``loaded.lock``: until the hooks are gone the network answers nobody else.
    A layer is known by the order of the calls, since ALBERT's one layer is called for all.
    """
    n_layers, calls = loaded.spec.architecture.n_layers, [0]

    def switch(_: nn.Module, arguments: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        context = arguments[0]
        layer, calls[0] = calls[0] % n_layers, calls[0] + 1
        heads = context.unflatten(-1, (kept.shape[2], -1))
        return ((heads * kept[:, None, layer, :, None]).flatten(-2), *arguments[1:])

    with hooked(loaded, loaded.spec.kind.output, switch):
        yield


@torch.inference_mode()
def ablated_logits(loaded: LoadedModel, tokens: Tokens, kept: np.ndarray) -> np.ndarray:
    """What the model answers at the masks with heads switched off, many variants in one batch.

    Args:
        loaded: The network; its lock is held for the one forward pass.
        tokens: The text.
        kept: bool [variant, layer, head], False where a head is off.

    Returns:
        Logits, float32 [variant, mask, vocabulary].
    """
    inputs = {
        name: value.expand(len(kept), -1) for name, value in inputs_of(loaded, tokens).items()
    }
    dtype = next(loaded.network.parameters()).dtype
    factors = torch.tensor(kept, device=loaded.device).to(dtype)
    with loaded.lock, heads_kept(loaded, factors):
        hidden = loaded.network.base_model(**inputs).last_hidden_state
        logits = apply_head(loaded, hidden[:, list(tokens.mask_positions)])
    return read_only(logits.float().cpu().numpy())


def one_head_off(n_layers: int, n_heads: int, layer: int) -> np.ndarray:
    """The variants that switch off one head of a layer at a time: bool [head, layer, head]."""
    kept = np.ones((n_heads, n_layers, n_heads), dtype=bool)
    kept[np.arange(n_heads), layer, np.arange(n_heads)] = False
    return kept
