"""Activation patching: the fold, its job, and the second texts that it proposes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import gradio as gr
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
from explorer.inference.cache import CACHE, key_of
from explorer.inference.runs import call_on_model, round_robin, runs_with_mlm_head
from explorer.inference.scheduling.cancel import CancelToken
from explorer.inference.scheduling.job_queue import JobQueue, JobUpdate
from explorer.links.codec import LINK_TEXT_LIMIT
from explorer.links.page_state import PageState
from explorer.models.run import Patch, Run, patch_batches
from explorer.models.tokens import BadText, Tokens
from explorer.ui.depth import strings
from explorer.ui.kit import strings as shared
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.folds import fold
from explorer.ui.kit.running import own_queue, running, stoppable
from explorer.views.depth.states import PatchingResults, patching_canvas
from explorer.views.markup import note

MOST_WORDS, MOST_TOKENS, MOST_MASKS = 48, 128, 4
MOST_TRIED = 24
Maps = dict[str, tuple[Patching, ...]]
Gaps = dict[Patch, np.ndarray]


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """Two texts as every model tokenized and ran them."""

    pair: TextPair
    runs: Mapping[str, tuple[Run, Run]]


@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    """Progress of the job: patches done, their total, and at the end the maps."""

    done: int
    n: int
    maps: Maps | None = None


def has_masks(runs: Mapping[str, Run]) -> bool:
    """Return whether the text has a mask, whose answer a patch can change."""
    return any(run.tokens.mask_positions for run in runs.values())


def proposals(runs: Mapping[str, Run], state: PageState) -> tuple[OneChange, ...]:
    """Return per kind of change the first that most models can be patched with, best fit first."""
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
    ranked = sorted(best.values(), key=lambda fit: (-fit[0], KINDS.index(fit[1].kind)))
    return tuple(change for _, change in ranked)


def n_patched(first: Mapping[str, Tokens], second: Mapping[str, Tokens]) -> int:
    """Return how many models tokenize both texts so that the states correspond one to one."""
    try:
        return len(text_pair(first, second).groups)
    except BadText:
        return 0


def read_both(runs: Mapping[str, Run], second: str, state: PageState) -> Texts:
    """Run every model on both texts and pair their words.

    Raises:
        BadText: there is nothing to follow, or too much, or the texts differ in other ways.
    """
    if not runs:
        raise BadText(strings.NO_MODEL)
    if not has_masks(runs):
        raise BadText(strings.PATCHING_NO_MASK)
    check_length(runs)
    if not second:
        raise BadText(strings.NO_PROPOSAL)
    others, _ = runs_with_mlm_head(replace(state, text=second))
    runs_of_both = {key: (run, others[key]) for key, run in runs.items() if key in others}
    first_tokens, second_tokens = (
        {key: pair[i].tokens for key, pair in runs_of_both.items()} for i in (0, 1)
    )
    return Texts(text_pair(first_tokens, second_tokens), runs_of_both)


def n_words(runs: Mapping[str, Run]) -> int:
    """Return the number of words and punctuation marks of the text."""
    return len(next(iter(runs.values())).tokens.words)


def check_length(runs: Mapping[str, Run]) -> None:
    """Refuse a text with too many states to patch one at a time."""
    if n_words(runs) > MOST_WORDS:
        raise BadText(strings.LONG.format(most=MOST_WORDS, n=n_words(runs)))
    for run in runs.values():
        if len(run.tokens) > MOST_TOKENS:
            label, n = run.spec.label, len(run.tokens)
            raise BadText(strings.MANY_PIECES.format(most=MOST_TOKENS, model=label, n=n))


def patch_all(found: Texts, state: PageState, cancel_token: CancelToken) -> Iterator[Shot]:
    """Patch every state, one batch per model at a time; yield progress, then the maps."""
    cache_key = _which(found)
    maps = CACHE.get(cache_key)
    if maps is None:
        patches_by_key = {
            key: patches(*found.runs[key], groups) for key, groups in found.pair.groups.items()
        }
        n = sum(map(len, patches_by_key.values()))
        gaps: dict[str, Gaps] = {key: {} for key in patches_by_key}
        jobs = {
            key: list(batch_jobs(found.runs[key], patches_by_key[key], state))
            for key in patches_by_key
        }
        for results in round_robin(jobs):
            for key, result in results.items():
                gaps[key] |= result
            yield Shot(sum(map(len, gaps.values())), n)
            cancel_token.check()
        maps = CACHE.put(cache_key, drawn_from(found, gaps))
    yield Shot(0, 0, maps)


def _which(both_texts: Texts) -> tuple:
    """Return the cache key of the maps: model, device, dtype and text of every run."""
    return "patching", *(key_of(run) for runs in both_texts.runs.values() for run in runs)


def batch_jobs(
    runs: tuple[Run, Run], planned: Sequence[Patch], state: PageState
) -> Iterator[Callable[[], Gaps]]:
    """Yield one model's patches as jobs of one batch each."""
    n_layers = runs[0].spec.architecture.n_layers
    for batch in patch_batches(planned, len(runs[0].tokens), n_layers):
        yield partial(score_gaps, state, runs, batch)


