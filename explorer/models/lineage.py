"""How similar the weights of two networks' layers are: the trace of an initialisation."""

import re

import numpy as np
import torch

from explorer.models.loading import LoadedModel, load_model
from explorer.models.specs import ModelSpec

_LAYER = re.compile(r"\.layer\.(\d+)\.(.+)\.weight$")
_ROLES = (
    ("query", r"attention\.(self\.query|q_lin)$"),
    ("key", r"attention\.(self\.key|k_lin)$"),
    ("value", r"attention\.(self\.value|v_lin)$"),
    ("output", r"attention\.(output\.dense|out_lin)$"),
    ("ffn_in", r"^(intermediate\.dense|ffn\.lin1)$"),
    ("ffn_out", r"^(output\.dense|ffn\.lin2)$"),
)
"""The six weight matrices of a layer by the names BERT and DistilBERT give them."""


@torch.inference_mode()
def layer_cosines(student: LoadedModel, teacher: LoadedModel) -> np.ndarray:
    """Cosine [student layer, teacher layer] of all six matrices of a layer, laid end to end.

    Raises:
        ValueError: a layer lacks one of the six, or the matrices differ in shape.
    """
    s, t = _matrices(student), _matrices(teacher)
    dot = torch.stack([s[role] @ t[role].T for role, _ in _ROLES]).sum(0)
    s_norm, t_norm = (
        torch.stack([(m[role] ** 2).sum(1) for role, _ in _ROLES]).sum(0).sqrt() for m in (s, t)
    )
    return (dot / s_norm[:, None] / t_norm).double().cpu().numpy()


def cosines_with(student: LoadedModel, teacher: ModelSpec) -> np.ndarray:
    """``layer_cosines`` of a network and another that is loaded beside it.

    Raises:
        ModelUnavailable: the other cannot be had. ValueError: the two cannot be compared.
    """
    return layer_cosines(student, load_model(teacher, student.device, student.dtype))


def _matrices(loaded: LoadedModel) -> dict[str, torch.Tensor]:
    """Role -> [layer, weights of that matrix in a row]."""
    found: dict[str, dict[int, torch.Tensor]] = {role: {} for role, _ in _ROLES}
    for name, weight in loaded.network.named_parameters():
        match = _LAYER.search(name)
        role = next((r for r, p in _ROLES if match and re.search(p, match.group(2))), None)
        if match and role:
            found[role][int(match.group(1))] = weight.float().flatten()
    if any(len(layers) != loaded.spec.architecture.n_layers for layers in found.values()):
        raise ValueError(f"{loaded.spec.label} has no weights of its own in each layer.")
    return {r: torch.stack([layers[i] for i in sorted(layers)]) for r, layers in found.items()}
