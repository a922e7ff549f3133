"""Measurements as JSON and CSV documents, complete enough to repeat or compare them."""

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from explorer.analysis.latency.family import FamilyLatency, family_peaks, last, measure_family
from explorer.analysis.latency.measure import PAUSE_S, RoundsPlan
from explorer.analysis.latency.ratio import Ratio
from explorer.analysis.latency.summary import LatencyRatio, LatencySummary, ModelLatency
from explorer.analysis.records import harmless
from explorer.models.specs import MODEL_KEYS, ModelSpec
from explorer.refusal import Refusal, Sentence
from explorer.scheduling.cancel import CancelToken
from explorer.timing.workload import Workload

FORMAT = "bert-family-latency/1"
LARGEST_DOCUMENT = 100_000
"""Most characters of a document, about three times those of the page's longest measurement."""
MAX_MODELS = 16
Report = dict[str, Any]


class BadReport(Refusal):
    """Refusal of a document that is not a recorded measurement."""


def family_report(
    specs: Sequence[ModelSpec],
    workload: Workload,
    plan: RoundsPlan,
    cancel_token: CancelToken,
    devices: Sequence[str] = (),
) -> Report:
    """Measure a family to the end, with peak memory, and return the report.

    Raises:
        Refusal: not one round was complete in time.
    """
    from explorer.timing.machine import machine

    result = last(measure_family(specs, workload, plan, cancel_token, devices))
    cancel_token.set_deadline(plan.budget_s / 2)
    peaks = family_peaks(result.rows, cancel_token) if result.latency.n_rounds else ()
    return latency_report(result, machine(*(devices or [workload.device])), peaks)


def latency_report(
    result: FamilyLatency, machine: Mapping[str, object], peaks: Sequence[int | None] = ()
) -> Report:
    """Build a measurement's JSON object: protocol, machine, models, ratios.

    Args:
        result: a measurement with at least one complete round.
        machine: hardware and versions.
        peaks: peak extra bytes of one pass per model, if measured.
    """
    summary = result.summary
    peaks = peaks or [None] * len(result.rows)
    return {
        "format": FORMAT,
        "protocol": _protocol(result),
        "machine": dict(machine),
        "models": [_model(result, i, peak) for i, peak in enumerate(peaks)],
        "ratios": _ratios(result, summary),
        "cpu_time": None if summary.cpu is None else _cpu_time(result, summary.cpu),
    }


def reported_clock(result: FamilyLatency) -> str | None:
    """Return the clock of the times that hold; None where no clock had rounds enough.

    ``compute`` on the wall clock too, where only ``cpu_time`` had them.
    """
    summary = result.summary
    if summary.reported is None:
        return None
    return result.workload.clock if summary.holds else "compute"


def _cpu_time(result: FamilyLatency, summary: LatencySummary) -> Report:
    """Return the processor times of a measurement on the wall clock: one thread."""
    models = [
        {
            "model": row.spec.key,
            "device": row.workload.device,
            **_times(model),
            "samples_ms": model.samples_ms.tolist(),
        }
        for row, model in zip(result.rows, summary.models, strict=True)
    ]
    return {
        "rounds": summary.n_rounds,
        "blocks": summary.n_blocks,
        "self_check": None if summary.self_check is None else _ratio(summary.self_check),
        "models": models,
        "ratios": _ratios(result, summary),
    }


def _ratios(result: FamilyLatency, summary: LatencySummary) -> list[Report]:
    return [
        _ends(result, r) | {"different": r.is_different} | _ratio(r.ratio) for r in summary.ratios
    ]


def _times(timed: ModelLatency) -> Report:
    return {
        "median_ms": timed.median_ms,
        "ci_low_ms": timed.low_ms or None,
        "ci_high_ms": _finite(timed.high_ms),
        "p90_ms": timed.p90_ms,
    }


def _protocol(result: FamilyLatency) -> Report:
    work, summary = result.workload, result.summary
    return {
        "clock": _each(row.workload.clock for row in result.rows),
        "threads": result.threads,
        "device": _each(row.workload.device for row in result.rows),
        "dtype": work.dtype,
        "sequence_length": work.length,
        "batch_size": work.batch,
        "padding": "none",
        "head": work.head,
        "outputs": work.looks,
        "attention": "eager",
        "mode": "inference",
        "order": "interleaved, random in every round",
        "warm_up_rounds": result.latency.n_warm_rounds,
        "rounds": summary.n_rounds,
        "used_rounds": summary.n_used,
        "disturbed_rounds": [int(n) for n in np.flatnonzero(result.latency.disturbed) + 1],
        "reported_clock": reported_clock(result),
        "blocks": summary.n_blocks,
        "pause_s": PAUSE_S,
        "ended": summary.ended,
        "wall_s": round(summary.wall_s, 3),
        "disturbed_share": summary.disturbed_share,
        "ratios_refused": summary.refused,
        "self_check": None if summary.self_check is None else _ratio(summary.self_check),
    }


