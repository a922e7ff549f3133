"""What a live check measured, and its verdict on each claim."""

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
"""The architectures that printed claims are about, by the names their quantities carry."""
SHAPES = "full-size shapes"
RANDOM = "full-size shapes, random weights"
PRINTED = "published tables"
CLAIMED = ("bert", "distilbert", "albert")
"""The models that the printed claims are about."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number of a check: its value and how it is printed, unit included."""

    value: float
    text: str
    low: float | None = None
    """The ends of its 95% interval, where it has one; infinite where rounds were too few."""
    high: float | None = None

    @property
    def ends(self) -> tuple[float, float]:
        """Where the true value lies, as far as is known; the value itself where it is exact."""
        low = self.value if self.low is None else self.low
        return low, self.value if self.high is None else self.high


def lies_in(ends: tuple[float, float], low: float, high: float) -> bool | None:
    """Whether a value known to lie between two ends lies in a range; None where it may or not."""
    if low <= ends[0] and ends[1] <= high:
        return True
    return False if ends[1] < low or ends[0] > high else None


def all_hold(verdicts: Iterable[bool | None]) -> bool | None:
    """Whether everything holds: one that does not decides, else one that is open leaves it open."""
    found = list(verdicts)
    return False if False in found else None if None in found else True


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """What a check found, on which networks, and whether that is what the sources say."""

    text: str
    holds: bool | None
    """None: its intervals leave it open."""
    on: str
    quantities: Mapping[str, Quantity]
    published: bool = False
    """The numbers were looked up in printed tables, not measured."""


def family_name(family: str) -> str:
    """What the reader sees beside a number that was measured on a family."""
    known = {"mini": "bundled mini family", "base": "published checkpoints"}
    return known.get(family) or ", ".join(spec.label for spec in family_specs(family))


def listed(parts: Mapping[str, object]) -> str:
    """``BERT 12, DistilBERT 6, ALBERT 12`` for values by model key."""
    return ", ".join(f"{label_of(key)} {value}" for key, value in parts.items())


def parameters(n: int) -> Quantity:
    """A number of parameters."""
    return Quantity(n, f"{n:,} parameters")


def percent(x: float, of: str = "", digits: int = 1) -> Quantity:
    """A share, already times 100."""
    return Quantity(x, f"{x:.{digits}f}%{of}")


def of_few(share: float, n: int) -> str:
    """A count out of few, with the 95% interval of its share."""
    low, high = share_interval(share * n, n)
    return f"{round(share * n)} [{low:.0%}, {high:.0%}]"


def times(x: float, of: str) -> Quantity:
    """A quotient of two like things."""
    return Quantity(x, f"{x:.2f} × {of}")


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """One printed number against the quantity measured for it."""

    text: str
    holds: bool | None
    """None: the interval of what was measured holds both answers."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check came to, and what that says about each claim it bears on."""

    id: str
    status: str
    """``holds``, ``fails``, ``undecided`` or ``waits``."""
    text: str
    on: str
    published: bool
    claims: dict[str, tuple[ClaimVerdict, ...]]
    timed: bool = False
    """Where it is undecided, more rounds may decide it."""
