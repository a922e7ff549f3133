"""Distillation tab: how much of the teacher's predictions the student reproduces."""

import json
from typing import TYPE_CHECKING, Any

import gradio as gr

from explorer.analysis.measures import TEMPERATURES
from explorer.inference.runs import Runs
from explorer.links.page_state import RUN_FIELDS, PageState
from explorer.models.run import answer_id
from explorer.models.tokens import BadText, split_words
from explorer.ui.distillation import folds, strings
from explorer.ui.distillation.runs import (
    Focus,
    beside_of,
    comparable,
    focus_of,
    hidden_word,
    knows_lineage,
    pair_in,
)
from explorer.ui.kit import strings as kit_strings
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.strings import reading_note
from explorer.views.markup import Markup, finding, join, model_name

if TYPE_CHECKING:
    from explorer.analysis.distillation.soft import HiddenWord

ID = "distillation"
LABEL = strings.LABEL
QUESTION = strings.QUESTION
QUESTION_OWN = strings.QUESTION_OWN
READS = (*RUN_FIELDS, "word", "hidden", "teacher", "student")


def build(state: gr.State) -> list[gr.components.Component]:
    """Build the finding, the soft-probability lab and the folds; return the headline."""
    headline: list[gr.components.Component] = [gr.HTML(), Canvas("distillation/lab")]
    folds.build_losses(state)
    folds.build_agreement(state)
    folds.build_live(state)
    return headline


def show(state: PageState, _: Runs) -> list[object]:
    """Return finding and lab for one masked word, or a card for a missing model."""
    from explorer.analysis.distillation.soft import NotAPair
    from explorer.models.hub import ModelUnavailable
    from explorer.views.markup import plain_card

    try:
        focus = focus_of(state)
    except BadText as error:
        return [finding(str(error)), ""]
    pair = pair_in(state)
    if pair is None:
        return [strings.no_pair(), ""]
    try:
        hidden, missing = hidden_word(state, focus, pair)
    except NotAPair as error:
        return [join(finding(str(error)), below(state, pair)), ""]
    except ModelUnavailable as error:
        return [plain_card(error.spec.label, str(error), error.spec.key), ""]
    sentence = join(said(hidden, state.temperature), below(state, pair))
    return [sentence, lab(hidden, state, focus, (pair, str(missing or "")))]


def said(hidden: "HiddenWord", temperature: float) -> Markup:
    """Return how close the two models are, and what is known of their relation."""
    from explorer.views.distillation.lab import shown_word

    teacher, student = (
        shown_word(run.vocabulary, answer_id(hidden.logits(run), run.vocabulary))
        for run in hidden.two
    )
    specs = (hidden.teacher.spec, hidden.student.spec)
    roles = strings.roles_of(*specs)
    names = (model_name(specs[0].key, specs[0].label), model_name(specs[1].key, specs[1].label))
    sentence = strings.distillation_finding(
        hidden.pair(temperature),
        names,
        (teacher, student),
        hidden.shared_words(),
        (roles["teacher"], roles["student"]),
    )
    return join(sentence, kit_strings.lineage_note(*specs), reading_note(hidden.two))


def lab(
    hidden: "HiddenWord", state: PageState, focus: Focus, of: tuple[tuple[str, str], str]
) -> str:
    """Return the lab's JSON; ``of`` is the pair and why the third model has no run, if so."""
    from explorer.views.chart import figure_json
    from explorer.views.distillation.lab import LabSettings, distillation_lab, temperature_figures

    pair, missing = of
    specs = (hidden.teacher.spec, hidden.student.spec)
    third = state.ask.specs.get(beside_of(state, pair))
    texts = strings.lab_texts(hidden.third.spec if hidden.third else None, third)
    curves = temperature_figures(TEMPERATURES, strings.in_roles(strings.CURVES, *specs))
    settings: LabSettings = {
        "texts": strings.in_roles(texts, *specs),
        "temperature": state.temperature,
        "temperatures": TEMPERATURES,
        "curves": [figure_json(chart) for chart in curves],
        "back": state.word >= 0,
        "beside_key": third.key if third else "",
        "beside_missing": missing,
    }
    words, roles = split_words(focus.base), strings.roles_of(*specs)
    return distillation_lab(hidden, words, focus.word, settings, roles)


def below(state: PageState, pair: tuple[str, str]) -> Markup:
    """Return the choice of the two columns, and the mark of a pair without a known lineage."""
    is_known = knows_lineage(state, pair)
    return join(pair_choice(state, pair), "" if is_known else strings.no_lineage())


def pair_choice(state: PageState, pair: tuple[str, str]) -> Markup | str:
    """Return the choice of the two columns that the tab compares."""
    specs, columns = state.ask.specs, comparable(state)
    is_known = knows_lineage(state, pair)
    is_only = len(columns) < 2 or (is_known and len(columns) == 2)
    if is_only and not (state.teacher or state.student):
        return ""
    return kit_strings.pair_choice(specs, columns, pair)


def first(state: PageState, values: list[Any]) -> list[Markup]:
    """Return the headline's values as HTML."""
    from explorer.views.first.distillation import distillation_html
    from explorer.views.first.parts import canvas

    sentence, lab = values
    drawn = distillation_html(json.loads(lab), state.temperature) if lab else None
    return [sentence, canvas("distillation/lab", drawn)]
