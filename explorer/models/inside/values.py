"""What each head would carry from each token: its value vector after the output projection."""

import re

import numpy as np
import torch
from torch import nn

from explorer.models.loading import LoadedModel
from explorer.models.run import read_only


@torch.inference_mode()
def value_norms(loaded: LoadedModel, states: np.ndarray) -> np.ndarray:
    """How long each head's transformed value vectors are: ``|W_O (W_V x + b_V)|``.

    From the hidden states [layer + 1, key, d_model] of a run, so no network is run again. Returns
    float32 [layer, head, key] (Kobayashi et al. 2020, equation 4).
    """
    values = _projections(loaded, loaded.spec.kind.value)
    outputs = _projections(loaded, loaded.spec.kind.output)
    n_heads = loaded.spec.architecture.n_heads
    norms = [
        _norms(values[i % len(values)], outputs[i % len(outputs)], layer, n_heads)
        for i, layer in enumerate(states[:-1])
    ]
    return read_only(np.stack(norms))


def _projections(loaded: LoadedModel, pattern: str) -> list[nn.Linear]:
    """One a layer; a single one where all layers share it."""
    modules = loaded.network.base_model.named_modules()
    return [module for name, module in modules if re.search(pattern, name)]


def _norms(value: nn.Linear, output: nn.Linear, states: np.ndarray, n_heads: int) -> np.ndarray:
    hidden = torch.tensor(states).to(value.weight.device, value.weight.dtype)
    heads = value(hidden).unflatten(-1, (n_heads, -1))
    carried = torch.einsum("khv,ohv->hko", heads, output.weight.unflatten(-1, (n_heads, -1)))
    return carried.norm(dim=-1).float().cpu().numpy()
