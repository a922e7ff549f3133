"""Folds of Depth: trajectories of word states, and the drift of a shared layer's heads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import gradio as gr

from explorer.analysis.alignment import AlignedWord, Groups
from explorer.inference.runs import runs_with_mlm_head
from explorer.links.page_state import PageState
from explorer.models.run import Run
from explorer.ui.depth import strings
from explorer.ui.kit.canvas import Canvas, Chart
from explorer.ui.kit.folds import fold
from explorer.views.markup import Markup, el, join, note

MOST_WORDS = 64


@dataclass(frozen=True, slots=True)
class TrackedWords:
    """Words of a text and their token positions in each available model."""

    runs: Mapping[str, Run]
    groups: Mapping[str, Groups]
    words: Sequence[AlignedWord]


def build_folds(state: gr.State) -> None:
    """Build the folds of trajectories with the shared layer's heads, and of all states."""
    with fold("depth", "moves", strings.MOVES_FOLD) as section:
        travel, message = Canvas("depth/travel"), gr.HTML()
        heads, remark = Canvas("depth/film"), gr.HTML()
        section.on_open(show_moves, [state], [travel, message, heads, remark])
    with fold("depth", "more", strings.MORE_FOLD) as section:
        message, cloud = gr.HTML(), Chart("depth/projection")
        section.on_open(show_projection, [state], [message, cloud])


def followed(state: PageState) -> TrackedWords | Markup:
    """Return the first words of the text in every model, or a message if there are none."""
    from explorer.analysis.alignment import align

    runs, _ = runs_with_mlm_head(state)
    if not runs:
        return note(strings.SIMILARITY_NO_MODEL)
    alignment = align({key: run.tokens for key, run in runs.items()})
    indices = alignment.content[:MOST_WORDS]
    if not indices:
        return note(strings.NO_WORD)
    groups = {key: tuple(alignment.groups[key][i] for i in indices) for key in runs}
    return TrackedWords(runs, groups, [alignment.words[i] for i in indices])


def show_moves(state: PageState) -> list[str]:
    """Return the trajectories of the words and the shared heads, from the cached hidden states."""
    from explorer.analysis.depth.states import word_trajectory
    from explorer.views.depth.states import travel_canvas

    words = followed(state)
    if not isinstance(words, TrackedWords):
        return ["", words, "", ""]
    travels = {key: word_trajectory(run, words.groups[key]) for key, run in words.runs.items()}
    labels = {key: run.spec.label for key, run in words.runs.items()}
    canvas = travel_canvas(travels, labels, words.groups, words.words, strings.MOVES)
    return [canvas, *show_shared(state)]


def show_projection(state: PageState) -> list[str]:
    """Return the projection of the states of all models with the first one's width."""
    from explorer.analysis.depth.lens import word_states
    from explorer.analysis.depth.states import state_projection
    from explorer.views.depth.states import projection_canvas

    words = followed(state)
    if not isinstance(words, TrackedWords):
        return [words, ""]
    width = next(iter(words.runs.values())).hidden_states.shape[-1]
    same_width = {k: run for k, run in words.runs.items() if run.hidden_states.shape[-1] == width}
    states = {k: word_states(run.hidden_states, words.groups[k]) for k, run in same_width.items()}
    labels = {key: run.spec.label for key, run in same_width.items()}
    return [
        "",
        projection_canvas(
            state_projection(states), labels, words.groups, words.words, strings.PROJECTION
        ),
    ]


def show_shared(state: PageState) -> list[str]:
    """Return the drift of the first shared layer's heads over its applications."""
    from explorer.analysis.alignment import align, word_attention
    from explorer.analysis.depth.states import shared_drift
    from explorer.views.depth.states import SHOWN, shared_drift_canvas

    runs, _ = runs_with_mlm_head(state)
    run = next(
        (candidate for candidate in runs.values() if candidate.spec.architecture.shares_layers),
        None,
    )
    if run is None:
        return [note(strings.NO_SHARED), "", ""]
    alignment = align({key: other.tokens for key, other in runs.items()})
    attention = word_attention(run.attention, alignment.groups[run.spec.key])
    drift = shared_drift(attention, alignment)
    return [
        join(
            el("h3", strings.SHARED_TITLE, class_="dt-title"),
            strings.shared_finding(drift, run.spec),
        ),
        shared_drift_canvas(drift, attention, run.spec, alignment, strings.SHARED),
        note(strings.SHARED_NOTE.format(model=run.spec.label, n=SHOWN)),
    ]
