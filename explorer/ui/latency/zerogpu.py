"""The Latency tab's pass on a GPU that is lent for one call; marked at import, as the host asks."""

from collections.abc import Sequence

from explorer.analysis.latency.family import FamilyLatency, last, measure_family, plan_for
from explorer.inference.scheduling.cancel import CancelToken
from explorer.models.specs import ModelSpec
from explorer.models.zerogpu import LENT_S, on_lent_gpu
from explorer.timing.workload import Workload

LENT_BUDGET_S = LENT_S / 4
"""For the rounds; drawing the networks and moving them there takes its part of the rest."""


@on_lent_gpu
def lent_latency(specs: Sequence[ModelSpec], workload: Workload) -> FamilyLatency:
    """The whole measurement at once: nothing can be shown, or stopped, while the GPU is lent."""
    plan = plan_for(workload, LENT_BUDGET_S)
    return last(measure_family(specs, workload, plan, CancelToken()))
