"""Predictions tab: the likeliest words of each model for each mask."""

import json
from typing import TYPE_CHECKING, Any

import gradio as gr

from explorer.inference.cache import key_of, memo
from explorer.inference.runs import Runs
from explorer.library.spans import words_found
from explorer.links.page_state import RUN_FIELDS, PageState, hidden_words, looks_of
from explorer.models.run import Run
from explorer.models.tokens import Tokens
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.strings import reading_note, unreadable
from explorer.ui.predictions import folds, strings
from explorer.views.markup import Markup

if TYPE_CHECKING:
    from explorer.analysis.predictions import MaskPredictions


ID = "predictions"
LABEL = strings.LABEL
QUESTION = strings.QUESTION
READS = (*RUN_FIELDS, "hidden")


def build(state: gr.State) -> list[gr.components.Component]:
    """Build the finding, the columns of bars and the folds; return the headline."""
    headline: list[gr.components.Component] = [gr.HTML(), Canvas("predictions/gaps")]
    folds.build_ask_fold(state)
    folds.build_every_word_fold(state)
    folds.build_joint_fold(state)
    folds.build_attribution_fold(state)
    return headline


def _predictions_of(run: Run) -> "MaskPredictions":
    from explorer.analysis.predictions import TOP_K, mask_predictions

    return memo(("predictions", *key_of(run)), lambda: mask_predictions(run, TOP_K[1]))


def show(state: PageState, text_runs: Runs) -> list[object]:
    """Return the headline's values for the state's text; cached runs are used."""
    from explorer.views.markup import join
    from explorer.views.predictions import PredictionTexts, predictions_canvas

    runs, missing = text_runs.with_mlm_head
    results = {key: _predictions_of(run) for key, run in runs.items()}
    labels = {key: run.spec.label for key, run in runs.items()}
    cards = {key: (error.spec.label, str(error)) for key, error in missing.items()}
    tokens_by_label = {run.spec.label: run.tokens for run in runs.values()}
    tokens = next((run.tokens for run in runs.values()), None)
    return [
        join(
            strings.predictions_finding(
                results, labels, unreadable(tokens_by_label), bool(tokens and has_word(tokens))
            ),
            reading_note(runs.values()),
            strings.origin_note([run.spec for run in runs.values()], results),
        ),
        predictions_canvas(
            results,
            cards,
            tokens,
            PredictionTexts(
                strings.CANVAS,
                hidden_words(state),
                words_found(runs, state.ask, hidden_words(state)),
                [*state.ask.specs],
            ),
        ),
    ]


def has_word(tokens: Tokens) -> bool:
    """Return whether a text has a word that a click could mask: letters or digits."""
    return any(any(map(str.isalnum, word.text)) for word in tokens.words if word.text[0] != "[")


def first(state: PageState, values: list[Any]) -> list[Markup]:
    """Return the headline's values as HTML."""
    from explorer.views.first.parts import canvas
    from explorer.views.first.predictions import predictions_html

    finding, picture = values
    shown = looks_of(state).get("shown", "")
    number = int(shown) if shown.isdecimal() else 0
    drawn = predictions_html(json.loads(picture), state.mask, number)
    return [finding, canvas("predictions/gaps", drawn)]
