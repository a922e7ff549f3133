"""The sentences of the latency tab and of its endpoint."""

from collections.abc import Sequence
from typing import Any

from explorer.analysis.digits import milliseconds
from explorer.analysis.latency.family import FamilyLatency
from explorer.analysis.latency.paradox import Paradox, ParadoxRow
from explorer.analysis.latency.ratio import BETWEEN_PRESSES
from explorer.analysis.latency.summary import LatencySummary
from explorer.timing.workload import Workload
from explorer.ui.kit.words import AT_CHOICE, AT_SIZE, MIXED, SIZES
from explorer.views.latency.measure import ratio_text
from explorer.views.markup import Markup, finding, model_name

LABEL = "Latency"
QUESTION = "Why is ALBERT, with a tenth of the parameters, not ten times faster?"
NO_ROUND = "Time ran out before every model had run once. Please choose a smaller workload."
NOTHING = "Stopped before anything was measured."
SHAPES_LABEL = "Sizes"
SHAPES = [
    (SIZES["base"], "base"),
    (SIZES["mini"], "mini"),
    ("Published larger sizes", "larger"),
]
LENGTH_LABEL = "Tokens"
OWN_TEXT = "{n}: your text"
BATCH_LABEL = "Batch size"
PART_LABEL = "Workload"
PARTS = [("Encoder only", "encoder"), ("With the MLM head", "head")]
CLOCK_LABEL = "Timing"
CLOCKS = [("CPU time, one thread", "compute"), ("Wall clock, all cores", "wait")]
DEVICE_LABEL = "Device"
EVERY_DEVICE = "every device"
LENT_DEVICE = "cuda, lent for one measurement"
LENT_ONLY = "The lent GPU times the main result only; choose cpu for this question."
ONE_DEVICE = "This needs a single device: please choose one under Device."
DTYPE_LABEL = "Precision"
MEASURE = "Measure here"
SETTINGS = "Settings"
SETTINGS_SAID = "{sizes}, {length} tokens, {batch}, {part}; {clock}, {device}, {dtype}."
CLOCKS_SAID = {"compute": "CPU time of one thread", "wait": "wall-clock time on all cores"}
STOP = "Stop"
STORED = "Stored parameters"
WORK = "Compute of one pass in GFLOP"
TIME = {
    "compute": "CPU time here, one thread",
    "wait": "Wall-clock time here, all cores",
    "device": "Time here, on the device",
}
NO_RATIO = "Other programs disturbed most rounds, so no ratio is given."
TIME_EVERYWHERE = "Time here, on every device"
FRACTIONS = {2: "half", 3: "a third", 4: "a quarter", 9: "a ninth", 10: "a tenth"}
SAME = 0.015
"""Relative difference under which two amounts of work are called the same."""


def paradox_titles(paradox: Paradox) -> list[tuple[str, str]]:
    """Title and conclusion of each of the three bar pictures."""
    first, star = paradox.rows[0], paradox.star
    stored = f"{star.label} stores {_fraction(star, first)} {first.label}'s parameters."
    return [
        (STORED, stored),
        (WORK, f"{_runs(star)}: {_work(star, first)}."),
        (_time_title(paradox), _time(paradox)),
    ]


def _runs(star: ParadoxRow) -> str:
    if star.is_shared:
        return f"{star.label}'s one layer runs {star.n_layers} times"
    return f"{star.label} has {star.n_layers} layers"


def _time_title(paradox: Paradox) -> str:
    several = len(paradox.timed) > len(paradox.rows)
    return TIME_EVERYWHERE if several else TIME[paradox.workload.clock]


def clocks(devices: Sequence[str]) -> str:
    """How times on several devices are taken; nothing where there is one."""
    if not devices:
        return ""
    others = " and ".join(device for device in devices if device != "cpu")
    return (
        f"All devices are measured in the same rounds, each by its own clock: the CPU by the one "
        f"chosen, {others} by its own events or until it is idle. The sentences are about the CPU."
    )


