"""Sentences of the comparison of size, compute and time."""

from explorer.analysis.digits import counted, milliseconds, rate, repeated, time_ratio
from explorer.analysis.latency.ratio import MIN_P90, Ratio
from explorer.analysis.latency.size_vs_time import SizeVsTime, SizeVsTimeRow
from explorer.analysis.latency.summary import LatencySummary, ModelLatency
from explorer.library.strings import P90_NEEDS, rounds_missing
from explorer.ui.kit.strings import AT_CHOICE, AT_SIZE, SAME, compute_said, stored_said
from explorer.ui.latency.strings import LONGEST, NO_RATIO, by_cpu_because, unreported
from explorer.views.latency.measure import ratio_text
from explorer.views.markup import Markup, el, finding, join, model_name

STORED = "Stored weights"
WORK = "Compute of one pass in GFLOP"
TIME = {
    "compute": "CPU time here, one thread",
    "wait": "Wall-clock time here, all cores",
    "device": "Time here, on the device",
}
TIME_EVERYWHERE = "Time here, on every device"
SHORTEST_S = LONGEST[0][1]
"""The shortest time limit to choose, in seconds; the page's default."""


def paradox_titles(paradox: SizeVsTime, longest_s: float = SHORTEST_S) -> list[tuple[str, str]]:
    """Return title and conclusion of each of the three bar charts.

    Args:
        paradox: Parameters, FLOP and measured times.
        longest_s: Upper limit of a measurement in seconds.
    """
    first, star = paradox.rows[0], paradox.shared_row
    stored = f"{star.label} stores {stored_said(star.parameters, first.parameters)} {first.label}."
    cost = star.gflops / first.gflops
    of = "as" if abs(cost - 1) < SAME else "of"
    return [
        (STORED, stored),
        (WORK, f"{_runs(star)}: {compute_said(cost)} {of} {first.label}."),
        (_time_title(paradox), _time(paradox, longest_s)),
    ]


def _runs(star: SizeVsTimeRow) -> str:
    if star.is_shared:
        return f"{star.label}'s one layer runs {repeated(star.n_layers)}"
    return f"{star.label} has {counted(star.n_layers, 'layer')}"


def _time_title(paradox: SizeVsTime) -> str:
    several = len(paradox.device_rows) > len(paradox.rows)
    return TIME_EVERYWHERE if several else TIME[_clock(paradox)]


def _clock(paradox: SizeVsTime) -> str:
    """Return the clock of the times that are shown."""
    return paradox.clock or paradox.workload.clock


def _opposed(stored: float, cost: float) -> bool:
    """Return whether cost and number of parameters move in different directions, as ratios."""
    return _sign(stored) != _sign(cost)


def _sign(times: float) -> int:
    return (times > 1 + SAME) - (times < 1 - SAME)


def _time(paradox: SizeVsTime, longest_s: float) -> str:
    first, star = paradox.rows[0], paradox.shared_row
    measured = paradox.measurement
    if measured is not None and measured.reported is None and not (star.ms and star.times):
        return unreported(measured)
    if star.ms is None or first.ms is None:
        how = f": “Measure here” measures for at most {longest_s:.0f}\u00a0s"
        return join("Not measured yet", el("span", how, class_="live-only"), ".")
    if star.times is None:
        return NO_RATIO
    takes = f"{star.label} takes {ratio_text(star.times)} the time of {first.label}"
    others = [f"{row.label} {ratio_text(row.times)}" for row in paradox.others if row.times]
    ratios = "; ".join([takes, *others])
    if not star.times.is_sure:
        return f"Preliminary, without intervals: {ratios}."
    return f"{ratios} (95% confidence intervals)."


def paradox_finding(
    paradox: SizeVsTime, summary: LatencySummary | None = None, shapes: str = "base"
) -> Markup:
    """Return the tab's finding: size against compute, and against time if measured."""
    lead = AT_SIZE.get(shapes, AT_CHOICE)
    first, star = paradox.rows[0], paradox.shared_row
    base, named = model_name(first.key, first.label), model_name(star.key, star.label)
    stored = f" stores {stored_said(star.parameters, first.parameters)} "
    shown = None if summary is None else summary.reported
    if shown is None or first.ms is None or star.ms is None:
        cost = star.gflops / first.gflops
        link = ", but" if _opposed(star.parameters / first.parameters, cost) else " and"
        open_end = "How long does it take?" if summary is None else unreported(summary)
        return finding(lead, named, stored, base, f"{link} needs {compute_said(cost)}. {open_end}")
    verdict = _verdict(first, star, _differs(star, paradox, shown), NOUN[_clock(paradox)])
    lines = [join(_fastest(paradox, shown), lead, named, stored, base, verdict, ".")]
    lines += [
        _times(row, model, first, paradox)
        for row, model in zip(paradox.rows, shown.models, strict=False)
    ]
    why = []
    if summary is not None and shown is not summary:
        why.append(by_cpu_because(summary))
    if any(model.p90_ms is None for model in shown.models):
        why.append(p90_missing(shown, is_within=shown is not summary))
    return finding(
        *(el("span", line, " ", class_="line") for line in lines),
        *(el("span", line, " ", class_="line why") for line in why),
    )


