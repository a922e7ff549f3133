"""The same model run in other ways: lower precision, or with everything handed out to look at."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from explorer.analysis.latency import Candidate, Plan, latency_rounds
from explorer.analysis.latency_family import PASS_ALLOWANCE, instruments_for
from explorer.analysis.latency_summary import LatencySummary, latency_summary
from explorer.models.specs import ModelSpec
from explorer.models.stop import StopSign
from explorer.models.workload import Workload

if TYPE_CHECKING:
    from explorer.models.timed_networks import TimedNetwork


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """One way to run a model: its name, the network and the pass."""

    name: str
    timed: "TimedNetwork"
    workload: Workload


@dataclass(frozen=True, slots=True, eq=False)
class VariantLatency:
    """One model's ways to run, timed in the same rounds; ratios are the first over each other."""

    spec: ModelSpec
    summary: LatencySummary
    weights: str


Make = Callable[[ModelSpec], Sequence[Variant]]


def measure_variants(
    specs: Sequence[ModelSpec], make: Make, plan: Plan, sign: StopSign
) -> Iterator[tuple[VariantLatency, ...]]:
    """Time the variants of one model after another; yields what is done, model by model.

    Stopping keeps the models that are complete.
    """
    done: tuple[VariantLatency, ...] = ()
    yield done
    for spec in specs:
        sign.check()
        found = _one_model(make(spec), plan, sign)
        if found is None:
            return
        done = (*done, found)
        yield done


def _one_model(variants: Sequence[Variant], plan: Plan, sign: StopSign) -> VariantLatency | None:
    from explorer.models.timing import forward_call, interruptible

    first = variants[0]
    spec, workload = first.timed.spec, first.workload
    calls = [Candidate(v.name, forward_call(spec, v.timed.network, v.workload)) for v in variants]
    networks = {id(v.timed.network): (spec, v.timed.network) for v in variants}
    sign.allow(PASS_ALLOWANCE * plan.budget_s)
    with ExitStack() as stack:
        instruments, _ = stack.enter_context(instruments_for(workload))
        stack.enter_context(interruptible([*networks.values()], workload.tokens, sign.check))
        latency = [*latency_rounds(calls, instruments, plan, sign.check)][-1]
    if latency.ended == "stopped" or not latency.n_rounds:
        return None
    summary = latency_summary(latency, workload.clock == "wait")
    return VariantLatency(spec, summary, first.timed.weights)


def looking_variants(spec: ModelSpec, workload: Workload) -> list[Variant]:
    """A pass that only answers, and one that hands out every attention and hidden state."""
    from explorer.models.timed_networks import timed_network

    timed = timed_network(spec, workload)
    looking = replace(workload, looks=True)
    return [Variant("plain", timed, workload), Variant("looking", timed, looking)]


def precision_variants(spec: ModelSpec, workload: Workload) -> list[Variant]:
    """float32, then the precisions that this device offers to make a pass cheaper."""
    from explorer.models.timed_networks import int8_network, timed_network

    found = [
        Variant(dtype, timed_network(spec, replace(workload, dtype=dtype)),
                replace(workload, dtype=dtype))
        for dtype in ("float32", "bfloat16")
    ]  # fmt: skip
    if workload.device == "cpu":
        found.append(Variant("int8", int8_network(found[0].timed), found[0].workload))
    else:
        half = replace(workload, dtype="float16")
        found.append(Variant("float16", timed_network(spec, half), half))
    return found
