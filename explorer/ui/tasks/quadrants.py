"""Fold: what the two sentences of a pair exchange."""

import gradio as gr

from explorer.inference.runs import get_runs
from explorer.links.page_state import PageState
from explorer.ui.kit.export import with_save_menu
from explorer.ui.kit.folds import fold
from explorer.ui.tasks import quadrants_words as texts
from explorer.ui.tasks.pairs import show_objectives
from explorer.ui.tasks.words import OBJECTIVES_TITLE
from explorer.views.markup import el, finding, join, note


def build_fold(state: gr.State) -> None:
    """The four quadrants of a sentence pair."""
    with fold("tasks", "pairs", texts.QUESTION) as pairs:
        picture = gr.HTML()
        gr.HTML(el("h3", OBJECTIVES_TITLE))
        tables = gr.HTML()
        pairs.on_open(show_both, [state], [picture, tables])


def show_both(state: PageState | None) -> list[str]:
    """The quadrants of the reader's pair, and what the heads tell of many."""
    return [show_pairs(state), show_objectives(state)]


def show_pairs(state: PageState | None) -> str:
    """The quadrants of every model, or how to write a pair."""
    from explorer.analysis.alignment import align
    from explorer.analysis.tasks.quadrants import pair_quadrants
    from explorer.views.tasks.quadrants import pair_quadrants_html, pair_quadrants_numbers

    if state is None:
        return ""
    runs, _ = get_runs(state)
    alignment = align({key: run.tokens for key, run in runs.items()}) if runs else None
    found = [pair_quadrants(run, alignment) for run in runs.values() if alignment]
    results = [result for result in found if result is not None]
    if not results or alignment is None:
        return finding(texts.NO_PAIR)
    drawn = pair_quadrants_html(results, texts.QUADRANTS)
    numbers = pair_quadrants_numbers(results, alignment)
    picture = with_save_menu("tasks/quadrants", drawn, numbers)
    return join(texts.pairs_finding(results), picture, note(texts.HOW))
