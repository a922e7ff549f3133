"""One token's way through one layer, computed again from the state that the layer was given."""

from dataclasses import dataclass

import numpy as np
import torch

from explorer.models.forward import inputs_of
from explorer.models.inside.parts import parts_of
from explorer.models.loading import LoadedModel
from explorer.models.run import read_only
from explorer.models.tokens import Tokens


@dataclass(frozen=True, slots=True, eq=False)
class LayerStations:
    """The vectors and scores of one token in one layer and head; all float32."""

    query: np.ndarray
    """[d_head]."""
    keys: np.ndarray
    """[position, d_head]; so are the values."""
    values: np.ndarray
    scores: np.ndarray
    """[position]: ``q . k / sqrt(d_head)``."""
    read: np.ndarray
    """[d_head]: the values weighted by the softmax of the scores."""
    heads: np.ndarray
    """[head, d_model]: what each head adds to the projection, which besides has its bias."""
    projection: np.ndarray
    """[d_model]; so is every vector that follows, but the units."""
    attended: np.ndarray
    """Input + projection."""
    attention_norm: np.ndarray
    units: np.ndarray
    """[d_ffn], after the activation."""
    unit_lengths: np.ndarray
    """[d_ffn]: how long the vector is that each unit writes, its weights times its value."""
    feed_forward: np.ndarray
    summed: np.ndarray
    """What the attention block gave + feed_forward."""
    output: np.ndarray
    scale: np.ndarray
    """[2, d_model], of the two normalisations; so is the shift."""
    shift: np.ndarray
    eps: float


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddingStations:
    """What one token's embedding is the sum of; float32 [d_embedding] unless said."""

    word: np.ndarray
    position: np.ndarray
    segment: np.ndarray | None
    """None where the model has no segments."""
    normalised: np.ndarray
    """The sum after its layer norm; projected to d_model where the embedding is factorised."""


@torch.inference_mode()
def layer_stations(
    loaded: LoadedModel, states: np.ndarray, layer: int, head: int, position: int
) -> LayerStations:
    """One token's way through a layer, from the states [position, d_model] that it was given.

    The operations of the network itself, in its own precision; nothing is kept of a run for this.
    """
    with loaded.lock:
        parts = parts_of(loaded)[layer]
        weight = parts.query.weight
        given = torch.tensor(states).to(weight.device, weight.dtype)
        query, keys, values, scores, read = parts.attended(given, position)
        projection = parts.output(read.flatten())
        heads = torch.einsum("hv,ohv->ho", read, parts.output.weight.unflatten(-1, read.shape))
        attended = given[position] + projection
        after_attention = parts.attention_norm(attended)
        units, written = parts.feed_forward(after_attention)
        summed = after_attention + written
        norms = (parts.attention_norm, parts.norm)
        return LayerStations(
            _array(query[head, 0]),
            _array(keys[head]),
            _array(values[head]),
            _array(scores[head, 0]),
            _array(read[head]),
            _array(heads),
            _array(projection),
            _array(attended),
            _array(after_attention),
            _array(units),
            _array(units.abs() * parts.outer.weight.square().sum(0).sqrt()),
            _array(written),
            _array(summed),
            _array(parts.norm(summed)),
            _array(torch.stack([norm.weight for norm in norms])),
            _array(torch.stack([norm.bias for norm in norms])),
            float(parts.norm.eps),
        )


@torch.inference_mode()
def embedding_stations(loaded: LoadedModel, tokens: Tokens, position: int) -> EmbeddingStations:
    """The rows that are summed for one token, before and after the layer norm."""
    embeddings = loaded.network.base_model.embeddings
    place = position + loaded.spec.kind.first_position
    rows = {"word": (embeddings.word_embeddings, tokens.ids[position])}
    rows["position"] = (embeddings.position_embeddings, place)
    if "token_type_ids" in inputs_of(loaded, tokens):
        rows["segment"] = (embeddings.token_type_embeddings, tokens.segments[position])
    found = {name: table.weight[index] for name, (table, index) in rows.items()}
    total = torch.stack(list(found.values())).sum(0)
    arrays = {name: _array(row) for name, row in found.items()}
    normalised = _array(embeddings.LayerNorm(total))
    return EmbeddingStations(arrays["word"], arrays["position"], arrays.get("segment"), normalised)


@torch.inference_mode()
def block_states(loaded: LoadedModel, states: np.ndarray, position: int) -> np.ndarray:
    """One token's state after the embedding and after every attention and feed-forward block.

    From the hidden states [layer + 1, position, d_model] of a run. Returns float32
    [1 + 2 x layers, d_model]: the state after layer k is row 2 k.
    """
    rows = [states[0, position]]
    with loaded.lock:
        for parts, before, after in zip(parts_of(loaded), states, states[1:], strict=False):
            weight = parts.query.weight
            given = torch.tensor(before).to(weight.device, weight.dtype)
            read = parts.attended(given, position)[-1]
            attended = parts.attention_norm(given[position] + parts.output(read.flatten()))
            rows += [_array(attended), after[position]]
    return read_only(np.stack(rows))


def _array(tensor: torch.Tensor) -> np.ndarray:
    return read_only(tensor.float().cpu().numpy())
