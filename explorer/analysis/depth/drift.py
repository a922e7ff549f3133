"""How differently two heads look, and how one shared head changes from layer to layer."""

import itertools
from dataclasses import dataclass

import numpy as np

from explorer.analysis.alignment import Alignment
from explorer.analysis.measures import entropy
from explorer.models.run import read_only


@dataclass(frozen=True, slots=True, eq=False)
class SharedDrift:
    """How the heads of one shared layer change with each application."""

    step: np.ndarray
    """[application - 1, head]: JS in nats between one application and the next."""
    from_first: np.ndarray
    """[application, head]: JS in nats from the first application; row 0 is 0."""


def content_rows(alignment: Alignment) -> list[int]:
    """The rows heads are compared on: the words of the text, or all if there are none."""
    return list(alignment.content) or list(range(len(alignment)))


def head_divergence(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """How differently heads look: JS of each row, averaged; [.., row, word] twice to [a, b].

    ``JS(p, q) = H((p + q) / 2) - (H(p) + H(q)) / 2``, which takes one logarithm per pair and cell.
    """
    a, b = (x.reshape(-1, *x.shape[-2:]).astype(np.float64) for x in (first, second))
    own_a, own_b = entropy(a).mean(-1), entropy(b).mean(-1)
    both = np.stack([entropy((head + b) / 2).mean(-1) for head in a])
    return np.maximum(both - (own_a[:, None] + own_b[None]) / 2, 0.0)


def shared_drift(attention: np.ndarray, alignment: Alignment) -> SharedDrift:
    """What the same weights do when they are applied again: JS from application to application."""
    rows = attention[:, :, content_rows(alignment)]
    n_heads = attention.shape[1]
    step = [np.diagonal(head_divergence(a, b)) for a, b in itertools.pairwise(rows)]
    first = [np.diagonal(head_divergence(rows[0], b)) for b in rows]
    return SharedDrift(read_only(np.array(step).reshape(-1, n_heads)), read_only(np.array(first)))
