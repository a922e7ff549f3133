"""Depth fold: how a word's state moves, and how a shared layer's heads change meanwhile."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import gradio as gr

from explorer.analysis.alignment import AlignedWord, Groups
from explorer.inference.runs import runs_with_mlm_head
from explorer.links.page_state import PageState
from explorer.models.run import Run
from explorer.ui.depth import strings as tab_words
from explorer.ui.depth import strings as texts
from explorer.ui.kit.canvas import Canvas, Chart
from explorer.ui.kit.folds import fold
from explorer.views.markup import Markup, el, join, note

MOST_WORDS = 64


@dataclass(frozen=True, slots=True)
class Followed:
    """The words of a text and the places of their pieces in each model that is there."""

    runs: Mapping[str, Run]
    groups: Mapping[str, Groups]
    words: Sequence[AlignedWord]


def build_folds(state: gr.State) -> None:
    """Two curves for each model and below them the shared heads; apart, all states at once."""
    with fold("depth", "moves", texts.MOVES_FOLD) as opened:
        travel, said = Canvas("depth/travel"), gr.HTML()
        film, remark = Canvas("depth/film"), gr.HTML()
        opened.on_open(show_moves, [state], [travel, said, film, remark])
    with fold("depth", "more", texts.MORE_FOLD) as opened:
        said, cloud = gr.HTML(), Chart("depth/projection")
        opened.on_open(show_projection, [state], [said, cloud])


def followed(state: PageState) -> Followed | Markup:
    """Return the words that are followed, or why there are none."""
    from explorer.analysis.alignment import align

    runs, _ = runs_with_mlm_head(state)
    if not runs:
        return note(texts.SIMILARITY_NO_MODEL)
    alignment = align({key: run.tokens for key, run in runs.items()})
    shown = alignment.content[:MOST_WORDS]
    if not shown:
        return note(tab_words.NO_WORD)
    groups = {key: tuple(alignment.groups[key][i] for i in shown) for key in runs}
    return Followed(runs, groups, [alignment.words[i] for i in shown])


def show_moves(state: PageState | None) -> list[str]:
    """Draw how each word moves; from the states of the run alone."""
    from explorer.analysis.depth.states import word_trajectory
    from explorer.views.depth.states import travel_canvas

    found = followed(state) if state else ""
    if state is None or not isinstance(found, Followed):
        return ["", found if isinstance(found, str) else "", "", ""]
    travels = {key: word_trajectory(run, found.groups[key]) for key, run in found.runs.items()}
    labels = {key: run.spec.label for key, run in found.runs.items()}
    travel = travel_canvas(travels, labels, found.groups, found.words, texts.MOVES)
    return [travel, *show_shared(state)]


def show_projection(state: PageState | None) -> list[str]:
    """Draw the states of all models that are as wide as the first one's."""
    from explorer.analysis.depth.lens import word_states
    from explorer.analysis.depth.states import state_projection
    from explorer.views.depth.states import projection_canvas

    found = followed(state) if state else ""
    if not isinstance(found, Followed):
        return [found, ""]
    width = next(iter(found.runs.values())).hidden_states.shape[-1]
    alike = {k: run for k, run in found.runs.items() if run.hidden_states.shape[-1] == width}
    states = {k: word_states(run.hidden_states, found.groups[k]) for k, run in alike.items()}
    labels = {key: run.spec.label for key, run in alike.items()}
    return [
        "",
        projection_canvas(
            state_projection(states), labels, found.groups, found.words, texts.PROJECTION
        ),
    ]


def show_shared(state: PageState) -> list[str]:
    """How the heads of the first shared layer drift over its applications."""
    from explorer.analysis.alignment import align, word_attention
    from explorer.analysis.depth.states import shared_drift
    from explorer.views.depth.states import SHOWN, shared_drift_canvas

    runs, _ = runs_with_mlm_head(state)
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
