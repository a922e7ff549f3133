"""Sentences of the choice of a model, and of a runtime and precision."""

from collections.abc import Collection, Mapping, Sequence
from math import floor

from explorer.analysis.digits import (
    counted,
    enumerated,
    memory,
    milliseconds,
    percent,
    rate,
    time_ratio,
)
from explorer.analysis.latency.faster import FasterResult, unmeasured
from explorer.analysis.latency.model_choice import (
    Candidate,
    Comparison,
    Limits,
    NamedModel,
    VariantMeasures,
)
from explorer.analysis.latency.variants import VariantLatency
from explorer.models.specs import ModelSpec
from explorer.timing.workload import Workload
from explorer.ui.latency.strings import CLOCKS_SAID, uncapitalised, unreported
from explorer.views.markup import Markup, el, finding, join, listed, model_name

FOLD = "Model choice: which should I use?"
SIZE = "Maximum size in MB (0: no limit)"
TIME = "Maximum time in ms (0: no limit)"
SCORE = "Scored by"
MODEL_CHOICE_LEAST = "Minimum score in % (0: no limit)"
SCORES = {
    "sst2": "Sentiment: accuracy",
    "squad": "Questions: F1",
    "right": "Masked words predicted",
    "agreement": "Same top prediction as BERT",
}
"""Scores by key: the first two from the adapters' cards, the others computed here."""
MEASURE = "Time these models"
STOP = "Stop"
STOPPED = "Stopped; earlier measurements are kept."
READING = "Sentences read: {done} of {n}."
TIMING = "Timing: round {n}."
TIMED = (
    "Timed here: forward passes of the encoder over {tokens} on {device} in {dtype}, "
    "{rounds} with the models alternating{clock}. {work}"
)
SCORE_WORK = {
    "sst2": "That is the mean length of an SST-2 dev sentence, on which the accuracy was measured.",
    "squad": "That is the window on which F1 was measured. A question of SQuAD's dev set takes "
    "{passes} windows on average, which the times below include. The printed F1 scores used "
    "windows of 384 tokens, which take longer.",
    "right": "That is the mean length of the page's {n} sentences, on which masked words and "
    "agreement are counted.",
    "sentences": "That is the mean length of the page's {n} sentences: how long the scored texts "
    "are is not known here, and longer ones take longer.",
    "nothing": "That length is assumed: no model is here that could count the tokens of a text.",
}
SCORE_WORK["agreement"] = SCORE_WORK["right"]
NOT_TIMED = "No round was completed, so no time is known."
MODEL_CHOICE_HEAD = ("Model", "Size", "Time", "Score", "Verdict")
TITLES = {
    "megabytes": "Size of encoder and pooler in MB",
    "milliseconds": "Time of one answer in ms",
    "score": "{score} in %",
    "against_megabytes": "against size",
    "against_milliseconds": "against time",
    "front": "Pareto front: no model is both cheaper and better",
    "unmeasured": "Not measured yet",
    "printed": "{label}, printed",
}
CPU_TIME = "CPU time"
CPU_TITLES = {
    "milliseconds": "CPU time of one answer in ms, one thread",
    "against_milliseconds": "against CPU time",
}
MODEL_CHOICE_NOTE = (
    "Whiskers are 95% confidence intervals; a dotted line, if any, is the Pareto front of the two "
    "numbers.\nA limit counts as met or missed only if the whole interval lies on one side, and so "
    "does one model as better than another; the dotted line ignores intervals. We only recommend "
    "what has a time measured here and a score measured here or printed; other tasks and machines "
    "may rank the models otherwise."
)
EXAMPLES = (
    "The miniatures are an example; they are compared with each other alone.\nTheir scores on "
    "sentiment and questions were measured after fine-tuning with LoRA, so they do not compare "
    "with printed scores of full fine-tuning."
)
WAYS = "Include runtimes and precisions (float32 models only; up to a minute per model)"
WAYS_TIMING = "Runtimes and precisions: step {done} of {n}."
WAYS_NOTE = (
    "Diamonds are runtimes and precisions, timed in separate rounds.\nEach has its model's score "
    "if all top predictions{at} were the same as PyTorch's in float32; for sentiment and "
    "questions, weights and arithmetic must be float32, too. Sizes are those of the stored "
    "weights; with int8, they are not known. Memory and throughput are under “Faster inference”."
)
PRINTED = (
    "Printed scores are the papers' own: full fine-tuning, the same dev set, no interval.\n"
    "{scores}. Where the checkpoint of a published size is not here, it is timed with random "
    "weights: time does not depend on their values."
)
MISSES = {
    "megabytes": "over the size limit",
    "milliseconds": "over the time limit",
    "score": "below the score limit",
}
NAMES = {"megabytes": "its size", "milliseconds": "its time", "score": "its score"}
CPU_MISSES = {"milliseconds": "over the time limit in CPU time"}
CPU_NAMES = {"milliseconds": "its CPU time"}
FITS = "meets the limits"
BEATEN = ", but dominated: another model is at least as good on all three and better on one"
CLOSE = "; another model is at least as good on all three, but the intervals overlap"
FREE = "no limits set"
BY_PRINT = " (printed score)"
DOUBT = "undecided: the limit lies inside the interval of {what}"
UNMEASURED = "not recommended: {what} {was} not measured"


