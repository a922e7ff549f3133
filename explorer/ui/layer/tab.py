"""Layer tab: one word's way through one layer, vector by vector."""

import json
from typing import TYPE_CHECKING, Any

import gradio as gr

from explorer.inference.runs import get_runs
from explorer.library.layer import followed_word
from explorer.links.codec import from_page
from explorer.links.page_state import RUN_FIELDS, PageState
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.strings import reading_note
from explorer.ui.kit.validation import link_in
from explorer.ui.layer import folds, strings
from explorer.ui.layer.reading import chosen_of, walked
from explorer.views.markup import Markup, finding, plain_cards

if TYPE_CHECKING:
    pass


ID = "layer"
LABEL = strings.LABEL
QUESTION = strings.QUESTION
READS = RUN_FIELDS


def build(state: gr.State) -> list[gr.components.Component]:
    """Build the canvas of the stations and the folds; return the headline."""
    headline: list[gr.components.Component] = [gr.HTML(), Canvas("layer/stations", asks=look)]
    folds.build_steps_fold(state)
    folds.build_contexts_fold(state)
    return headline


def show(state: PageState) -> list[object]:
    """Return the stations of the state's word, layer and head; cached runs are used."""
    from explorer.views.layer import layer_canvas

    runs, missing = get_runs(state)
    cards = {key: (error.spec.label, str(error)) for key, error in missing.items()}
    if not runs:
        return [plain_cards(cards), ""]
    word = followed_word(runs, state.at)
    if word is None:
        return [finding(strings.NO_WORD), ""]
    chosen = chosen_of(runs, state, word)
    reading = reading_note({run.spec.label: run.tokens for run in runs.values()})
    return [
        reading or "",
        layer_canvas(walked(runs, state, word), chosen, cards, strings.CANVAS),
    ]


def first(_: PageState, values: list[Any]) -> list[Markup]:
    """Return the headline's values as HTML."""
    from explorer.views.first.layer import layer_html
    from explorer.views.first.parts import canvas

    above, flow = values
    return [above, canvas("layer/stations", layer_html(json.loads(flow)) if flow else None)]


def look(question: dict) -> str:
    """Return the stations of another word, layer or head of the page's text."""
    state, _ = from_page(link_in(question), PageState())
    message, canvas = show(state)
    return str(canvas) if canvas else str(message)
