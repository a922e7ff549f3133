"""What the masked-word head says at every layer: the logit lens (nostalgebraist 2020)."""

from dataclasses import dataclass

import numpy as np

from explorer.analysis.measures import kl_of_logs, log_softmax, top_ids
from explorer.models.run import Run, read_only
from explorer.models.spelling import spelling_of

RUNNING = 5
"""The most words whose way to the answer is drawn."""
LISTED = 5
"""The words listed at each layer."""


@dataclass(frozen=True, slots=True, eq=False)
class MaskLens:
    """One mask read by the head at every depth; row 0 is the embeddings, the last the answer."""

    position: int
    words: tuple[str, ...]
    """The words in the running as a reader writes them, the final answer first."""
    probabilities: np.ndarray
    """float64 [layer + 1, word], shares of the whole vocabulary."""
    rank: np.ndarray
    """int64 [layer + 1]: the place of the final answer; 1 = no piece is likelier."""
    kl: np.ndarray
    """float64 [layer + 1]: KL(final || layer) in nats; the last is 0."""
    top_ids: np.ndarray
    """int64 [layer + 1, 5], likeliest first."""
    top: np.ndarray
    """float64 [layer + 1, 5], their probabilities."""

    @property
    def n_layers(self) -> int:
        """How many layers lie between the first row and the last."""
        return len(self.rank) - 1

    @property
    def decided_at(self) -> int:
        """The first row from which on no piece is ever likelier than the final answer."""
        behind = np.flatnonzero(self.rank > 1)
        return int(behind[-1]) + 1 if behind.size else 0


def mask_lens(run: Run, mask: int, logits: np.ndarray) -> MaskLens:
    """One mask of a run, from the head's logits [layer + 1, vocabulary] at its position."""
    log_probs = log_softmax(logits)
    top = top_ids(log_probs, LISTED)
    shown = in_the_running(log_probs, top)
    spelling = spelling_of(run.vocabulary)
    return MaskLens(
        run.tokens.mask_positions[mask],
        tuple(spelling.word(run.vocabulary[i]) for i in shown),
        read_only(np.exp(log_probs[:, shown])),
        read_only(places(logits, np.full(len(logits), shown[0]))),
        read_only(kl_of_logs(np.broadcast_to(log_probs[-1], log_probs.shape), log_probs)),
        read_only(top),
        read_only(np.exp(np.take_along_axis(log_probs, top, -1))),
    )


def in_the_running(log_probs: np.ndarray, top: np.ndarray) -> list[int]:
    """The final answer, its two rivals, the late layers' first choices; then more rivals.

    By their final probability, so that the answer stands first.
    """
    last, earlier = list(top[-1]), list(top[::-1, 0])
    chosen = list(dict.fromkeys([*last[:3], *earlier, *last]))[:RUNNING]
    return [last[0], *sorted(chosen[1:], key=lambda i: -log_probs[-1, i])]


def places(logits: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """The place of one id in each row of logits: 1 + how many are larger; equals share a place."""
    own = np.take_along_axis(logits, ids[:, None], -1)
    return 1 + (logits > own).sum(-1)
