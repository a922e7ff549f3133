"""Masked versions of a text through all models at once: a batch per model and round."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from explorer.analysis.predictions.every_word import SpanPlan, SpanScore, loaded_plans, span_score
from explorer.inference.runs import call_on_model, gather
from explorer.links.page_state import PageState
from explorer.models.rows import MaskedRow, batches
from explorer.models.run import Run
from explorer.models.tokens import Word

Runs = Mapping[str, Run]
Plans = Mapping[str, Sequence[SpanPlan]]
Scores = dict[str, list[SpanScore]]


def plans_of(
    run: Run, state: PageState, stretches: Sequence[tuple[str, Word]]
) -> list[SpanPlan | str]:
    """How a run's model prices stretches of texts, or the sentence that says why it cannot."""
    return call_on_model(loaded_plans, run.spec, state, tuple(stretches))


def batch_logits(run: Run, state: PageState, rows: Sequence[MaskedRow]) -> np.ndarray:
    """Logits [row, vocabulary] of one batch, by a run's model."""
    from explorer.models.scoring import row_logits

    return call_on_model(row_logits, run.spec, state, rows)


def all_logits(run: Run, state: PageState, rows: Sequence[MaskedRow]) -> np.ndarray:
    """Logits [row, vocabulary] of rows of one length, batch after batch."""
    return np.concatenate([batch_logits(run, state, batch) for batch in batches(rows)])


def priced(runs: Runs, state: PageState, plans: Plans) -> Iterator[Scores]:
    """Each model's scores so far: at once (none yet), then after every round of batches.

    Rounds keep the workers free for other visitors in between, and a reader who stops waits for
    one batch at most.
    """
    waiting = {
        key: deque(batches([row for plan in listed for row in plan.rows]))
        for key, listed in plans.items()
    }
    rows: dict[str, deque[np.ndarray]] = {key: deque() for key in plans}
    scores: Scores = {key: [] for key in plans}
    yield scores
    while any(waiting.values()):
        asked = {
            key: partial(batch_logits, runs[key], state, queue.popleft())
            for key, queue in waiting.items()
            if queue
        }
        for key, logits in zip(asked, gather(list(asked.values())), strict=True):
            rows[key].extend(logits)
        for key, listed in plans.items():
            _take_complete(runs[key], listed, rows[key], scores[key])
        yield scores


def final_scores(runs: Runs, state: PageState, plans: Plans) -> Scores:
    """Each model's scores when all is done."""
    scores: Scores = {key: [] for key in plans}
    for scores in priced(runs, state, plans):  # noqa: B007 - only the last round is wanted
        pass
    return scores


def _take_complete(
    run: Run, plans: Sequence[SpanPlan], rows: deque[np.ndarray], scores: list[SpanScore]
) -> None:
    """Score every plan whose rows have all arrived, in order."""
    for plan in plans[len(scores) :]:
        if len(rows) < len(plan.rows):
            return
        logits = np.stack([rows.popleft() for _ in plan.rows])
        scores.append(span_score(plan, logits, run.vocabulary))
