"""Which block of which layer wrote the answer: its log-probability, read after every block."""

from dataclasses import dataclass

import numpy as np

from explorer.analysis.measures import log_softmax
from explorer.models.run import read_only

NAMED = 3
BLOCKS = ("attention", "feed_forward")


@dataclass(frozen=True, slots=True, eq=False)
class AnswerSteps:
    """The log-probability of one piece after the embedding and after every block."""

    log_probs: np.ndarray
    """float64 [1 + 2 x layers], nats: the embedding, then attention and feed-forward by turns."""

    @property
    def steps(self) -> np.ndarray:
        """float64 [2 x layers]: what each block added. First value + steps = last value."""
        return np.diff(self.log_probs)

    @property
    def largest(self) -> tuple[tuple[int, str, float], ...]:
        """The three largest steps by size: layer from 0, block, nats."""
        steps = self.steps
        order = np.argsort(-np.abs(steps), kind="stable")[:NAMED]
        return tuple((int(i) // 2, BLOCKS[i % 2], float(steps[i])) for i in order)


def answer_steps(logits: np.ndarray, token_id: int) -> AnswerSteps:
    """From the head's logits [1 + 2 x layers, vocabulary] of the states after every block."""
    return AnswerSteps(read_only(log_softmax(logits)[:, token_id]))
