"""The word that Layer follows, and its activations in one layer."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from explorer.inference.runs import gather
from explorer.library.layer import FollowedWord, traced
from explorer.links.page_state import PageState
from explorer.models.choice.family import family_specs
from explorer.models.run import Run
from explorer.models.tokens import spelling_of
from explorer.ui.layer import strings

if TYPE_CHECKING:
    from explorer.views.layer import Selection, TracedLayer


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
    """Compute one model's activations, with the notes that stand beside them on the page."""
    position, *others = place[2]
    pieces = ""
    if others:
        spelling = spelling_of(run.vocabulary)
        spelled = [spelling.text(run.tokens.pieces[i]) for i in (position, *others)]
        pieces = strings.PIECE.format(piece=spelled[0], n=len(spelled), word="".join(spelled))
    return replace(traced(run, state, place), note=note, pieces=pieces)
