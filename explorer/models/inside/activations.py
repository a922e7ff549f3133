"""Inside of a network: activations of a layer recomputed part by part; weights and gradients."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from explorer.models.forward import apply_head, inputs_of
from explorer.models.layer_parts import LayerParts, parts_of
from explorer.models.loading import LoadedModel, leased
from explorer.models.run import read_only
from explorer.models.specs import ModelSpec
from explorer.models.tokens import Tokens


@contextmanager
def hooked(loaded: LoadedModel, pattern: str, hook: Callable[..., Any]) -> Iterator[None]:
    """Call ``hook`` before every module of the encoder whose name matches, while inside.

    The caller holds ``loaded.lock``: the hooks affect every pass of the network.
    """
    modules = loaded.network.base_model.named_modules()
    named = [module for name, module in modules if re.search(pattern, name)]
    handles = [module.register_forward_pre_hook(hook) for module in named]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


MAX_SHOWN = 8
"""Dimensions of a vector that are shown as numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class Normalisation:
    """A layer norm of one vector: ``(x - mean) / sqrt(variance + eps) * scale + shift``."""

    eps: float
    inputs: np.ndarray
    """Input [d]; so are the next three."""
    scale: np.ndarray
    shift: np.ndarray
    outputs: np.ndarray

    @classmethod
    def of(cls, module: nn.LayerNorm, vector: torch.Tensor) -> "Normalisation":
        """Return the layer norm of a vector, with its parameters."""
        vectors = (vector, module.weight, module.bias, module(vector))
        return cls(float(module.eps), *map(_array, vectors))


