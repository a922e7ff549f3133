"""What a model that shares its layer would answer if it applied it more or less often."""

from dataclasses import dataclass, replace

import numpy as np

from explorer.analysis.measures import kl_of_logs, log_softmax, top_ids
from explorer.analysis.parameters.shape import shape_flops
from explorer.models.run import Run, read_only

LISTED = 5


@dataclass(frozen=True, slots=True, eq=False)
class DepthDial:
    """The answers at one mask after each number of applications, from 1 on."""

    usual: int
    top_ids: np.ndarray
    """int64 [times, 5], likeliest first."""
    top: np.ndarray
    """float64 [times, 5], their probabilities."""
    kl: np.ndarray
    """float64 [times]: KL(usual || times) in nats; 0 at the usual depth."""


def depth_dial(run: Run, logits: np.ndarray) -> DepthDial:
    """One mask's answers, from logits [times, vocabulary] after 1, 2, 3 ... applications."""
    shape, log_probs = run.spec.architecture, log_softmax(logits)
    top = top_ids(log_probs, LISTED)
    usual = np.broadcast_to(log_probs[shape.n_layers - 1], log_probs.shape)
    return DepthDial(
        shape.n_layers,
        read_only(top),
        read_only(np.exp(np.take_along_axis(log_probs, top, -1))),
        read_only(kl_of_logs(usual, log_probs)),
    )


def dial_flops(run: Run, most: int) -> tuple[int, ...]:
    """Operations of the encoder's pass over a run's text after 1, 2 ... ``most`` applications."""
    shape, length = run.spec.architecture, len(run.tokens)
    return tuple(
        shape_flops(replace(shape, n_layers=times), length) for times in range(1, most + 1)
    )
