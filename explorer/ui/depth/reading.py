"""The head over layers: what the tab, its picture and the endpoint read from finished runs."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from explorer.models.rows import batches
from explorer.models.run import Run
from explorer.page_state import MAX_DEPTHS, PageState
from explorer.runs import get_loaded, in_workers
from explorer.timing.slot import SLOT

if TYPE_CHECKING:
    from explorer.analysis.alignment import Alignment
    from explorer.analysis.depth.dial import DepthDial
    from explorer.analysis.depth.every_word import EveryWord, HiddenWord
    from explorer.analysis.depth.lens import MaskLens
    from explorer.models.loading import LoadedModel
    from explorer.models.rows import MaskedRow

MOST_MASKS = 8
"""Masks that the picture reads: the head over all layers costs as much as a pass for each dozen."""
MOST_WORDS = 32
"""Words that are hidden in turn: each costs a pass of every model."""
_KEPT: "WeakKeyDictionary[Run, tuple[MaskLens, ...]]" = WeakKeyDictionary()
"""As long as a run is kept, so is what the head reads in it."""


def lenses_of(runs: Mapping[str, Run], state: PageState) -> "dict[str, tuple[MaskLens, ...]]":
    """The first masks of every model, at every layer; the encoders do not run."""
    jobs = [partial(_kept_lenses, run, state) for run in runs.values()]
    return dict(zip(runs, (future.result() for future in in_workers(jobs)), strict=True))


def _kept_lenses(run: Run, state: PageState) -> "tuple[MaskLens, ...]":
    if run not in _KEPT:
        masks = range(min(MOST_MASKS, len(run.tokens.mask_positions)))
        _KEPT[run] = tuple(lens_of(run, state, mask) for mask in masks)
    return _KEPT[run]


def lens_of(run: Run, state: PageState, mask: int) -> "MaskLens":
    """One mask at every layer; the last row is the run's own answer."""
    from explorer.analysis.depth.lens import mask_lens
    from explorer.models.forward import state_logits

    states = run.hidden_states[:-1, run.tokens.mask_positions[mask]]
    earlier = state_logits(get_loaded(run.spec, state), states)
    return mask_lens(run, mask, np.concatenate([earlier, run.mask_logits[mask, None]]))


def words_of(
    runs: Mapping[str, Run], alignment: "Alignment", state: PageState
) -> "dict[str, EveryWord]":
    """The first words of the text hidden one at a time, in rounds of a batch for every model."""
    from explorer.analysis.depth.every_word import every_word, hidden_words

    shown = alignment.content[:MOST_WORDS]
    loaded = {key: get_loaded(run.spec, state) for key, run in runs.items()}
    words = {
        key: hidden_words(
            run,
            tuple(alignment.groups[key][i] for i in shown),
            int(loaded[key].tokenizer.mask_token_id),
        )
        for key, run in runs.items()
    }
    found = _in_rounds({key: (loaded[key], words[key]) for key in runs})
    return {key: every_word(run, words[key], found[key]) for key, run in runs.items()}


def _in_rounds(
    jobs: "Mapping[str, tuple[LoadedModel, Sequence[HiddenWord]]]",
) -> dict[str, np.ndarray]:
    """The places [row, layer + 1] of all rows; between rounds the workers are free for others."""
    found: dict[str, list[np.ndarray]] = {key: [] for key in jobs}
    waiting = {
        key: batches([row for word in words for row in word.rows])
        for key, (_, words) in jobs.items()
    }
    targets = {
        key: iter([target for word in words for target in word.targets])
        for key, (_, words) in jobs.items()
    }
    while waiting:
        batch = {key: next(queue, ()) for key, queue in waiting.items()}
        waiting = {key: waiting[key] for key, rows in batch.items() if rows}
        asked = {
            key: partial(
                _places, jobs[key][0], batch[key], list(islice(targets[key], len(batch[key])))
            )
            for key in waiting
        }
        for key, future in zip(asked, in_workers(list(asked.values())), strict=True):
            found[key].append(future.result())
    return {key: np.concatenate(parts) for key, parts in found.items()}


def _places(
    loaded: "LoadedModel", rows: "Sequence[MaskedRow]", targets: Sequence[int]
) -> np.ndarray:
    """One batch through the encoder, then the head a row at a time: a vocabulary is wide."""
    from explorer.analysis.depth.every_word import row_places
    from explorer.models.forward import state_logits
    from explorer.models.scoring import row_states

    with SLOT.infer():
        states = row_states(loaded, rows)
        pairs = zip(states, targets, strict=True)
        return np.stack([row_places(state_logits(loaded, row), target) for row, target in pairs])


def dial_of(run: Run, state: PageState, mask: int) -> "DepthDial":
    """The answers at one mask after up to twice the usual depth: one long pass."""
    from explorer.analysis.depth.dial import depth_dial
    from explorer.models.forward import state_logits
    from explorer.models.inside.repeats import unrolled_states

    loaded, times = get_loaded(run.spec, state), MAX_DEPTHS * run.spec.architecture.n_layers
    with SLOT.infer():
        states = unrolled_states(loaded, run.tokens, times)
    logits = state_logits(loaded, states[1:, run.tokens.mask_positions[mask]])
    usual = run.spec.architecture.n_layers - 1
    return depth_dial(
        run, np.concatenate([logits[:usual], run.mask_logits[mask, None], logits[usual + 1 :]])
    )