def _fraction(star: ParadoxRow, first: ParadoxRow) -> str:
    """The share of the first model's parameters, as a unit fraction where it is about one."""
    times = first.parameters / star.parameters
    n = round(times)
    fraction = FRACTIONS.get(n, "") if abs(times - n) < 0.06 * n else ""
    return f"about {fraction} of" if fraction else f"{1 / times:.0%} of"


def _work(star: ParadoxRow, first: ParadoxRow) -> str:
    times = star.gflops / first.gflops
    if abs(times - 1) < SAME:
        return f"the same compute as {first.label}"
    return f"{times:.2f} × the compute of {first.label}"


def _time(paradox: Paradox) -> str:
    first, star = paradox.rows[0], paradox.star
    if star.ms is None or first.ms is None:
        return "Not measured yet: press “Measure here”."
    if star.times is None:
        return NO_RATIO
    takes = f"{star.label} takes {ratio_text(star.times)} the time of {first.label}"
    others = [f"{row.label} {ratio_text(row.times)}" for row in paradox.others if row.times]
    sure = " (95% confidence intervals)" if star.times.is_sure else ""
    return f"{'; '.join([takes, *others])}{sure}."


def settings_said(shown: tuple[Any, ...]) -> str:
    """What a press of the button times, in one sentence; the values are the seven controls'."""
    sizes, length, batch, part, clock, device, dtype = shown
    label_of = {value: label for label, value in (*SHAPES, *PARTS)}
    return SETTINGS_SAID.format(
        sizes=label_of.get(sizes, MIXED),
        length=length,
        batch=f"batch size {batch}",
        part=label_of[part].lower(),
        clock=CLOCKS_SAID[clock],
        device=device,
        dtype=dtype,
    )


def paradox_finding(
    paradox: Paradox, summary: LatencySummary | None = None, shapes: str = "base"
) -> Markup:
    """The tab's one sentence: size against work, and against time once it was measured."""
    lead = AT_SIZE.get(shapes, AT_CHOICE)
    first, star = paradox.rows[0], paradox.star
    base, named = model_name(first.key, first.label), model_name(star.key, star.label)
    size = f" stores {_fraction(star, first)} "
    if summary is None or first.ms is None or star.ms is None:
        work = _work(star, first).removesuffix(f" as {first.label}")
        work = work.removesuffix(f" of {first.label}")
        return finding(
            lead,
            named,
            size,
            base,
            f"'s parameters, but one pass takes {work}. How long does it take?",
        )
    ratio = summary.ratio(summary.models[paradox.rows.index(star)].name)
    if star.times is None or ratio is None:
        verdict = f"; it takes {milliseconds(star.ms)} here, {first.label} {milliseconds(first.ms)}"
    elif not star.times.is_sure:
        verdict = f", and took {star.times.ratio:.2f} × the time in too few rounds to be sure"
    elif not ratio.is_different:
        verdict = f", yet no difference in time shows here ({star.times.ratio:.2f} ×)"
    else:
        verdict = f", yet it takes {star.times.ratio:.2f} × the time here"
    return finding(lead, named, size, base, "'s parameters", verdict, *_others(paradox.others), ".")


def _others(rows: tuple[ParadoxRow, ...]) -> list[Markup | str]:
    """What the models between take: times the first's where ratios are given."""
    parts: list[Markup | str] = []
    for row in rows:
        if row.ms is not None:
            takes = milliseconds(row.ms) if row.times is None else f"{row.times.ratio:.2f} ×"
            parts += ["; ", model_name(row.key, row.label), f" takes {takes}"]
    return parts


def why(paradox: Paradox) -> str:
    """What explains the three pictures, from their own numbers."""
    first, star = paradox.rows[0], paradox.star
    lead = (
        f"Sharing saves memory, not compute: the one layer of {star.label} is stored once and run "
        f"{star.n_layers} times, and every run multiplies by all its weights again."
    )
    lead = lead if star.is_shared else ""
    if star.times is None:
        return lead
    work = star.gflops / first.gflops
    if not star.times.is_sure:
        return lead
    if star.times.high < work / 1.05:
        return lead + (
            " Here it is faster than its compute suggests: short texts wait for weights from "
            "memory, and one layer that is used again and again can stay in the cache."
        )
    if star.times.low > work * 1.05:
        return f"{lead} {_slower(first, star)}"
    if star.times.low <= work <= star.times.high:
        return lead + " The time follows the compute, not the size."
    return lead + " The time is near the compute, not the size."


