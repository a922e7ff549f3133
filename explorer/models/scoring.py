"""Many masked versions of a text through one network: in batches, the head at one token each."""

from collections.abc import Sequence

import numpy as np
import torch

from explorer.models.forward import apply_head
from explorer.models.loading import LoadedModel
from explorer.models.run import MaskedRow, read_only


@torch.inference_mode()
def row_logits(loaded: LoadedModel, rows: Sequence[MaskedRow]) -> np.ndarray:
    """Return logits float32 [row, vocabulary] at each row's position; rows of equal length.

    Raises:
        ValueError: the rows differ in length (padding would change nothing but cost time).
    """
    inputs, index = _inputs(loaded, rows)
    with loaded.lock:
        hidden = loaded.network.base_model(**inputs).last_hidden_state
        logits = apply_head(loaded, hidden[index])
    return read_only(logits.float().cpu().numpy())


@torch.inference_mode()
def row_states(loaded: LoadedModel, rows: Sequence[MaskedRow]) -> np.ndarray:
    """Return hidden states float32 [row, layer + 1, d_model] at each row's position.

    Raises:
        ValueError: the rows differ in length.
    """
    inputs, index = _inputs(loaded, rows)
    with loaded.lock:
        out = loaded.network.base_model(**inputs, output_hidden_states=True)
    states = torch.stack([layer[index] for layer in out.hidden_states], 1)
    return read_only(states.float().cpu().numpy())


def _inputs(
    loaded: LoadedModel, rows: Sequence[MaskedRow]
) -> tuple[dict[str, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]:
    """Return the encoder's arguments, and the index of each row's position."""
    if len({len(row.ids) for row in rows}) != 1:
        raise ValueError("rows of one batch must have one length")
    inputs = {"input_ids": torch.tensor([row.ids for row in rows], device=loaded.device)}
    if loaded.spec.architecture.n_segments > 1:
        segments = [row.segments for row in rows]
        inputs["token_type_ids"] = torch.tensor(segments, device=loaded.device)
    positions = torch.tensor([row.position for row in rows], device=loaded.device)
    return inputs, (torch.arange(len(rows), device=loaded.device), positions)
