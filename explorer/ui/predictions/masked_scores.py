"""Masked versions of a text through all models at once: a batch per model and round."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from explorer.analysis.predictions.every_word import SpanPlan, SpanScore, span_plan, span_score
from explorer.models.rows import MaskedRow, batches
from explorer.models.run import Run
from explorer.models.tokens import Word
from explorer.page_state import PageState
from explorer.runs import get_loaded, in_workers
from explorer.timing.slot import SLOT

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel

Jobs = Mapping[str, "tuple[LoadedModel, Sequence[SpanPlan]]"]
Scores = dict[str, list[SpanScore]]


def loaded_models(runs: Mapping[str, Run], state: PageState) -> "dict[str, LoadedModel]":
    """The networks behind runs, by model key."""
    return {key: get_loaded(run.spec, state) for key, run in runs.items()}


def plan_in(loaded: "LoadedModel", text: str, word: Word) -> SpanPlan:
    """How one model prices a stretch of a text.

    Raises:
        BadText: the text is too long with it, or a piece reaches over the stretch's edge.
    """
    from explorer.models.forward import tokenize

    return span_plan(tokenize(loaded, text), word, mask_id(loaded))


def mask_id(loaded: "LoadedModel") -> int:
    """The id of the model's own mask token."""
    return int(loaded.tokenizer.mask_token_id)


def batch_logits(loaded: "LoadedModel", rows: Sequence[MaskedRow]) -> np.ndarray:
    """Logits [row, vocabulary] of one batch; waits while somebody measures."""
    from explorer.models.scoring import row_logits

    with SLOT.infer():
        return row_logits(loaded, rows)


def all_logits(loaded: "LoadedModel", rows: Sequence[MaskedRow]) -> np.ndarray:
    """Logits [row, vocabulary] of rows of one length, batch after batch."""
    return np.concatenate([batch_logits(loaded, batch) for batch in batches(rows)])


def priced(jobs: Jobs) -> Iterator[Scores]:
    """Each model's scores so far: at once (none yet), then after every round of batches.

    Rounds keep the workers free for other visitors in between, and a reader who stops waits for
    one batch at most.
    """
    waiting = {
        key: deque(batches([row for plan in plans for row in plan.rows]))
        for key, (_, plans) in jobs.items()
    }
    rows: dict[str, deque[np.ndarray]] = {key: deque() for key in jobs}
    scores: Scores = {key: [] for key in jobs}
    yield scores
    while any(waiting.values()):
        asked = {
            key: partial(batch_logits, jobs[key][0], queue.popleft())
            for key, queue in waiting.items()
            if queue
        }
        for key, future in zip(asked, in_workers(list(asked.values())), strict=True):
            rows[key].extend(future.result())  # type: ignore[arg-type]
        for key, (loaded, plans) in jobs.items():
            _take_complete(loaded, plans, rows[key], scores[key])
        yield scores


def final_scores(jobs: Jobs) -> Scores:
    """Each model's scores when all is done."""
    scores: Scores = {key: [] for key in jobs}
    for scores in priced(jobs):  # noqa: B007 - only the last round is wanted
        pass
    return scores


def _take_complete(
    loaded: "LoadedModel",
    plans: Sequence[SpanPlan],
    rows: deque[np.ndarray],
    scores: list[SpanScore],
) -> None:
    """Score every plan whose rows have all arrived, in order."""
    for plan in plans[len(scores) :]:
        if len(rows) < len(plan.rows):
            return
        logits = np.stack([rows.popleft() for _ in plan.rows])
        scores.append(span_score(plan, logits, loaded.vocabulary))
