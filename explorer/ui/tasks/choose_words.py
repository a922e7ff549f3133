"""The sentences of the fold that holds the models against a reader's limits."""

from collections.abc import Mapping, Sequence

from explorer.analysis.tasks.choose import Advice, Candidate, Limits
from explorer.models.specs import ModelSpec
from explorer.timing.workload import Workload
from explorer.views.markup import Markup, finding, join, listed, model_name

FOLD = "Which should I use?"
SIZE = "Largest size in MB (0: any)"
TIME = "Slowest answer in ms (0: any)"
SCORE = "Scored by"
LEAST = "Least score in % (0: any)"
SCORES = {
    "sst2": "Sentiment: accuracy",
    "squad": "Questions: F1",
    "right": "Hidden words found",
    "agreement": "Same first word as BERT",
}
"""By what a model can be scored; the first two from its adapter's card, the others run here."""
RUN_HERE = ("right", "agreement")
MEASURE = "Measure here"
STOP = "Stop"
STOPPED = "Stopped; what was measured before is kept."
READING = "Sentences read: {done} of {n}."
TIMING = "Timing: round {n}."
TIMED = (
    "Timed here: one pass of the encoder over {tokens} tokens on {device} in {dtype}, {rounds} "
    "rounds with the models taking turns{clock}; words found and agreement over {n} sentences of "
    "the page."
)
ONE_THREAD = ", in processor time of one thread"
NOT_TIMED = "No round was finished, so no time is known."
HEAD = ("Model", "Size", "Time", "Score", "Verdict")
TITLES = {
    "megabytes": "Size of encoder and pooler in MB",
    "milliseconds": "Time of one answer in ms",
    "score": "{score} in %",
    "against_megabytes": "against size",
    "against_milliseconds": "against time",
    "front": "nothing is both cheaper and better",
    "unmeasured": "Not measured yet",
}
NOTE = (
    "Whiskers are 95 % intervals. A limit counts as kept or missed only where a whole interval "
    "says so. The dotted line joins the models that none beats at both of a picture's two numbers. "
    "What was not measured here is not advised, and other tasks and machines may order the models "
    "otherwise."
)
MISSES = {"megabytes": "too large", "milliseconds": "too slow", "score": "scores too little"}
NAMES = {"megabytes": "its size", "milliseconds": "its time", "score": "its score"}
FITS = "keeps to the limits"
BEATEN = "keeps to the limits; another is as good in all three, better in one"
DOUBT = "open: the limit lies inside the interval of {what}"
UNMEASURED = "not advised: {what} was not measured"


def verdicts(advice: Advice) -> dict[str, str]:
    """What became of each model, in words."""
    found = {key: FITS if key in advice.front else BEATEN for key in advice.fits}
    found |= {key: " and ".join(MISSES[n] for n in names) for key, names in advice.misses.items()}
    for form, part in ((DOUBT, advice.undecided), (UNMEASURED, advice.unmeasured)):
        found |= {
            key: form.format(what=" and ".join(NAMES[name] for name in names))
            for key, names in part.items()
        }
    return found


def choose_finding(
    found: tuple[Advice, Limits],
    candidates: Mapping[str, Candidate],
    specs: Mapping[str, ModelSpec],
) -> Markup:
    """Who keeps to the limits, and in what each of them is the best."""
    advice, limits = found

    def names(keys: Sequence[str]) -> Markup:
        return listed([model_name(key, specs[key].label) for key in keys])

    if len(advice.unmeasured) == len(candidates):
        lacking = {name for names in advice.unmeasured.values() for name in names}
        return finding(NOTHING[min(lacking)])
    if not advice.fits:
        return finding("None of them surely keeps to these limits.")
    if len(advice.fits) == 1:
        return finding(names(advice.fits), " alone surely keeps to these limits.")
    kept = {key: candidates[key] for key in advice.fits}
    parts = [join(what, " ", names(best(kept, name))) for what, name in BEST]
    said = " keep to these limits: " if limits != Limits() else " can be had without limits: "
    return finding(names(advice.fits), said, listed(parts), _apart(kept), ".")


NOTHING = {
    "milliseconds": "Press “Measure here”: what was not measured is not advised.",
    "score": "None of these models has this score; choose another one.",
}
BEST = (("smallest is", "megabytes"), ("fastest", "milliseconds"), ("highest in score", "score"))


def best(candidates: Mapping[str, Candidate], name: str) -> list[str]:
    """The models with the least cost, all of them where several share it."""
    costs = {key: figure.value for key, one in candidates.items() if (figure := one.cost(name))}
    return [key for key, cost in costs.items() if cost == min(costs.values())]


def _apart(candidates: Mapping[str, Candidate]) -> str:
    """Whether the intervals leave times and scores any order."""
    loose = [
        what
        for what, name in (("times", "milliseconds"), ("scores", "score"))
        if _overlap(candidates, name)
    ]
    return f" (intervals of {' and of '.join(loose)} overlap)" if loose else ""


def _overlap(candidates: Mapping[str, Candidate], name: str) -> bool:
    """Whether the interval of the best reaches another's."""
    costs = (one.cost(name) for one in candidates.values())
    found = sorted((cost for cost in costs if cost), key=lambda cost: cost.value)
    return any(other.low <= found[0].high for other in found[1:])


def timed_said(workload: Workload, rounds: int, n_sentences: int) -> str:
    """Under what the times and shares were taken."""
    clock = ONE_THREAD if workload.clock == "compute" else ""
    return TIMED.format(
        tokens=workload.length,
        device=workload.device,
        dtype=workload.dtype,
        rounds=rounds,
        clock=clock,
        n=n_sentences,
    )


def limits_from(size: float | None, time: float | None, least: float | None) -> Limits:
    """The reader's three numbers; an empty box or nothing above 0 is no limit."""
    size, time, least = ((v if v and v > 0 else None) for v in (size, time, least))
    return Limits(size, time, least / 100 if least else None)
