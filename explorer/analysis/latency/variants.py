"""The same model run in other ways, all of them timed in the same rounds."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from explorer.analysis.latency.family import PASS_ALLOWANCE, instruments_for
from explorer.analysis.latency.measure import RoundsPlan, TimedCall, latency_rounds
from explorer.analysis.latency.summary import LatencySummary, latency_summary
from explorer.inference.scheduling.cancel import CancelToken
from explorer.models.specs import ModelSpec
from explorer.timing.workload import Workload

if TYPE_CHECKING:
    from explorer.timing.networks import TimedNetwork
    from explorer.timing.runtimes.process import RuntimeProcess


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """One way to run a model: its name, the network and the pass."""

    name: str
    timed: "TimedNetwork"
    workload: Workload
    process: "RuntimeProcess | None" = None
    """Where the pass runs if not here; the network then says whose pass it is."""
    resident: int | None = None
    """Bytes that a process holds which runs the model this way alone; None: not known."""

    def at(self, batch: int) -> "Variant":
        """The same way to run so many texts at once."""
        return replace(self, workload=replace(self.workload, batch=batch))

    def candidate(self, cancel_token: CancelToken) -> TimedCall:
        """The pass as something to be timed, which checks the cancel token while it waits."""
        from explorer.timing.protocol import forward_call

        process = self.process
        if process is not None:
            # The process reads its own clock, so the call's answer is the time.
            def seconds(_call: object = None) -> float:
                return process.seconds(self.workload.batch, cancel_token.check)

            return TimedCall(self.name, seconds, seconds)
        run = forward_call(self.timed.spec, self.timed.network, self.workload)
        return TimedCall(self.name, run)


@dataclass(frozen=True, slots=True, eq=False)
class VariantLatency:
    """One model's ways to run, timed in the same rounds; ratios are the first over each other."""

    spec: ModelSpec
    summary: LatencySummary
    weights: str
    resident: Mapping[str, int | None] = field(default_factory=dict)
    """Bytes of the serving process, by the name of the way to run."""
    batches: Mapping[int, LatencySummary] = field(default_factory=dict)
    """By the number of texts in a pass, as far as that was asked; ``summary`` is one of them."""

    def throughput(self, name: str, batch: int) -> tuple[float, float | None] | None:
        """Texts per second and a pass's 90th percentile, ms; None where that was not timed."""
        summary = self.batches.get(batch)
        for model in summary.models if summary else ():
            if model.name == name:
                return 1e3 * batch / model.median_ms, model.p90_ms
        return None


def variant_latency(
    variants: Sequence[Variant], plan: RoundsPlan, cancel_token: CancelToken
) -> VariantLatency | None:
    """One model's ways to run in the same rounds; None without a round in time."""
    from explorer.timing.protocol import interruptible

    first = variants[0]
    spec, workload = first.timed.spec, first.workload
    calls = [variant.candidate(cancel_token) for variant in variants]
    networks = {id(v.timed.network): (spec, v.timed.network) for v in variants}
    cancel_token.set_deadline(PASS_ALLOWANCE * plan.budget_s)
    with ExitStack() as stack:
        instruments, _ = stack.enter_context(instruments_for(workload))
        stack.enter_context(
            interruptible([*networks.values()], workload.tokens, cancel_token.check)
        )
        latency = [*latency_rounds(calls, instruments, plan, cancel_token.check)][-1]
    if latency.ended == "stopped" or not latency.n_rounds:
        return None
    summary = latency_summary(latency, workload.clock == "wait")
    resident = {variant.name: variant.resident for variant in variants}
    batches = {workload.batch: summary}
    return VariantLatency(spec, summary, first.timed.weights, resident, batches)
