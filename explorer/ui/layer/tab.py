"""Layer tab: one word's way through one layer, vector by vector."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import gradio as gr

from explorer.inference.runs import Runs, gather
from explorer.library.layer import FollowedWord, followed_word, traced
from explorer.links.page_state import RUN_FIELDS, PageState
from explorer.models.choice.family import family_specs
from explorer.models.run import Run
from explorer.models.tokens import spelling_of
from explorer.ui.kit.asked import asked_page
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.strings import reading_note
from explorer.ui.layer import folds, strings
from explorer.views.markup import Markup, finding, plain_cards, script_json

if TYPE_CHECKING:
    from explorer.views.layer.stations import Selection, TracedLayer

ID = "layer"
LABEL = strings.LABEL
QUESTION = strings.QUESTION
READS = RUN_FIELDS


def build(state: gr.State) -> list[gr.components.Component]:
    """Build the canvas of the stations and the folds; return the headline."""
    headline: list[gr.components.Component] = [gr.HTML(), Canvas("layer/stations", asks=look)]
    folds.build_steps_fold(state)
    folds.build_contexts_fold(state)
    return headline


def show(state: PageState, text_runs: Runs) -> list[object]:
    """Return the stations of the state's word, layer and head; cached runs are used."""
    from explorer.views.layer.stations import layer_canvas

    runs, missing = text_runs
    cards = {key: (error.spec.label, str(error)) for key, error in missing.items()}
    if not runs:
        return [plain_cards(cards), ""]
    word = followed_word(runs, state.at)
    if word is None:
        return [finding(strings.NO_WORD), ""]
    chosen = chosen_of(runs, state, word)
    reading = reading_note(runs.values())
    return [
        reading or "",
        layer_canvas(walked(runs, state, word), chosen, cards, strings.CANVAS),
    ]


def first(_: PageState, values: list[Any]) -> list[Markup]:
    """Return the headline's values as HTML."""
    from explorer.views.first.layer import layer_html
    from explorer.views.first.parts import canvas

    above, flow = values
    return [above, canvas("layer/stations", layer_html(json.loads(flow)) if flow else None)]


def look(question: dict) -> str:
    """Return the stations of another word, layer or head of the page's text, or why there is none.

    Either is JSON.
    """
    state, text_runs = asked_page(question)
    if not text_runs.found:
        return script_json({"error": " ".join(map(str, text_runs.missing.values()))})
    _, canvas = show(state, text_runs)
    return str(canvas) if canvas else script_json({"error": strings.NO_WORD})


def chosen_of(runs: Mapping[str, Run], state: PageState, word: FollowedWord) -> "Selection":
    """Return the choice of word, deepest and widest model; these set the menus' lengths.

    Among equals it is the state's own model, so that both menus belong to one if possible.
    """
    from explorer.views.layer.stations import Selection

    shapes = {key: run.spec.architecture for key, run in runs.items()}
    deepest = max(shapes, key=lambda key: (shapes[key].n_layers, key == state.model))
    widest = max(shapes, key=lambda key: (shapes[key].n_heads, key == deepest, key == state.model))
    return Selection(word.words, word.at, word.first, deepest, widest)


def walked(runs: Mapping[str, Run], state: PageState, word: FollowedWord) -> "list[TracedLayer]":
    """Compute the activations at the state's layer and head, other models at the aligned layer."""
    from explorer.analysis.layer import aligned_layers

    specs = family_specs(state.family)
    layers = aligned_layers(specs, state.model, state.layer)
    max_heads = max(run.spec.architecture.n_heads for run in runs.values())
    jobs = []
    for key, run in runs.items():
        n_heads = run.spec.architecture.n_heads
        head = min(state.head, n_heads - 1)
        note = strings.layer_note(run.spec, layers[key], specs)
        if n_heads < max_heads:
            note += strings.HEAD_OF.format(n=head + 1, all=n_heads)
        jobs.append(partial(walked_in, run, state, (layers[key], head, word.positions(key)), note))
    return gather(jobs)


def walked_in(
    run: Run, state: PageState, place: tuple[int, int, Sequence[int]], note: str
) -> "TracedLayer":
    """Compute one model's activations, with the notes that stand beside them on the page."""
    position, *others = place[2]
    pieces = ""
    if others:
        spelling = spelling_of(run.vocabulary)
        of_word = [run.tokens.pieces[i] for i in (position, *others)]
        word = "".join(spelling.text(piece) for piece in of_word if piece != spelling.starts)
        pieces = strings.PIECE.format(piece=spelling.word(of_word[0]), n=len(of_word), word=word)
    return replace(traced(run, state.ask, place), note=note, pieces=pieces)
