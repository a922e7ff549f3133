"""Model choice: candidates compared with limits and with each other, and their variants."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from explorer.analysis.measures import share_interval
from explorer.models.specs import ModelSpec
from explorer.scheduling.cancel import CancelToken
from explorer.timing.workload import Workload

if TYPE_CHECKING:
    from explorer.analysis.latency.family import FamilyLatency
    from explorer.analysis.latency.faster import FasterResult


MEASURES: tuple[str, ...] = ("megabytes", "milliseconds", "score")
"""Compared measures: lower is better for the first two, higher for the third."""


class NamedModel(Protocol):
    """Protocol of a model or a variant of one."""

    @property
    def key(self) -> str:
        """The model's key."""

    @property
    def label(self) -> str:
        """The printed name."""

    @property
    def size(self) -> str:
        """The name of the size in its column."""


@dataclass(frozen=True, slots=True)
class Figure:
    """Measured number with its 95% interval; for an exact number all three are equal."""

    value: float
    low: float
    high: float

    def times(self, factor: float) -> "Figure":
        """Multiply by a factor; a negative one swaps the ends of the interval."""
        ends = sorted((factor * self.low, factor * self.high))
        return Figure(factor * self.value, *ends)


@dataclass(frozen=True, slots=True)
class Candidate:
    """Measures of one model; None where not measured."""

    megabytes: Figure | None
    milliseconds: Figure | None
    score: Figure | None

    def cost(self, measure: str) -> Figure | None:
        """Return a measure as a cost, lower is better: the score with its sign changed."""
        figure: Figure | None = getattr(self, measure)
        return figure.times(-1) if figure and measure == "score" else figure


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits set by the user; None where there is none."""

    megabytes: float | None = None
    milliseconds: float | None = None
    score: float | None = None

    def cost(self, measure: str) -> float | None:
        """Return a limit on the same scale as ``Candidate.cost``."""
        limit: float | None = getattr(self, measure)
        return -limit if limit is not None and measure == "score" else limit


@dataclass(frozen=True, slots=True)
class Advice:
    """Result of the comparison; every candidate is in exactly one of the first four fields."""

    fits: tuple[str, ...]
    misses: Mapping[str, tuple[str, ...]]
    """By model: the limits that its whole interval exceeds."""
    undecided: Mapping[str, tuple[str, ...]]
    """By model: the limits inside its interval, for models that miss none."""
    unmeasured: Mapping[str, tuple[str, ...]]
    """By model: the measures without a value; such a model is never in ``fits``."""
    front: tuple[str, ...]
    """Pareto front of the measured models: no other is at least as good in all three measures and
    better in one by whole intervals."""
    close: tuple[str, ...]
    """Models of the front that another one dominates by values, but not by intervals."""


def advice(candidates: Mapping[str, Candidate], limits: Limits) -> Advice:
    """Compare every model with the limits and with the others.

    A limit is met or missed only where the whole interval is on one side of it.
    """
    unmeasured = {
        key: tuple(name for name in MEASURES if getattr(candidate, name) is None)
        for key, candidate in candidates.items()
    }
    measured = {key: candidate for key, candidate in candidates.items() if not unmeasured[key]}
    misses = {key: _beyond(candidate, limits, "low") for key, candidate in measured.items()}
    exceeds = {key: _beyond(candidate, limits, "high") for key, candidate in measured.items()}
    rivals = list(measured.values())
    front = [
        k
        for k, candidate in measured.items()
        if not any(_beats(rival, candidate, by_interval=True) for rival in rivals)
    ]
    return Advice(
        tuple(key for key in measured if not exceeds[key]),
        {key: names for key, names in misses.items() if names},
        {key: names for key, names in exceeds.items() if names and not misses[key]},
        {key: names for key, names in unmeasured.items() if names},
        tuple(front),
        tuple(
            key
            for key in front
            if any(_beats(rival, measured[key], by_interval=False) for rival in rivals)
        ),
    )


@dataclass(frozen=True, slots=True)
class Comparison:
    """Models, their measures and the user's limits, with the resulting advice."""

    models: Mapping[str, NamedModel]
    candidates: Mapping[str, Candidate]
    limits: Limits
    printed: Collection[str] = ()
    """Keys of models whose score is from a paper."""
    examples: Collection[str] = ()
    """Keys of miniature models, compared only with each other."""

    @property
    def ranked(self) -> dict[str, Candidate]:
        """The candidates to choose from: all but the examples, or only examples."""
        chosen = {
            k: candidate for k, candidate in self.candidates.items() if k not in self.examples
        }
        return chosen or dict(self.candidates)

    @property
    def advice(self) -> Advice:
        """The advice on ``ranked``."""
        return advice(self.ranked, self.limits)

    @property
    def advice_of_all(self) -> Advice:
        """The advice on ``ranked``, joined with that on the examples among themselves."""
        ranked = self.ranked
        rest = {key: candidate for key, candidate in self.candidates.items() if key not in ranked}
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
    """Return the limits that this end of a model's interval exceeds."""
    names = []
    for name in MEASURES:
        cost, limit = candidate.cost(name), limits.cost(name)
        if cost is not None and limit is not None and getattr(cost, end) > limit:
            names.append(name)
    return tuple(names)


