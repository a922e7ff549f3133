"""Models timed on the work behind a score: the passes of one answer, at the length of its texts."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from explorer import assets
from explorer.analysis.latency.model_choice import Figure, measure_with_variants, shares_of
from explorer.analysis.tasks.scores import TASKS, fitting_cards
from explorer.inference.ask import Ask
from explorer.inference.runs import device_of, runs_with_mlm_head
from explorer.library.latency import mean_tokens, read_sentences
from explorer.models.specs import ModelSpec, distilled_pair
from explorer.scheduling.cancel import CancelToken
from explorer.scheduling.measurement_lock import MEASUREMENT_LOCK
from explorer.timing.workload import MAX_LENGTH, Workload, clock_on

if TYPE_CHECKING:
    from explorer.analysis.latency.family import FamilyLatency
    from explorer.analysis.latency.faster import FasterResult

BUDGET_S = 10.0
RUN_HERE = ("right", "agreement")
"""Scores that are computed from the models' words for the bundled sentences."""
UNCOUNTED = 32
"""Length of a pass where no model is available to count the tokens of the sentences."""


@dataclass(frozen=True, slots=True)
class Work:
    """Cost of one answer of a score: forward passes of one length."""

    score: str
    workload: Workload
    passes: Mapping[str, float]
    """Mean number of passes of an answer, by model key."""
    length_of: str = ""
    """Key in ``SCORE_WORK`` of what has this length; empty: the score's own texts."""


@dataclass(frozen=True, slots=True, eq=False)
class TimingProgress:
    """Times so far, and the shares of the sentences that were run before."""

    work: Work
    shares: Mapping[str, Mapping[str, Figure]]
    """Shares by score, then model name."""
    result: "FamilyLatency | None" = None
    faster: "FasterResult | None" = None


def work_of(ask: Ask, score: str, own: tuple[ModelSpec, ...]) -> Work:
    """Return the passes behind a score: windows, phrases, or the bundled sentences."""
    cards, _ = fitting_cards(ask.specs, score) if score in TASKS else ({}, {})
    scores = {key: card["scores"][TASKS[score]] for key, card in cards.items()}
    lengths = [entry["tokens"] for entry in scores.values() if "tokens" in entry]
    length_of = "" if lengths or (own and score in RUN_HERE) else "sentences"
    if not lengths:
        lengths = [mean_tokens(spec, ask) for spec in own] or [UNCOUNTED]
        length_of = length_of if own else "nothing"
    device, length = device_of(ask), min(max(round(max(lengths)), 2), MAX_LENGTH)
    workload = Workload(length, 1, device, ask.dtype, clock=clock_on(device, "wait"))
    passes = {key: entry.get("passes", 1.0) for key, entry in scores.items()}
    return Work(score, workload, passes, length_of)


def shares_here(
    own: tuple[ModelSpec, ...], ask: Ask
) -> Generator[int, None, dict[str, dict[str, Figure]]]:
    """Run models on the bundled sentences; yield how many are done, and return their shares."""
    words: dict[str, list[str]] = {spec.name: [] for spec in own}
    for n_done, words_by_model in enumerate(read_sentences(own, ask), 1):
        for name, word in words_by_model.items():
            words[name].append(word)
        yield n_done
    answers = [sentence["answer"] for sentence in assets.sentences()]
    return shares_of(words, answers, ask.specs[distilled_pair()[0]].name)


def timed_family(
    ask: Ask,
    score: str,
    compared: Sequence[ModelSpec],
    with_ways: bool,
    cancel_token: CancelToken,
) -> Generator[int | TimingProgress, None, None]:
    """Run a family on the sentences if the score needs it, then time it on the score's work.

    It yields the number of sentences that are done, then the times so far.

    Args:
        ask: The family, the device and the precision.
        score: Key of the score.
        compared: The models to time besides those of the family that are available.
        with_ways: Whether other runtimes and precisions are timed too; float32 only.
        cancel_token: Stops the measurement.
    """
    runs, _ = runs_with_mlm_head(ask)
    own = tuple(run.spec for run in runs.values())
    shares: Mapping[str, Mapping[str, Figure]] = {}
    if score in RUN_HERE:
        shares = yield from shares_here(own, ask)
    progress = TimingProgress(work_of(ask, score, own), shares)
    yield progress
    specs = (*own, *(spec for spec in compared if spec not in own))
    run_otherwise = own if with_ways and ask.dtype == "float32" else ()
    # Held only now: a run of a model would wait for the end of the measurement.
    with MEASUREMENT_LOCK.measure(cancel_token.check):
        for result, faster in measure_with_variants(
            specs, run_otherwise, progress.work.workload, BUDGET_S, cancel_token
        ):
            yield replace(progress, result=result, faster=faster)
