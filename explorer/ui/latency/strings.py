"""Sentences and labels of the Latency tab."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from explorer.analysis.digits import capitalised, counted, enumerated, nats, percent, time_ratio
from explorer.analysis.latency.family import FamilyLatency, Roofline, SpeedOrder, Sweep, orders
from explorer.analysis.latency.measure import MIN_ROUNDS
from explorer.analysis.latency.ratio import BETWEEN_PRESSES, Ratio
from explorer.analysis.latency.summary import LatencySummary
from explorer.library.strings import TIME_NEEDS, rounds_missing
from explorer.models.specs import ModelSpec
from explorer.refusal import Sentence
from explorer.timing.workload import Workload
from explorer.ui.kit.strings import MIXED, SIZES
from explorer.views.latency.measure import ratio_text

LABEL = "Latency"
QUESTION = "Does a model with fewer weights run faster?"
NO_ROUND = Sentence(
    "time-ran-out",
    "Time ran out before every model had run once. Please choose a smaller workload.",
)
NOT_REACHED = {
    "queue": "The {n} s were over while other measurements ran, so nothing was measured. Please "
    "press again.",
    "lock": "The {n} s were over while models answered other requests, so nothing was measured. "
    "Please press again.",
    "build": "The {n} s were over while the models were loaded or built, so nothing was measured. "
    "Please press again, or choose a longer time.",
    "rounds": "The {n} s were over before every model had run once in a round, so nothing was "
    "measured. Please choose a longer time, or a smaller workload.",
}
"""Cause of an end without a round, by the last step of the measurement."""
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
LENT_ONLY = Sentence(
    "lent-gpu-only", "The lent GPU times the main result only; choose cpu for this question."
)
ONE_DEVICE = Sentence("one-device", "This needs a single device: please choose one under Device.")
DTYPE_LABEL = "Precision"
MEASURE = "Measure here"
LONGEST_LABEL = "Measure for at most"
LONGEST = [
    ("at most 20 s: intervals for one text", 20),
    ("at most 1 min: p90; intervals for 8 texts", 60),
    ("at most 3 min: p90 for 8 texts", 180),
]
SETTINGS = "Settings"
SETTINGS_SAID = "{sizes}, {length} tokens, {batch}, {part}; {clock}, {device}, {dtype}."
CLOCKS_SAID = {"compute": "CPU time of one thread", "wait": "wall-clock time on all cores"}
MOST_DISTURBED = (
    "Other programs disturbed {share} of the rounds, so no time of the others is reported."
)
STOP = "Stop"
NO_RATIO = "Too few undisturbed rounds, so no ratio is given."
BY_CPU = "These are CPU times of one thread: {why}"


def nothing(is_stopped: bool, stage: str, longest_s: float) -> str:
    """Return why nothing was measured.

    Args:
        is_stopped: Whether the reader stopped it.
        stage: What the measurement did last.
        longest_s: Seconds after the press at which it ends.
    """
    return NOTHING if is_stopped else NOT_REACHED.get(stage, NO_ROUND).format(n=f"{longest_s:.0f}")


def clocks(devices: Sequence[str]) -> str:
    """Return by which clock each of several devices is timed; empty for one device."""
    if not devices:
        return ""
    others = enumerated(device for device in devices if device != "cpu")
    return (
        f"All devices are measured in the same rounds, each by its own clock: the CPU by the one "
        f"chosen, {others} by its own events or until it is idle. The sentences are about the CPU."
    )


def settings_said(shown: tuple[Any, ...]) -> str:
    """Return in one sentence what the button measures; ``shown`` holds the controls' values."""
    sizes, length, batch, part, clock, device, dtype, _ = shown
    label_of = {value: label for label, value in (*SHAPES, *PARTS)}
    return SETTINGS_SAID.format(
        sizes=label_of.get(sizes, MIXED),
        length=length,
        batch=f"batch size {batch}",
        part=f"{label_of[part][0].lower()}{label_of[part][1:]}",
        clock=CLOCKS_SAID[clock],
        device=device,
        dtype=dtype,
    )


def place_in_line(place: int) -> str:
    """Return how many measurements run before the reader's own."""
    before = "One measurement is" if place == 1 else f"{place} measurements are"
    return f"{before} ahead of yours; it starts by itself."


def progress(n_rounds: int, wall_s: float, budget_s: float) -> str:
    """Return the progress of a running measurement."""
    if not n_rounds:
        return "Building the models and warming up …"
    rounds = counted(n_rounds, "round")
    latest = f", {budget_s:.0f} s after the press at the latest" if budget_s else ""
    return f"{rounds} in {wall_s:.0f} s; it stops when the intervals are narrow{latest}."


