"""How similar the weights of two networks' layers are: the trace of an initialisation."""

import numpy as np
import torch

from explorer.models.inside.parts import parts_of
from explorer.models.loading import LoadedModel, leased
from explorer.models.specs import ModelSpec

_MATRICES = ("query", "key", "value", "output", "inner", "outer")
"""The six weight matrices of a layer."""


@torch.inference_mode()
def layer_cosines(student: LoadedModel, teacher: LoadedModel) -> np.ndarray:
    """Cosine [student layer, teacher layer] of all six matrices of a layer, laid end to end.

    Raises:
        ValueError: the layers share their weights, or the matrices differ in shape.
    """
    s, t = _matrices(student), _matrices(teacher)
    if any(s[role].shape[1] != t[role].shape[1] for role in _MATRICES):
        raise ValueError(f"{student.spec.label} and {teacher.spec.label} differ in width.")
    dot = torch.stack([s[role] @ t[role].T for role in _MATRICES]).sum(0)
    s_norm, t_norm = (
        torch.stack([(m[role] ** 2).sum(1) for role in _MATRICES]).sum(0).sqrt() for m in (s, t)
    )
    return (dot / s_norm[:, None] / t_norm).double().cpu().numpy()


def cosines_with(student: LoadedModel, teacher: ModelSpec) -> np.ndarray:
    """``layer_cosines`` of a network and another that is loaded beside it.

    Raises:
        ModelUnavailable: the other cannot be had. ValueError: the two cannot be compared.
    """
    with leased(teacher, student.device, student.dtype) as other:
        return layer_cosines(student, other)


def _matrices(loaded: LoadedModel) -> dict[str, torch.Tensor]:
    """By name [layer, weights of that matrix in a row]."""
    if loaded.spec.architecture.shares_layers:
        raise ValueError(f"{loaded.spec.label} has no weights of its own in each layer.")
    layers = parts_of(loaded)
    return {
        name: torch.stack([getattr(parts, name).weight.float().flatten() for parts in layers])
        for name in _MATRICES
    }