@dataclass(frozen=True, slots=True, eq=False)
class LayerActivations:
    """The vectors and scores of one token in one layer and head; all float32."""

    query: np.ndarray
    """[d_head]."""
    keys: np.ndarray
    """[position, d_head]; so are the values."""
    values: np.ndarray
    scores: np.ndarray
    """[position]: ``q . k / sqrt(d_head)``."""
    head_output: np.ndarray
    """[d_head]: the values weighted by the softmax of the scores."""
    heads: np.ndarray
    """[head, d_model]: contribution of each head to the projection, which also has a bias."""
    projection: np.ndarray
    """[d_model]; so are all following vectors except the units."""
    attention_norm: Normalisation
    """Layer norm of input + projection."""
    units: np.ndarray
    """[d_ffn], after the activation."""
    unit_lengths: np.ndarray
    """[d_ffn]: norm of each unit's contribution to the output, |activation x weights|."""
    feed_forward: np.ndarray
    norm: Normalisation
    """Layer norm of the attention block's output + feed_forward."""

    @property
    def vectors(self) -> dict[str, np.ndarray]:
        """The vectors [d_model] by station, in their order."""
        return {
            "projection": self.projection,
            "attended": self.attention_norm.inputs,
            "attention_norm": self.attention_norm.outputs,
            "feed_forward": self.feed_forward,
            "summed": self.norm.inputs,
            "output": self.norm.outputs,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Projected:
    """Projection of a factorised embedding to d_model, with its largest dimensions in detail."""

    result: np.ndarray
    """[d_model]."""
    shown: np.ndarray
    """int64: the dimensions shown, largest first."""
    weight: np.ndarray
    """[shown, d_embedding]: the result is this times the normalised sum, plus the bias."""
    bias: np.ndarray
    """[shown]."""


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddingActivations:
    """Summands of one token's embedding; float32 [d_embedding] unless noted."""

    word: np.ndarray
    position: np.ndarray
    segment: np.ndarray | None
    """None where the model has no segments."""
    norm: Normalisation
    """Layer norm of their sum."""
    projected: Projected | None
    """None where the embedding is not factorised."""


@torch.inference_mode()
def layer_activations(
    loaded: LoadedModel, states: np.ndarray, layer: int, head: int, position: int
) -> LayerActivations:
    """Compute one token's intermediate results in a layer from its input [position, d_model].

    Uses the network's own modules and precision; a run does not have to keep any of this.
    """
    with loaded.lock:
        parts = parts_of(loaded)[layer]
        weight = parts.query.weight
        inputs = torch.tensor(states).to(weight.device, weight.dtype)
        query, keys, values, scores, read = parts.attended(inputs, position)
        projection = parts.output(read.flatten())
        heads = torch.einsum("hv,ohv->ho", read, parts.output.weight.unflatten(-1, read.shape))
        attended = inputs[position] + projection
        units, ffn_output = parts.feed_forward(after := parts.attention_norm(attended))
        return LayerActivations(
            _array(query[head, 0]),
            _array(keys[head]),
            _array(values[head]),
            _array(scores[head, 0]),
            _array(read[head]),
            _array(heads),
            _array(projection),
            Normalisation.of(parts.attention_norm, attended),
            _array(units),
            _array(units.abs() * parts.outer.weight.square().sum(0).sqrt()),
            _array(ffn_output),
            Normalisation.of(parts.norm, after + ffn_output),
        )


@torch.inference_mode()
def embedding_activations(
    loaded: LoadedModel, tokens: Tokens, position: int
) -> EmbeddingActivations:
    """Return the embedding rows of one token, the layer norm of their sum, and the projection."""
    embeddings = loaded.network.base_model.embeddings
    shape = loaded.spec.architecture
    position_row = position + loaded.spec.kind.first_position
    rows = [embeddings.word_embeddings.weight[tokens.ids[position]]]
    rows.append(embeddings.position_embeddings.weight[position_row])
    if shape.n_segments:
        # A single row is added to every token, those of a pair's second sentence too.
        segment = tokens.segments[position] if shape.n_segments > 1 else 0
        rows.append(embeddings.token_type_embeddings.weight[segment])
    word, position_embedding, *segments = map(_array, rows)
    norm = Normalisation.of(embeddings.LayerNorm, torch.stack(rows).sum(0))
    projected = _projected(loaded, norm) if shape.has_projection else None
    return EmbeddingActivations(
        word, position_embedding, segments[0] if segments else None, norm, projected
    )


def _projected(loaded: LoadedModel, norm: Normalisation) -> Projected:
    module = loaded.network.base_model.encoder.embedding_hidden_mapping_in
    normalised = torch.tensor(norm.outputs).to(module.weight.device, module.weight.dtype)
    result = module(normalised)
    largest = result.abs().argsort(descending=True, stable=True)[:MAX_SHOWN]
    vectors = (result, module.weight[largest], module.bias[largest])
    result_array, weight, bias = map(_array, vectors)
    return Projected(result_array, read_only(largest.cpu().numpy()), weight, bias)


@torch.inference_mode()
def block_states(loaded: LoadedModel, states: np.ndarray, position: int) -> np.ndarray:
    """Return one token's state after the embedding and after every attention and FFN block.

    Uses the hidden states [layer + 1, position, d_model] of a run. Returns float32
    [1 + 2 x layers, d_model]: the state after layer k is row 2 k.
    """
    rows = [states[0, position]]
    with loaded.lock:
        for parts, before, after in zip(parts_of(loaded), states, states[1:], strict=False):
            weight = parts.query.weight
            inputs = torch.tensor(before).to(weight.device, weight.dtype)
            read = parts.attended(inputs, position)[-1]
            attended = parts.attention_norm(inputs[position] + parts.output(read.flatten()))
            rows += [_array(attended), after[position]]
    return read_only(np.stack(rows))


def _array(tensor: torch.Tensor) -> np.ndarray:
    return read_only(tensor.float().cpu().numpy())


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


MATRICES = ("query", "key", "value", "output", "inner", "outer")
"""Names of the six weight matrices of a layer."""


@torch.inference_mode()
def layer_cosines(student: LoadedModel, teacher: LoadedModel) -> np.ndarray:
    """Compute cosines [student layer, teacher layer] of the six concatenated weight matrices.

    Raises:
        ValueError: the layers share their weights, or the matrices differ in shape.
    """
    s, t = _matrices(student), _matrices(teacher)
    if any(s[role].shape[1] != t[role].shape[1] for role in MATRICES):
        raise ValueError(f"{student.spec.label} and {teacher.spec.label} differ in width.")
    dot = torch.stack([s[role] @ t[role].T for role in MATRICES]).sum(0)
    s_norm, t_norm = (
        torch.stack([(m[role] ** 2).sum(1) for role in MATRICES]).sum(0).sqrt() for m in (s, t)
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
        for name in MATRICES
    }
