"""Predictions tab: what each model puts in the gap, and how sure it is."""

import gradio as gr

from explorer.page_state import PageState
from explorer.runs import get_runs
from explorer.ui import texts_predictions as texts
from explorer.ui.canvas import Canvas

ID = "predictions"
LABEL = texts.LABEL
QUESTION = texts.QUESTION


def build(state: gr.State) -> list[gr.components.Component]:  # noqa: ARG001 - folds will read it
    """The finding, the columns of bars, and the deeper questions as folds."""
    return [gr.HTML(), Canvas("predictions")]


def show(state: PageState) -> list[object]:
    """The headline's values for the state's text; no model runs if it was computed before."""
    from explorer.analysis.predictions import TOP_K, mask_predictions
    from explorer.views.predictions import predictions_canvas

    runs, missing = get_runs(state)
    results = {key: mask_predictions(run, TOP_K[1]) for key, run in runs.items()}
    labels = {key: run.spec.label for key, run in runs.items()}
    cards = {key: (error.spec.label, str(error)) for key, error in missing.items()}
    tokens = next((run.tokens for run in runs.values()), None)
    return [
        texts.predictions_finding(results, labels),
        predictions_canvas(results, cards, tokens, texts.CANVAS),
    ]
