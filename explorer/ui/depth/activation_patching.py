"""Two texts through every model, and the states of the first carried into the second."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from explorer.analysis.depth.one_change import KINDS, OneChange, one_changes
from explorer.analysis.depth.patching import (
    Patching,
    TextPair,
    patches,
    patching,
    rival_answers,
    score_gap,
    text_pair,
)
from explorer.inference.runs import call_on_model, round_robin, runs_with_mlm_head
from explorer.inference.scheduling.cancel import CancelToken
from explorer.links.page_state import PageState
from explorer.models.rows import Patch, patch_batches
from explorer.models.run import Run
from explorer.models.tokens import BadText, Tokens
from explorer.ui.depth import patching_words as texts

MOST_WORDS, MOST_TOKENS, MOST_MASKS = 48, 128, 4
MOST_TRIED, MOST_KEPT = 24, 16
Maps = dict[str, tuple[Patching, ...]]
Gaps = dict[Patch, np.ndarray]
_KEPT: OrderedDict[tuple, Maps] = OrderedDict()
"""The pairs of texts that were followed last."""


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """Two texts as every model read them."""

    pair: TextPair
    runs: Mapping[str, tuple[Run, Run]]


@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    """How far the work is."""

    done: int
    n: int
    maps: Maps | None = None


def has_masks(runs: Mapping[str, Run]) -> bool:
    """Whether there is an answer that can change."""
    return any(run.tokens.mask_positions for run in runs.values())


def proposals(runs: Mapping[str, Run], state: PageState) -> tuple[OneChange, ...]:
    """Of each kind of change the first that most models can be patched with; the best fit first."""
    from explorer.models.forward import tokenize

    if not has_masks(runs) or n_words(runs) > MOST_WORDS:
        return ()
    best: dict[str, tuple[int, OneChange]] = {}
    tried = dict.fromkeys(KINDS, 0)
    for change in one_changes(state.text):
        tried[change.kind] += 1
        if tried[change.kind] > MOST_TRIED or best.get(change.kind, (0,))[0] == len(runs):
            continue
        tokens = {
            k: call_on_model(tokenize, run.spec, state, change.text) for k, run in runs.items()
        }
        n_models = n_patched({key: run.tokens for key, run in runs.items()}, tokens)
        if n_models > best.get(change.kind, (0,))[0]:
            best[change.kind] = (n_models, change)
    found = sorted(best.values(), key=lambda fit: (-fit[0], KINDS.index(fit[1].kind)))
    return tuple(change for _, change in found)


def n_patched(first: Mapping[str, Tokens], second: Mapping[str, Tokens]) -> int:
    """How many models read the two texts with a partner for every state."""
    try:
        return len(text_pair(first, second).groups)
    except BadText:
        return 0


def read_both(runs: Mapping[str, Run], second: str, state: PageState) -> Texts:
    """Both texts through every model, word by word.

    Raises:
        BadText: there is nothing to follow, or too much, or the texts differ in other ways.
    """
    if not runs:
        raise BadText(texts.NO_MODEL)
    if not has_masks(runs):
        raise BadText(texts.NO_MASK)
    check_length(runs)
    if not second:
        raise BadText(texts.NO_PROPOSAL)
    others, _ = runs_with_mlm_head(replace(state, text=second))
    both = {key: (run, others[key]) for key, run in runs.items() if key in others}
    ours, theirs = ({key: pair[i].tokens for key, pair in both.items()} for i in (0, 1))
    return Texts(text_pair(ours, theirs), both)


def n_words(runs: Mapping[str, Run]) -> int:
    """The words and signs of the text."""
    return len(next(iter(runs.values())).tokens.words)


def check_length(runs: Mapping[str, Run]) -> None:
    """Refuse a text whose states are too many to carry one by one."""
    if n_words(runs) > MOST_WORDS:
        raise BadText(texts.LONG.format(most=MOST_WORDS, n=n_words(runs)))
    for run in runs.values():
        if len(run.tokens) > MOST_TOKENS:
            label, n = run.spec.label, len(run.tokens)
            raise BadText(texts.MANY_PIECES.format(most=MOST_TOKENS, model=label, n=n))


def patch_all(found: Texts, state: PageState, cancel_token: CancelToken) -> Iterator[Shot]:
    """Every state in its turn, a batch of each model at a time; then the maps."""
    which = _which(found)
    if which not in _KEPT:
        planned = {
            key: patches(*found.runs[key], groups) for key, groups in found.pair.groups.items()
        }
        n = sum(map(len, planned.values()))
        gaps: dict[str, Gaps] = {key: {} for key in planned}
        queues = {key: list(batch_jobs(found.runs[key], planned[key], state)) for key in planned}
        for answers in round_robin(queues):
            for key, answer in answers.items():
                gaps[key] |= answer
            yield Shot(sum(map(len, gaps.values())), n)
            cancel_token.check()
        _KEPT[which] = drawn_from(found, gaps)
        while len(_KEPT) > MOST_KEPT:
            _KEPT.popitem(last=False)
    yield Shot(0, 0, _KEPT[which])


def _which(found: Texts) -> tuple:
    """What the maps depend on."""
    return tuple(
        (run.spec.name, run.device, run.dtype, run.tokens.text)
        for runs in found.runs.values()
        for run in runs
    )


def batch_jobs(
    runs: tuple[Run, Run], planned: Sequence[Patch], state: PageState
) -> Iterator[Callable[[], Gaps]]:
    """One model's patches, a batch to a job."""
    n_layers = runs[0].spec.architecture.n_layers
    for batch in patch_batches(planned, len(runs[0].tokens), n_layers):
        yield partial(score_gaps, state, runs, batch)


def score_gaps(state: PageState, runs: tuple[Run, Run], batch: Sequence[Patch]) -> Gaps:
    """One pass: at each mask how far the one answer is above the other with each patch."""
    from explorer.models.inside.patching import patched_logits

    first, second = runs
    states = first.hidden_states
    logits = call_on_model(patched_logits, first.spec, state, second.tokens, batch, states)
    pairs = zip(first.mask_logits[:MOST_MASKS], second.mask_logits, strict=False)
    gaps = [score_gap(logits[:, i], rival_answers(*pair)) for i, pair in enumerate(pairs)]
    return dict(zip(batch, np.stack(gaps, 1), strict=True))


def drawn_from(found: Texts, gaps: Mapping[str, Gaps]) -> Maps:
    """The maps of every model, one for each of the first masks."""
    return {
        key: tuple(
            patching(
                found.runs[key],
                mask,
                groups,
                {patch: float(gap[mask]) for patch, gap in gaps[key].items()},
            )
            for mask in range(min(MOST_MASKS, len(found.pair.masks)))
        )
        for key, groups in found.pair.groups.items()
    }