def titles_of(score: str, by_cpu: bool = False) -> dict[str, str]:
    """Return the charts' titles for one score; ``by_cpu``: the times are CPU times."""
    titles = TITLES | {"score": TITLES["score"].format(score=SCORES[score])}
    return titles | CPU_TITLES if by_cpu else titles


def head_of(by_cpu: bool) -> tuple[str, ...]:
    """Return the head of the table; ``by_cpu``: the times are CPU times."""
    return tuple(CPU_TIME if by_cpu and cell == "Time" else cell for cell in MODEL_CHOICE_HEAD)


def notes_of(
    printed: Mapping[str, tuple[float, str]],
    masks: Collection[int] | None = None,
    has_examples: bool = False,
) -> list[str]:
    """Return how to read the table, the sources of printed scores, and how runtimes are scored.

    Args:
        printed: Printed score and its source, by the model's name in its table.
        masks: Numbers of masks at which runtimes were compared; None without runtimes.
        has_examples: Whether miniatures are listed beside published models.
    """
    listed_scores = "; ".join(
        f"{label} {percent(v)} ({src})" for label, (v, src) in printed.items()
    )
    n = " or ".join(map(str, sorted({*(masks or ())} - {0})))
    printed_notes = [PRINTED.format(scores=listed_scores)] * bool(printed)
    ways = [WAYS_NOTE.format(at=f" at {n} masks" if n else "")] * (masks is not None)
    return [MODEL_CHOICE_NOTE, *[EXAMPLES] * has_examples, *printed_notes, *ways]


def verdicts(comparison: Comparison, by_cpu: bool = False) -> dict[str, str]:
    """Return each model's verdict by name; verdicts from a printed score or CPU time say so."""
    advice, printed = comparison.advice_of_all, comparison.printed
    misses, named = (MISSES, NAMES) if not by_cpu else (MISSES | CPU_MISSES, NAMES | CPU_NAMES)
    fits = FREE if comparison.limits == Limits() else FITS
    verdict_by_key = {key: fits if key in advice.front else fits + BEATEN for key in advice.fits}
    verdict_by_key |= {key: fits + CLOSE for key in advice.close if key in verdict_by_key}
    verdict_by_key |= {
        key: enumerated(misses[n] for n in names) for key, names in advice.misses.items()
    }
    for form, part in ((DOUBT, advice.undecided), (UNMEASURED, advice.unmeasured)):
        verdict_by_key |= {
            key: form.format(
                what=enumerated(named[name] for name in names),
                was="was" if len(names) == 1 else "were",
            )
            for key, names in part.items()
        }
    return {
        key: f"{verdict}{BY_PRINT * (key in printed)}" for key, verdict in verdict_by_key.items()
    }


def choose_finding(comparison: Comparison, by_cpu: bool = False) -> Markup:
    """Return the models that meet the limits, and the smallest, fastest and best of them.

    With ``by_cpu`` the times are CPU times, and the one with the least is named, not the fastest.
    """
    advice, limits, specs = comparison.advice, comparison.limits, comparison.models
    whose = ""
    if comparison.examples:
        ranked = [model for key in comparison.ranked if isinstance(model := specs[key], ModelSpec)]
        is_example = len(comparison.ranked) == len(comparison.candidates)
        whose = OF_EXAMPLES if is_example else OTHERS[frozenset(model.is_own for model in ranked)]

    def names(keys: Sequence[str], measure: str = "") -> Markup:
        is_score = measure == "score"
        marks = [" (printed)" * (is_score and key in comparison.printed) for key in keys]
        labels = [model_name(specs[key].key, specs[key].label) for key in keys]
        return listed([join(*pair) for pair in zip(labels, marks, strict=True)])

    if len(advice.unmeasured) == len(comparison.ranked):
        missing_names = {name for names in advice.unmeasured.values() for name in names}
        lacking = next((text for name, text in NOTHING.items() if name in missing_names), NO_SIZE)
        return finding(el("span", lacking, class_="live-only"))
    if not advice.fits:
        return finding(whose, "none clearly meets" if whose else NONE_MEETS, " these limits.")
    if len(advice.fits) == 1:
        if limits == Limits():
            return finding(whose, "only " if whose else "Only ", names(advice.fits), ONLY_ONE)
        return finding(whose, names(advice.fits), " alone clearly meets these limits.")
    fitting = {key: comparison.candidates[key] for key in advice.fits}
    chosen = [(LEAST_CPU if by_cpu and n == "milliseconds" else what, n) for what, n in BEST]
    parts = [
        join(what, ": ", names(_models_first(best(fitting, n), specs), n)) for what, n in chosen
    ]
    free = NO_LIMITS.lower() if whose else NO_LIMITS
    lead = join(names(advice.fits), " meet these limits: ") if limits != Limits() else free
    return finding(whose, lead, listed(parts), _apart(fitting, by_cpu), ".")


