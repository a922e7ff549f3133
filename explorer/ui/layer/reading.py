"""The word that Layer follows, and its activations in one layer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np

from explorer.inference.cache import CACHE, key_of
from explorer.inference.runs import call_on_model, gather
from explorer.links.page_state import PageState
from explorer.models.choice.family import family_specs
from explorer.models.run import Run
from explorer.models.tokens import spelling_of
from explorer.ui.layer import strings

if TYPE_CHECKING:
    from explorer.analysis.alignment import Alignment
    from explorer.views.layer import Reading, Selection, TracedLayer


@dataclass(frozen=True, slots=True, eq=False)
class FollowedWord:
    """The followed word, among the words that can be chosen."""

    alignment: "Alignment"
    shown: tuple[int, ...]
    """Indices in the alignment of the words that can be chosen."""
    at: int
    """Index in ``shown`` of the followed word."""
    first: int
    """Index in ``shown`` of the default."""

    @property
    def words(self) -> list[str]:
        """The words that can be chosen."""
        return [self.alignment.words[i].text for i in self.shown]

    def positions(self, key: str) -> tuple[int, ...]:
        """Return the token positions of the followed word in one model."""
        return self.alignment.groups[key][self.shown[self.at]]


def followed_word(runs: Mapping[str, Run], wanted: int) -> FollowedWord | None:
    """Return the state's word, else the first mask, else the last word; None without words."""
    from explorer.analysis.alignment import align, first_shown

    alignment = align({key: run.tokens for key, run in runs.items()})
    indices = alignment.content
    if not indices:
        return None
    first = first_shown([alignment.words[i] for i in indices])
    return FollowedWord(alignment, indices, wanted if 0 <= wanted < len(indices) else first, first)


def chosen_of(runs: Mapping[str, Run], state: PageState, word: FollowedWord) -> "Selection":
    """Return the choice of word, deepest and widest model; these set the menus' lengths.

    Among equals it is the state's own model, so that both menus belong to one if possible.
    """
    from explorer.views.layer import Selection

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
    """Compute one model's activations at a layer, a head and the word's first token position."""
    from explorer.analysis.layer import layer_trace
    from explorer.models.inside.activations import embedding_activations, layer_activations
    from explorer.views.layer import TracedLayer

    layer, head, (position, *others) = place
    states = run.hidden_states[layer]
    activations = call_on_model(layer_activations, run.spec, state, states, layer, head, position)
    embedding = call_on_model(embedding_activations, run.spec, state, run.tokens, position)
    trace = layer_trace(states[position], activations)
    vectors = (
        states[position],
        activations.attention_norm.outputs,
        run.hidden_states[layer + 1, position],
    )
    readings = _readings(run, state, (layer, position), vectors) if run.spec.has_head else None
    pieces = ""
    if others:
        spelling = spelling_of(run.vocabulary)
        spelled = [spelling.text(run.tokens.pieces[i]) for i in (position, *others)]
        pieces = strings.PIECE.format(piece=spelled[0], n=len(spelled), word="".join(spelled))
    return TracedLayer(
        run, layer, head, position, note, pieces, activations, embedding, trace, readings
    )


def _readings(
    run: Run, state: PageState, place: tuple[int, int], vectors: Sequence[np.ndarray]
) -> "tuple[Reading, Reading, Reading]":
    """Return the head's first word and its probability before, within and after the layer.

    Cached by run; the state after layer k has number 2 k.
    """
    from explorer.analysis.measures import log_softmax
    from explorer.models.forward import state_logits

    layer, position = place
    keys = [("reading", *key_of(run), 2 * layer + i, position) for i in range(3)]
    readings = [CACHE.get(key) for key in keys]
    missing = [i for i, reading in enumerate(readings) if reading is None]
    if missing:
        states = np.stack([vectors[i] for i in missing])
        logits, spelling = (
            call_on_model(state_logits, run.spec, state, states),
            spelling_of(run.vocabulary),
        )
        for i, row in zip(missing, np.exp(log_softmax(logits)), strict=True):
            reading = spelling.word(run.vocabulary[row.argmax()]), float(row.max())
            readings[i] = CACHE.put(keys[i], reading)
    return cast("tuple[Reading, Reading, Reading]", tuple(readings))
