"""States carried from one text into another, at one layer, on their way through the network."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from torch import nn

from explorer.models.forward import apply_head, inputs_of
from explorer.models.inside.hooks import hooked
from explorer.models.loading import LoadedModel
from explorer.models.rows import Patch
from explorer.models.run import read_only
from explorer.models.tokens import Tokens


@contextmanager
def states_carried(
    loaded: LoadedModel, patches: Sequence[Patch], states: np.ndarray
) -> Iterator[None]:
    """Let every patch join the pass at its layer, as one more row of the batch.

    So a patch costs the layers that follow it and no others. The caller holds ``loaded.lock``,
    and the batch begins with one row. A layer is known by the order of the calls, since ALBERT's
    one layer is called for all.

    Args:
        loaded: The network.
        patches: In the order of their layers, which is the order of their rows.
        states: What is carried: float [layer + 1, position, d_model].
    """
    calls = [0]

    def join(_: nn.Module, arguments: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        hidden, layer = arguments[0], calls[0]
        calls[0] += 1
        carried = torch.tensor(states[layer]).to(hidden)
        rows = [hidden]
        for patch in (one for one in patches if one.layer == layer):
            row = hidden[:1].clone()
            row[0, list(patch.positions)] = carried[list(patch.positions)]
            rows.append(row)
        return (torch.cat(rows), *arguments[1:])

    with hooked(loaded, loaded.spec.kind.layer, join):
        yield


@torch.inference_mode()
def patched_logits(
    loaded: LoadedModel, tokens: Tokens, patches: Sequence[Patch], states: np.ndarray
) -> np.ndarray:
    """What the model answers at a text's masks with each patch, all of them in one pass.

    Args:
        loaded: The network; its lock is held for the pass.
        tokens: The text that is carried into.
        patches: In the order of their layers.
        states: The other text's states, float [layer + 1, position, d_model].

    Returns:
        Logits, float32 [patch, mask, vocabulary].

    Raises:
        ValueError: the patches do not follow their layers, or the texts differ in length.
    """
    layers = [patch.layer for patch in patches]
    if layers != sorted(layers) or states.shape[1] != len(tokens):
        raise ValueError("patches in the order of their layers, between texts of one length")
    inputs = inputs_of(loaded, tokens)
    with loaded.lock, states_carried(loaded, patches, states):
        hidden = loaded.network.base_model(**inputs).last_hidden_state
        logits = apply_head(loaded, hidden[1:][:, list(tokens.mask_positions)])
    return read_only(logits.float().cpu().numpy())
