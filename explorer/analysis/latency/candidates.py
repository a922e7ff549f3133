"""Which models keep to a reader's limits, and which of them no other one beats."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

MEASURES: tuple[str, ...] = ("megabytes", "milliseconds", "score")
"""What is weighed: less of the first two is better, more of the third."""


class Named(Protocol):
    """A model, or a way to run one."""

    @property
    def key(self) -> str:
        """The model's."""

    @property
    def label(self) -> str:
        """As the reader knows it."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured number and its 95% interval; of a counted one all three are the same."""

    value: float
    low: float
    high: float

    def times(self, factor: float) -> "Figure":
        """The same in another unit; a negative factor turns the interval too."""
        ends = sorted((factor * self.low, factor * self.high))
        return Figure(factor * self.value, *ends)


@dataclass(frozen=True, slots=True)
class Candidate:
    """What is known of one model; None where it was not measured."""

    megabytes: Figure | None
    milliseconds: Figure | None
    score: Figure | None

    def cost(self, measure: str) -> Figure | None:
        """A measure as something of which less is better."""
        found: Figure | None = getattr(self, measure)
        return found.times(-1) if found and measure == "score" else found


@dataclass(frozen=True, slots=True)
class Limits:
    """What the reader asks for; None where anything will do."""

    megabytes: float | None = None
    milliseconds: float | None = None
    score: float | None = None

    def cost(self, measure: str) -> float | None:
        """A limit on the same scale as `Candidate.cost`."""
        found: float | None = getattr(self, measure)
        return -found if found is not None and measure == "score" else found


@dataclass(frozen=True, slots=True)
class Advice:
    """Every candidate stands in exactly one of the first four."""

    fits: tuple[str, ...]
    misses: Mapping[str, tuple[str, ...]]
    """The limits beyond which a model's whole interval lies."""
    undecided: Mapping[str, tuple[str, ...]]
    """The limits that lie inside a model's interval, of those that miss none."""
    unmeasured: Mapping[str, tuple[str, ...]]
    """What was not measured of a model: it is not advised, whatever the rest says."""
    front: tuple[str, ...]
    """Of all that were measured, those than which no other is surely at least as good in all three
    and better in one (Pareto): there the whole intervals say so."""
    close: tuple[str, ...]
    """Those of the front that another one beats by its numbers, but not by its intervals."""


def advice(candidates: Mapping[str, Candidate], limits: Limits) -> Advice:
    """Hold every model against the limits, and against the others.

    A limit is kept or missed only where the whole interval says so.
    """
    lacking = {
        key: tuple(name for name in MEASURES if getattr(one, name) is None)
        for key, one in candidates.items()
    }
    known = {key: one for key, one in candidates.items() if not lacking[key]}
    misses = {key: _beyond(one, limits, "low") for key, one in known.items()}
    doubts = {key: _beyond(one, limits, "high") for key, one in known.items()}
    rivals = list(known.values())
    front = [k for k, one in known.items() if not any(_beats(o, one, surely=True) for o in rivals)]
    return Advice(
        tuple(key for key in known if not doubts[key]),
        {key: names for key, names in misses.items() if names},
        {key: names for key, names in doubts.items() if names and not misses[key]},
        {key: names for key, names in lacking.items() if names},
        tuple(front),
        tuple(key for key in front if any(_beats(o, known[key], surely=False) for o in rivals)),
    )


@dataclass(frozen=True, slots=True)
class Comparison:
    """Models held against a reader's limits: what is known of each, and what became of it."""

    named: Mapping[str, Named]
    candidates: Mapping[str, Candidate]
    limits: Limits
    printed: Collection[str] = ()
    """Those whose score is a paper's."""
    examples: Collection[str] = ()
    """Miniatures: they show the method, and are held against each other alone."""

    @property
    def ranked(self) -> dict[str, Candidate]:
        """Those that a reader may choose: all but the examples, or the examples alone."""
        chosen = {k: one for k, one in self.candidates.items() if k not in self.examples}
        return chosen or dict(self.candidates)

    @property
    def advice(self) -> Advice:
        """What became of those that a reader may choose."""
        return advice(self.ranked, self.limits)

    @property
    def advice_of_all(self) -> Advice:
        """The same, and beside it what became of the examples among themselves."""
        ranked = self.ranked
        rest = {key: one for key, one in self.candidates.items() if key not in ranked}
        first, second = advice(ranked, self.limits), advice(rest, self.limits)
        return Advice(
            (*first.fits, *second.fits),
            {**first.misses, **second.misses},
            {**first.undecided, **second.undecided},
            {**first.unmeasured, **second.unmeasured},
            (*first.front, *second.front),
            (*first.close, *second.close),
        )


def _beyond(candidate: Candidate, limits: Limits, end: str) -> tuple[str, ...]:
    """The limits that this end of a model's interval lies beyond."""
    found = []
    for name in MEASURES:
        cost, limit = candidate.cost(name), limits.cost(name)
        if cost is not None and limit is not None and getattr(cost, end) > limit:
            found.append(name)
    return tuple(found)


def _beats(one: Candidate, other: Candidate, surely: bool) -> bool:
    """Whether one is at least as good in all and better in one, by its intervals or its numbers."""
    ends = ("high", "low") if surely else ("value", "value")
    pairs = [
        (getattr(one.cost(name), ends[0], 0.0), getattr(other.cost(name), ends[1], 0.0))
        for name in MEASURES
    ]
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)


def frontier(points: Mapping[str, tuple[float, float]]) -> tuple[str, ...]:
    """Of (cost, score) points those that no other beats, from the cheapest up."""
    found: list[str] = []
    for key in sorted(points, key=lambda one: (points[one][0], -points[one][1])):
        if not found or points[key][1] > points[found[-1]][1]:
            found.append(key)
    return tuple(found)
