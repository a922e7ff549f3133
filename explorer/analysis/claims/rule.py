"""Rule of the verdicts: when a printed number is right, imprecise or wrong by its sources.

A printed number is compared with every value that the primary sources give for the same quantity:
the number that the paper prints, and the count of the released model where it can be counted.
Both are rounded to the precision of the coarser one.

- *right*: every source agrees;
- *imprecise*: only some sources agree, or one agrees under a condition that the claim does not
  state, or the nearest source differs by at most one unit of the claim's last digit;
- *wrong*: anything else.

A claim has the worst verdict of its numbers and its words.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import floor

VERDICTS: tuple[str, ...] = ("right", "imprecise", "wrong", "unsupported")
"""Verdicts in the order of display; ``unsupported``: no source that was read says or denies it."""
WORST_FIRST: tuple[str, ...] = ("wrong", "unsupported", "imprecise", "right")
SLACK = 1e-9
"""Absorbs the rounding errors of a division."""


@dataclass(frozen=True, slots=True)
class SourceValue:
    """One value that a primary source gives for a quantity."""

    where: str
    value: float
    unit: float = 0.0
    """Precision at which the source prints it, 10 for 340; 0 where it is exact."""
    condition: str = ""
    """Condition that a claim must state for this value to be its source; may be empty."""


@dataclass(frozen=True, slots=True)
class SourcedQuantity:
    """One quantity that claims give a number for, with every value of the primary sources."""

    id: str
    name: str
    sources: tuple[SourceValue, ...]


@dataclass(frozen=True, slots=True)
class ClaimedNumber:
    """One number of a claim: the quantity it is about, and what is said of it."""

    quantity: str
    op: str
    """``is``, ``about``, ``at_least``, ``at_most``, ``more_than`` or ``less_than``."""
    value: float
    unit: float = 0.0
    """One unit of the last printed digit, 10 for 110M; 0 for a count, which has no tolerance."""

    def agrees(self, source: SourceValue) -> bool:
        """Return whether a source's value is as the claim says, at the coarser precision."""
        unit = max(self.unit, source.unit)
        if self.op == "is":
            return _rounded(self.value, unit) == _rounded(source.value, unit)
        return _COMPARE[self.op](source.value - self.value, self.unit)

    def is_near(self, source: SourceValue) -> bool:
        """Return whether a source's value differs by at most one unit of the last digit."""
        return self.op == "is" and abs(source.value - self.value) <= self.unit + SLACK


_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "about": lambda off, unit: abs(off) <= unit + SLACK,
    "at_least": lambda off, _: off >= -SLACK,
    "at_most": lambda off, _: off <= SLACK,
    "more_than": lambda off, _: off > SLACK,
    "less_than": lambda off, _: off < -SLACK,
}
OPERATIONS: frozenset[str] = frozenset({"is", *_COMPARE})


def _rounded(x: float, unit: float) -> float:
    """Return the nearest multiple of a unit, half a unit upwards; the number itself at unit 0."""
    return floor(x / unit + 0.5 + SLACK) if unit else round(x, 9)


def number_verdict(number: ClaimedNumber, quantity: SourcedQuantity) -> str:
    """Return the verdict on one printed number.

    Example:
        11M for ALBERT-base is imprecise: the paper prints 12M, the released model has 11.68M.
    """
    agree = [number.agrees(source) for source in quantity.sources]
    plain = [ok for ok, source in zip(agree, quantity.sources, strict=True) if not source.condition]
    if plain and all(plain):
        return "right"
    is_near = any(agree) or any(map(number.is_near, quantity.sources))
    return "imprecise" if is_near else "wrong"


def worst_verdict(verdicts: Iterable[str]) -> str:
    """Return the worst of a claim's verdicts, from ``wrong`` to ``right``.

    Raises:
        ValueError: there is none.
    """
    return min(verdicts, key=WORST_FIRST.index)
