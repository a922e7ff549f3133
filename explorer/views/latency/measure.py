"""The paradox card: three small bar pictures that begin alike and end differently."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from explorer.analysis.digits import milliseconds
from explorer.analysis.latency.ratio import Ratio
from explorer.analysis.latency.size_vs_time import SizeVsTime, SizeVsTimeRow
from explorer.views.latency.numbers import timed_said
from explorer.views.markup import Markup, el, explained, model_name
from explorer.views.numbers import Numbers

Value = Callable[[SizeVsTimeRow], float | None]


@dataclass(frozen=True, slots=True)
class Column:
    """One group of bars: whose, of what, how it is printed, and how many times the first's."""

    rows: Sequence[SizeVsTimeRow]
    value: Value
    show: Callable[[float], str]
    times: Value
    is_sure: Callable[[SizeVsTimeRow], bool] = lambda _row: True
    """Whether a bar may be drawn: of a time without an interval only the number is shown."""


def paradox_card(paradox: SizeVsTime, titles: Sequence[tuple[str, str]]) -> Markup:
    """Stored parameters, work of one pass and measured time as three groups of bars.

    Args:
        paradox: the numbers.
        titles: title and line below it of each of the three groups.
    """
    models, timed = paradox.rows, paradox.timed or paradox.rows
    first = models[0]
    columns: list[Column] = [
        Column(
            models,
            lambda row: row.parameters,
            lambda n: f"{n / 1e6:,.1f} M",
            lambda row: row.parameters / first.parameters,
        ),
        Column(
            models,
            lambda row: row.gflops,
            lambda n: f"{n:,.2f} GFLOP",
            lambda row: row.gflops / first.gflops,
        ),
        # Medians do not make a ratio: it comes from the rounds, or is not given.
        Column(
            timed,
            lambda row: row.ms,
            milliseconds,
            lambda row: None if row.times is None else row.times.ratio,
            _has_interval,
        ),
    ]
    groups = [_group(column, title) for title, column in zip(titles, columns, strict=True)]
    return el("div", *groups, class_="lt-paradox")


def paradox_numbers(paradox: SizeVsTime) -> Numbers:
    """Every bar of the card; the device stands in the name where there are several."""
    columns = ("model", "layers", "parameters", "gflops", "median_ms", "low_ms", "high_ms")
    first = paradox.rows[0]
    rows = [
        [row.label, row.n_layers, row.parameters, row.gflops, row.ms, row.low_ms, row.high_ms]
        + ([None] * 3 if row.times is None else [row.times.ratio, row.times.low, row.times.high])
        + [row.parameters / first.parameters, row.gflops / first.gflops]
        + [first.parameters / row.parameters]
        for row in paradox.timed or paradox.rows
    ]
    times = ("times_the_first", "times_low", "times_high")
    ratios = ("times_parameters", "times_gflops", "times_fewer_parameters")
    # The text is not run here, and the weights may be no checkpoint's.
    said = timed_said(paradox.workload)
    return Numbers((*columns, *times, *ratios), rows, said)


def ratio_text(ratio: Ratio) -> str:
    """A ratio with its interval, if there is one."""
    if not ratio.is_sure:
        return f"{ratio.ratio:.2f} ×"
    return f"{ratio.ratio:.2f} × [{ratio.low:.2f}, {ratio.high:.2f}]"


def _group(column: Column, title: tuple[str, str]) -> Markup:
    rows, value = column.rows, column.value
    ends = [row.high_ms for row in rows if value(row) == row.ms and _is_finite(row.high_ms)]
    numbers = [*(value(row) for row in rows), *ends]
    top = max([n for n in numbers if n is not None], default=1.0)
    bars = [_bar(row, column, top) for row in rows]
    return el(
        "section",
        el("h3", explained(title[0], "GFLOP")),
        *bars,
        el("p", explained(title[1], "intervals"), class_="lt-under"),
        class_="card lt-group",
    )


def _bar(row: SizeVsTimeRow, column: Column, top: float) -> Markup:
    number, times = column.value(row), column.times(row)
    name = model_name(row.key, row.label)
    if number is None:
        track = el("div", class_="lt-track empty")
        return el(
            "div",
            el("div", name, el("span", "not measured yet")),
            track,
            class_="lt-row",
            data_model=row.key,
        )
    share = None if times is None else el("small", f"{times:.2f} ×")
    is_sure = column.is_sure(row)
    fill = el("div", class_="lt-fill", style=f"width:{100 * number / top:.2f}%")
    whisker = _whisker(row, top) if number == row.ms else None
    return el(
        "div",
        el("div", name, el("span", share, el("b", column.show(number)))),
        el("div", fill, whisker, class_="lt-track")
        if is_sure
        else el("div", class_="lt-track empty"),
        class_="lt-row",
        data_model=row.key,
    )


def _whisker(row: SizeVsTimeRow, top: float) -> Markup | None:
    """The 95% interval of a median, drawn over the end of its bar."""
    if row.low_ms is None or row.high_ms is None or not _is_finite(row.high_ms):
        return None
    left, width = 100 * row.low_ms / top, 100 * (row.high_ms - row.low_ms) / top
    return el("div", class_="lt-whisker", style=f"left:{left:.2f}%;width:{width:.2f}%")


def _has_interval(row: SizeVsTimeRow) -> bool:
    return _is_finite(row.low_ms) and _is_finite(row.high_ms)


def _is_finite(value: float | None) -> bool:
    return value is not None and value < float("inf")
