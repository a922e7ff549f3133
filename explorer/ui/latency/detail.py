"""The headline's measurement in full: samples, ratios, documents."""

import json
from typing import Any

from explorer.ui.kit.export import with_save_menu
from explorer.ui.latency import folds_words as texts
from explorer.views.markup import Markup, el, explained, join, note


def draw_detail(result: Any) -> list[str]:  # noqa: ANN401 - a FamilyLatency or None
    """Every sample of a measurement that is complete, and what follows from them; else nothing."""
    if result is None:
        return ["", "", ""]
    from explorer.views.latency.detail import samples_canvas

    return [el("h3", texts.DETAIL), samples_canvas(result, texts.SAMPLES), detail(result)]


def detail(result: Any) -> Markup:  # noqa: ANN401 - a FamilyLatency
    """Timing table, ratios on one scale, and the two documents."""
    from explorer.analysis.latency.report import latency_report, report_csv
    from explorer.analysis.latency.size_vs_time import row_label
    from explorer.timing.machine import machine
    from explorer.views.latency.detail import (
        Mark,
        downloads,
        ratio_scale,
        timing_table,
    )
    from explorer.views.latency.numbers import scale_numbers, timing_numbers

    summary, by_name = result.summary, {row.name: row for row in result.rows}
    marks = [
        Mark(by_name[r.over].spec.key, row_label(by_name[r.over], result.devices), r.ratio.inverse)
        for r in summary.ratios
    ]
    if summary.self_check is not None:
        marks.append(Mark(result.specs[0].key, texts.SELF, summary.self_check))
    top = max([2.4, *(1.1 * mark.ratio.ratio for mark in marks)])
    lead = texts.RATIOS_LEAD.format(first=row_label(result.rows[0], result.devices))
    scale = ratio_scale(marks, (0.0, top), {1.0: "equal"})
    compared = scale_numbers(marks, result.workload, ("device", "clock") if result.devices else ())
    ratios = [note(lead), with_save_menu("latency/ratios", scale, compared)] if marks else []
    times = timing_table(result, texts.TIMING_HEAD, explained(texts.TIMING_NOTE, "p90"))
    report = latency_report(result, machine(*(result.devices or (result.workload.device,))))
    documents = {
        "latency.json": json.dumps(report, indent=1, allow_nan=False),
        "latency.csv": report_csv(report),
    }
    return join(
        with_save_menu("latency/times", times, timing_numbers(result), is_picture=False),
        *ratios,
        downloads(documents, texts.SAVE),
    )
