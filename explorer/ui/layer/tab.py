"""Layer tab: one word through one layer of every model, number by number."""

import gradio as gr

from explorer.inference.runs import get_runs
from explorer.links.codec import from_page
from explorer.links.page_state import RUN_FIELDS, PageState
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.validation import link_in
from explorer.ui.kit.words import reading_note
from explorer.ui.layer import contexts, steps
from explorer.ui.layer import words as texts
from explorer.ui.layer.reading import chosen_of, followed_word, walked
from explorer.views.markup import finding, plain_cards

ID = "layer"
LABEL = texts.LABEL
QUESTION = texts.QUESTION
READS = RUN_FIELDS


def build(state: gr.State) -> list[gr.components.Component]:
    """The stations; below, the deeper questions as folds."""
    headline: list[gr.components.Component] = [gr.HTML(), Canvas("layer/stations", asks=look)]
    steps.build_fold(state)
    contexts.build_fold(state)
    return headline


def show(state: PageState) -> list[object]:
    """The stations of the state's word, layer and head; no encoder runs if it did before."""
    from explorer.views.layer.stations import stations_canvas

    runs, missing = get_runs(state)
    cards = {key: (error.spec.label, str(error)) for key, error in missing.items()}
    if not runs:
        return [plain_cards(cards), ""]
    word = followed_word(runs, state.at)
    if word is None:
        return [finding(texts.NO_WORD), ""]
    chosen = chosen_of(runs, state, word)
    read = reading_note({run.spec.label: run.tokens for run in runs.values()})
    return [read or "", stations_canvas(walked(runs, state, word), chosen, cards, texts.CANVAS)]


def look(question: dict) -> str:
    """Another word, layer or head of the text that is on the page."""
    state, _ = from_page(link_in(question), PageState())
    said, canvas = show(state)
    return str(canvas) if canvas else str(said)
