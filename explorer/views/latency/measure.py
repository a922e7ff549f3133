"""Measured latency: bars, samples, tables, ratio scales, and their numbers."""

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.analysis.digits import (
    UNBREAKABLE,
    gflop,
    in_ms,
    milliseconds,
    quotient,
    rate,
    time_ratio,
    weights,
)
from explorer.analysis.latency.family import FamilyLatency, share_of_limit
from explorer.analysis.latency.passes import ModelOnDevice
from explorer.analysis.latency.ratio import Ratio
from explorer.analysis.latency.size_vs_time import SizeVsTime, SizeVsTimeRow, row_label
from explorer.analysis.latency.summary import ModelLatency
from explorer.analysis.records import NO_RUN, Records
from explorer.views.chart import chart_canvas
from explorer.views.markup import Markup, el, explained, model_name, table
from explorer.views.theme import colour_of

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from explorer.analysis.latency.family import Roofline
    from explorer.analysis.latency.faster import FasterResult


Value = Callable[[SizeVsTimeRow], float | None]


@dataclass(frozen=True, slots=True)
class BarGroup:
    """A group of bars: rows, value, format, and ratio to the first row."""

    rows: Sequence[SizeVsTimeRow]
    value: Value
    format_value: Callable[[float], str]
    times: Value
    is_sure: Callable[[SizeVsTimeRow], bool] = lambda _row: True
    """Predicate: the bar is drawn; a time without an interval is shown as a number only."""
    missing: str = "not measured yet"
    """Text of a row without a value."""


def paradox_card(paradox: SizeVsTime, titles: Sequence[tuple[str, str]]) -> Markup:
    """Draw stored parameters, FLOPs of a forward pass and measured time as groups of bars.

    Args:
        paradox: Sizes and times.
        titles: Title and subtitle of each of the three groups.
    """
    models, timed = paradox.rows, paradox.device_rows or paradox.rows
    first = models[0]
    columns: list[BarGroup] = [
        BarGroup(
            models,
            lambda row: row.parameters,
            weights,
            lambda row: row.parameters / first.parameters,
        ),
        BarGroup(
            models,
            lambda row: row.gflops,
            gflop,
            lambda row: row.gflops / first.gflops,
        ),
        # The ratio comes from the paired rounds or is None: medians do not make a ratio.
        BarGroup(
            timed,
            lambda row: row.ms,
            milliseconds,
            lambda row: None if row.times is None else row.times.ratio,
            _has_interval,
            "every round was disturbed" if paradox.measurement else "not measured yet",
        ),
    ]
    groups = [_group(column, title) for title, column in zip(titles, columns, strict=True)]
    return el("div", *groups, class_="lt-paradox")


def paradox_records(paradox: SizeVsTime) -> Records:
    """Return the value of every bar; labels include the device where there are several."""
    columns = ("model", "layers", "parameters", "gflops", "median_ms", "low_ms", "high_ms")
    clock = paradox.clock or paradox.workload.clock
    first = paradox.rows[0]
    rows = [
        [row.label, row.n_layers, row.parameters, row.gflops, row.ms, row.low_ms, row.high_ms]
        + ([None] * 3 if row.times is None else [row.times.ratio, row.times.low, row.times.high])
        + [row.parameters / first.parameters, row.gflops / first.gflops]
        + [first.parameters / row.parameters, clock]
        for row in paradox.device_rows or paradox.rows
    ]
    times = ("times_the_first", "times_low", "times_high")
    ratios = ("times_parameters", "times_gflops", "times_fewer_parameters")
    # The text is not run here, and the weights need not be a checkpoint's.
    header = timed_header(paradox.workload, ("clock",))
    return Records((*columns, *times, *ratios, "clock"), rows, header)


def ratio_text(ratio: Ratio) -> str:
    """Format a ratio with its interval, if there is one."""
    if not ratio.is_sure:
        return f"{time_ratio(ratio.ratio)} ×"
    return f"{time_ratio(ratio.ratio)} × [{time_ratio(ratio.low)}, {time_ratio(ratio.high)}]"


def _group(column: BarGroup, title: tuple[str, str]) -> Markup:
    rows, value = column.rows, column.value
    ends = [row.high_ms for row in rows if value(row) == row.ms and _is_finite(row.high_ms)]
    numbers = [*(value(row) for row in rows), *ends]
    top = max([n for n in numbers if n is not None], default=1.0)
    bars = [_bar(row, column, top) for row in rows]
    caption = title[1] if isinstance(title[1], Markup) else explained(title[1], "intervals")
    return el(
        "section",
        el("h3", explained(title[0], "GFLOP")),
        *bars,
        el("p", caption, class_="lt-under"),
        class_="card lt-group",
    )


