"""The sentences of the latency tab and of its endpoint."""

from collections.abc import Sequence
from typing import Any

from explorer.analysis.digits import counted
from explorer.analysis.latency.family import FamilyLatency
from explorer.analysis.latency.ratio import BETWEEN_PRESSES
from explorer.analysis.latency.summary import LatencySummary
from explorer.timing.workload import Workload
from explorer.ui.kit.words import MIXED, SIZES

LABEL = "Latency"
QUESTION = "Does a model with fewer weights run faster?"
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
LONGEST_LABEL = "Measure for at most"
LONGEST = [
    ("at most 20 s: intervals for one text", 20),
    ("at most 1 min: for 8 texts of 64 tokens", 60),
    ("at most 3 min: p90 for these; larger sizes", 180),
]
SETTINGS = "Settings"
SETTINGS_SAID = "{sizes}, {length} tokens, {batch}, {part}; {clock}, {device}, {dtype}."
CLOCKS_SAID = {"compute": "CPU time of one thread", "wait": "wall-clock time on all cores"}
STOP = "Stop"
NO_RATIO = "Other programs disturbed most rounds, so no ratio is given."


def clocks(devices: Sequence[str]) -> str:
    """How times on several devices are taken; nothing where there is one."""
    if not devices:
        return ""
    others = " and ".join(device for device in devices if device != "cpu")
    return (
        f"All devices are measured in the same rounds, each by its own clock: the CPU by the one "
        f"chosen, {others} by its own events or until it is idle. The sentences are about the CPU."
    )


def settings_said(shown: tuple[Any, ...]) -> str:
    """What a press of the button times, in one sentence; the values are the controls'."""
    sizes, length, batch, part, clock, device, dtype, _ = shown
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


def place_in_line(place: int) -> str:
    """How many are before the reader's own measurement."""
    before = "One measurement is" if place == 1 else f"{place} measurements are"
    return f"{before} ahead of yours; it starts by itself."


def progress(n_rounds: int, wall_s: float, budget_s: float) -> str:
    """How far a running measurement is."""
    if not n_rounds:
        return "Building the models and warming up …"
    rounds = counted(n_rounds, "round")
    ends = f"it stops when the intervals are narrow, or at {budget_s:.0f} s."
    return f"{rounds} in {wall_s:.0f} s; {ends}"


ENDED = {
    "settled": "every confidence interval, before it is widened, spans at most 6%",
    "budget": "the time limit was reached",
    "deadline": "the time limit was reached",
    "rounds": "all rounds are done",
    "stopped": "you stopped it",
}


def trust(summary: LatencySummary, first: str, workload: Workload) -> str:
    """How much of a difference to believe, said beside every result."""
    rounds, blocks = counted(summary.n_rounds, "round"), counted(summary.n_blocks, "block")
    parts = [f"{rounds} in {blocks} in {summary.wall_s:.0f} s: {ENDED[summary.ended]}."]
    if summary.refused:
        parts.append(
            "Other programs disturbed more than half of the rounds, so no ratio is given on this "
            "clock; CPU time does not need a quiet machine."
        )
    elif summary.self_check is not None and not summary.self_check.is_sure:
        parts.append(
            "That is too few for confidence intervals: measure for longer, or choose fewer tokens."
        )
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
    texts = texts[0].upper() + texts[1:]
    return (
        f"{texts} of {counted(workload.length, 'token')}, no padding, {part}, {workload.dtype}, "
        f"{device}, {width}, eager attention, inference mode; {used}."
    )
