"""Distillation tab: how much of the teacher's predictions the student reproduces."""

import json
from typing import Any

import gradio as gr

from explorer.analysis.measures import TEMPERATURES
from explorer.links.page_state import RUN_FIELDS, PageState
from explorer.models.run import answer_id
from explorer.models.tokens import BadText, split_words
from explorer.ui.distillation import folds, strings
from explorer.ui.distillation.runs import BESIDE, focus_of, hidden_word
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.strings import reading_note
from explorer.views.markup import Markup, finding

ID = "distillation"
LABEL = strings.LABEL
QUESTION = strings.QUESTION
READS = (*RUN_FIELDS, "word", "hidden")


def build(state: gr.State) -> list[gr.components.Component]:
    """Build the finding, the soft-probability lab and the folds; return the headline."""
    headline: list[gr.components.Component] = [gr.HTML(), Canvas("distillation/lab")]
    folds.build_losses(state)
    folds.build_agreement(state)
    folds.build_live(state)
    return headline


def show(state: PageState) -> list[object]:
    """Return finding and lab for one masked word, or a card for a missing model."""
    from explorer.analysis.distillation.soft import NotAPair
    from explorer.models.hub import ModelUnavailable
    from explorer.views.chart import figure_json
    from explorer.views.distillation import distillation_lab, shown_word, temperature_figures
    from explorer.views.markup import join, model_name, plain_card

    try:
        focus = focus_of(state)
    except BadText as error:
        return [finding(str(error)), ""]
    try:
        hidden, missing = hidden_word(state, focus)
    except NotAPair as error:
        return [finding(str(error)), ""]
    except ModelUnavailable as error:
        return [plain_card(error.spec.label, str(error), error.spec.key), ""]
    runs = (hidden.teacher, hidden.student)
    teacher, student = (
        shown_word(r.vocabulary, answer_id(hidden.logits(r), r.vocabulary)) for r in runs
    )
    names = (
        model_name(runs[0].spec.key, runs[0].spec.label),
        model_name(runs[1].spec.key, runs[1].spec.label),
    )
    sentence = strings.distillation_finding(
        hidden.pair(state.temperature), names, (teacher, student), hidden.shared_words()
    )
    extra = {
        "texts": strings.lab_texts(hidden.third.spec if hidden.third else None),
        "temperature": state.temperature,
        "temperatures": TEMPERATURES,
        "curves": [
            figure_json(chart) for chart in temperature_figures(TEMPERATURES, strings.CURVES)
        ],
        "back": state.word >= 0,
        "beside_key": BESIDE,
        "beside_missing": str(missing) if missing else "",
    }
    words = split_words(focus.base)
    reading = reading_note(runs)
    sentence = join(sentence, strings.lineage_note(runs[0].spec, runs[1].spec), reading)
    return [sentence, distillation_lab(hidden, words, focus.word, extra)]


def first(state: PageState, values: list[Any]) -> list[Markup]:
    """Return the headline's values as HTML."""
    from explorer.views.first.distillation import distillation_html
    from explorer.views.first.parts import canvas

    sentence, lab = values
    drawn = distillation_html(json.loads(lab), state.temperature) if lab else None
    return [sentence, canvas("distillation/lab", drawn)]