def _bar(row: SizeVsTimeRow, column: BarGroup, top: float) -> Markup:
    number, times = column.value(row), column.times(row)
    name = model_name(row.key, row.label)
    if number is None:
        track = el("div", class_="lt-track empty")
        return el(
            "div",
            el("div", name, el("span", column.missing)),
            track,
            class_="lt-row",
            data_model=row.key,
        )
    printed = time_ratio if number == row.ms else quotient
    share = None if times is None else el("small", f"{printed(times)} ×")
    is_sure = column.is_sure(row)
    fill = el("div", class_="lt-fill", style=f"width:{100 * number / top:.2f}%")
    whisker = _whisker(row, top) if number == row.ms else None
    return el(
        "div",
        el("div", name, el("span", share, el("b", column.format_value(number)))),
        el("div", fill, whisker, class_="lt-track")
        if is_sure
        else el("div", class_="lt-track empty"),
        class_="lt-row",
        data_model=row.key,
    )


def _whisker(row: SizeVsTimeRow, top: float) -> Markup | None:
    """Draw the 95% interval of a median over the end of its bar; None without one."""
    if row.low_ms is None or row.high_ms is None or not _is_finite(row.high_ms):
        return None
    left, width = 100 * row.low_ms / top, 100 * (row.high_ms - row.low_ms) / top
    return el("div", class_="lt-whisker", style=f"left:{left:.2f}%;width:{width:.2f}%")


def _has_interval(row: SizeVsTimeRow) -> bool:
    return _is_finite(row.low_ms) and _is_finite(row.high_ms)


def _is_finite(value: float | None) -> bool:
    return value is not None and value < float("inf")


STRIP, AROUND = 56, 90
"""Height in pixels of a model's row of samples, and of axis and title."""
CLEAR = "rgba(0,0,0,0)"


@dataclass(frozen=True, slots=True)
class Mark:
    """A ratio with its interval on a scale."""

    key: str
    label: str
    ratio: Ratio
    note: str = ""


def samples_canvas(result: FamilyLatency, texts: Mapping[str, str]) -> str:
    """Return the chart of samples, and its numbers in the order of measurement."""
    return chart_canvas(
        [samples_figure(result, texts)], samples_records(result), note=texts["note"]
    )


def samples_figure(result: FamilyLatency, texts: Mapping[str, str]) -> "go.Figure":
    """Draw a point for every sample of every model, and a line at each median.

    The axis ends above the slowest model's 98th percentile; zooming out shows the rest.
    """
    import plotly.graph_objects as go

    models = result.summary.models
    top = max(float(np.percentile(model.samples_ms, 98)) for model in models) * 1.05
    figure = go.Figure(layout={"height": AROUND + STRIP * len(models), "showlegend": False})
    for place, (row, model) in enumerate(zip(result.rows, models, strict=True)):
        name, colour = row_label(row, result.devices), colour_of(row.spec.key).fill
        samples = model.samples_ms.tolist()
        figure.add_trace(
            go.Box(
                x=samples,
                y=[name] * len(samples),
                name=name,
                orientation="h",
                boxpoints="all",
                pointpos=0,
                jitter=0.7,
                fillcolor=CLEAR,
                line={"color": CLEAR},
                marker={"color": colour, "size": 6, "opacity": 0.5},
                hoveron="points",
                hovertemplate="%{x:.2f}\u00a0ms<extra>%{y}</extra>",
            )
        )
        ends = {"x0": model.median_ms, "x1": model.median_ms}
        figure.add_shape(ends, y0=place - 0.42, y1=place + 0.42, line={"width": 3})
    figure.update_xaxes(title=texts["axis"], range=[0, top])
    figure.update_yaxes(autorange="reversed")
    return figure


