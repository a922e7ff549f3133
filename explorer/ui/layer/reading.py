"""One word through one layer of every model: what the tab, its picture and the endpoint show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from explorer.models.run import Run
from explorer.models.spelling import spelling_of
from explorer.page_state import PageState
from explorer.runs import near, side_by_side
from explorer.ui.layer import words as texts

if TYPE_CHECKING:
    from explorer.analysis.alignment import Alignment
    from explorer.views.layer.stations import Chosen, Reading, Walked

_READ: "WeakKeyDictionary[Run, dict[tuple[int, int], Reading]]" = WeakKeyDictionary()
"""As long as a run is kept, so is what the head read at a layer and a token."""


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
    """What is looked at, in the first model's numbers."""
    from explorer.analysis.layer.beside import first_layer
    from explorer.views.layer.stations import Chosen

    specs = [run.spec for run in runs.values()]
    shape, key = specs[0].architecture, specs[0].key
    layer = first_layer(specs, state.model, state.layer) if state.model in runs else 0
    head = min(state.head, shape.n_heads - 1)
    sizes = shape.n_layers, shape.n_heads
    return Chosen(word.words, word.at, word.first, layer, head, *sizes, key)


def walked(
    runs: Mapping[str, Run], state: PageState, word: Followed, chosen: "Chosen"
) -> "list[Walked]":
    """The chosen layer of the first model, and those beside it; no encoder runs."""
    from explorer.analysis.layer.beside import layers_beside

    specs = [run.spec for run in runs.values()]
    layers = layers_beside(specs, chosen.layer)
    jobs = []
    for key, run in runs.items():
        head = min(chosen.head, run.spec.architecture.n_heads - 1)
        note = texts.layer_note(run.spec, layers[key], specs)
        place = (layers[key], head, word.positions(key))
        jobs.append(partial(walked_in, run, state, place, note))
    return side_by_side(jobs)


def walked_in(
    run: Run, state: PageState, place: tuple[int, int, Sequence[int]], note: str
) -> "Walked":
    """One model at a layer, a head and the tokens of the word, of which the first is followed."""
    from explorer.analysis.layer.stations import layer_way
    from explorer.models.inside.stations import embedding_stations, layer_stations
    from explorer.views.layer.stations import Walked

    layer, head, (position, *others) = place
    states = run.hidden_states[layer]
    found = near(layer_stations, run.spec, state, states, layer, head, position)
    embedding = near(embedding_stations, run.spec, state, run.tokens, position)
    way = layer_way(states[position], found)
    readings = _readings(run, state, layer, position) if run.spec.has_head else None
    pieces = ""
    if others:
        spelling = spelling_of(run.vocabulary)
        spelled = [spelling.text(run.tokens.pieces[i]) for i in (position, *others)]
        pieces = texts.PIECE.format(piece=spelled[0], n=len(spelled), word="".join(spelled))
    return Walked(run, layer, head, position, note, pieces, found, embedding, way, readings)


def _readings(run: Run, state: PageState, layer: int, position: int) -> "tuple[Reading, Reading]":
    """What the head reads before the layer and after it; read once for each state of a run."""
    from explorer.analysis.measures import log_softmax
    from explorer.models.forward import state_logits

    kept, wanted = _READ.setdefault(run, {}), [(layer, position), (layer + 1, position)]
    places = [place for place in wanted if place not in kept]
    if places:
        states = np.stack([run.hidden_states[place] for place in places])
        logits, spelling = near(state_logits, run.spec, state, states), spelling_of(run.vocabulary)
        p = np.exp(log_softmax(logits))
        for place, row in zip(places, p, strict=True):
            kept[place] = spelling.word(run.vocabulary[row.argmax()]), float(row.max())
    return kept[wanted[0]], kept[wanted[1]]
