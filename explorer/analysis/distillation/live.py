"""Settings and reports of a live training run (without torch)."""

from dataclasses import dataclass

import numpy as np

from explorer.analysis.measures import TEMPERATURES
from explorer.refusal import Refusal

STARTS = ("copied", "random")
LIMITS = {
    "layers": (1, 3), "steps": (10, 400), "temperature": TEMPERATURES, "ce": (0.0, 10.0),
    "mlm": (0.0, 10.0), "cos": (0.0, 10.0), "seed": (0, 2**31),
}  # fmt: skip
PARTS = ("loss", "ce", "mlm", "cos")


class BadSettings(Refusal):
    """Settings out of range; the message is shown to the reader."""


@dataclass(frozen=True, slots=True)
class LiveSettings:
    """The reader's settings of a run."""

    layers: int = 3
    start: str = "copied"
    """``copied``: initialised from teacher layers; ``random``: from random weights."""
    steps: int = 120
    temperature: float = 2.0
    ce: float = 5.0
    mlm: float = 2.0
    cos: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name, (low, high) in LIMITS.items():
            if not low <= getattr(self, name) <= high:
                raise BadSettings(f"{name} must be a number from {low:g} to {high:g}.")
        if self.start not in STARTS:
            raise BadSettings("A student starts either copied or random.")
        if not self.ce + self.mlm + self.cos > 0:
            raise BadSettings("At least one of the three weights must be above 0.")

    @property
    def weights(self) -> dict[str, float]:
        """The weights of the three losses, by name."""
        return {"ce": self.ce, "mlm": self.mlm, "cos": self.cos}


@dataclass(frozen=True, slots=True)
class LiveAgreement:
    """Agreement of student and teacher on held-out sentences."""

    same_first: float
    """Share of masks with the same top-1 prediction."""
    shared_five: float
    """Mean overlap of both top-5 lists, as a share."""
    found: float
    """Share of masks at which the student's top-1 prediction is the hidden word."""


@dataclass(frozen=True, slots=True, eq=False)
class WatchedSentence:
    """The reader's sentence: token ids, the mask's position, and the ids of the watched words."""

    ids: tuple[int, ...] = ()
    position: int = 0
    words: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class LiveReport:
    """Progress of a run: mean losses, agreement, and probabilities in the reader's sentence."""

    step: int
    parts: dict[str, float]
    """Means since the last report: ``loss`` (weighted), ``ce``, ``mlm``, ``cos``; empty at 0."""
    agreement: LiveAgreement | None
    """None between evaluations."""
    soft: np.ndarray | None
    """float32 [word], the student's probabilities of the watched words at the run's temperature;
    None without watched words."""