NOTHING = {
    "milliseconds": "Press “Time these models”: only models timed on this machine are recommended.",
    "score": "None of these models has this score; choose another one.",
}
"""Sentence by measure, where every model lacks one: of the first that some model lacks."""
NO_SIZE = "None of these models has a size that is known."
ONLY_ONE = " has a size, a time and a score."
NONE_MEETS = "None of them clearly meets"
NO_LIMITS = "With no limits set: "
OTHERS = {
    frozenset({False}): "Of the published models, ",
    frozenset({True}): "Of your own models, ",
    frozenset({False, True}): "Of the published models and your own, ",
}
"""Beginning of the finding beside miniatures, by whether the ranked models are the reader's own."""
OF_EXAMPLES = "Of the miniatures (an example), "
LEAST_CPU = "least CPU time"
BEST = (("smallest", "megabytes"), ("fastest", "milliseconds"), ("best score", "score"))


def best(candidates: Mapping[str, Candidate], name: str) -> list[str]:
    """Return the keys with the least cost; several if they share it."""
    costs = {
        key: figure.value
        for key, candidate in candidates.items()
        if (figure := candidate.cost(name))
    }
    return [key for key, cost in costs.items() if cost == min(costs.values())]


def _models_first(keys: Sequence[str], specs: Mapping[str, NamedModel]) -> list[str]:
    """Return the keys without variants of a model that is among them itself."""
    owners = {key: specs[key] for key in keys}
    return [
        k
        for k, owner in owners.items()
        if not (isinstance(owner, VariantMeasures) and owner.spec.name in keys)
    ]


def _apart(candidates: Mapping[str, Candidate], by_cpu: bool = False) -> str:
    """Return a remark if the intervals of times or scores overlap; else nothing."""
    overlapping = [
        what
        for what, name in (
            ("CPU times" if by_cpu else "times", "milliseconds"),
            ("scores", "score"),
        )
        if _overlap(candidates, name)
    ]
    return f" (intervals of {' and of '.join(overlapping)} overlap)" if overlapping else ""


def _overlap(candidates: Mapping[str, Candidate], name: str) -> bool:
    """Return whether the interval of the best reaches another's."""
    costs = (candidate.cost(name) for candidate in candidates.values())
    by_cost = sorted((cost for cost in costs if cost), key=lambda cost: cost.value)
    return any(other.low <= by_cost[0].high for other in by_cost[1:])


def timed_said(
    work: str, workload: Workload, rounds: int, passes: Collection[float], n_sentences: int
) -> str:
    """Return the conditions of the times, and the work that was timed, a key in ``SCORE_WORK``."""
    ends = dict.fromkeys(f"{end(passes):.1f}" for end in (min, max)) if passes else ("1.0",)
    said = SCORE_WORK[work].format(passes=" to ".join(ends), n=n_sentences)
    return TIMED.format(
        tokens=counted(workload.length, "token"),
        device=workload.device,
        dtype=workload.dtype,
        rounds=counted(rounds, "round"),
        clock="" if workload.clock == "device" else f", {CLOCKS_SAID[workload.clock]}",
        work=said,
    )


def limits_from(size: float | None, time: float | None, least: float | None) -> Limits:
    """Return the reader's limits; an empty field, or a value of 0 or less, is no limit."""
    size, time, least = ((v if v and v > 0 else None) for v in (size, time, least))
    return Limits(size, time, least / 100 if least else None)


