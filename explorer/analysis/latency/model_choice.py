"""Which model to use: candidates held against limits, and ways to run each."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from explorer.inference.scheduling.cancel import CancelToken
from explorer.models.specs import ModelSpec
from explorer.timing.workload import Workload

if TYPE_CHECKING:
    from explorer.analysis.latency.family import FamilyLatency
    from explorer.analysis.latency.faster import Faster


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


N_BYTES = {"bfloat16": 2, "float16": 2, "int8": None, "int8 weights": None}
"""Of a stored weight, where not the four of float32; None: not every weight has the same."""


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """One model run in another way than by PyTorch in float32."""

    spec: ModelSpec
    name: str
    milliseconds: Figure
    """Of one answer."""
    n_bytes: int | None
    """Of a stored weight; None where that is not one number."""
    n_masks: int
    """At which its top predictions were compared with float32's; 0 where the weights are random."""
    n_same: int
    """Of those, how many were the same."""

    @property
    def key(self) -> str:
        """Its model's."""
        return self.spec.key

    @property
    def label(self) -> str:
        """Its model's, and how it is run."""
        return f"{self.spec.label} ({self.name})"

    def candidate(self, own: Candidate, by_words: bool) -> Candidate:
        """What is known of it.

        It has its model's score where no top prediction changed; of a task's head only where
        weights and arithmetic are float32, since the head itself was not run this way.

        Args:
            own: Its model in float32.
            by_words: Whether the score is of predicted words, as the comparison was.
        """
        unchanged = self.n_masks > 0 and self.n_same == self.n_masks
        in_float32 = self.n_bytes == 4 and "bfloat16" not in self.name
        score = own.score if unchanged and (by_words or in_float32) else None
        size = own.megabytes.times(self.n_bytes / 4) if own.megabytes and self.n_bytes else None
        return Candidate(size, self.milliseconds, score)


def ways_of(found: "Faster", passes: Mapping[str, float]) -> tuple[Way, ...]:
    """Every other way to run each model that was timed.

    Args:
        found: The ways, timed and compared.
        passes: By model key: how many passes an answer takes on average, by default one.
    """
    costs = {(cost.key, cost.name): cost for cost in found.costs}
    ways = []
    for model in found.models:
        for row in model.summary.models[1:]:
            cost = costs.get((model.spec.key, row.name))
            time = Figure(row.median_ms, row.low_ms, row.high_ms)
            masks = cost.n_masks if cost else 0
            same = round(cost.same_top1 * masks) if cost else 0
            time = time.times(passes.get(model.spec.key, 1.0))
            ways.append(Way(model.spec, row.name, time, N_BYTES.get(row.name, 4), masks, same))
    return tuple(ways)


def measure_with_ways(
    timed: Sequence[ModelSpec],
    own: Sequence[ModelSpec],
    workload: Workload,
    budget_s: float,
    cancel_token: CancelToken,
) -> "Iterator[tuple[FamilyLatency, Faster | None]]":
    """Time models, then every other way to run some of them; yields whenever there is news.

    Args:
        timed: The models.
        own: Those that are run in other ways, too; none if empty.
        workload: The pass.
        budget_s: Seconds for the models, and again for the ways of each.
        cancel_token: ends it.

    Raises:
        BadWorkload: the pass does not fit the machine. Stopped: somebody asked for the end.
    """
    from explorer.analysis.latency.family import measure_family, plan_for
    from explorer.analysis.latency.faster import measure_faster

    plan = plan_for(workload, budget_s)
    for family in measure_family(timed, workload, plan, cancel_token):
        yield family, None
    if own and not cancel_token.cancelled:
        for found in measure_faster(own, workload, plan, cancel_token):
            yield family, found
