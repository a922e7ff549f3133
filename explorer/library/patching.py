"""Activation patching: one text's states inside another text's pass, one at a time."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from explorer.analysis.depth.patching import (
    KINDS,
    OneChange,
    Patching,
    TextPair,
    one_changes,
    patches,
    patching,
    rival_answers,
    score_gap,
    text_pair,
)
from explorer.inference.ask import Ask
from explorer.inference.cache import key_of, memo
from explorer.inference.runs import call_on_model, refuse_none, round_robin, runs_with_mlm_head
from explorer.library import refusals
from explorer.library.family import Family, asked, checked_text, missing_reasons
from explorer.library.progress import result_of
from explorer.library.results import Result
from explorer.models.run import Patch, Run, patch_batches
from explorer.models.tokens import BadText, Tokens
from explorer.refusal import Refusal, Sentence, joined
from explorer.views.notebook import Sketch

MAX_WORDS, MAX_TOKENS, MAX_MASKS = 48, 128, 4
MAX_TRIED = 24
Maps = dict[str, tuple[Patching, ...]]
Gaps = dict[Patch, np.ndarray]


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """Two texts as every model tokenized and ran them."""

    pair: TextPair
    runs: Mapping[str, tuple[Run, Run]]

    @property
    def planned(self) -> dict[str, tuple[Patch, ...]]:
        """The patches of each model that can be patched, by its key."""
        return {key: patches(*self.runs[key], g) for key, g in self.pair.groups.items()}

    @property
    def n_patches(self) -> int:
        """Patches of all models together."""
        return sum(map(len, self.planned.values()))

    def refused(self) -> dict[str, Sentence]:
        """Return why a model cannot be patched: it splits the changed words unequally."""
        pair = self.pair
        return {
            key: refusals.unpaired_states(
                self.runs[key][0].spec.label, pair.original, pair.replacement, pieces
            )
            for key, pieces in pair.pieces.items()
            if key not in pair.groups
        }


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Patched(Result):
    """Effect of each patched state on each model's answer at the first masks."""

    text: str
    """The text that the states are taken from."""
    second: str
    """The text whose pass they are put into, as it was run."""
    family: str
    words: tuple[str, ...]
    """Words of the second text; the first has another in one place."""
    models: Mapping[str, tuple[Patching, ...]]
    """By model key, per mask: ``effect`` float64 [layer + 1, word], 1 brings the first text's
    difference of logits back."""
    missing: Mapping[str, Refusal]

    COLUMNS: ClassVar = ("model", "mask", "layer", "place", "word", "effect")
    SKETCH: ClassVar = Sketch("heatmap", "place", "effect", down="layer", panels="model mask")

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``/patch``.

        Both texts, their ``words``, and per model and mask ``effect[layer][word]``. An effect is
        (d_patch - d_second) / (d_first - d_second). Here d is the logit of the first text's answer
        minus that of the second's. An effect of 1 brings the first text's difference back. Layer 0
        is the embeddings.
        """
        models = [
            {"model": key, "masks": [_mask(result) for result in results]}
            for key, results in self.models.items()
        ]
        texts = {"text": self.text, "second": self.second, "family": self.family}
        answer = texts | {"words": list(self.words), "models": models}
        return answer | missing_reasons(self.missing)

    def rows(self) -> list[tuple[Any, ...]]:
        """Return a row for each model, mask, layer and word; layer 0 is the embeddings."""
        return [
            (key, mask, layer, place, self.words[place], float(effect))
            for key, results in self.models.items()
            for mask, result in enumerate(results)
            for layer, effects in enumerate(result.effect)
            for place, effect in enumerate(effects)
        ]


def patch(text: str, second: str = "", family: Family | str = "mini") -> Patched:
    """Put each state of a text into the pass of a second, and measure what restores its answer.

    The effect is ``(d_patch - d_second) / (d_first - d_second)``, where d is the logit of the first
    text's answer minus that of the second's.

    Args:
        text: The text, with at least one [MASK], at most 48 words and signs; the answers at its
            first four masks are followed.
        second: The same text with words replaced in one place; empty: a proposed change.
        family: What ``load`` returned, or the name of a family.

    Returns:
        By model and mask the ``effect``, float64 [layer + 1, word]: 1 restores the difference of
        the first text. Layer 0 is the embeddings (Vig et al. 2020).

    Raises:
        Refusal: the texts differ in other ways, are too long, or no model is available.

    Example:
        >>> patched = explorer.patch("The cat sat on the [MASK].", "The dog sat on the [MASK].")
        >>> patched.models["bert"][0].effect.shape
        (7, 9)
    """
    with asked(family) as models:
        ask = models.ask(text)
        runs, missing = runs_with_mlm_head(ask)
        refuse_none(runs, missing)
        second = checked_text(second, "second").strip() or next(
            (c.text for c in proposals(runs, ask)), ""
        )
        texts = read_both(runs, second, ask)
        refused = {key: Refusal(reason) for key, reason in texts.refused().items()}
        if not texts.pair.groups:
            raise Refusal(joined(map(str, refused.values())))
        maps = memo(
            key_of_maps(texts),
            lambda: result_of(patched_all(texts, ask), texts.n_patches, "patches"),
        )
        first, second = (run.tokens.text for run in next(iter(texts.runs.values())))
        return Patched(
            first, second, models.name, tuple(texts.pair.words), dict(maps), {**missing, **refused}
        )


def has_masks(runs: Mapping[str, Run]) -> bool:
    """Return whether the text has a mask, whose answer a patch can change."""
    return any(run.tokens.mask_positions for run in runs.values())


def proposals(runs: Mapping[str, Run], ask: Ask) -> tuple[OneChange, ...]:
    """Return per kind of change the first that most models can be patched with, best fit first."""
    from explorer.models.forward import tokenize

    if not has_masks(runs) or _n_words(runs) > MAX_WORDS:
        return ()
    best: dict[str, tuple[int, OneChange]] = {}
    tried = dict.fromkeys(KINDS, 0)
    for change in one_changes(ask.text):
        tried[change.kind] += 1
        if tried[change.kind] > MAX_TRIED or best.get(change.kind, (0,))[0] == len(runs):
            continue
        tokens = {k: call_on_model(tokenize, run.spec, ask, change.text) for k, run in runs.items()}
        n_models = n_patched({key: run.tokens for key, run in runs.items()}, tokens)
        if n_models > best.get(change.kind, (0,))[0]:
            best[change.kind] = (n_models, change)
    ranked = sorted(best.values(), key=lambda fit: (-fit[0], KINDS.index(fit[1].kind)))
    return tuple(change for _, change in ranked)


def n_patched(first: Mapping[str, Tokens], second: Mapping[str, Tokens]) -> int:
    """Return how many models tokenize both texts so that the states correspond one to one."""
    try:
        return len(text_pair(first, second).groups)
    except BadText:
        return 0


def read_both(runs: Mapping[str, Run], second: str, ask: Ask) -> Texts:
    """Run every model on both texts and pair their words.

    Raises:
        BadText: there is nothing to follow, or too much, or the texts differ in other ways.
    """
    if not runs:
        raise BadText(refusals.NO_MODEL_TO_PATCH)
    if not has_masks(runs):
        raise BadText(refusals.NO_MASK_TO_PATCH)
    check_length(runs)
    if not second:
        raise BadText(refusals.NO_PROPOSAL)
    others, _ = runs_with_mlm_head(replace(ask, text=second))
    runs_of_both = {key: (run, others[key]) for key, run in runs.items() if key in others}
    first_tokens, second_tokens = (
        {key: pair[i].tokens for key, pair in runs_of_both.items()} for i in (0, 1)
    )
    return Texts(text_pair(first_tokens, second_tokens), runs_of_both)


def _n_words(runs: Mapping[str, Run]) -> int:
    """Return the number of words and punctuation marks of the text."""
    return len(next(iter(runs.values())).tokens.words)


def check_length(runs: Mapping[str, Run]) -> None:
    """Refuse a text with too many states to patch one at a time."""
    if _n_words(runs) > MAX_WORDS:
        raise BadText(refusals.TOO_LONG_TO_PATCH.format(most=MAX_WORDS, n=_n_words(runs)))
    for run in runs.values():
        if len(run.tokens) > MAX_TOKENS:
            label, n = run.spec.label, len(run.tokens)
            raise BadText(refusals.TOO_MANY_PIECES.format(most=MAX_TOKENS, model=label, n=n))


def patched_all(texts: Texts, ask: Ask) -> Generator[int, None, Maps]:
    """Patch every state, one batch per model at a time; yield how many are done, return maps."""
    planned = texts.planned
    gaps: dict[str, Gaps] = {key: {} for key in planned}
    jobs = {key: list(batch_jobs(texts.runs[key], p, ask)) for key, p in planned.items()}
    for results in round_robin(jobs):
        for key, result in results.items():
            gaps[key] |= result
        yield sum(map(len, gaps.values()))
    return drawn_from(texts, gaps)


def key_of_maps(texts: Texts) -> tuple:
    """Return the cache key of the maps: model, device, dtype and text of every run."""
    return "patching", *(key_of(run) for runs in texts.runs.values() for run in runs)


def batch_jobs(
    runs: tuple[Run, Run], planned: Sequence[Patch], ask: Ask
) -> Iterator[Callable[[], Gaps]]:
    """Yield one model's patches as jobs of one batch each."""
    n_layers = runs[0].spec.architecture.n_layers
    for batch in patch_batches(planned, len(runs[0].tokens), n_layers):
        yield partial(score_gaps, ask, runs, batch)


