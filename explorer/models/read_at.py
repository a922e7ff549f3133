"""Rows that are read at one position each: the last state there, and the head on many of them."""

from collections.abc import Sequence

import numpy as np
import torch

from explorer.models.forward import apply_head, array_of, batch_inputs, encoding_of
from explorer.models.half import read_states
from explorer.models.layer_parts import known_parts, state_at, states_before, tokens_read
from explorer.models.loading import LoadedModel
from explorer.models.run import HEAD_ROWS, MaskedRow, read_only


@torch.inference_mode()
def mask_states(
    loaded: LoadedModel, rows: Sequence[MaskedRow], is_half: bool = False
) -> np.ndarray:
    """Return the last hidden state float32 [row, d_model] at each row's position.

    The last layer is computed at these positions only, where the network's structure is known; ln P
    differs by about 3e-6 from that of the whole layer.

    Args:
        loaded: The network.
        rows: Rows of one batch.
        is_half: True: the layers run in bfloat16, see ``half.read_states``.
    """
    if is_half:
        return array_of(read_states(loaded, rows)[: len(rows)])
    inputs = batch_inputs(loaded, rows)
    positions = torch.tensor([row.position for row in rows], device=loaded.device)
    where = torch.arange(len(rows), device=loaded.device), positions
    with encoding_of(loaded):
        if parts := known_parts(loaded):
            states = states_before(loaded, len(parts) - 1, inputs)
            return array_of(state_at(parts[-1], states, tokens_read(inputs), where))
        return array_of(loaded.network.base_model(**inputs).last_hidden_state[where])


@torch.inference_mode()
def vocabulary_rows(loaded: LoadedModel, states: np.ndarray, is_half: bool = False) -> np.ndarray:
    """Return log-probabilities float32 [row, vocabulary] of ``mask_states``; see ``_logits``."""
    return array_of(_logits(loaded, states, is_half).log_softmax(-1))


@torch.inference_mode()
def target_rows(
    loaded: LoadedModel, states: np.ndarray, targets: Sequence[int], is_half: bool = False
) -> np.ndarray:
    """Return float64 [row, 2]: log-probability and rank (1 = likeliest) of each row's target.

    The rows are those of ``mask_states``. The vocabulary stays on the device.
    """
    logits = _logits(loaded, states, is_half)
    target = logits.gather(1, torch.tensor(targets, device=logits.device)[:, None])
    ranks = 1 + (logits > target).sum(-1)
    log_probs = _float64(target[:, 0]) - _float64(_log_sum(logits))
    return read_only(torch.stack([log_probs, _float64(ranks)], 1).numpy())


def masked_targets(
    loaded: LoadedModel, rows: Sequence[MaskedRow], targets: Sequence[int]
) -> np.ndarray:
    """Return ``target_rows`` of one batch of rows."""
    return target_rows(loaded, mask_states(loaded, rows), targets)


def _log_sum(logits: torch.Tensor) -> torch.Tensor:
    """Return ln(sum exp z) [row]; of the operations that every accelerator has."""
    largest = logits.amax(-1)
    return largest + (logits - largest[:, None]).exp().sum(-1).log()


def _float64(values: torch.Tensor) -> torch.Tensor:
    return values.cpu().double()  # not every accelerator has float64


def _logits(loaded: LoadedModel, states: np.ndarray, is_half: bool) -> torch.Tensor:
    """Return logits float32 [row, vocabulary] of states float32 [row, d_model].

    Those of a list in bfloat16 are filled up to ``HEAD_ROWS``: products of one shape, and a row has
    the same bits in any list.
    """
    filled = np.zeros((HEAD_ROWS if is_half else len(states), states.shape[1]), np.float32)
    filled[: len(states)] = states
    with loaded.lock:
        dtype = next(loaded.network.parameters()).dtype
        given = torch.from_numpy(filled).to(loaded.device, dtype)
        return apply_head(loaded, given)[: len(states)].float()