def _beats(candidate: Candidate, rival: Candidate, by_interval: bool) -> bool:
    """Return whether one is at least as good in all and better in one, by intervals or values."""
    ends = ("high", "low") if by_interval else ("value", "value")
    pairs = [
        (getattr(candidate.cost(name), ends[0], 0.0), getattr(rival.cost(name), ends[1], 0.0))
        for name in MEASURES
    ]
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)


def frontier(points: Mapping[str, tuple[float, float]]) -> tuple[str, ...]:
    """Return the keys of the Pareto front of (cost, score) points, from the lowest cost up."""
    front: list[str] = []
    for key in sorted(points, key=lambda name: (points[name][0], -points[name][1])):
        if not front or points[key][1] > points[front[-1]][1]:
            front.append(key)
    return tuple(front)


N_BYTES = {"bfloat16": 2, "float16": 2, "int8": None, "int8 weights": None}
"""Bytes of a stored weight by variant, 4 for others; None: the weights differ in size."""


@dataclass(frozen=True, slots=True, eq=False)
class VariantMeasures:
    """One model in a variant other than PyTorch in float32."""

    spec: ModelSpec
    name: str
    milliseconds: Figure
    """Time of one answer."""
    n_bytes: int | None
    """Bytes of a stored weight; None where weights differ in size."""
    n_masks: int
    """Masks where top predictions were compared with float32; 0 for random weights."""
    n_same: int
    """Masks with the same top prediction as float32."""

    @property
    def size(self) -> str:
        """The name of the model's size in its column."""
        return self.spec.size

    @property
    def key(self) -> str:
        """The model's key."""
        return self.spec.key

    @property
    def label(self) -> str:
        """The model's label with the variant's name."""
        return f"{self.spec.label} ({self.name})"

    def candidate(self, original: Candidate, by_words: bool) -> Candidate:
        """Return the variant's measures.

        The score is the model's if no top prediction changed; for the score of a task head also
        weights and arithmetic must be float32, because the head was not run in this variant.

        Args:
            original: Measures of the model in float32.
            by_words: True if the score is of predicted words, like the compared predictions.
        """
        unchanged = self.n_masks > 0 and self.n_same == self.n_masks
        in_float32 = self.n_bytes == 4 and "bfloat16" not in self.name
        score = original.score if unchanged and (by_words or in_float32) else None
        size = (
            original.megabytes.times(self.n_bytes / 4)
            if original.megabytes and self.n_bytes
            else None
        )
        return Candidate(size, self.milliseconds, score)


def variant_measures(
    faster: "FasterResult", passes: Mapping[str, float]
) -> tuple[VariantMeasures, ...]:
    """Return the variants of each model whose times hold, other than float32.

    Args:
        faster: Latency and accuracy cost of the variants.
        passes: By model key: mean number of forward passes for an answer, by default one.
    """
    costs = {(cost.key, cost.name): cost for cost in faster.costs}
    ways = []
    for model in faster.models:
        if not model.summary.holds:
            continue
        for row in model.summary.models[1:]:
            cost = costs.get((model.spec.key, row.name))
            time = Figure(row.median_ms, row.low_ms, row.high_ms)
            masks = cost.n_masks if cost else 0
            same = round(cost.same_top1 * masks) if cost else 0
            time = time.times(passes.get(model.spec.key, 1.0))
            ways.append(
                VariantMeasures(model.spec, row.name, time, N_BYTES.get(row.name, 4), masks, same)
            )
    return tuple(ways)


def measure_with_variants(
    specs: Sequence[ModelSpec],
    variants_of: Sequence[ModelSpec],
    workload: Workload,
    budget_s: float,
    cancel_token: CancelToken,
) -> "Iterator[tuple[FamilyLatency, FasterResult | None]]":
    """Time models, then the variants of some of them; yields after every new result.

    Args:
        specs: The models.
        variants_of: The models whose variants are timed too; may be empty.
        workload: Shape and device of the forward pass.
        budget_s: Seconds for the models, and again for the variants of each.
        cancel_token: Cancels the measurement.

    Raises:
        BadWorkload: the pass does not fit the machine. Cancelled: ``cancel_token`` was cancelled.
    """
    from explorer.analysis.latency.family import measure_family, plan_for
    from explorer.analysis.latency.faster import measure_faster

    plan = plan_for(workload, budget_s)
    for family in measure_family(specs, workload, plan, cancel_token):
        yield family, None
    if variants_of and not cancel_token.cancelled:
        for faster in measure_faster(variants_of, workload, plan, cancel_token):
            yield family, faster


def shares_of(
    words: Mapping[str, list[str]], answers: list[str], teacher: str
) -> dict[str, dict[str, Figure]]:
    """Return by score each model's share of masked words, and of top words equal to the teacher's.

    With 95% intervals (Wilson 1927).
    """
    expected = [answer.casefold() for answer in answers]
    shares = {"right": {name: share(answered, expected) for name, answered in words.items()}}
    if teacher in words:
        shares["agreement"] = {
            name: share(answered, words[teacher]) for name, answered in words.items()
        }
        shares["agreement"][teacher] = exactly(1.0)
    return shares


def share(predicted: list[str], expected: list[str]) -> Figure:
    """Return the share of equal words, with its interval."""
    hits = sum(a == b for a, b in zip(predicted, expected, strict=True))
    return Figure(hits / len(predicted), *share_interval(hits, len(predicted)))


def exactly(value: float) -> Figure:
    """Return a counted or printed value as a figure without uncertainty."""
    return Figure(value, value, value)
