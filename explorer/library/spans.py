"""Scores of words and phrases in a text: each is masked as its plan says, in every model."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from explorer.analysis.predictions import (
    Contrast,
    MaskFillings,
    SpanPlan,
    SpanScore,
    WordRank,
    contrast,
    loaded_plans,
    mask_fillings,
    span_score,
    word_plans,
    word_rank,
)
from explorer.inference.ask import Ask
from explorer.inference.runs import call_on_model, gather
from explorer.models.run import MaskedRow, Run, batches
from explorer.models.tokens import BadText, Word, put_into
from explorer.refusal import Sentence

Plans = Mapping[str, Sequence[SpanPlan]]
Scores = dict[str, list[SpanScore]]


def plans_of(
    run: Run, ask: Ask, stretches: Sequence[tuple[str, Word]]
) -> list[SpanPlan | Sentence]:
    """Return the model's plan to score each span of text, or why it cannot."""
    return call_on_model(loaded_plans, run.spec, ask, tuple(stretches))


def batch_logits(run: Run, ask: Ask, rows: Sequence[MaskedRow]) -> np.ndarray:
    """Compute logits [row, vocabulary] of one batch with a run's model."""
    from explorer.models.forward import row_logits

    return call_on_model(row_logits, run.spec, ask, rows)


def all_logits(run: Run, ask: Ask, rows: Sequence[MaskedRow]) -> np.ndarray:
    """Compute logits [row, vocabulary] of rows of one length, batch after batch."""
    return np.concatenate([batch_logits(run, ask, batch) for batch in batches(rows)])


def priced(runs: Mapping[str, Run], ask: Ask, plans: Plans) -> Iterator[Scores]:
    """Yield each model's scores so far: first none, then after every round of batches.

    Rounds let other requests run in between, and a cancelled job ends after one batch at most.
    """
    queues = {
        key: deque(batches([row for plan in model_plans for row in plan.rows]))
        for key, model_plans in plans.items()
    }
    rows: dict[str, deque[np.ndarray]] = {key: deque() for key in plans}
    scores: Scores = {key: [] for key in plans}
    yield scores
    while any(queues.values()):
        jobs = {
            key: partial(batch_logits, runs[key], ask, queue.popleft())
            for key, queue in queues.items()
            if queue
        }
        for key, logits in zip(jobs, gather(list(jobs.values())), strict=True):
            rows[key].extend(logits)
        for key, model_plans in plans.items():
            _take_complete(runs[key], model_plans, rows[key], scores[key])
        yield scores


def final_scores(runs: Mapping[str, Run], ask: Ask, plans: Plans) -> Scores:
    """Return each model's scores once all batches are done."""
    scores: Scores = {key: [] for key in plans}
    for scores in priced(runs, ask, plans):  # noqa: B007 - only the last round is wanted
        pass
    return scores


def _take_complete(
    run: Run, plans: Sequence[SpanPlan], rows: deque[np.ndarray], scores: list[SpanScore]
) -> None:
    """Score, in order, every plan whose rows have all been computed."""
    for plan in plans[len(scores) :]:
        if len(rows) < len(plan.rows):
            return
        logits = np.stack([rows.popleft() for _ in plan.rows])
        scores.append(span_score(plan, logits, run.vocabulary))


def plans_of_words(runs: Mapping[str, Run]) -> Plans:
    """Return each model's plans for every word of the text, masked one at a time."""
    return {key: word_plans(run.tokens, run.mask_id) for key, run in runs.items()}


def contrasts(
    runs: Mapping[str, Run], ask: Ask, stretches: Sequence[tuple[str, Word]]
) -> list[Contrast]:
    """Return by model the scores of the alternatives of one choice, each in its full text.

    Raises:
        BadText: a model cannot read an alternative.
    """
    plans: dict[str, list[SpanPlan]] = {key: [] for key in runs}
    for key, run in runs.items():
        for plan in plans_of(run, ask, stretches):
            if isinstance(plan, Sentence):
                raise BadText(plan)
            plans[key].append(plan)
    scores = final_scores(runs, ask, plans)
    return [contrast(key, run.spec.label, scores[key]) for key, run in runs.items()]


def asked_scores(
    runs: Mapping[str, Run], ask: Ask, stretches: Sequence[tuple[str, Word]]
) -> dict[str, list[SpanScore | str]]:
    """Return by model the score of each span of text, or why the model cannot score it."""
    planned = {key: plans_of(run, ask, stretches) for key, run in runs.items()}
    plans = {key: [p for p in of if not isinstance(p, str)] for key, of in planned.items()}
    scores = {key: iter(of) for key, of in final_scores(runs, ask, plans).items()}
    return {
        key: [plan if isinstance(plan, str) else next(scores[key]) for plan in of]
        for key, of in planned.items()
    }


def fillings(runs: Mapping[str, Run], ask: Ask) -> list[MaskFillings]:
    """Return every model's fillings of several masks, the models in parallel."""
    return gather(
        [partial(mask_fillings, run, partial(all_logits, run, ask)) for run in runs.values()]
    )


def words_found(
    runs: Mapping[str, Run], ask: Ask, hidden_words: Sequence[str]
) -> dict[str, dict[int, WordRank]]:
    """Return per model and mask the rank of the word that was masked there."""
    hidden = {mask: word for mask, word in enumerate(hidden_words) if word}
    if not hidden:
        return {}
    return {key: _found(run, ask, hidden) for key, run in runs.items()}


def _found(run: Run, ask: Ask, hidden: Mapping[int, str]) -> dict[int, WordRank]:
    """Find each masked word in one model's predictions, split by its own tokenizer.

    No token counts as the word's own if it merged with a neighbour or is unknown to the model.
    """
    text, gaps = run.tokens.text, [word for word in run.tokens.words if word.is_mask]
    stretches = [put_into(text, gaps[mask], word) for mask, word in hidden.items()]
    plans = zip(hidden, plans_of(run, ask, stretches), strict=True)
    return {
        mask: word_rank(run, mask, () if isinstance(plan, str) else plan.targets)
        for mask, plan in plans
    }