def _model(result: FamilyLatency, index: int, peak: int | None) -> Report:
    row, timed = result.rows[index], result.summary.models[index]
    spec, work = row.spec, row.workload
    return {
        "model": spec.key,
        "name": spec.name,
        "weights": result.weights[index],
        "device": work.device,
        "clock": work.clock,
        **_times(timed),
        "first_call_ms": timed.first_call_ms,
        "samples_ms": timed.samples_ms.tolist(),
        "gflops": result.gflops(spec),
        "tokens_per_second": result.rates(spec, timed.median_ms)[0],
        "weights_bytes": result.weight_bytes[index],
        "peak_bytes": peak,
    }


def _ratio(ratio: Ratio) -> Report:
    low, high = _finite(ratio.low) or None, _finite(ratio.high)
    return {"ratio": ratio.ratio, "ci_low": low, "ci_high": high, "rounds": ratio.n_rounds}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _ends(result: FamilyLatency, ratio: LatencyRatio) -> Report:
    """Return the two models of a ratio and their devices."""
    first, second = (
        next(row for row in result.rows if row.name == n)
        for n in (ratio.numerator, ratio.denominator)
    )
    return {
        "of": first.spec.key,
        "over": second.spec.key,
        "of_device": first.workload.device,
        "over_device": second.workload.device,
    }


def _each(words: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(words))


def report_csv(report: Report) -> str:
    """Write every sample as a row of CSV, with the machine and the protocol in each.

    Samples of processor time within a measurement on the wall clock have the clock ``compute``.
    """
    out = io.StringIO()
    common = {**report["machine"], **report["protocol"]}
    check = common.pop("self_check") or {}
    ends = {f"self_check_{end}": check.get(end) for end in ("ci_low", "ci_high")}
    common |= {"self_check": check.get("ratio")} | ends
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC)
    model_fields = ["model", "name", "weights", "device", "clock"]
    common = {name: value for name, value in common.items() if name not in model_fields}
    disturbed = set(common.pop("disturbed_rounds"))
    writer.writerow([*model_fields, "round", "disturbed", "ms", *common])
    for model, samples, left_out in _samples(report, disturbed):
        for number, ms in enumerate(samples, start=1):
            fields = [model[name] for name in model_fields]
            row = (*fields, number, number in left_out, ms, *common.values())
            writer.writerow([harmless(cell) for cell in row])
    return out.getvalue()


def _samples(
    report: Report, disturbed: set[int]
) -> Iterator[tuple[Report, Sequence[float], set[int]]]:
    """Yield each model with its samples and the disturbed ones, then those of processor time."""
    for model in report["models"]:
        yield model, model["samples_ms"], disturbed
    if report["cpu_time"] is None:
        return
    for model, timed in zip(report["models"], report["cpu_time"]["models"], strict=True):
        clock = "compute" if model["clock"] == "wait" else model["clock"]
        yield {**model, "clock": clock}, timed["samples_ms"], set()


def read_report(text: str) -> Report:
    """Parse an uploaded measurement, reduced to the fields that the page displays.

    Raises:
        BadReport: the document is too large or not a measurement.
    """
    if len(text) > LARGEST_DOCUMENT:
        raise BadReport(
            Sentence("report-too-large", "This file is too large for a recorded measurement.")
        )
    try:
        document = json.loads(text)
        if document["format"] != FORMAT:
            raise KeyError("format")
        medians = _read_medians(document)
        return {
            "protocol": {name: _plain(v) for name, v in document["protocol"].items()},
            "machine": {name: _plain(v) for name, v in document["machine"].items()},
            "models": [
                _read_model(model | {"median_ms": ms})
                for model, ms in zip(document["models"][:MAX_MODELS], medians, strict=True)
            ],
            "ratios": [_read_ratio(ratio) for ratio in document["ratios"][:MAX_MODELS]],
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadReport(
            Sentence("not-a-report", "This file is not a measurement exported from this page.")
        ) from error


def _read_medians(document: Mapping[str, Any]) -> list[float]:
    """Return the medians of the clock that is reported: processor time where only that holds."""
    protocol, models = document["protocol"], document["models"]
    reported, by_cpu = protocol.get("reported_clock"), document.get("cpu_time")
    if by_cpu and reported == "compute" and protocol.get("clock") != "compute":
        models = by_cpu["models"]
    return [model["median_ms"] for model in models[:MAX_MODELS]]


def _read_model(model: Mapping[str, Any]) -> Report:
    if model["model"] not in MODEL_KEYS:
        raise KeyError("model")
    numbers = {name: _number(model[name]) for name in ("median_ms", "gflops", "weights_bytes")}
    device = _device(model, "device")
    return {"model": model["model"], "name": str(model["name"])[:60], "device": device, **numbers}


def _read_ratio(ratio: Mapping[str, Any]) -> Report:
    ends = {
        name: None if ratio[name] is None else _number(ratio[name])
        for name in ("ci_low", "ci_high")
    }
    return {
        "of": str(ratio["of"])[:60],
        "over": str(ratio["over"])[:60],
        "of_device": _device(ratio, "of_device"),
        "over_device": _device(ratio, "over_device"),
        "ratio": _number(ratio["ratio"]),
        **ends,
    }


def _device(part: Mapping[str, Any], name: str) -> str:
    """Return a device's name; empty in documents older than this field."""
    return str(part.get(name, ""))[:20]


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e15:
        raise ValueError("not a positive number")
    return float(value)


def _plain(value: object) -> str | float | int | bool | None:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value)[:200]