ENDED = {
    "settled": "every confidence interval, before it is widened, spans at most 6%",
    "budget": "the time limit was reached",
    "deadline": "the time limit was reached",
    "rounds": "all rounds are done",
    "stopped": "you stopped it",
}


def trust(summary: LatencySummary, first: str, workload: Workload) -> str:
    """Return how large a difference must be to count, shown beside every result."""
    rounds = counted(summary.n_rounds, "round")
    parts = [f"{rounds} in {summary.wall_s:.0f} s: {ENDED[summary.ended]}."]
    shown = summary.reported
    if shown is None:
        return f"{parts[0]} {neighbours(summary, workload)}"
    if shown is not summary:
        parts.append(f"{counted(shown.n_rounds, 'round')} of CPU time came after disturbed ones.")
    check = shown.self_check
    if check is not None and not check.is_sure:
        parts.append(
            f"{counted(shown.n_blocks, 'block')} are too few for confidence intervals: measure "
            "longer, or choose fewer tokens."
        )
    elif check is not None:
        low, high = time_ratio(check.low), time_ratio(check.high)
        parts.append(
            f"{first} against itself takes {low} to {high} × the time here: smaller differences "
            "are noise. Confidence intervals of ratios are computed over "
            f"{counted(shown.n_blocks, 'block')} separated by pauses, and widened by "
            f"{BETWEEN_PRESSES:.0%} for differences between runs. Where a machine's state outlasts "
            "a run, the next can differ by more."
        )
    parts.append(neighbours(summary, workload))
    return " ".join(parts)


def unreported(summary: LatencySummary) -> str:
    """Return why the times of a measurement are not reported."""
    if summary.refused and summary.n_used >= MIN_ROUNDS:
        return MOST_DISTURBED.format(share=percent(summary.disturbed_share or 0))
    counts = (summary.n_rounds, summary.n_used, summary.ended)
    return rounds_missing(TIME_NEEDS, MIN_ROUNDS, *counts)


def by_cpu_because(summary: LatencySummary) -> str:
    """Return why CPU time takes the place of a wall clock that has too few rounds."""
    return BY_CPU.format(why=uncapitalised(unreported(summary)))


def uncapitalised(sentence: str) -> str:
    """Return a sentence as it follows a colon."""
    return f"{sentence[0].lower()}{sentence[1:]}"


def neighbours(summary: LatencySummary, workload: Workload) -> str:
    """Return the share of rounds that other programs disturbed."""
    if summary.disturbed_share is None:
        return "This system does not show whether other programs disturbed the rounds."
    share = f"Other programs disturbed {percent(summary.disturbed_share)} of the rounds"
    if workload.clock == "wait" and summary.reported is summary:
        return (
            f"{share}; times and ratios are from the others. The passes ran in a process of their "
            "own."
        )
    if workload.clock == "wait":
        return f"{share}. CPU time does not need a quiet machine."
    return f"{share}; single-thread CPU time is barely affected."


def conditions(result: FamilyLatency) -> str:
    """Return the conditions that all measured models share."""
    workload, weights, threads = result.workload, result.weights, result.threads
    device = enumerated(result.devices or (workload.device,))
    texts = "one text" if workload.batch == 1 else f"{workload.batch} texts"
    part = "encoder and MLM head at every position" if workload.head else "encoder only"
    kinds = {
        "random": "random weights in the published shapes (time does not depend on them)",
        "bundled": "bundled weights",
        "checkpoint": "weights of a checkpoint",
    }
    used = enumerated(kinds[kind] for kind in dict.fromkeys(weights))
    width = "one thread" if threads == 1 else f"{threads} threads"
    texts = texts[0].upper() + texts[1:]
    return (
        f"{texts} of {counted(workload.length, 'token')}, no padding, {part}, {workload.dtype}, "
        f"{device}, {width}, eager attention, inference mode; {used}."
    )


