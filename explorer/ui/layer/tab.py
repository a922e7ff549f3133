"""Layer: what one layer does to one word."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import gradio as gr
import numpy as np

from explorer.inference.runs import call_on_model, gather, get_runs
from explorer.links.codec import from_page
from explorer.links.page_state import RUN_FIELDS, PageState
from explorer.models.choice.family import family_specs
from explorer.models.run import Run
from explorer.models.tokens import spelling_of
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.strings import reading_note
from explorer.ui.kit.validation import link_in
from explorer.ui.layer import folds
from explorer.ui.layer import strings as texts
from explorer.views.markup import finding, plain_cards

if TYPE_CHECKING:
    from explorer.analysis.alignment import Alignment
    from explorer.views.layer import Chosen, Reading, Walked


ID = "layer"
LABEL = texts.LABEL
QUESTION = texts.QUESTION
READS = RUN_FIELDS


def build(state: gr.State) -> list[gr.components.Component]:
    """The stations; below, the deeper questions as folds."""
    headline: list[gr.components.Component] = [gr.HTML(), Canvas("layer/stations", asks=look)]
    folds.build_steps_fold(state)
    folds.build_contexts_fold(state)
    return headline


def show(state: PageState) -> list[object]:
    """The stations of the state's word, layer and head; no encoder runs if it did before."""
    from explorer.views.layer import stations_canvas

    runs, missing = get_runs(state)
    cards = {key: (error.spec.label, str(error)) for key, error in missing.items()}
    if not runs:
        return [plain_cards(cards), ""]
    word = followed_word(runs, state.at)
    if word is None:
        return [finding(texts.NO_WORD), ""]
    chosen = chosen_of(runs, state, word)
    read = reading_note({run.spec.label: run.tokens for run in runs.values()})
    return [read or "", stations_canvas(walked(runs, state, word), chosen, cards, texts.CANVAS)]


def look(question: dict) -> str:
    """Another word, layer or head of the text that is on the page."""
    state, _ = from_page(link_in(question), PageState())
    said, canvas = show(state)
    return str(canvas) if canvas else str(said)


_READ: "WeakKeyDictionary[Run, dict[tuple[int, int], Reading]]" = WeakKeyDictionary()
"""As long as a run is kept, so is what the head read at a state and a token."""


@dataclass(frozen=True, slots=True, eq=False)
class Followed:
    """Which word is followed."""

    alignment: "Alignment"
    shown: tuple[int, ...]
    """The words that can be chosen, as places in the alignment."""
    at: int
    """Which of them is."""
    first: int
    """Which of them is unless the reader chooses."""

    @property
    def words(self) -> list[str]:
        """The words to choose from."""
        return [self.alignment.words[i].text for i in self.shown]

    def positions(self, key: str) -> tuple[int, ...]:
        """The tokens of the word that is followed."""
        return self.alignment.groups[key][self.shown[self.at]]


def followed_word(runs: Mapping[str, Run], wanted: int) -> Followed | None:
    """The word that the state asks for, else the first mask, else the last word; None if none."""
    from explorer.analysis.alignment import align, first_shown

    alignment = align({key: run.tokens for key, run in runs.items()})
    shown = alignment.content
    if not shown:
        return None
    first = first_shown([alignment.words[i] for i in shown])
    return Followed(alignment, shown, wanted if 0 <= wanted < len(shown) else first, first)


def chosen_of(runs: Mapping[str, Run], state: PageState, word: Followed) -> "Chosen":
    """What is looked at; the menus count the layers of the deepest model, the heads of the widest.

    Among equals it is the state's own model, so that both menus are of one where they can be.
    """
    from explorer.views.layer import Chosen

    shapes = {key: run.spec.architecture for key, run in runs.items()}
    deepest = max(shapes, key=lambda key: (shapes[key].n_layers, key == state.model))
    widest = max(shapes, key=lambda key: (shapes[key].n_heads, key == deepest, key == state.model))
    return Chosen(word.words, word.at, word.first, deepest, widest)


def walked(runs: Mapping[str, Run], state: PageState, word: Followed) -> "list[Walked]":
    """The state's layer and head of its model, and of the others those beside; no encoder runs."""
    from explorer.analysis.layer import aligned_layers

    specs = family_specs(state.family)
    layers = aligned_layers(specs, state.model, state.layer)
    most = max(run.spec.architecture.n_heads for run in runs.values())
    jobs = []
    for key, run in runs.items():
        n_heads = run.spec.architecture.n_heads
        head = min(state.head, n_heads - 1)
        note = texts.layer_note(run.spec, layers[key], specs)
        if n_heads < most:
            note += texts.HEAD_OF.format(n=head + 1, all=n_heads)
        jobs.append(partial(walked_in, run, state, (layers[key], head, word.positions(key)), note))
    return gather(jobs)


def walked_in(
    run: Run, state: PageState, place: tuple[int, int, Sequence[int]], note: str
) -> "Walked":
    """One model at a layer, a head and the tokens of the word, of which the first is followed."""
    from explorer.analysis.layer import layer_way
    from explorer.models.inside.stations import embedding_stations, layer_stations
    from explorer.views.layer import Walked

    layer, head, (position, *others) = place
    states = run.hidden_states[layer]
    found = call_on_model(layer_stations, run.spec, state, states, layer, head, position)
    embedding = call_on_model(embedding_stations, run.spec, state, run.tokens, position)
    way = layer_way(states[position], found)
    ways = (states[position], found.attention_norm.gave, run.hidden_states[layer + 1, position])
    readings = _readings(run, state, (layer, position), ways) if run.spec.has_head else None
    pieces = ""
    if others:
        spelling = spelling_of(run.vocabulary)
        spelled = [spelling.text(run.tokens.pieces[i]) for i in (position, *others)]
        pieces = texts.PIECE.format(piece=spelled[0], n=len(spelled), word="".join(spelled))
    return Walked(run, layer, head, position, note, pieces, found, embedding, way, readings)


def _readings(
    run: Run, state: PageState, place: tuple[int, int], ways: Sequence[np.ndarray]
) -> "tuple[Reading, Reading, Reading]":
    """What the head reads before the layer, after attention and after the layer.

    Read once for each state of a run; the state after layer k is number 2 k.
    """
    from explorer.analysis.measures import log_softmax
    from explorer.models.forward import state_logits

    layer, position = place
    kept, wanted = _READ.setdefault(run, {}), [(2 * layer + i, position) for i in range(3)]
    new = [i for i, name in enumerate(wanted) if name not in kept]
    if new:
        states = np.stack([ways[i] for i in new])
        logits, spelling = (
            call_on_model(state_logits, run.spec, state, states),
            spelling_of(run.vocabulary),
        )
        for i, row in zip(new, np.exp(log_softmax(logits)), strict=True):
            kept[wanted[i]] = spelling.word(run.vocabulary[row.argmax()]), float(row.max())
    before, between, after = (kept[name] for name in wanted)
    return before, between, after
