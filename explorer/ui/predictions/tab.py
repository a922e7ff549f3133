"""Predictions: the likeliest words of each model for each mask."""

from collections.abc import Mapping
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import gradio as gr

from explorer.inference.runs import runs_with_mlm_head
from explorer.links.page_state import RUN_FIELDS, PageState, hidden_words
from explorer.models.run import Run
from explorer.models.tokens import put_into
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.strings import reading_note, unreadable
from explorer.ui.predictions import folds
from explorer.ui.predictions import strings as texts
from explorer.ui.predictions.folds import plans_of

if TYPE_CHECKING:
    from explorer.analysis.predictions import MaskPredictions, WordFound


ID = "predictions"
LABEL = texts.LABEL
QUESTION = texts.QUESTION
READS = (*RUN_FIELDS, "hidden")
_KEPT: "WeakKeyDictionary[Run, MaskPredictions]" = WeakKeyDictionary()
"""As long as a run is kept, so are its predictions: the same text again sorts nothing."""


def build(state: gr.State) -> list[gr.components.Component]:
    """The finding, the columns of bars, and the deeper questions as folds."""
    headline: list[gr.components.Component] = [gr.HTML(), Canvas("predictions/gaps")]
    folds.build_ask_fold(state)
    folds.build_every_word_fold(state)
    folds.build_joint_fold(state)
    return headline


def _predictions_of(run: Run) -> "MaskPredictions":
    from explorer.analysis.predictions import TOP_K, mask_predictions

    if run not in _KEPT:
        _KEPT[run] = mask_predictions(run, TOP_K[1])
    return _KEPT[run]


def show(state: PageState) -> list[object]:
    """The headline's values for the state's text; no model runs if it was computed before."""
    from explorer.views.markup import join
    from explorer.views.predictions import Extra, predictions_canvas

    runs, missing = runs_with_mlm_head(state)
    results = {key: _predictions_of(run) for key, run in runs.items()}
    labels = {key: run.spec.label for key, run in runs.items()}
    cards = {key: (error.spec.label, str(error)) for key, error in missing.items()}
    read = {run.spec.label: run.tokens for run in runs.values()}
    tokens = next((run.tokens for run in runs.values()), None)
    return [
        join(
            texts.predictions_finding(results, labels, unreadable(read)),
            reading_note(read),
            texts.origin_note([run.spec for run in runs.values()], results),
        ),
        predictions_canvas(
            results,
            cards,
            tokens,
            Extra(texts.CANVAS, hidden_words(state), words_found(runs, state)),
        ),
    ]


Found = dict[str, "dict[int, WordFound]"]


def words_found(runs: Mapping[str, Run], state: PageState) -> Found:
    """Per model and mask, where its answer has the word that was hidden there."""
    hidden = {mask: word for mask, word in enumerate(hidden_words(state)) if word}
    if not hidden:
        return {}
    return {key: _found(run, state, hidden) for key, run in runs.items()}


def _found(run: Run, state: PageState, hidden: Mapping[int, str]) -> "dict[int, WordFound]":
    """Each word put back and cut into pieces by the model's own tokenizer.

    Grown together with its neighbour, or nothing this model can read: no piece is its own.
    """
    from explorer.analysis.predictions import word_found

    text, gaps = run.tokens.text, [word for word in run.tokens.words if word.is_mask]
    stretches = [put_into(text, gaps[mask], word) for mask, word in hidden.items()]
    plans = zip(hidden, plans_of(run, state, stretches), strict=True)
    return {
        mask: word_found(run, mask, () if isinstance(plan, str) else plan.targets)
        for mask, plan in plans
    }
