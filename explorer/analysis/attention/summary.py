"""All of a model's attention in one matrix, in four ways that mean different things."""

from dataclasses import dataclass

import numpy as np

from explorer.analysis.alignment import Alignment


@dataclass(frozen=True, slots=True)
class Drawn:
    """What one word draws on in one model: shares of its row, the words apart from the rest."""

    query: str
    best: str
    """The other word with the largest share; empty where no word has more than the next one."""
    share: float
    apart: tuple[str, ...]
    """What is no other word: [CLS] and [SEP], punctuation, the word itself."""
    apart_share: float
    n_others: int
    """Other words of the text: with fewer than two there is none to be more than."""


def drawn_on(matrix: np.ndarray, alignment: Alignment) -> Drawn | None:
    """What the first mask, or else the last word, draws on; None for a row of zeros.

    Two words whose shares print as the same whole per cent tie.
    """
    words = alignment.words
    masks = [i for i, word in enumerate(words) if word.is_mask]
    query = (masks or alignment.content or range(len(words)))[0 if masks else -1]
    if not matrix[query].sum() > 0:
        return None
    row = matrix[query] / matrix[query].sum()
    others = [i for i in alignment.content if i != query and any(map(str.isalnum, words[i].text))]
    first, second = (*sorted((row[i] for i in others), reverse=True), 0.0, 0.0)[:2]
    stands_out = round(100 * first) > round(100 * second)
    best = words[others[int(row[others].argmax())]].text if stands_out else ""
    signs = [i for i in alignment.content if i != query and i not in others]
    added = dict.fromkeys(word.text for i, word in enumerate(words) if word.special and i != query)
    apart = (*added, *(["punctuation"] if signs else []), "itself")
    rest = float(1 - row[others].sum())
    return Drawn(words[query].text, best, float(first), apart, rest, len(others))


def mean_attention(attention: np.ndarray) -> np.ndarray:
    """Where tokens look on average: the mean over all layers and heads, [query, key]."""
    return attention.mean((0, 1), dtype=np.float64)


def attention_rollout(attention: np.ndarray) -> np.ndarray:
    """How much of each input token reaches each output position, following attention alone.

    ``R = A_L ... A_2 A_1`` with ``A_l = (mean over heads + I) / 2``: the identity stands for the
    residual connection and a new layer multiplies from the left (Abnar & Zuidema 2020).
    """
    identity = np.eye(attention.shape[-1])
    rollout = identity
    for layer in attention.mean(1, dtype=np.float64):
        rollout = (layer + identity) / 2 @ rollout
    return rollout


def value_weighted(attention: np.ndarray, norms: np.ndarray) -> np.ndarray:
    """Attention by what it carries: ``a_ij |f(x_j)|``, averaged, rows scaled to sum to 1.

    ``norms`` is [layer, head, key]: the length of each value vector after the output projection.
    A head may look at a token whose value is almost zero (Kobayashi et al. 2020).
    """
    carried = (attention * norms[:, :, None, :]).mean((0, 1), dtype=np.float64)
    return carried / np.maximum(carried.sum(-1, keepdims=True), 1e-12)


def gradient_attention(attention: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Which attention a prediction needs: ``max(0, a * dy/da)``, heads averaged, layers added.

    Scaled so that all cells together are 1 (after Chefer et al. 2021, equation 5, without its
    rollout); zeros if no weight raises the logit.
    """
    helped = np.maximum(attention * gradient, 0).mean(1, dtype=np.float64).sum(0)
    return helped / max(helped.sum(), 1e-12)
