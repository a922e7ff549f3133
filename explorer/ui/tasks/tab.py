"""Tasks tab: the models' pre-training and fine-tuning tasks, on the reader's own text."""

from typing import Any

import gradio as gr

from explorer.links.page_state import RUN_FIELDS, PageState, open_folds
from explorer.ui.kit.folds import part, parts_row
from explorer.ui.tasks import strings
from explorer.ui.tasks.pairs import build_quadrants_fold, show_pairs
from explorer.ui.tasks.tuned import (
    build_fine_tuning_fold,
    build_question,
    build_sentiment,
    question_values,
    sentiment_values,
)
from explorer.views.markup import Markup

ID = "tasks"
LABEL = strings.LABEL
QUESTION = strings.QUESTION
READS = RUN_FIELDS


def build(state: gr.State) -> list[gr.components.Component]:
    """Build the sections pair, sentiment and question, and the folds; return the headline."""
    gr.HTML(parts_row(ID, strings.PARTS, strings.PARTS_LABEL))
    with part(ID, "pair"):
        pairs = gr.HTML()
        build_quadrants_fold(state)
    with part(ID, "sentiment"):
        sentiment = build_sentiment(state)
    with part(ID, "question"):
        question = build_question(state)
    build_fine_tuning_fold(state)
    gr.HTML(strings.which_one())
    return [pairs, *sentiment, *question]


def show(state: PageState) -> list[object]:
    """Return the headline's values for the state's text."""
    return [show_pairs(state), *sentiment_values(state), *question_values(state)]


def first(state: PageState, values: list[Any]) -> list[Markup]:
    """Return the visible part as HTML, above it the text that the reader may have asked about."""
    from explorer.views.markup import el

    pairs, _, text, sentiment, _, question, passage, answers = values
    parts: dict[str, list[Markup]] = {
        "pair": [pairs],
        "sentiment": [el("p", text, class_="note"), sentiment],
        "question": [el("p", question, class_="note"), el("p", passage, class_="note"), answers],
    }
    shown = next((name for name in open_folds(state) if name in parts), "pair")
    row = [
        el("span", label, class_="part-tab", aria_selected=str(name == shown).lower())
        for name, label in strings.PARTS.items()
    ]
    return [el("div", *row, class_="parts"), *parts[shown]]
