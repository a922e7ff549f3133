"""The sentences of what lies below the latency headline, fold by fold."""

from collections.abc import Mapping, Sequence

from explorer.analysis.latency.family import FamilyLatency
from explorer.analysis.latency.faster import Faster
from explorer.analysis.latency.limits import Limit
from explorer.analysis.latency.paradox import size_label
from explorer.analysis.latency.ratio import Ratio
from explorer.analysis.latency.sweep import Sweep, crossings, unsure_crossings
from explorer.models.specs import ModelSpec
from explorer.views.latency.measure import ratio_text

MEASURE = "Measure"
WORKING = "Measuring …"
STOPPED = "Stopped before it was through."

DETAIL = "How sure is this result?"
TIMING_HEAD = [
    "Model",
    "median ms",
    "95 % of the median",
    "90 % under",
    "first call ms",
    "tokens / s",
    "GFLOP / s",
]
TIMING_NOTE = (
    "Milliseconds of one pass. The 90th percentile needs 44 samples; the first call, before "
    "warm-up, is on the wall clock."
)
SAMPLES_NOTE = "Every sample as a tick, the median as a bar. Models took turns in random order."
RATIOS_LEAD = (
    "Each model's time over {first}'s, and {first}'s over its own in the same rounds (the "
    "self-check)."
)
SELF = "itself"
SAVE = "Save this measurement:"

HOW_MUCH = "Is DistilBERT 60 % faster, and at which length do the models change places?"
CLAIM = "Is DistilBERT 60 % faster?"
CLAIM_NOTE = (
    "The paper timed one pass over the STS-B development set on a processor, one text at a time: "
    "668 s for BERT, 410 s for DistilBERT. That is 1.63 times the throughput, or 38.6 % less "
    "time; “60 % faster” means the first. In times it is 0.61 × BERT's. Here both passes are "
    "timed: the encoder alone, and with the word head at every position, which costs both models "
    "the same."
)
PUBLISHED = 410 / 668
CLAIM_LINES = {1.0: "equal", PUBLISHED: "paper 0.61", 0.5: "half the layers"}
CLAIM_PARTS = {False: "encoder only", True: "with the word head"}

SWEEP = "Where do the curves cross?"
SWEEP_NOTE = "The same measurement at every length (or batch), each with its own rounds and check."
LENGTHS = "Lengths 16 to 512"
BATCHES = "Batches 1 to 32"
SWEEP_WHY = (
    "Work grows with tokens while the weights to be read stay the same. With few tokens a pass "
    "waits for weights, and a shared layer, read again and again, can stay near the processor; "
    "with many, arithmetic decides"
)
"""The beginning of a sentence that ``sweep_why`` ends."""
SWEEP_TITLES = {"length": "tokens", "batch": "texts at once", "ms": "ms", "ratio": "time over BERT"}

LIMITS = "How close to this machine's limit?"
LIMITS_NOTE = (
    "A pass can be no faster than its arithmetic at the speed of a large matrix product, nor than "
    "reading its layers' weights from wherever they fit. Both limits are measured here."
)
LIMITS_HEAD = [
    "Model",
    "measured ms",
    "arithmetic alone",
    "reading alone",
    "bound by",
    "of the limit",
    "GFLOP / s",
    "best GFLOP / s",
    "weights from",
    "best GB / s",
]

FASTER = "What would make it faster here?"
FASTER_NOTE = (
    "The same pass in float32, in cheaper precisions, compiled by torch.compile and in ONNX "
    "Runtime, in the same rounds; beside the gain, what it does to the answers where the weights "
    "are real. The last two are built for up to a minute per model and run in processes of their "
    "own, on the same clock with as many threads; that may cost a small model a few percent. "
    "Stop ends them at once. int8 is torch's dynamic quantisation: one scale for each row of a "
    "weight matrix, and the inputs of each product in 8 bits too. int8 weights keeps the weights "
    "alone so and computes in float32: a quarter of the memory for them, nearly the same answers."
)
FASTER_HEAD = ["Model", "way to run", "ms", "× the time of float32", "same first answer", "mean KL"]
BUILDING = "Compiling {label} and exporting it to ONNX …"
NO_RUNTIME = {
    "device": "{name} is timed on the processor only.",
    "packages": "{name} is not installed here: pip install onnxruntime onnx onnxscript.",
    "memory": "{name} is left out for {models}: building would need more memory than is free.",
    "compiler": "{name} needs a C++ compiler, and none was found here.",
    "late": "{name} is left out for {models}: building took longer than four minutes.",
    "slow": "{name} is left out for {models}: not one round was over in time.",
    "failed": "{name} is left out for {models}: it could not be built here.",
}
STEPS = "{done} of {asked} steps done, {share:.0%}."
COSTS_NOTE = (
    "Answers are compared at {n} masks, in texts of just the timed length made of whole bundled "
    "sentences, because what is compiled for one length runs at that length only."
)