def score_gaps(ask: Ask, runs: tuple[Run, Run], batch: Sequence[Patch]) -> Gaps:
    """Compute per patch [mask]: score of the first answer minus score of the second."""
    from explorer.models.inside.interventions import patched_logits

    first, second = runs
    states = first.hidden_states
    logits = call_on_model(patched_logits, first.spec, ask, second.tokens, batch, states)
    pairs = zip(first.mask_logits[:MAX_MASKS], second.mask_logits, strict=False)
    gaps = [score_gap(logits[:, i], rival_answers(*pair)) for i, pair in enumerate(pairs)]
    return dict(zip(batch, np.stack(gaps, 1), strict=True))


def drawn_from(texts: Texts, gaps: Mapping[str, Gaps]) -> Maps:
    """Return the maps of every model, one for each of the first masks."""
    return {
        key: tuple(
            patching(
                texts.runs[key],
                mask,
                groups,
                {patch: float(gap[mask]) for patch, gap in gaps[key].items()},
            )
            for mask in range(min(MAX_MASKS, len(texts.pair.masks)))
        )
        for key, groups in texts.pair.groups.items()
    }


def _mask(result: Patching) -> dict[str, Any]:
    return {
        "answers": list(result.answers),
        "are_first": result.are_first,
        "d_first": result.d_first,
        "d_second": result.d_second,
        "effect": result.effect.tolist(),
    }
