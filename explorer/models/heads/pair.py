"""The sentence-pair head: two scores from what the encoder left at [CLS]."""

import numpy as np
import torch

from explorer.models.loading import LoadedModel
from explorer.models.run import Run, read_only


def has_pair_head(loaded: LoadedModel) -> bool:
    """Whether the checkpoint holds every weight that its pair head reads."""
    head = loaded.spec.kind.pair
    return head is not None and not any(
        part in name for name in loaded.missing for part in (head.weights, "pooler")
    )


@torch.inference_mode()
def pair_logits(loaded: LoadedModel, run: Run) -> np.ndarray:
    """The pair head's scores of a run, float32 [2]: in order, not in order. The encoder rests.

    Raises:
        ValueError: the checkpoint has no such head, so that it would say anything.
    """
    head = loaded.spec.kind.pair
    if head is None or not has_pair_head(loaded):
        raise ValueError(f"{loaded.spec.label} has no trained sentence-pair head.")
    dtype = next(loaded.network.parameters()).dtype
    first = torch.tensor(run.hidden_states[-1][None, :1]).to(loaded.device, dtype)
    return read_only(head.scores(loaded.network, first)[0].float().cpu().numpy())
