"""The paradox card: three small bar pictures that begin alike and end differently."""

from collections.abc import Callable, Sequence

from explorer.analysis.latency_paradox import Paradox, ParadoxRow
from explorer.views.markup import Markup, el, model_name

Value = Callable[[ParadoxRow], float | None]


def paradox_card(paradox: Paradox, titles: Sequence[tuple[str, str]]) -> Markup:
    """Stored parameters, work of one pass and measured time as three groups of bars.

    Args:
        paradox: the numbers.
        titles: title and line below it of each of the three groups.
    """
    models, timed = paradox.rows, paradox.timed or paradox.rows
    columns: list[tuple[Sequence[ParadoxRow], Value, Callable[[float], str]]] = [
        (models, lambda row: row.parameters, lambda n: f"{n / 1e6:,.1f} M"),
        (models, lambda row: row.gflops, lambda n: f"{n:,.2f} GFLOP"),
        (timed, lambda row: row.ms, milliseconds),
    ]
    groups = [
        _group(rows, title, value, show)
        for title, (rows, value, show) in zip(titles, columns, strict=True)
    ]
    return el("div", *groups, class_="lt-paradox")


def milliseconds(ms: float) -> str:
    """A time in the digits it deserves."""
    return f"{ms:,.0f} ms" if ms >= 100 else f"{ms:.1f} ms" if ms >= 10 else f"{ms:.2f} ms"


def _group(
    rows: Sequence[ParadoxRow],
    title: tuple[str, str],
    value: Value,
    show: Callable[[float], str],
) -> Markup:
    numbers = [value(row) for row in rows]
    ends = [row.high_ms for row in rows if value(row) == row.ms and _is_finite(row.high_ms)]
    top = max([n for n in [*numbers, *ends] if n is not None], default=1.0)
    bars = [
        _bar(row, number, show, (numbers[0], top))
        for row, number in zip(rows, numbers, strict=True)
    ]
    return el(
        "section", el("h3", title[0]), *bars, el("p", title[1], class_="lt-under"),
        class_="card lt-group",
    )  # fmt: skip


def _bar(
    row: ParadoxRow,
    number: float | None,
    show: Callable[[float], str],
    scale: tuple[float | None, float],
) -> Markup:
    first, top = scale
    name = model_name(row.key, row.label)
    if number is None:
        track = el("div", class_="lt-track empty")
        return el("div", el("div", name, el("span", "not measured yet")), track, class_="lt-row",
                  data_model=row.key)  # fmt: skip
    share = el("small", f"{number / first:.2f} ×") if first else None
    fill = el("div", class_="lt-fill", style=f"width:{100 * number / top:.2f}%")
    whisker = _whisker(row, top) if number == row.ms else None
    return el(
        "div", el("div", name, el("span", share, el("b", show(number)))),
        el("div", fill, whisker, class_="lt-track"), class_="lt-row", data_model=row.key,
    )  # fmt: skip


def _whisker(row: ParadoxRow, top: float) -> Markup | None:
    """The 95 % interval of a median, drawn over the end of its bar."""
    if row.low_ms is None or row.high_ms is None or not _is_finite(row.high_ms):
        return None
    left, width = 100 * row.low_ms / top, 100 * (row.high_ms - row.low_ms) / top
    return el("div", class_="lt-whisker", style=f"left:{left:.2f}%;width:{width:.2f}%")


def _is_finite(value: float | None) -> bool:
    return value is not None and value < float("inf")
