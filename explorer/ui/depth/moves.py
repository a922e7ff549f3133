"""Depth fold: how a word's state moves, and how a shared layer's heads change meanwhile."""

from collections.abc import Mapping, Sequence

import gradio as gr

from explorer.analysis.alignment import AlignedWord, Groups
from explorer.models.run import Run
from explorer.page_state import PageState
from explorer.runs import get_answers
from explorer.ui.depth import folds_words as texts
from explorer.ui.depth import words as tab_words
from explorer.ui.kit.canvas import Canvas, Chart
from explorer.ui.kit.folds import fold
from explorer.views.markup import el, join, note

MOST_WORDS = 64


def build_fold(state: gr.State) -> None:
    """Two curves for each model, and below them the shared heads."""
    with fold("depth", "moves", texts.MOVES_FOLD) as opened:
        travel, said = Canvas("depth/travel"), gr.HTML()
        film, remark, cloud = Canvas("depth/film"), gr.HTML(), Chart("depth/projection")
        opened.on_open(show_moves, [state], [travel, said, film, remark, cloud])


def show_moves(state: PageState | None) -> list[str]:
    """From the states of the run alone."""
    from explorer.analysis.alignment import align
    from explorer.analysis.depth.travel import word_travel
    from explorer.views.depth.travel import travel_canvas

    if state is None:
        return [""] * 5
    runs, _ = get_answers(state)
    if not runs:
        return ["", note(texts.NO_MODEL), "", "", ""]
    alignment = align({key: run.tokens for key, run in runs.items()})
    shown = alignment.content[:MOST_WORDS]
    if not shown:
        return ["", note(tab_words.NO_WORD), "", "", ""]
    groups = {key: tuple(alignment.groups[key][i] for i in shown) for key in runs}
    found = {key: word_travel(run, groups[key]) for key, run in runs.items()}
    words = [alignment.words[i] for i in shown]
    labels = {key: run.spec.label for key, run in runs.items()}
    travel = travel_canvas(found, labels, groups, words, texts.MOVES)
    return [travel, *show_shared(state), show_projection(runs, groups, words)]


def show_projection(
    runs: Mapping[str, Run], groups: Mapping[str, Groups], words: Sequence[AlignedWord]
) -> str:
    """All models whose states are as wide as the first one's."""
    from explorer.analysis.depth.projection import state_projection
    from explorer.analysis.depth.word_states import word_states
    from explorer.views.depth.projection import projection_canvas

    width = next(iter(runs.values())).hidden_states.shape[-1]
    alike = {key: run for key, run in runs.items() if run.hidden_states.shape[-1] == width}
    found = state_projection({k: word_states(r.hidden_states, groups[k]) for k, r in alike.items()})
    labels = {key: run.spec.label for key, run in alike.items()}
    return projection_canvas(found, labels, groups, words, texts.PROJECTION)


def show_shared(state: PageState) -> list[str]:
    """How the heads of the first shared layer drift over its applications."""
    from explorer.analysis.alignment import align, word_attention
    from explorer.analysis.depth.drift import shared_drift
    from explorer.views.depth.drift import SHOWN, shared_drift_canvas

    runs, _ = get_answers(state)
    run = next((r for r in runs.values() if r.spec.architecture.shares_layers), None)
    if run is None:
        return [note(texts.NO_SHARED), "", ""]
    alignment = align({key: one.tokens for key, one in runs.items()})
    attention = word_attention(run.attention, alignment.groups[run.spec.key])
    drift = shared_drift(attention, alignment)
    return [
        join(
            el("h3", texts.SHARED_TITLE, class_="dt-title"), texts.shared_finding(drift, run.spec)
        ),
        shared_drift_canvas(drift, attention, run.spec, alignment, texts.SHARED),
        note(texts.SHARED_NOTE.format(model=run.spec.label, n=SHOWN)),
    ]
