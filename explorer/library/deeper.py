"""Logit lens of several masks, of every word, and of a deeper or shallower encoder."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from explorer.inference.ask import Ask
from explorer.inference.cache import key_of, memo
from explorer.inference.runs import call_on_model, gather, round_robin
from explorer.library.depth import lens_of
from explorer.models.run import Run, batches, typeable_answers
from explorer.models.tokens import word_id

if TYPE_CHECKING:
    from explorer.analysis.alignment import Alignment
    from explorer.analysis.depth.lens import DepthDial, EveryWord, MaskedWord, MaskLens

LENS_MASKS = 8
"""Upper limit: the head over all layers costs about one forward pass per dozen masks."""
MASKED_WORDS = 32
"""Upper limit of words masked in turn: each costs a forward pass of every model."""


def lenses_of(runs: Mapping[str, Run], ask: Ask) -> "dict[str, tuple[MaskLens, ...]]":
    """Return by model the lenses of its first masks; the encoders do not run again."""
    n_masks = min(LENS_MASKS, *(len(run.tokens.mask_positions) for run in runs.values()))
    answers = [typeable_answers(runs, mask) for mask in range(n_masks)]
    jobs = [
        partial(_kept_lenses, run, ask, [_ids(run, words) for words in answers])
        for run in runs.values()
    ]
    return dict(zip(runs, gather(jobs), strict=True))


def _ids(run: Run, words: Mapping[str, str]) -> dict[str, int]:
    """Return the ids of all models' answers that are one piece of a model's vocabulary."""
    ids = {key: word_id(run.vocabulary, word, run.spec.lower_case) for key, word in words.items()}
    return {key: i for key, i in ids.items() if i >= 0}


def _kept_lenses(
    run: Run, ask: Ask, followed: Sequence[Mapping[str, int]]
) -> "tuple[MaskLens, ...]":
    wanted = tuple(tuple(ids.items()) for ids in followed)
    return memo(
        ("lenses", wanted, *key_of(run)),
        lambda: tuple(lens_of(run, ask, mask, ids) for mask, ids in enumerate(followed)),
    )


def words_of(runs: Mapping[str, Run], alignment: "Alignment", ask: Ask) -> "dict[str, EveryWord]":
    """Return by model the rank of each of the first words, masked one at a time.

    The batches of all models go in rounds, so that other requests run in between.
    """
    from explorer.analysis.depth.lens import every_word, masked_words

    indices = alignment.readable[:MASKED_WORDS]
    words = {
        key: masked_words(run, tuple(alignment.groups[key][i] for i in indices))
        for key, run in runs.items()
    }
    ranks: dict[str, list[np.ndarray]] = {key: [] for key in runs}
    for answers in round_robin({k: list(_batches(run, words[k], ask)) for k, run in runs.items()}):
        for key, rows in answers.items():
            ranks[key].append(rows)
    return {k: every_word(run, words[k], np.concatenate(ranks[k])) for k, run in runs.items()}


def _batches(
    run: Run, words: "Sequence[MaskedWord]", ask: Ask
) -> Iterator[Callable[[], np.ndarray]]:
    """Yield one model's masked rows as jobs of one batch; each returns ranks [row, layer + 1]."""
    from explorer.analysis.depth.lens import batch_places

    targets = iter([target for word in words for target in word.targets])
    for rows in batches([row for word in words for row in word.rows]):
        wanted = tuple(islice(targets, len(rows)))
        yield partial(call_on_model, batch_places, run.spec, ask, rows, wanted)


def dial_of(run: Run, ask: Ask, mask: int, depths: int) -> "DepthDial":
    """Return the answers at one mask after up to ``depths`` times the usual depth."""
    from explorer.analysis.depth.lens import depth_dial
    from explorer.models.forward import state_logits
    from explorer.models.inside.interventions import unrolled_states

    times = depths * run.spec.architecture.n_layers
    states = call_on_model(unrolled_states, run.spec, ask, run.tokens, times)
    at_mask = states[1:, run.tokens.mask_positions[mask]]
    logits = call_on_model(state_logits, run.spec, ask, at_mask)
    usual = run.spec.architecture.n_layers - 1
    return depth_dial(
        run, np.concatenate([logits[:usual], run.mask_logits[mask, None], logits[usual + 1 :]])
    )


def dial_work(run: Run, depths: int) -> list[int]:
    """Return the encoder's FLOP after 1, 2, 3, ... applications of its shared layer."""
    from explorer.analysis.depth.lens import dial_flops

    return list(dial_flops(run, depths * run.spec.architecture.n_layers))