def _slower(first: ParadoxRow, star: ParadoxRow) -> str:
    """Why a model may be slower than its work says."""
    if star.activation == first.activation:
        return (
            f"Here it is slower than its compute suggests, though its activation function is that "
            f"of {first.label}; these numbers do not say why."
        )
    return (
        f"Here it is slower than its compute suggests. Besides sharing, its activation function "
        f"({star.activation}) is not that of {first.label} ({first.activation}); what that costs "
        "was not measured separately."
    )


def place_in_line(place: int) -> str:
    """How many are before the reader's own measurement."""
    before = "One measurement is" if place == 1 else f"{place} measurements are"
    return f"{before} ahead of yours; it starts by itself."


def progress(n_rounds: int, wall_s: float, budget_s: float) -> str:
    """How far a running measurement is."""
    if not n_rounds:
        return "Building the models and warming up …"
    rounds = "1 round" if n_rounds == 1 else f"{n_rounds} rounds"
    ends = f"it stops when the intervals are narrow, or at {budget_s:.0f} s."
    return f"{rounds} in {wall_s:.0f} s; {ends}"


ENDED = {
    "settled": "every confidence interval is within 3%",
    "budget": "the time limit was reached",
    "deadline": "the time limit was reached",
    "rounds": "all rounds are done",
    "stopped": "you stopped it",
}


def trust(summary: LatencySummary, first: str, workload: Workload) -> str:
    """How much of a difference to believe, said beside every result."""
    rounds = "1 round" if summary.n_rounds == 1 else f"{summary.n_rounds} rounds"
    blocks = "1 block" if summary.n_blocks == 1 else f"{summary.n_blocks} blocks"
    parts = [f"{rounds} in {blocks} in {summary.wall_s:.0f} s: {ENDED[summary.ended]}."]
    if summary.refused:
        parts.append(
            "Other programs disturbed more than half of the rounds, so no ratio is given on this "
            "clock; CPU time does not need a quiet machine."
        )
    elif summary.self_check is not None and not summary.self_check.is_sure:
        parts.append("That is too few for confidence intervals: choose fewer tokens.")
    elif summary.self_check is not None:
        check = summary.self_check
        parts.append(
            f"{first} against itself takes {check.low:.2f} to {check.high:.2f} × the time here: "
            "smaller differences are noise. Confidence intervals of ratios are computed over "
            f"blocks separated by pauses, and widened by {BETWEEN_PRESSES:.0%} for differences "
            "between runs. Where a machine's state outlasts a run, the next can differ by more."
        )
    parts.append(neighbours(summary, workload))
    return " ".join(parts)


def neighbours(summary: LatencySummary, workload: Workload) -> str:
    """What other programs on the machine did meanwhile."""
    if summary.disturbed_share is None:
        return "This system does not show whether other programs disturbed the rounds."
    share = f"Other programs disturbed {summary.disturbed_share:.0%} of the rounds"
    if summary.refused:
        return f"{share}."
    if workload.clock == "wait":
        return f"{share}; ratios are from the others."
    return f"{share}; single-thread CPU time is barely affected."


def conditions(result: FamilyLatency) -> str:
    """Everything that was held fixed."""
    workload, weights, threads = result.workload, result.weights, result.threads
    device = " and ".join(result.devices or (workload.device,))
    texts = "one text" if workload.batch == 1 else f"{workload.batch} texts"
    part = "encoder and MLM head at every position" if workload.head else "encoder only"
    kinds = {
        "random": "random weights in the published shapes (time does not depend on them)",
        "bundled": "bundled weights",
        "checkpoint": "published weights",
    }
    used = " and ".join(kinds[kind] for kind in dict.fromkeys(weights))
    width = "one thread" if threads == 1 else f"{threads} threads"
    return (
        f"{texts} of {workload.length} tokens, no padding, {part}, {workload.dtype}, "
        f"{device}, {width}, eager attention, inference mode; {used}."
    ).capitalize()