NOUN = {"compute": "CPU time", "wait": "time", "device": "time"}
"""Name of a time in the headline, by its clock."""


def p90_missing(summary: LatencySummary, is_within: bool) -> str:
    """Return why a measurement has no 90th percentile.

    Args:
        summary: The summary without one.
        is_within: Whether these are rounds of CPU time within a measurement on the wall clock.
    """
    ended = "cpu" if is_within else summary.ended
    return rounds_missing(P90_NEEDS, MIN_P90, summary.n_rounds, summary.n_used, ended)


def _fastest(paradox: SizeVsTime, summary: LatencySummary) -> Markup | str:
    """Return the model whose interval is below all others; empty without intervals."""
    first, *others = paradox.rows
    times = {row.label: row.times for row in others if row.times is not None and row.times.is_sure}
    if not others or len(times) < len(others):
        return ""
    best = min(paradox.rows, key=lambda row: 1.0 if row is first else times[row.label].ratio)
    slower = [ratio for label, ratio in times.items() if label != best.label]
    if best is first:
        differs = [_differs(row, paradox, summary) for row in others]
        is_clear = all(differs) and all(ratio.low > 1 for ratio in slower)
    else:
        own = times[best.label]
        is_clear = _differs(best, paradox, summary) and own.high < min(
            [1.0, *(ratio.low for ratio in slower)]
        )
    if not is_clear:
        return "No model is clearly the fastest here. "
    return join(model_name(best.key, best.label), " is the fastest here. ")


def _differs(row: SizeVsTimeRow, paradox: SizeVsTime, summary: LatencySummary) -> bool:
    ratio = summary.ratio(summary.models[paradox.rows.index(row)].name)
    return ratio is not None and ratio.is_different


def _times(
    row: SizeVsTimeRow, model: ModelLatency, first: SizeVsTimeRow, paradox: SizeVsTime
) -> Markup:
    """Return a model's line: ratio with interval, p50, p90, texts per second."""
    times, noun = "", NOUN[_clock(paradox)]
    if row is not first and row.times is not None:
        ends = f"95% CI {time_ratio(row.times.low)} to {time_ratio(row.times.high)}"
        interval = ends if row.times.is_sure else "no interval"
        times = f"{time_ratio(row.times.ratio)} × {first.label}'s {noun} ({interval}); "
    p50 = "CPU time p50" if noun == "CPU time" else "p50"
    p90 = "" if model.p90_ms is None else f"p90 {milliseconds(model.p90_ms)}, "
    printed_rate = rate(1000 * paradox.workload.batch / (row.ms or 1))
    each = "texts per CPU second" if noun == "CPU time" else "texts a second"
    return join(
        model_name(row.key, row.label),
        f": {times}{p50} {milliseconds(row.ms or 0)}, {p90}{printed_rate} {each}.",
    )


def _verdict(first: SizeVsTimeRow, star: SizeVsTimeRow, is_different: bool, noun: str) -> str:
    """Return the time after the size, joined by "yet" if the two are opposed."""
    if star.times is None:
        return ""
    times = f"{time_ratio(star.times.ratio)} ×"
    if not star.times.is_sure:
        rounds = counted(star.times.n_rounds, "round")
        return f". Preliminary: {times} {first.label}'s {noun} ({rounds}, no interval)"
    stored, time = star.parameters / first.parameters, star.times.ratio if is_different else 1.0
    link = ", yet" if _opposed(stored, time) else ", and"
    if not is_different:
        return f"{link} no difference in {noun} shows here ({times})"
    return f"{link} it takes {times} the {noun} here"


def why(paradox: SizeVsTime) -> str:
    """Compare a time that has an interval with the compute; empty without one."""
    first, star = paradox.rows[0], paradox.shared_row
    if star.times is not None and star.times.is_sure:
        return _time_and_work(first, star, star.times)
    return ""


def _time_and_work(first: SizeVsTimeRow, star: SizeVsTimeRow, times: Ratio) -> str:
    """Compare the interval of the time with the ratio of the compute."""
    work = star.gflops / first.gflops
    if times.high < work / 1.05:
        return (
            f"Here {star.label} is faster than its compute suggests: weights that are used again "
            "can stay in the cache, and short texts wait for weights from memory."
        )
    if times.low > work * 1.05:
        return _slower(first, star)
    if times.low <= work <= times.high:
        return "The measured interval includes the ratio of the compute."
    return "The time is close to the ratio of the compute."


def _slower(first: SizeVsTimeRow, star: SizeVsTimeRow) -> str:
    """Return why a model may be slower than its compute suggests."""
    if star.activation == first.activation:
        return (
            f"Here {star.label} is slower than its compute suggests, though its activation "
            f"function is that of {first.label}; these numbers do not say why."
        )
    return (
        f"Here {star.label} is slower than its compute suggests. Its activation function "
        f"({star.activation}) is not that of {first.label} ({first.activation}); what that costs "
        "was not measured separately."
    )