ADVANCED = "Advanced: this machine's limit, and the times of another machine"
RECORDED = "How does another machine compare?"
RECORDED_NOTE = "Open a measurement saved from this page elsewhere. It stays apart from this one's."
RECORDED_BUTTON = "Open a saved measurement"
RECORDED_HEAD = ["Model", "median ms", "GFLOP", "GFLOP / s"]


def faster_notes(found: Faster) -> list[str]:
    """What is being built, on how many masks answers were compared, and which rows are missing."""
    building = BUILDING.format(label=size_label(found.building)) if found.building else ""
    masks = sorted({str(cost.n_masks) for cost in found.costs})
    costs = COSTS_NOTE.format(n=" or ".join(masks)) if masks else ""
    absent: dict[tuple[str, str], list[str]] = {}
    for row in found.missing:
        absent.setdefault((row.name, row.reason), []).append(size_label(row.spec))
    reasons = [
        NO_RUNTIME[reason].format(name=name, models=" and ".join(labels))
        for (name, reason), labels in absent.items()
    ]
    return [building, costs, *reasons]


def threads(n: object) -> str:
    """How many threads a measurement had."""
    return "1 thread" if n == 1 else f"{n} threads"


def divergence(nats: float) -> str:
    """A divergence in nats; what is only rounding is said to be next to nothing."""
    return f"{nats:.4f} nats" if nats >= 0.00005 else "under 0.0001 nats"


def claim_sentence(ratios: Mapping[bool, Ratio], what: str, full_size: bool) -> str:
    """What this machine says about the published figure.

    Args:
        ratios: DistilBERT's time over BERT's, by whether the head ran.
        what: what was timed here.
        full_size: whether these are the models that the paper timed; else no verdict is due.
    """
    parts = [f"{CLAIM_PARTS[head].capitalize()}: {_takes(r)}" for head, r in ratios.items()]
    if not all(r.is_sure for r in ratios.values()):
        parts.append("There were too few rounds for an interval: choose fewer tokens.")
    elif not full_size:
        parts.append(
            f"Timed here: {what}. The paper's 0.61 is of the full-size models on the STS-B "
            "sentences: no verdict across sizes."
        )
    else:
        held = [CLAIM_PARTS[head] for head, r in ratios.items() if r.low <= PUBLISHED <= r.high]
        inside = f"inside the interval {' and '.join(held)}" if held else "in no interval"
        parts.append(
            f"The paper's 0.61 is {inside}; timed here: {what}, there: sentences of STS-B."
        )
    return " ".join(parts)


def _takes(ratio: Ratio) -> str:
    """One ratio both ways round, with its interval."""
    said = f"DistilBERT takes {ratio_text(ratio)} BERT's time"
    if not ratio.is_sure:
        return f"{said}."
    fast = ratio.inverse
    return f"{said}; it is {fast.ratio:.2f} × [{fast.low:.2f}, {fast.high:.2f}] as fast."


def sweep_sentence(sweep: Sweep) -> str:
    """Where models change places with the first one, from the measured points."""
    unit = "tokens" if sweep.axis == "length" else "texts"
    late = f"It ends here: not one round was over in time at {sweep.late} {unit}."
    end = late if sweep.late else sweep.too_much
    if not sweep.points:
        return end
    if not sweep.is_over:
        return f"{len(sweep.points)} of {sweep.asked} points measured."
    labels = {spec.name: size_label(spec) for spec in sweep.points[0].specs}
    first = size_label(sweep.points[0].specs[0])
    found = [
        f"{labels[c.name]} is {'faster' if c.becomes_slower else 'slower'} than {first} up to "
        f"{c.before} {unit} and {'slower' if c.becomes_slower else 'faster'} from {c.after}."
        for c in crossings(sweep)
    ]
    found += [
        f"{labels[c.name]}'s line crosses that of {first} between {c.before} and {c.after} {unit}, "
        "by less than this measurement can tell."
        for c in unsure_crossings(sweep)
    ]
    if not found:
        found = ["No model changes places with the first one between the points measured."]
    gaps = [str(sweep.position(point)) for point in sweep.points if point.summary.refused]
    if gaps:
        found.append(
            f"Other programs disturbed most rounds at {' and '.join(gaps)} {unit}: no ratio."
        )
    return " ".join([*found, end])


def sweep_why(specs: Sequence[ModelSpec]) -> str:
    """What explains the curves, for just these models."""
    first, *others = specs
    usual = first.architecture.activation
    extra = [size_label(spec) for spec in others if spec.architecture.activation != usual]
    if not extra:
        return f"{SWEEP_WHY}."
    return (
        f"{SWEEP_WHY}. The activation of {' and '.join(extra)} differs; its cost is in the curve."
    )


def limits_sentence(
    result: FamilyLatency, limits: Sequence[Limit], share: Mapping[str, float]
) -> str:
    """The finding over the limits: how close, and what holds each model back."""
    labels = {spec.name: size_label(spec) for spec in result.specs}
    parts = [f"{labels[x.name]} {share[x.name]:.0%} (bound by {x.bound_by})" for x in limits]
    return f"Share of what this machine could do: {', '.join(parts)}."
