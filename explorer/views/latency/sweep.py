"""Latency over lengths or batches, as data for two charts that the browser draws."""

from collections.abc import Mapping
from math import isfinite

from explorer.analysis.latency.paradox import size_label
from explorer.analysis.latency.sweep import Sweep
from explorer.models.specs import ModelSpec
from explorer.views.latency.numbers import timed_said
from explorer.views.markup import script_json

Ends = tuple[float, float]


def sweep_canvas(sweep: Sweep, titles: Mapping[str, str]) -> str:
    """Each model's median milliseconds and its time over the first one's, with 95 % bands.

    A point whose ratios were refused is a gap in the ratio.
    """
    specs = sweep.points[0].specs if sweep.points else ()
    return script_json(
        {
            "title": titles[sweep.axis],
            "ms": titles["ms"],
            "ratio": titles["ratio"],
            "places": [sweep.position(point) for point in sweep.points],
            "models": [_model(sweep, spec) for spec in specs],
            "said": timed_said(sweep.points[0].workload, (sweep.axis,)) if specs else {},
        }
    )


def _model(sweep: Sweep, spec: ModelSpec) -> dict[str, object]:
    """One model's two lines; the first model has no ratio to itself."""
    times = [point.summary.model(spec.name) for point in sweep.points]
    given = [] if spec is sweep.points[0].specs[0] else sweep.points
    ratios = [point.summary.ratio(spec.name) for point in given]
    found = [None if r is None else r.ratio.inverse for r in ratios]
    return {
        "key": spec.key,
        "label": size_label(spec),
        "ms": [m.median_ms for m in times],
        "ms_band": [_ends(m.low_ms, m.high_ms) for m in times],
        "ratio": [None if r is None else r.ratio for r in found],
        "ratio_band": [None if r is None else _ends(r.low, r.high) for r in found],
    }


def _ends(low: float, high: float) -> Ends | None:
    """The two ends of an interval, where it has two."""
    return (low, high) if low > 0 and isfinite(high) else None
