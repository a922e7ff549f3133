"""Many masked versions of a text through one network: a batch at a time, the head at one token."""

from collections.abc import Sequence

import numpy as np
import torch

from explorer.models.forward import apply_head
from explorer.models.loading import LoadedModel
from explorer.models.rows import MaskedRow
from explorer.models.run import read_only


@torch.inference_mode()
def row_logits(loaded: LoadedModel, rows: Sequence[MaskedRow]) -> np.ndarray:
    """Logits float32 [row, vocabulary] at each row's position; the rows have one length.

    Raises:
        ValueError: the rows differ in length (padding would change nothing but cost time).
    """
    if len({len(row.ids) for row in rows}) != 1:
        raise ValueError("rows of one batch must have one length")
    inputs = {"input_ids": torch.tensor([row.ids for row in rows], device=loaded.device)}
    if loaded.spec.architecture.n_segments > 1:
        segments = [row.segments for row in rows]
        inputs["token_type_ids"] = torch.tensor(segments, device=loaded.device)
    positions = torch.tensor([row.position for row in rows], device=loaded.device)
    with loaded.lock:
        hidden = loaded.network.base_model(**inputs).last_hidden_state
        chosen = hidden[torch.arange(len(rows), device=loaded.device), positions]
        logits = apply_head(loaded, chosen)
    return read_only(logits.float().cpu().numpy())
