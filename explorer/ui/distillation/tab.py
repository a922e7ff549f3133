"""Distillation tab: what the student kept of the teacher, at any temperature."""

import gradio as gr

from explorer.models.tokens import clean_text, split_words
from explorer.page_state import PageState
from explorer.ui.distillation import folds
from explorer.ui.distillation import words as texts
from explorer.ui.distillation.live import build_live
from explorer.ui.distillation.runs import Focus, focus_of, focus_on_word, hidden_word
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.errors import plain_errors

ID = "distillation"
LABEL = texts.LABEL
QUESTION = texts.QUESTION


def build(state: gr.State) -> list[gr.components.Component]:
    """The finding, the soft-probability lab, and the deeper questions as folds."""
    finding, lab, focus = gr.HTML(), Canvas("distillation_lab"), gr.State(None)
    lab.select(
        plain_errors(on_word),
        [state, focus],
        [finding, lab, focus],
        api_visibility="private",
        concurrency_id="infer",
        show_progress="minimal",
    )
    headline = [finding, lab, focus]
    folds.build_curves(state, focus)
    folds.build_losses(state, focus)
    folds.build_layers(state, focus)
    folds.build_agreement(state, headline)
    folds.build_masking(state)
    build_live(state, focus)
    return headline


def show(state: PageState) -> list[object]:
    """The headline for the page's text; no model runs if it was computed before."""
    return look_at(state, focus_of(state, None))


def on_word(state: PageState | None, focus: Focus | None, event: gr.EventData) -> list[object]:
    """Hide another word, only here; -1 goes back to the page's own text."""
    state, index = state or PageState(), int(event._data["word"])
    current = focus_of(state, focus)
    if index < 0:
        return show(state)
    return look_at(state, focus_on_word(clean_text(state.text), current.base, index))


def look_at(state: PageState, focus: Focus) -> list[object]:
    """Finding, lab and focus for one hidden word; a card where a model is not there."""
    from explorer.models.hub import ModelUnavailable
    from explorer.views.distillation.soft import distillation_lab, shown_word
    from explorer.views.markup import plain_card

    try:
        hidden, missing = hidden_word(state, focus)
    except ModelUnavailable as error:
        return [plain_card(error.spec.label, str(error), error.spec.key), "", focus]
    runs = (hidden.teacher, hidden.student)
    teacher, student = (shown_word(r.vocabulary, int(hidden.logits(r).argmax())) for r in runs)
    sentence = texts.distillation_finding(
        hidden.pair, (runs[0].spec.label, runs[1].spec.label), (teacher, student)
    )
    extra = {
        "texts": texts.LAB,
        "temperature": state.temperature,
        "back": focus.base != clean_text(state.text),
        "beside_missing": str(missing) if missing else "",
    }
    words = split_words(focus.base)
    return [sentence, distillation_lab(hidden, words, focus.word, extra), focus]