MEASURE_AGAIN = "Measure"
WORKING = "Measuring …"
STOPPED = "Stopped before it finished."
DETAIL = "Confidence intervals: how sure is this result?"
TIMING_HEAD = [
    "Model",
    "median ms",
    "95% CI of the median",
    "p90 ms",
    "first call ms",
    "tokens / s",
    "GFLOP / s",
]
TIMING_NOTE = (
    "Milliseconds of one pass, without disturbed rounds. p90 needs 44 samples; the first call, "
    "before warm-up, is on the wall clock. The interval of a median covers this run only."
)
DISTURBED_NOTE = (
    "Milliseconds of one pass. Other programs disturbed every round on the wall clock: do not "
    "quote these times. The first call, before warm-up, is on the wall clock too."
)
SAMPLES = {
    "axis": "Milliseconds of one forward pass",
    "note": "Each point is one pass, the line the median; models alternated in random order. The "
    "axis ends at the slowest model's 98th percentile; drag or double-click to see the rest.",
}
RATIOS_LEAD = (
    "Each model's {noun} over {first}'s, and {first}'s over its own in the same rounds (the "
    "self-check)."
)
SELF = "itself"
SAVE = "Save this measurement:"
HOW_MUCH = "Time by length: is DistilBERT 60% faster, and where do the models cross over?"
CLAIM = "Is DistilBERT 60% faster?"
CLAIM_NOTE = (
    "“60% faster” refers to throughput: the paper timed 410 s for DistilBERT against 668 s for "
    "BERT.\n"
    "One pass over the STS-B development set on a CPU with batch size 1: 1.63 times the "
    "throughput, or 38.6% less time; as a ratio of times, 0.61. Here two passes are timed: the "
    "encoder alone, and with the MLM head at every position, which costs both models the same."
)
PUBLISHED = 410 / 668
CLAIM_LINES = {1.0: "equal", PUBLISHED: "paper 0.61", 0.5: "half the layers"}
OUTSIDE = {1: "outside the interval", 2: "outside both intervals"}
CLAIM_PARTS = {False: "encoder only", True: "with the MLM head"}
SWEEP = "Where do the curves cross?"
SWEEP_NOTE = (
    "Time, and time over the first model's with its 95% confidence interval where rounds allow.\n"
    "The same measurement at every length (or batch size), each with its own rounds. Times are the "
    "first model's median, and for the others that time multiplied by their ratio. Intervals are "
    "widened for differences between runs; a point without one had too few "
    "rounds."
)
LENGTHS = "Lengths 16 to 512"
BATCHES = "Batch sizes 1 to 32"
SWEEP_WHY = (
    "Compute grows with the number of tokens while the weights to be read stay the same. With few "
    "tokens a pass waits for weights, and a shared layer, read again and again, can stay in the "
    "cache; with many, arithmetic decides"
)
"""First part of a sentence that ``sweep_why`` completes."""
SWEEP_TITLES = {"length": "tokens", "batch": "batch size", "ms": "ms", "ratio": "time over {first}"}
LIMITS = "Roofline: how close to this machine's limit?"
LIMITS_NOTE = (
    "Two limits are measured here: the arithmetic of a large matrix product, and reading the "
    "layers' weights.\n"
    "A pass can be no faster than its arithmetic at that speed, nor than reading its weights from"
    " the fastest memory that holds them."
)
LIMITS_HEAD = [
    "Model",
    "measured ms",
    "arithmetic limit",
    "memory limit",
    "bound by",
    "of the limit",
    "GFLOP / s",
    "best GFLOP / s",
    "weights from",
    "best GB / s",
]
STEPS = "{done} of {asked} steps done, {share:.0%}."
ADVANCED = "More: roofline, another machine"
RECORDED = "How does another machine compare?"
RECORDED_NOTE = (
    "Open a measurement saved from this page elsewhere. It is kept apart from this machine's."
)
RECORDED_PRELIMINARY = " Too few rounds were undisturbed: these times are preliminary."
RECORDED_BUTTON = "Open a saved measurement"
RECORDED_HEAD = ["Model", "median ms", "GFLOP", "GFLOP / s"]


def threads(n: object) -> str:
    """Return the number of threads of a measurement."""
    return "1 thread" if n == 1 else f"{n} threads"


def divergence(amount: float) -> str:
    """Return a divergence with its unit; rounding noise is 0.000."""
    return f"{nats(amount)} nats"


def claim_part(head: bool, by_cpu: Collection[bool]) -> str:
    """Return the name of a workload of the claim, with CPU time where the clock is that."""
    part = capitalised(CLAIM_PARTS[head])
    return f"{part}, CPU time of one thread" if head in by_cpu else part


def claim_sentence(
    ratios: Mapping[bool, Ratio], what: str, full_size: bool, by_cpu: Collection[bool] = ()
) -> str:
    """Return this machine's ratio beside the paper's 0.61.

    Args:
        ratios: DistilBERT's time over BERT's, by whether the head ran.
        what: Models and workload that were timed here.
        full_size: Whether these are the models that the paper timed; else there is no verdict.
        by_cpu: Those whose ratio is of CPU times, because the wall clock was disturbed.
    """
    parts = [f"{claim_part(head, by_cpu)}: {_takes(ratio)}" for head, ratio in ratios.items()]
    if not all(ratio.is_sure for ratio in ratios.values()):
        parts.append("There were too few rounds for a confidence interval: choose fewer tokens.")
    elif not full_size:
        parts.append(
            f"Timed here: {what}. The paper's 0.61 is of the full-size models on the STS-B "
            "sentences: no verdict across sizes."
        )
    else:
        contained = [
            CLAIM_PARTS[head]
            for head, ratio in ratios.items()
            if ratio.low <= PUBLISHED <= ratio.high
        ]
        inside = (
            f"inside the interval ({enumerated(contained)})" if contained else OUTSIDE[len(ratios)]
        )
        parts.append(
            f"The paper's 0.61 is {inside}; timed here: {what}, there: sentences of STS-B."
        )
    return " ".join(parts)


