"""Outcome of a live check, and its verdict on each claim."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from explorer.analysis.measures import share_interval
from explorer.models.choice.family import family_specs
from explorer.models.specs import BASE, LARGER, ModelSpec, label_of

FULL: dict[str, ModelSpec] = {
    **BASE,
    "bert_large": LARGER["bert-large-uncased"],
    "albert_large": LARGER["albert-large-v2"],
    "albert_xlarge": LARGER["albert-xlarge-v2"],
    "albert_xxlarge": LARGER["albert-xxlarge-v2"],
}
"""Architectures that printed claims are about, by the names used in quantities."""
SHAPES = "full-size shapes"
RANDOM = "full-size shapes, random weights"
PRINTED = "published tables"
CLAIMED = ("bert", "distilbert", "albert")
"""Keys of the base models that the printed claims are about."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number of a check: its value and its printed text with the unit."""

    value: float
    text: str
    low: float | None = None
    """Lower end of the 95% interval, if any; 0 where rounds were too few for one."""
    high: float | None = None
    """Upper end of the 95% interval, if any; infinite where rounds were too few for one."""

    @property
    def ends(self) -> tuple[float, float]:
        """The interval of the true value, (value, value) where it is exact."""
        low = self.value if self.low is None else self.low
        return low, self.value if self.high is None else self.high


def lies_in(ends: tuple[float, float], low: float, high: float) -> bool | None:
    """Return whether an interval lies within a range; None where it overlaps only in part."""
    if low <= ends[0] and ends[1] <= high:
        return True
    return False if ends[1] < low or ends[0] > high else None


def all_hold(verdicts: Iterable[bool | None]) -> bool | None:
    """Return False if any verdict is False, else None if any is None, else True."""
    values = list(verdicts)
    return False if False in values else None if None in values else True


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """Outcome of a check: its text, its networks and its agreement with the sources."""

    text: str
    holds: bool | None
    """None: the intervals leave it open."""
    on: str
    quantities: Mapping[str, Quantity]
    published: bool = False
    """True where the numbers come from printed tables and were not measured."""


def family_name(family: str) -> str:
    """Return the printed name of a family that a number was measured on."""
    known = {"mini": "bundled mini family", "base": "published checkpoints"}
    return known.get(family) or ", ".join(spec.label for spec in family_specs(family))


def listed(parts: Mapping[str, object]) -> str:
    """Format values by model key: ``BERT 12, DistilBERT 6, ALBERT 12``."""
    return ", ".join(f"{label_of(key)} {value}" for key, value in parts.items())


def parameters(n: int) -> Quantity:
    """Return a number of parameters as a quantity."""
    return Quantity(n, f"{n:,} parameters")


def percent(x: float, suffix: str = "", digits: int = 1) -> Quantity:
    """Return a share, already times 100, as a quantity."""
    return Quantity(x, f"{x:.{digits}f}%{suffix}")


def score(value: float) -> str:
    """Format a printed score with at least one decimal, as the papers do."""
    text = f"{value:g}".replace("-", "−")
    return text if "." in text else f"{text}.0"


def of_few(share: float, n: int) -> str:
    """Format a share of n as a count with the 95% interval of the share."""
    low, high = share_interval(share * n, n)
    return f"{round(share * n)} [{low:.0%}, {high:.0%}]"


def times(x: float, unit: str) -> Quantity:
    """Return a ratio as a quantity."""
    return Quantity(x, f"{x:.2f} × {unit}")


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """Verdict on one printed number by the quantity measured for it."""

    text: str
    holds: bool | None
    """None: the measured interval leaves it open."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Result of one check, and its verdicts on each claim that it tests."""

    id: str
    status: str
    """``holds``, ``fails``, ``undecided`` or ``waits``."""
    text: str
    on: str
    published: bool
    claims: dict[str, tuple[ClaimVerdict, ...]]
    timed: bool = False
    """True for a timed check: if it is undecided, more rounds may decide it."""
