"""The sentences of what lies below the latency headline, fold by fold."""

from collections.abc import Mapping, Sequence

from explorer.analysis.latency_family import FamilyLatency
from explorer.analysis.latency_limits import Limit
from explorer.analysis.latency_paradox import size_label
from explorer.analysis.latency_ratio import Ratio
from explorer.analysis.latency_sweep import Sweep, crossings

MEASURE = "Measure"
NOT_YET = "Measure above first: then every sample is here, with its ratios and the raw numbers."
WORKING = "Measuring …"

DETAIL = "How sure is this result?"
TIMING_HEAD = [
    "Model", "median ms", "95 % of the median", "90 % under", "first call ms", "tokens / s",
    "GFLOP / s",
]  # fmt: skip
TIMING_NOTE = (
    "Milliseconds of one pass. The 90th percentile needs 44 samples; the first call, before "
    "warm-up, is on the wall clock."
)
SAMPLES_NOTE = "Every sample as a tick, the median as a bar. Models took turns in random order."
RATIOS_LEAD = "BERT's time over each model's, and over its own in the same rounds (the self-check)."
SELF = "itself"
SAVE = "Save this measurement:"

CLAIM = "Is DistilBERT 60 % faster?"
CLAIM_NOTE = (
    "The paper timed one pass over the STS-B development set on a processor, one text at a time: "
    "668 s for BERT, 410 s for DistilBERT. That is 1.63 times the throughput, or 38.6 % less "
    "time; “60 % faster” means the first. Here both passes are timed: the encoder alone, and with "
    "the word head at every position, which costs both models the same."
)
PUBLISHED = 1.63
CLAIM_LINES = {1.0: "equal", PUBLISHED: "paper 1.63", 2.0: "half the layers"}
CLAIM_PARTS = {False: "encoder only", True: "with the word head"}

SWEEP = "Where do the curves cross?"
SWEEP_NOTE = "The same measurement at every length (or batch), each with its own rounds and check."
LENGTHS = "Lengths 16 to 512"
BATCHES = "Batches 1 to 32"
SWEEP_WHY = (
    "Work grows with tokens while the weights to be read stay the same. With few tokens a pass "
    "waits for weights, and a shared layer, read again and again, can stay near the processor; "
    "with many, arithmetic decides, and ALBERT's activation costs extra steps."
)
SWEEP_TITLES = {"length": "tokens", "batch": "texts at once", "ms": "ms", "ratio": "time over BERT"}

LIMITS = "How close to this machine's limit?"
LIMITS_NOTE = (
    "A pass can be no faster than its arithmetic at the speed of a large matrix product, nor than "
    "reading its layers' weights from wherever they fit. Both limits are measured here."
)
LIMITS_HEAD = [
    "Model", "measured ms", "arithmetic alone", "reading alone", "bound by", "of the limit",
    "GFLOP / s", "best GFLOP / s", "weights from", "best GB / s",
]  # fmt: skip

FASTER = "What would make it faster here?"
FASTER_NOTE = (
    "The same passes in float32 and in cheaper precisions, in the same rounds; beside the gain, "
    "what it does to the predictions on {n} bundled sentences where the weights are real."
)
FASTER_HEAD = ["Model", "precision", "ms", "faster than float32", "same first answer", "mean KL"]
FASTER_LEFT_OUT = (
    "Not run here: torch.compile (many seconds of compiling per model and shape) and ONNX Runtime "
    "(an extra package)."
)

LOOKING = "What does looking inside cost?"
LOOKING_NOTE = (
    "A pass that only answers against one that hands out every attention and hidden state, as the "
    "other tabs need."
)
LOOKING_HEAD = ["Model", "answers only, ms", "with everything, ms", "cost"]

MEMORY = "How much memory does a pass take?"
MEMORY_NOTE = (
    "Weights are kept all the time; the peak is what one pass holds beyond them at its fullest "
    "moment, by the allocator's own record."
)
MEMORY_HEAD = ["Model", "weights MB", "peak of a pass MB", "peak when looking inside MB"]

RECORDED = "How does another machine compare?"
RECORDED_NOTE = "Open a measurement saved from this page elsewhere. It stays apart from this one's."
RECORDED_BUTTON = "Open a saved measurement"
RECORDED_HEAD = ["Model", "median ms", "GFLOP", "GFLOP / s"]


def claim_sentence(ratios: Mapping[bool, Ratio]) -> str:
    """What this machine says about the published figure."""
    parts = [
        f"{CLAIM_PARTS[head].capitalize()}: BERT takes {r.ratio:.2f} × DistilBERT's time, which "
        f"is {100 * (1 - 1 / r.ratio):.0f} % less time for DistilBERT."
        for head, r in ratios.items()
    ]
    if any(r.low == 0 for r in ratios.values()):
        parts.append("There were too few rounds for an interval: choose fewer tokens.")
    elif True in ratios and ratios[True].low <= PUBLISHED <= ratios[True].high:
        parts.append("The paper's 1.63 is inside the interval with the head.")
    return " ".join(parts)


def sweep_sentence(sweep: Sweep) -> str:
    """Where models change places with the first one, from the measured points."""
    if not sweep.points:
        return ""
    unit = "tokens" if sweep.axis == "length" else "texts"
    labels = {spec.name: size_label(spec) for spec in sweep.points[0].specs}
    first = size_label(sweep.points[0].specs[0])
    found = [
        f"{labels[c.name]} is {'faster' if c.becomes_slower else 'slower'} than {first} up to "
        f"{c.before} {unit} and {'slower' if c.becomes_slower else 'faster'} from {c.after}."
        for c in crossings(sweep)
    ]
    if not found:
        found = ["No model changes places with the first one between the points measured."]
    return " ".join([*found, sweep.too_much])


def limits_sentence(result: FamilyLatency, limits: Sequence[Limit], share: Mapping[str, float]) -> (
    str
):  # fmt: skip
    """The finding over the limits: how close, and what holds each model back."""
    labels = {spec.name: size_label(spec) for spec in result.specs}
    parts = [f"{labels[x.name]} {share[x.name]:.0%} (bound by {x.bound_by})" for x in limits]
    return f"Share of what this machine could do: {', '.join(parts)}."
