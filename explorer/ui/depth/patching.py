"""Activation patching: the fold, its job, and the second texts that it proposes."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
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
from explorer.inference.cache import key_of
from explorer.inference.runs import call_on_model, round_robin, runs_with_mlm_head
from explorer.inference.scheduling.cancel import CancelToken
from explorer.inference.scheduling.job_queue import JobQueue, JobUpdate
from explorer.links.codec import LINK_TEXT_LIMIT
from explorer.links.page_state import PageState
from explorer.models.run import Patch, Run, patch_batches
from explorer.models.tokens import BadText, Tokens
from explorer.ui.depth import strings
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.folds import fold
from explorer.ui.kit.jobs import Job, Progress, Steps, handler, job_buttons, status
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
class PatchingQuestion:
    """Question of the job: two texts, and what the picture shows besides their maps."""

    state: PageState
    texts: Texts
    second: str
    offered: tuple[OneChange, ...]


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


def patch_all(question: PatchingQuestion, cancel_token: CancelToken) -> Steps:
    """Patch every state, one batch per model at a time, and return the maps."""
    runs, groups_by_key = question.texts.runs, question.texts.pair.groups
    patches_by_key = {key: patches(*runs[key], groups) for key, groups in groups_by_key.items()}
    gaps: dict[str, Gaps] = {key: {} for key in patches_by_key}
    jobs = {
        key: list(batch_jobs(runs[key], planned, question.state))
        for key, planned in patches_by_key.items()
    }
    for results in round_robin(jobs):
        for key, result in results.items():
            gaps[key] |= result
        yield Progress(sum(map(len, gaps.values())), sum(map(len, patches_by_key.values())))
        cancel_token.check()
    return drawn_from(question.texts, gaps)


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
        outputs = [second, message, canvas]
        linked = handler(replace(PATCHING, name="show_patching", ask=ask_linked))
        offered = handler(replace(PATCHING, name="show_offered", ask=ask_offered))
        section.on_open(linked, [state], [*outputs, stop], **PATCHING.options)
        canvas.on_question(offered, [state], [*outputs, stop], **PATCHING.options)
        job_buttons({(start.click, second.submit): PATCHING}, [state, second], outputs, stop)


Asking = Generator[list[Any], None, PatchingQuestion | None]


def ask_linked(state: PageState | None) -> Asking:
    """Ask for the patching of the link's second text, or else of a proposed one."""
    return (yield from ask(state, state.other if state else ""))


def ask_offered(question: dict, state: PageState | None) -> Asking:
    """Ask for the patching of the proposed change that was clicked."""
    return (yield from ask(state, str(question.get("second") or "")))


def ask(state: PageState | None, second: str) -> Asking:
    """Run the page's text and the second, and propose others; draw a refusal."""
    if state is None:
        return None
    yield [gr.skip(), note(strings.READING), ""]
    runs, _ = runs_with_mlm_head(state)
    offered = proposals(runs, state)
    second = second.strip() or (offered[0].text if offered else "")
    empty = patching_canvas(offered, second, None, strings.PICTURE)
    try:
        both_texts = read_both(runs, second, state)
    except BadText as refusal:
        yield [second, note(str(refusal)), empty]
        return None
    yield [second, gr.skip(), empty]
    return PatchingQuestion(state, both_texts, second, offered)


def draw(question: PatchingQuestion, update: JobUpdate) -> list[Any]:
    """Return the job's progress, or the picture of the maps."""
    if update.result is None:
        is_reading = update.partial is None and not update.position and not update.done
        progress = strings.READING if is_reading else strings.PROGRESS
        return [gr.skip(), status(update, progress, strings.STOPPED), gr.skip()]
    data = followed(question.texts, update.result)
    return [
        gr.skip(),
        "",
        patching_canvas(question.offered, question.second, data, strings.PICTURE),
    ]


PATCHING = Job(
    "follow",
    JobQueue("patching"),
    ask,
    patch_all,
    draw,
    lambda question: _which(question.texts),
)


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
