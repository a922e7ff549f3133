"""How often teacher and student agree over many sentences, and where they differ most."""

from dataclasses import dataclass

import numpy as np

from explorer.analysis.measures import kl_of_logs, log_softmax, top_ids
from explorer.models.run import read_only


@dataclass(frozen=True, slots=True, eq=False)
class AgreementAtLarge:
    """Teacher against student over sentences with one hidden word each."""

    same_first: np.ndarray
    """bool [sentence], the same likeliest word."""
    shared_five: np.ndarray
    """int [sentence], words that both top-5 lists hold."""
    kl: np.ndarray
    """float64 [sentence], ``KL(teacher || student)`` at temperature 1, in nats."""
    teacher_first: np.ndarray
    """int [sentence], ids of the teacher's first choice."""
    student_first: np.ndarray
    teacher_right: np.ndarray
    """bool [sentence], the first choice is the hidden word; False where that is not one piece."""
    student_right: np.ndarray

    @property
    def worst(self) -> np.ndarray:
        """Sentences by their divergence, the largest first."""
        return np.argsort(-self.kl, kind="stable")

    def __len__(self) -> int:
        return len(self.kl)


def agreement_at_large(
    teacher_logits: np.ndarray, student_logits: np.ndarray, answers: np.ndarray
) -> AgreementAtLarge:
    """Top-1 and top-5 agreement and divergence from logits [sentence, vocabulary].

    ``answers`` holds the id of each hidden word, -1 where it is not one piece.

    Raises:
        ValueError: the arrays are not parallel.
    """
    if teacher_logits.shape != student_logits.shape or len(answers) != len(teacher_logits):
        raise ValueError("Teacher, student and answers must cover the same sentences and words.")
    t_top, s_top = top_ids(teacher_logits, 5), top_ids(student_logits, 5)
    shared = (t_top[:, :, None] == s_top[:, None, :]).any(-1).sum(-1)
    kl = kl_of_logs(log_softmax(teacher_logits), log_softmax(student_logits))
    t_first, s_first = t_top[:, 0], s_top[:, 0]
    columns = (
        t_first == s_first,
        shared,
        kl,
        t_first,
        s_first,
        t_first == answers,
        s_first == answers,
    )
    return AgreementAtLarge(*(read_only(np.array(column)) for column in columns))