TITLE = "Faster inference: what would help here?"
FASTER_NOTE = (
    "Lower precisions, torch.compile, ONNX Runtime and OpenVINO: the speed-up, and what it does "
    "to the predictions.\n"
    "All are timed in the same rounds as float32; predictions are compared where the weights are "
    "real. The runtimes take up to a minute per model to build and run in processes of their own,"
    " with the same timing and as many threads; that may cost a small model a few percent. Stop "
    "ends them at once. int8 is torch's dynamic quantisation: one scale per row of a weight "
    "matrix, with the inputs of each product quantised to 8 bits too. int8 weights keeps only the"
    " weights in 8 bits and computes in float32: a quarter of the memory for them, nearly the "
    "same predictions. Memory is the resident memory of a process that does nothing but run the "
    "model this way; PyTorch is part of it, and what torch.compile needs to compile, but not in "
    "the rows of ONNX Runtime and OpenVINO, which serve an exported file."
)
FASTER_LONGEST = [("at most 1 min", 60), ("at most 5 min", 300), ("at most 20 min", 1200)]
FASTER_ESTIMATE = (
    "All of it takes about {minutes} for {models}, and with three batch sizes about {batches}.\n"
    "It stops at the limit below, and what was timed until then stays. The precisions of all "
    "models come first, in seconds; the runtimes follow, model by model."
)
OUT_OF_TIME = "The time was over. Not measured: {left}."
LEFT_NAMES = "{names} of {models}"
LEFT_BATCHES = "batches of {batches} of {models}"
FASTER_HEAD = [
    "Model",
    "runtime",
    "ms",
    "× float32 time",
    "same top prediction",
    "mean KL",
    "memory",
]
BATCHES = (1, 8, 32)
MEASURE_BATCHES = "Measure with batches of 1, 8 and 32"
THROUGHPUT = "texts / s, batch {n}"
P90_NOTE = "In brackets: the 90th percentile of a pass, where there were enough samples."
ONE_BATCH = "torch.compile is specialised to one batch size, so the others leave it out."
NOT_COMPARED = "Predictions are compared where weights are real and a bundled sentence fits."
DISTURBED = "{name}: {why} The times in the table are preliminary."
BUILDING = "Compiling {label} and exporting it to ONNX and OpenVINO …"
INSTALL = {"ONNX Runtime": "onnxruntime onnx onnxscript", "OpenVINO": "openvino"}
NO_RUNTIME = {
    "device": "{name} is measured on the CPU only.",
    "packages": "{name} is not installed here: pip install {packages}.",
    "memory": "{name} is left out for {models}: it would need more memory than is free.",
    "compiler": "{name} needs a C++ compiler, and none was found here.",
    "bfloat16": "{name} is left out: this CPU has no bfloat16 instructions, and emulated "
    "timings would not be representative.",
    "late": "{name} is left out for {models}: building took longer than four minutes.",
    "slow": "{name} is left out for {models}: no round finished in time.",
    "failed": "{name} is left out for {models}: it could not be built here.",
}
COSTS_NOTE = (
    "Predictions are compared at {n} masks, in texts of exactly the timed length made of whole "
    "bundled sentences, because what is compiled for one length runs at that length only."
)
FASTEST = "{label}: fastest with {name}, {times} × the time of float32{same}"
SAME = ", {share} of the top predictions unchanged"
ALL_SAME = "fastest with all of them unchanged: {name}, {times} ×"
NONE_SAME = "nothing clearly faster leaves all of them unchanged"
FASTER_LEAST = "lowest memory with {name}, {size}"
NOT_FASTER = "{label}: nothing here is clearly faster than float32"


def faster_notes(result: FasterResult) -> list[str]:
    """Return what is being built, how many masks were compared, and the missing rows."""
    building = BUILDING.format(label=result.building.label) if result.building else ""
    masks = sorted({str(cost.n_masks) for cost in result.costs})
    costs = COSTS_NOTE.format(n=" or ".join(masks)) if masks else ""
    absent: dict[tuple[str, str], list[str]] = {}
    for row in result.missing:
        # The bfloat16 row needs the same package, so both share one reason.
        is_package = row.reason == "packages"
        name = row.name.removesuffix(" bfloat16") if is_package else row.name
        absent.setdefault((name, row.reason), []).append(row.spec.label)
    reasons = [
        NO_RUNTIME[reason].format(
            name=name, models=enumerated(labels), packages=INSTALL.get(name, "")
        )
        for (name, reason), labels in absent.items()
    ]
    return [building, out_of_time(result), costs, *_table_notes(result), *reasons]


