"""What a reader may ask of a live run, and what the run says while it goes (no torch here)."""

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
    """Settings out of range; the message is the sentence the reader sees."""


@dataclass(frozen=True, slots=True)
class LiveSettings:
    """What the reader chose for a run."""

    layers: int = 3
    start: str = "copied"
    """``copied``: alternate teacher layers; ``random``: nothing of the teacher."""
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
        """The three weights by part."""
        return {"ce": self.ce, "mlm": self.mlm, "cos": self.cos}


@dataclass(frozen=True, slots=True)
class Agreement:
    """Student against teacher on sentences that the run never trains on."""

    same_first: float
    """Share of hidden words with the same likeliest word."""
    shared_five: float
    """Share of the top 5 words that both lists hold."""
    found: float
    """Share of hidden words the student finds."""


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    """The reader's sentence: its ids, where to look, and which words."""

    ids: tuple[int, ...] = ()
    position: int = 0
    words: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class LiveReport:
    """Where a run is: losses since the last report, agreement, and the reader's own sentence."""

    step: int
    parts: dict[str, float]
    """Means since the last report: ``loss`` (weighted), ``ce``, ``mlm``, ``cos``; empty at 0."""
    agreement: Agreement | None
    """None between evaluations."""
    soft: np.ndarray | None
    """float32 [word], the student's probabilities of the watched words at the run's temperature."""