def _takes(ratio: Ratio) -> str:
    """Return a ratio as time and as speed, with its interval."""
    sentence = f"DistilBERT takes {ratio_text(ratio)} BERT's time"
    if not ratio.is_sure:
        return f"{sentence}."
    fast = ratio.inverse
    return f"{sentence}; it is {ratio_text(fast)} as fast."


def sweep_sentence(sweep: Sweep) -> str:
    """Return at which points which model is faster by its interval, and an early end."""
    unit = "tokens" if sweep.axis == "length" else "texts"
    if not sweep.is_over:
        return f"{len(sweep.points)} of {sweep.n_points} points measured."
    parts = [_ended(sweep, unit)]
    if sweep.points:
        labels = {spec.name: spec.label for spec in sweep.points[0].specs}
        first = sweep.points[0].specs[0].label
        parts += [_order(order, labels[order.name], first, unit) for order in orders(sweep)]
        parts += [
            IN_CPU_TIME.format(order=_order(order, labels[order.name], first, unit))
            for order in orders(sweep, by_cpu=True)
        ]
    return " ".join(part for part in (*parts, *_gaps(sweep, unit)) if part)


IN_CPU_TIME = "In CPU time, {order}"


def _gaps(sweep: Sweep, unit: str) -> list[str]:
    """Return at which points the clock of the sweep is not reported, and what is in its place."""
    wall, by_cpu = sweep.reported(), sweep.reported(by_cpu=True)
    replaced = [str(n) for n, summary in by_cpu.items() if summary is not None]
    empty = [str(n) for n in wall if wall[n] is None and by_cpu[n] is None]
    parts = []
    if replaced:
        parts.append(
            f"Too few rounds were undisturbed at {_at(replaced, unit)}: CPU time of one thread "
            "is drawn there, dotted."
        )
    if empty:
        parts.append(f"Too few rounds were undisturbed at {_at(empty, unit)}: no time is drawn.")
    return parts


def _ended(sweep: Sweep, unit: str) -> str:
    """Return at which point and why a sweep stopped early; empty if complete."""
    if not sweep.late_point and not sweep.refusal:
        return ""
    last = f" at {_of(sweep.position(sweep.points[-1]), unit)}" if sweep.points else ""
    late = f": {_of(sweep.late_point, unit)} exceeded the time limit." if sweep.late_point else ""
    why = late or f". {sweep.refusal}"
    return f"Stopped{last}{why}"


def _order(order: SpeedOrder, label: str, first: str, unit: str) -> str:
    """Return at which points a model's interval against the first excludes 1."""
    sides = [
        f"{how} at {_at([*map(str, points)], unit)}"
        for how, points in (("faster", order.faster), ("slower", order.slower))
        if points
    ]
    if not sides:
        return f"{label} against {first}: no interval excludes 1, so the order is undecided."
    rest = f"; undecided at {enumerated(map(str, order.undecided))}" if order.undecided else ""
    return f"{label} is {enumerated(sides)} than {first}{rest}."


def _of(n: int, unit: str) -> str:
    return counted(n, unit.removesuffix("s"))


def _at(points: Sequence[str], unit: str) -> str:
    """Return points of a sweep with their unit: ``1 text``, ``16 and 32 tokens``."""
    return f"{enumerated(points)} {unit.removesuffix('s') if [*points] == ['1'] else unit}"


def sweep_why(specs: Sequence[ModelSpec]) -> str:
    """Return what explains the curves of these models."""
    first, *others = specs
    usual = first.architecture.activation
    extra = [spec.label for spec in others if spec.architecture.activation != usual]
    if not extra:
        return f"{SWEEP_WHY}."
    return f"{SWEEP_WHY}. The activation of {enumerated(extra)} differs; its cost is in the curve."


def limits_sentence(
    result: FamilyLatency, limits: Sequence[Roofline], share: Mapping[str, float]
) -> str:
    """Return the share of the machine's limit that each model reaches, and what binds it."""
    labels = {spec.name: spec.label for spec in result.specs}
    parts = [
        f"{labels[limit.name]} {percent(share[limit.name])} (bound by {limit.bound_by})"
        for limit in limits
    ]
    return f"Share of this machine's limit: {', '.join(parts)}."
