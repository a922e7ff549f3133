"""Queries, keys, value norms, gradients and weights, read from a network."""

import re
from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from explorer.models.forward import apply_head, inputs_of
from explorer.models.inside.activations import LayerParts, parts_of
from explorer.models.loading import LoadedModel, leased
from explorer.models.run import read_only
from explorer.models.specs import ModelSpec
from explorer.models.tokens import Tokens


def attention_gradients(
    loaded: LoadedModel, tokens: Tokens, position: int, token_id: int
) -> np.ndarray:
    """Compute the gradient of one word's logit at one position in every attention weight.

    Returns ``dy/da`` as float32 [layer, head, query, key], the weights taken after softmax.
    """
    inputs = inputs_of(loaded, tokens)
    with loaded.lock, torch.enable_grad():
        embedded = loaded.network.get_input_embeddings()(inputs.pop("input_ids"))
        # The weights are frozen: gradients start at the embeddings instead.
        out = loaded.network.base_model(
            inputs_embeds=embedded.detach().requires_grad_(), output_attentions=True, **inputs
        )
        logit = apply_head(loaded, out.last_hidden_state[0, position])[token_id]
        gradients = torch.autograd.grad(logit, out.attentions)
    return read_only(torch.cat(gradients).float().cpu().numpy())


@torch.inference_mode()
def queries_and_keys(loaded: LoadedModel, tokens: Tokens) -> tuple[np.ndarray, np.ndarray]:
    """Return query and key vectors, float32 [layer, head, position, d_head], caught by hooks.

    ``softmax(q k^T / sqrt(d_head))`` over keys is the attention. The calls come in the order of the
    layers; ALBERT's one layer is called once for each application.
    """
    caught: tuple[list[torch.Tensor], list[torch.Tensor]] = ([], [])
    patterns = (loaded.spec.kind.query, loaded.spec.kind.key)
    with loaded.lock:
        handles = [
            module.register_forward_hook(_appending_hook(into))
            for pattern, into in zip(patterns, caught, strict=True)
            for name, module in loaded.network.base_model.named_modules()
            if re.search(pattern, name)
        ]
        try:
            loaded.network.base_model(**inputs_of(loaded, tokens))
        finally:
            for handle in handles:
                handle.remove()
    queries, keys = (_by_head(layers, loaded.spec.architecture.n_heads) for layers in caught)
    return queries, keys


def _appending_hook(
    outputs: list[torch.Tensor],
) -> Callable[[nn.Module, tuple, torch.Tensor], None]:
    def hook(_: nn.Module, __: tuple, output: torch.Tensor) -> None:
        outputs.append(output[0])

    return hook


def _by_head(layers: list[torch.Tensor], n_heads: int) -> np.ndarray:
    stacked = torch.stack(layers).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    return read_only(stacked.float().cpu().numpy())


@torch.inference_mode()
def value_norms(loaded: LoadedModel, states: np.ndarray) -> np.ndarray:
    """Compute the norm of each head's transformed value vectors: ``|W_O (W_V x + b_V)|``.

    Uses the hidden states [layer + 1, key, d_model] of a run; no network is run again. Returns
    float32 [layer, head, key] (Kobayashi et al. 2020, equation 4).
    """
    layers = zip(parts_of(loaded), states[:-1], strict=True)
    return read_only(np.stack([_norms(parts, before) for parts, before in layers]))


def _norms(parts: LayerParts, states: np.ndarray) -> np.ndarray:
    weight = parts.value.weight
    heads = parts.by_head(parts.value(torch.tensor(states).to(weight.device, weight.dtype)))
    output = parts.output.weight.unflatten(-1, (parts.n_heads, -1))
    return torch.einsum("hkv,ohv->hko", heads, output).norm(dim=-1).float().cpu().numpy()


_MATRICES = ("query", "key", "value", "output", "inner", "outer")
"""Names of the six weight matrices of a layer."""


@torch.inference_mode()
def layer_cosines(student: LoadedModel, teacher: LoadedModel) -> np.ndarray:
    """Compute cosines [student layer, teacher layer] of the six concatenated weight matrices.

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
    """Compute ``layer_cosines`` of a network and another, which is loaded for it.

    Raises:
        ModelUnavailable: the other cannot be loaded. ValueError: the two cannot be compared.
    """
    with leased(teacher, student.device, student.dtype) as other:
        return layer_cosines(student, other)


def _matrices(loaded: LoadedModel) -> dict[str, torch.Tensor]:
    """Return the six weight matrices by name, float32 [layer, weights of the matrix, flattened]."""
    if loaded.spec.architecture.shares_layers:
        raise ValueError(f"{loaded.spec.label} has no weights of its own in each layer.")
    layers = parts_of(loaded)
    return {
        name: torch.stack([getattr(parts, name).weight.float().flatten() for parts in layers])
        for name in _MATRICES
    }