def timing_table(result: FamilyLatency, head: Sequence[str], caption: str) -> Markup:
    """Build a table with a row per model and device: median, interval, p90, first call, speed."""
    rows: list[list[str | Markup]] = []
    for row, model, clock in _timed_rows(result):
        has_interval = np.isfinite(model.high_ms)
        span = f"{in_ms(model.low_ms)} to {in_ms(model.high_ms)}" if has_interval else "–"
        tokens, work = result.rates(row.spec, model.median_ms)
        rows.append(
            [
                model_name(row.spec.key, _timed_label(result, row, clock), row.spec.size),
                in_ms(model.median_ms),
                span,
                "–" if model.p90_ms is None else in_ms(model.p90_ms),
                in_ms(model.first_call_ms),
                rate(tokens),
                rate(work),
            ]
        )
    return table(list(head), rows, caption)


def _timed_rows(result: FamilyLatency) -> list[tuple[ModelOnDevice, ModelLatency, str]]:
    """Return each row with its times and their clock; after them those of processor time."""
    summary = result.summary
    own = [
        (row, model, row.workload.clock)
        for row, model in zip(result.rows, summary.models, strict=True)
    ]
    if summary.cpu is None:
        return own
    by_cpu = zip(result.rows, summary.cpu.models, strict=True)
    return [*own, *((row, m, "compute") for row, m in by_cpu if row.workload.clock == "wait")]


def _timed_label(result: FamilyLatency, row: ModelOnDevice, clock: str) -> str:
    """Return the label of a row of times, with the clock if it is not the measurement's own."""
    label = row_label(row, result.devices)
    return label if clock == row.workload.clock else f"{label}, CPU time"


def ratio_scale(
    marks: Sequence[Mark], scale: tuple[float, float], lines: Mapping[float, str]
) -> Markup:
    """Draw ratios with their intervals on one scale, and named reference lines.

    Args:
        marks: Ratios, one per row.
        scale: The two ends of the scale.
        lines: Names of reference values, such as published ones, by value.
    """
    named = [_line(_place(value, scale), name) for value, name in lines.items()]
    rows = [_scale_row(mark, scale) for mark in marks]
    return el("div", el("div", *named, class_="lt-lines"), *rows, class_="lt-scale")


def _line(place: float, name: str) -> Markup:
    """Draw a named line across all rows; near the right end its name is on the left of it."""
    side = "lt-line end" if place > 65 else "lt-line"
    return el("div", el("span", name), class_=side, style=f"left:{place:.2f}%")


def _place(value: float, scale: tuple[float, float]) -> float:
    """Return a value's position on a scale, in percent of its width."""
    return float(np.clip(100 * (value - scale[0]) / (scale[1] - scale[0]), 0, 100))


def _scale_row(mark: Mark, scale: tuple[float, float]) -> Markup:
    ratio = mark.ratio
    left, right = _place(ratio.low, scale), _place(ratio.high, scale)
    interval = el("div", class_="lt-interval", style=f"left:{left:.2f}%;width:{right - left:.2f}%")
    point = el("div", class_="lt-point", style=f"left:{_place(ratio.ratio, scale):.2f}%")
    ends = f" [{time_ratio(ratio.low)}, {time_ratio(ratio.high)}]"
    span = ends if np.isfinite(ratio.high) else ""
    numbers = el("span", el("small", mark.note), el("b", f"{time_ratio(ratio.ratio)} ×"), span)
    return el(
        "div",
        el("div", model_name(mark.key, mark.label), numbers),
        el("div", interval, point, class_="lt-track"),
        class_="lt-row",
        data_model=mark.key,
    )


def downloads(documents: Mapping[str, str], label: str) -> Markup:
    """Build data links that save documents without another request."""
    links = []
    for name, text in documents.items():
        kind = "text/csv" if name.endswith(".csv") else "application/json"
        packed = base64.b64encode(text.encode()).decode()
        links.append(
            el("a", name, href=f"data:{kind};base64,{packed}", download=name, class_="chip")
        )
    return el("p", label, " ", *links, class_="note lt-downloads")


def recorded_table(report: Mapping[str, list], head: Sequence[str], caption: str) -> Markup:
    """Build the table of a measurement recorded on another machine.

    With several devices every row includes the device.
    """
    several = len({m.get("device") for m in report["models"]}) > 1
    rows: list[list[str | Markup]] = [
        [
            model_name(m["model"], f"{m['name']} on {m['device']}" if several else m["name"]),
            in_ms(m["median_ms"]),
            gflop(m["gflops"]).removesuffix(f"{UNBREAKABLE}GFLOP"),
            rate(m["gflops"] / m["median_ms"] * 1e3),
        ]
        for m in report["models"]
    ]
    return table(list(head), rows, caption)


