"""All of a model's attention in one matrix, in four ways that mean different things."""

import numpy as np


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
