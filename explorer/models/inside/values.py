"""What each head would carry from each token: its value vector after the output projection."""

import numpy as np
import torch

from explorer.models.inside.parts import LayerParts, parts_of
from explorer.models.loading import LoadedModel
from explorer.models.run import read_only


@torch.inference_mode()
def value_norms(loaded: LoadedModel, states: np.ndarray) -> np.ndarray:
    """How long each head's transformed value vectors are: ``|W_O (W_V x + b_V)|``.

    From the hidden states [layer + 1, key, d_model] of a run, so no network is run again. Returns
    float32 [layer, head, key] (Kobayashi et al. 2020, equation 4).
    """
    layers = zip(parts_of(loaded), states[:-1], strict=True)
    return read_only(np.stack([_norms(parts, before) for parts, before in layers]))


def _norms(parts: LayerParts, states: np.ndarray) -> np.ndarray:
    weight = parts.value.weight
    heads = parts.by_head(parts.value(torch.tensor(states).to(weight.device, weight.dtype)))
    each = parts.output.weight.unflatten(-1, (parts.n_heads, -1))
    return torch.einsum("hkv,ohv->hko", heads, each).norm(dim=-1).float().cpu().numpy()
