"""The sentence-pair head: two scores from what the encoder left at [CLS]."""

import numpy as np
import torch

from explorer.models.loading import LoadedModel
from explorer.models.run import read_only


def has_pair_head(loaded: LoadedModel) -> bool:
    """Whether the checkpoint holds every weight that its pair head reads."""
    head = loaded.spec.kind.pair
    return head is not None and not any(
        part in name for name in loaded.missing for part in (head.weights, "pooler")
    )


@torch.inference_mode()
def pair_logits(loaded: LoadedModel, state: np.ndarray) -> np.ndarray:
    """The pair head's scores, float32 [2], of the last state of [CLS]: in order, not in order.

    Raises:
        ValueError: the checkpoint has no such head, so that it would say anything.
    """
    head = loaded.spec.kind.pair
    if head is None or not has_pair_head(loaded):
        raise ValueError(f"{loaded.spec.label} has no trained sentence-pair head.")
    dtype = next(loaded.network.parameters()).dtype
    first = torch.tensor(state[None, None]).to(loaded.device, dtype)
    return read_only(head.scores(loaded.network, first)[0].float().cpu().numpy())