def faster_estimate(n_models: int, seconds: float, of_batches: float) -> str:
    """Return about how long a measurement takes that no limit ends.

    Args:
        n_models: The models that are timed.
        seconds: Estimate for one batch size.
        of_batches: Estimate for three batch sizes.
    """
    return FASTER_ESTIMATE.format(
        models=counted(n_models, "model"),
        minutes=in_minutes(seconds),
        batches=in_minutes(of_batches),
    )


def in_minutes(seconds: float) -> str:
    """Return a number of seconds in whole minutes, at least one."""
    return counted(max(1, round(seconds / 60)), "minute")


def out_of_time(result: FasterResult) -> str:
    """Return what was not measured when the time was over; empty if it was not, or nothing is left.

    Models that lack the same share one part of the sentence.
    """
    if not result.is_out_of_time:
        return ""
    lacking: dict[str, list[str]] = {}
    for left in unmeasured(result):
        if left.names:
            lacking.setdefault(enumerated(left.names), []).append(left.spec.label)
    of_batches: dict[str, list[str]] = {}
    for left in unmeasured(result):
        if left.batches:
            of_batches.setdefault(enumerated(map(str, left.batches)), []).append(left.spec.label)
    parts = [LEFT_NAMES.format(names=n, models=enumerated(m)) for n, m in lacking.items()]
    parts += [LEFT_BATCHES.format(batches=n, models=enumerated(m)) for n, m in of_batches.items()]
    return OUT_OF_TIME.format(left="; ".join(parts)) if parts else ""


def _table_notes(result: FasterResult) -> list[str]:
    """Return what the table's brackets and dashes mean, as far as it has any."""
    timed = [batch for variants in result.models for batch in variants.batches.values()]
    unsure = [v for v in result.models if not v.summary.holds]
    is_over = bool(result.models) and result.done == result.n_steps
    return [
        *(
            DISTURBED.format(name=v.spec.label, why=uncapitalised(unreported(v.summary)))
            for v in unsure
        ),
        NOT_COMPARED if is_over and not result.costs else "",
        P90_NOTE if any(model.p90_ms for batch in timed for model in batch.models) else "",
        ONE_BATCH if len(result.batch_sizes) > 1 else "",
    ]


def megabytes(n_bytes: int | None) -> str:
    """Return an amount of memory; a dash if unknown."""
    return "–" if n_bytes is None else memory(n_bytes)


def throughput(interval: tuple[float, float | None] | None) -> str:
    """Return texts per second, and the 90th percentile of a pass if known."""
    if interval is None:
        return "–"
    per_second, p90_ms = interval
    return rate(per_second) + (f" ({milliseconds(p90_ms)})" if p90_ms else "")


def ranked(variants: VariantLatency, result: FasterResult) -> str:
    """Return one model's fastest variant, its fastest with equal predictions, and its smallest.

    Faster means different from float32 by more than float32 from itself; empty where too few rounds
    were undisturbed.
    """
    summary, label = variants.summary, variants.spec.label
    if not summary.holds:
        return ""
    times = {
        row.denominator: row.ratio.inverse.ratio
        for row in summary.ratios
        if row.is_different and row.ratio.ratio > 1
    }
    same = {row.name: row.same_top1 for row in result.costs if row.key == variants.spec.key}
    parts = _fastest(label, times, same)
    resident = {name: size for name, size in variants.resident.items() if size}
    if len(resident) > 1:
        least = megabytes(min(resident.values()))
        names = [name for name, size in resident.items() if megabytes(size) == least]
        parts.append(FASTER_LEAST.format(name=enumerated(names), size=least))
    return f"{'; '.join(parts)}."


def share_said(share: float) -> str:
    """Return a share in whole percent, rounded down; "all" if it is 1."""
    return "all" if share == 1 else whole_percent(share)


def whole_percent(share: float) -> str:
    """Return a share in whole percent, rounded down, so that only 1 is 100%."""
    return f"{floor(100 * share + 1e-9)}%"


def _fastest(label: str, times: Mapping[str, float], same: Mapping[str, float]) -> list[str]:
    if not times:
        return [NOT_FASTER.format(label=label)]
    ordered = sorted(times, key=lambda name: times[name])
    first = ordered[0]
    share = SAME.format(share=share_said(same[first])) if first in same else ""
    parts = [FASTEST.format(label=label, name=first, times=time_ratio(times[first]), same=share)]
    if same and same.get(first) != 1:
        unchanged = [name for name in ordered if same.get(name) == 1]
        parts.append(
            ALL_SAME.format(name=unchanged[0], times=time_ratio(times[unchanged[0]]))
            if unchanged
            else NONE_SAME
        )
    return parts
