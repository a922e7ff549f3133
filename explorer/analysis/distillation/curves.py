"""How teacher and student drift apart or together as the temperature changes."""

from dataclasses import dataclass

import numpy as np

from explorer.analysis.measures import TEMPERATURES, entropy, js, kl_of_logs, log_softmax, top_ids
from explorer.models.run import read_only

N_TEMPERATURES = 81
OVERLAPS = (1, 5, 10)


@dataclass(frozen=True, slots=True, eq=False)
class TemperatureCurves:
    """Every measure of one hidden word over temperatures; all float64 [temperature], in nats."""

    temperatures: np.ndarray
    kl_teacher_student: np.ndarray
    kl_student_teacher: np.ndarray
    js: np.ndarray
    entropy_teacher: np.ndarray
    entropy_student: np.ndarray
    gradient: np.ndarray
    """Length of the KL's gradient by the student's logits, ``|softmax(s/T) - softmax(t/T)| / T``:
    it falls like ``1/T^2`` once T is large; times ``T^2`` it keeps its size."""
    overlap: tuple[tuple[int, int], ...]
    """(k, words both top lists share). The same at every T, since T never changes the order."""
    d_vocab: int

    @property
    def t_squared_kl(self) -> np.ndarray:
        """``T^2 * KL(teacher || student)``, the recipe's soft loss."""
        return self.temperatures**2 * self.kl_teacher_student


def temperature_grid(number: int = N_TEMPERATURES) -> np.ndarray:
    """Temperatures from 0.05 to 20, evenly spaced by their logarithm, and exactly 1 and 2."""
    return np.unique(np.concatenate([np.geomspace(*TEMPERATURES, number), [1.0, 2.0]]))


def temperature_curves(
    teacher_logits: np.ndarray, student_logits: np.ndarray, temperatures: np.ndarray | None = None
) -> TemperatureCurves:
    """Both divergences, JS, entropies and the gradient's length of one mask over temperatures."""
    grid = temperature_grid() if temperatures is None else np.asarray(temperatures, np.float64)
    rows = [_measures(teacher_logits, student_logits, t) for t in grid]
    kl_ts, kl_st, js, h_t, h_s, gradient = (
        read_only(np.array(column)) for column in zip(*rows, strict=True)
    )
    overlap = tuple((k, overlap_at(teacher_logits, student_logits, k)) for k in OVERLAPS)
    return TemperatureCurves(
        read_only(grid), kl_ts, kl_st, js, h_t, h_s, gradient, overlap, len(teacher_logits)
    )


def overlap_at(teacher_logits: np.ndarray, student_logits: np.ndarray, k: int) -> int:
    """How many words the two top-k lists share."""
    return len(np.intersect1d(top_ids(teacher_logits, k), top_ids(student_logits, k)))


def _measures(teacher: np.ndarray, student: np.ndarray, temperature: float) -> tuple[float, ...]:
    log_t, log_s = log_softmax(teacher, temperature), log_softmax(student, temperature)
    t, s = np.exp(log_t), np.exp(log_s)
    return (
        float(kl_of_logs(log_t, log_s)),
        float(kl_of_logs(log_s, log_t)),
        float(js(t, s)),
        float(entropy(t)),
        float(entropy(s)),
        float(np.linalg.norm(s - t) / temperature),
    )
