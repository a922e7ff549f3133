"""Runtimes and precisions as choices beside the models: their time, size and score."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.analysis.latency.candidates import Candidate, Figure
from explorer.inference.scheduling.cancel import CancelToken
from explorer.models.specs import ModelSpec
from explorer.timing.workload import Workload

if TYPE_CHECKING:
    from explorer.analysis.latency.family import FamilyLatency
    from explorer.analysis.latency.faster import Faster

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
