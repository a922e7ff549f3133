"""Tasks tab: what the models are trained and tuned for, on the reader's own sentences."""

import gradio as gr

from explorer.page_state import RUN_FIELDS, PageState
from explorer.ui.tasks import choose, kept, quadrants
from explorer.ui.tasks import words as texts
from explorer.ui.tasks.pairs import show_pairs
from explorer.ui.tasks.tuned import (
    build_question,
    build_sentiment,
    question_values,
    sentiment_values,
)
from explorer.views.markup import el

ID = "tasks"
LABEL = texts.LABEL
QUESTION = texts.QUESTION
READS = RUN_FIELDS


def build(state: gr.State) -> list[gr.components.Component]:
    """The pair, the text judged, the question answered; below, the deeper questions as folds."""
    gr.HTML(el("h3", texts.PAIRS_TITLE, class_="tk-title"))
    pairs = gr.HTML()
    sentiment, question = build_sentiment(state), build_question(state)
    quadrants.build_fold(state)
    kept.build_fold(state)
    choose.build_fold(state)
    return [pairs, *sentiment, *question]


def show(state: PageState) -> list[object]:
    """The headline's values for the state's text."""
    return [show_pairs(state), *sentiment_values(state), *question_values(state)]
