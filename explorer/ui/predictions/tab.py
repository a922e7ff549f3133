"""Predictions tab: what each model puts in the gap, and how sure it is."""

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import gradio as gr

from explorer.inference.runs import runs_with_mlm_head
from explorer.links.page_state import RUN_FIELDS, PageState, hidden_words
from explorer.models.run import Run
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.words import reading_note, unreadable
from explorer.ui.predictions import ask as predictions_ask
from explorer.ui.predictions import every_word as predictions_words
from explorer.ui.predictions import joint as predictions_joint
from explorer.ui.predictions import words as texts
from explorer.ui.predictions.hidden import words_found

if TYPE_CHECKING:
    from explorer.analysis.predictions.masks import MaskPredictions

ID = "predictions"
LABEL = texts.LABEL
QUESTION = texts.QUESTION
READS = (*RUN_FIELDS, "hidden")
FOLDS = (predictions_ask, predictions_words, predictions_joint)
_KEPT: "WeakKeyDictionary[Run, MaskPredictions]" = WeakKeyDictionary()
"""As long as a run is kept, so are its predictions: the same text again sorts nothing."""


def build(state: gr.State) -> list[gr.components.Component]:
    """The finding, the columns of bars, and the deeper questions as folds."""
    headline: list[gr.components.Component] = [gr.HTML(), Canvas("predictions/gaps")]
    for deeper in FOLDS:
        deeper.build_fold(state)
    return headline


def _predictions_of(run: Run) -> "MaskPredictions":
    from explorer.analysis.predictions.masks import TOP_K, mask_predictions

    if run not in _KEPT:
        _KEPT[run] = mask_predictions(run, TOP_K[1])
    return _KEPT[run]


def show(state: PageState) -> list[object]:
    """The headline's values for the state's text; no model runs if it was computed before."""
    from explorer.views.markup import join
    from explorer.views.predictions.masks import Extra, predictions_canvas

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