ENDS = ("low", "high")
STATE = ("length", "batch", "device", "dtype")
"""Fields of a workload that go into the file name."""


def timed_header(
    workload: Any,  # noqa: ANN401 - a Workload
    varying: Sequence[str] = (),
    devices: Sequence[str] = (),
) -> dict[str, object]:
    """Return the file header of timed numbers, without the lines on the page's text and models.

    Args:
        workload: The workload of one pass; None where it is not known.
        varying: Fields that differ from row to row.
        devices: All devices, where there are several.
    """
    work = {} if workload is None else asdict(workload)
    work |= {"device": ", ".join(devices)} if devices else {}
    header = {name: value for name, value in work.items() if name not in varying}
    state = {name: header.pop(name) for name in STATE if name in header}
    return {name: None for name in NO_RUN if name not in state} | header | {"state": state}


def scale_records(
    marks: "Sequence[Mark]",
    workload: Any,  # noqa: ANN401 - a Workload
    varying: Sequence[str] = (),
) -> Records:
    """Return every mark of a scale of ratios; ``varying`` holds the fields that differ."""
    rows = [[m.label, m.ratio.ratio, m.ratio.low, m.ratio.high, m.ratio.n_rounds] for m in marks]
    return Records(("name", "ratio", *ENDS, "rounds"), rows, timed_header(workload, varying))


def samples_records(result: "FamilyLatency") -> Records:
    """Return every sample in the order of measurement."""
    disturbed = result.latency.disturbed.tolist()
    rows = [
        [row.name, place, ms, clock, clock == row.workload.clock and disturbed[place - 1]]
        for row, model, clock in _timed_rows(result)
        for place, ms in enumerate(model.samples_ms.tolist(), 1)
    ]
    columns = ("model", "sample", "ms", "clock", "disturbed")
    return Records(columns, rows, timed_header(result.workload, ("clock",), result.devices))


def timing_records(result: "FamilyLatency") -> Records:
    """Return a row of timings per model and device."""
    columns = ("model", "median_ms", "low_ms", "high_ms", "p90_ms", "first_call_ms", "gflops")
    rates = ("tokens_per_s", "gflop_per_s", "clock")
    rows = [
        [
            row.name,
            *(model.median_ms, model.low_ms, model.high_ms, model.p90_ms, model.first_call_ms),
            result.gflops(row.spec),
            *result.rates(row.spec, model.median_ms),
            clock,
        ]
        for row, model, clock in _timed_rows(result)
    ]
    header = timed_header(result.workload, ("clock",), result.devices)
    return Records(columns + rates, rows, header)


def limits_records(limits: "Sequence[Roofline]", final: "FamilyLatency") -> Records:
    """Return the compute and memory limits of each model, and the share that it reaches."""
    share = share_of_limit(final, limits)
    columns = ("model", "median_ms", "arithmetic_ms", "memory_ms", "bound_by", "share_of_limit")
    more = ("gflops", "gflop_per_s", "peak_gflops_per_s", "working_set_bytes", "bandwidth_gb_per_s")
    rows = []
    for spec, limit in zip(final.specs, limits, strict=True):
        ms = final.summary.model(spec.name).median_ms
        rows.append(
            [
                *(spec.name, ms, limit.arithmetic_ms, limit.memory_ms, limit.bound_by),
                *(
                    share[spec.name],
                    final.gflops(spec),
                    final.rates(spec, ms)[1],
                    limit.peak_gflops,
                ),
                *(limit.working_set, limit.bandwidth_gb),
            ]
        )
    return Records(columns + more, rows, timed_header(final.workload))


def faster_records(faster: "FasterResult") -> Records:
    """Return every variant of every model; effects on the answers are empty if not measured."""
    costs = {(cost.key, cost.name): cost for cost in faster.costs}
    columns = ("model", "way_to_run", "median_ms", "times_float32", *ENDS)
    sizes = faster.batch_sizes
    rows = []
    for variants in faster.models:
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
    return Records((*columns, *answers, *speeds), rows, timed_header(faster.workload, ("dtype",)))


def recorded_records(report: Mapping[str, Any]) -> Records:
    """Return a measurement of another machine, with its protocol and machine in the header."""
    columns = ("model", "device", "median_ms", "gflops")
    rows = [[m["name"], m.get("device"), m["median_ms"], m["gflops"]] for m in report["models"]]
    header = {"protocol": report["protocol"], "machine": report["machine"]}
    return Records(columns, rows, {**timed_header(None), **header})