def score_gaps(state: PageState, runs: tuple[Run, Run], batch: Sequence[Patch]) -> Gaps:
    """Compute per patch [mask]: score of the first answer minus score of the second."""
    from explorer.models.inside.interventions import patched_logits

    first, second = runs
    states = first.hidden_states
    logits = call_on_model(patched_logits, first.spec, state, second.tokens, batch, states)
    pairs = zip(first.mask_logits[:MOST_MASKS], second.mask_logits, strict=False)
    gaps = [score_gap(logits[:, i], rival_answers(*pair)) for i, pair in enumerate(pairs)]
    return dict(zip(batch, np.stack(gaps, 1), strict=True))


def drawn_from(found: Texts, gaps: Mapping[str, Gaps]) -> Maps:
    """Return the maps of every model, one for each of the first masks."""
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


JOB_QUEUE = JobQueue(nullcontext)
"""Queue of one pair of texts at a time; other requests are answered between its batches."""
QUEUE = own_queue("patching")
PRIVATE: dict[str, Any] = {"api_visibility": "private"}


def build_fold(state: gr.State) -> None:
    """Build the box for the second text, the maps and the stop button."""
    with fold("depth", "patching", strings.FOLD) as section:
        with gr.Row(elem_classes="dq-ask"):
            second = gr.Textbox(
                label=strings.SECOND,
                max_lines=3,
                max_length=LINK_TEXT_LIMIT,
                scale=6,
                min_width=320,
            )
            start = gr.Button(strings.START, size="md", scale=0, min_width=170)
            stop = gr.Button(strings.STOP, size="md", scale=0, min_width=80, visible=False)
        message, canvas = gr.HTML(), Canvas("depth/patching")
        outputs = [second, message, canvas, stop]
        triggers = [start.click, second.submit]
        stoppable(
            JOB_QUEUE,
            stop,
            section.on_open(show_patching, [state], outputs, **QUEUE),
            canvas.on_question(show_offered, [state], outputs, **QUEUE),
            gr.on(triggers, plain_errors(follow), [state, second], outputs, **QUEUE, **PRIVATE),
        )


def show_patching(
    state: PageState | None, request: gr.Request | None = None
) -> Iterator[list[Any]]:
    """Yield the patching of the link's second text, or else of a proposed one."""
    yield from follow(state, state.other if state else "", request)


def show_offered(
    question: dict, state: PageState | None, request: gr.Request | None = None
) -> Iterator[list[Any]]:
    """Yield the patching of the proposed change that was clicked."""
    yield from follow(state, str(question.get("second") or ""), request)


def follow(
    state: PageState | None, second: str, request: gr.Request | None = None
) -> Iterator[list[Any]]:
    """Yield progress and maps of the page's text patched into the second, or a refusal."""
    if state is None:
        yield ["", "", "", gr.Button(visible=False)]
        return
    yield [gr.skip(), note(strings.READING), "", gr.Button(visible=False)]
    runs, _ = runs_with_mlm_head(state)
    offered = proposals(runs, state)
    second = second.strip() or (offered[0].text if offered else "")
    empty = patching_canvas(offered, second, None, strings.PICTURE)
    try:
        both_texts = read_both(runs, second, state)
    except BadText as refusal:
        yield [second, note(str(refusal)), empty, gr.Button(visible=False)]
        return
    yield [second, gr.skip(), empty, gr.Button(visible=False)]

    def draw(update: JobUpdate) -> list[Any]:
        canvas = gr.skip()
        if update.done and maps_of(update) is not None:
            data = followed(both_texts, maps_of(update) or {})
            canvas = patching_canvas(offered, second, data, strings.PICTURE)
        return [gr.skip(), progress_of(update), canvas, gr.Button(visible=not update.done)]

    yield from running(
        JOB_QUEUE, lambda cancel_token: patch_all(both_texts, state, cancel_token), request, draw
    )


def progress_of(update: JobUpdate) -> str:
    """Return the job's status as a sentence; empty once it is complete."""
    if update.position:
        return note(shared.PLACE.format(n=update.position))
    if update.done:
        return note(strings.STOPPED) if maps_of(update) is None else ""
    if update.partial is None:
        return note(strings.READING)
    return note(strings.PROGRESS.format(done=update.partial.done, n=update.partial.n))


def maps_of(update: JobUpdate) -> Maps | None:
    """Return the maps of an update; None before the job is done."""
    return update.partial.maps if update.partial else None


def followed(found: Texts, maps: Maps) -> PatchingResults:
    """Return the data of the picture: tokens, text pair, labels, maps and refusals."""
    pair = found.pair
    labels = {key: first.spec.label for key, (first, _) in found.runs.items()}
    refused = {
        key: strings.refusal(labels[key], pair.original, pair.replacement, pieces)
        for key, pieces in pair.pieces.items()
        if key not in pair.groups
    }
    tokens = next(iter(found.runs.values()))[0].tokens
    return PatchingResults(tokens, pair, labels, maps, refused)
