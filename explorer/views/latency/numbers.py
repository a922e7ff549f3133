"""The rows behind the tables and scales of the latency tab: unrounded, with their intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from explorer.analysis.latency.limits import share_of_limit
from explorer.views.numbers import NO_RUN, Numbers

if TYPE_CHECKING:
    from explorer.analysis.latency.family import FamilyLatency
    from explorer.analysis.latency.faster import Faster
    from explorer.analysis.latency.limits import Limit
    from explorer.views.latency.detail import Mark

ENDS = ("low", "high")
STATE = ("length", "batch", "device", "dtype")
"""What of a workload stands in the name of its files."""


def timed_said(
    workload: Any,  # noqa: ANN401 - a Workload
    but: Sequence[str] = (),
    devices: Sequence[str] = (),
) -> dict[str, object]:
    """What a file says of what was timed: no text, and weights that may be no checkpoint's.

    Args:
        workload: One pass; None where it is not known.
        but: What of it differs from row to row.
        devices: All of them, where there are several.
    """
    work = {} if workload is None else asdict(workload)
    work |= {"device": ", ".join(devices)} if devices else {}
    told = {name: value for name, value in work.items() if name not in but}
    state = {name: told.pop(name) for name in STATE if name in told}
    return {name: None for name in NO_RUN if name not in state} | told | {"state": state}


def scale_numbers(
    marks: "Sequence[Mark]",
    workload: Any,  # noqa: ANN401 - a Workload
    but: Sequence[str] = (),
) -> Numbers:
    """Every mark of a scale of ratios; ``but`` is what differs between them."""
    rows = [[m.label, m.ratio.ratio, m.ratio.low, m.ratio.high, m.ratio.n_rounds] for m in marks]
    return Numbers(("name", "ratio", *ENDS, "rounds"), rows, timed_said(workload, but))


def samples_numbers(result: "FamilyLatency") -> Numbers:
    """Every sample in the order in which it was taken."""
    rows = [
        [row.name, place, ms]
        for row, model in zip(result.rows, result.summary.models, strict=True)
        for place, ms in enumerate(model.samples_ms.tolist(), 1)
    ]
    return Numbers(
        ("model", "sample", "ms"), rows, timed_said(result.workload, devices=result.devices)
    )


def timing_numbers(result: "FamilyLatency") -> Numbers:
    """One row per model and device."""
    columns = ("model", "median_ms", "low_ms", "high_ms", "p90_ms", "first_call_ms", "gflops")
    rows = [
        [
            row.name,
            *(model.median_ms, model.low_ms, model.high_ms, model.p90_ms, model.first_call_ms),
            result.gflops(row.spec),
        ]
        for row, model in zip(result.rows, result.summary.models, strict=True)
    ]
    return Numbers(columns, rows, timed_said(result.workload, devices=result.devices))


def limits_numbers(found: "Sequence[Limit]", final: "FamilyLatency") -> Numbers:
    """What each model reaches of the machine's two limits, and both limits."""
    share = share_of_limit(final, found)
    columns = ("model", "median_ms", "arithmetic_ms", "memory_ms", "bound_by", "share_of_limit")
    more = ("gflops", "peak_gflops_per_s", "working_set_bytes", "bandwidth_gb_per_s")
    rows = [
        [
            *(spec.name, final.summary.model(spec.name).median_ms),
            *(limit.arithmetic_ms, limit.memory_ms, limit.bound_by, share[spec.name]),
            *(final.gflops(spec), limit.peak_gflops, limit.working_set, limit.bandwidth_gb),
        ]
        for spec, limit in zip(final.specs, found, strict=True)
    ]
    return Numbers(columns + more, rows, timed_said(final.workload))


def faster_numbers(found: "Faster") -> Numbers:
    """Every way to run every model; what it does to the answers is empty where nobody asked."""
    costs = {(cost.key, cost.name): cost for cost in found.costs}
    columns = ("model", "way_to_run", "median_ms", "times_float32", *ENDS)
    sizes = batches_of(found)
    rows = []
    for variants in found.models:
        for model in variants.summary.models:
            ratio = variants.summary.ratio(model.name)
            gain = None if ratio is None else ratio.ratio.inverse
            cost = costs.get((variants.spec.key, model.name))
            rows.append(
                [variants.spec.name, model.name, model.median_ms]
                + ([None] * 3 if gain is None else [gain.ratio, gain.low, gain.high])
                + ([None] * 2 if cost is None else [cost.same_top1, cost.mean_kl])
                + [variants.resident.get(model.name)]
                + [
                    cell
                    for batch in sizes
                    for cell in variants.throughput(model.name, batch) or (None, None)
                ]
            )
    answers = ("same_first_answer", "mean_kl_nats", "process_bytes")
    speeds = [f"{what}_at_{n}" for n in sizes for what in ("texts_per_second", "p90_ms")]
    return Numbers((*columns, *answers, *speeds), rows, timed_said(found.workload, ("dtype",)))


def batches_of(found: "Faster") -> list[int]:
    """The batch sizes at which any model was timed."""
    return sorted({batch for variants in found.models for batch in variants.batches})


def recorded_numbers(report: Mapping[str, Any]) -> Numbers:
    """A measurement taken elsewhere, with all that it says of its protocol and its machine."""
    columns = ("model", "device", "median_ms", "gflops")
    rows = [[m["name"], m.get("device"), m["median_ms"], m["gflops"]] for m in report["models"]]
    told = {"protocol": report["protocol"], "machine": report["machine"]}
    return Numbers(columns, rows, {**timed_said(None), **told})
