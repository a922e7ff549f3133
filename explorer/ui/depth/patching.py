"""Depth fold: the states of one text carried into another, word by word and layer by layer."""

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import gradio as gr

from explorer.inference.runs import runs_with_mlm_head
from explorer.inference.scheduling.job_queue import JobQueue, JobUpdate
from explorer.links.codec import LINK_TEXT_LIMIT
from explorer.links.page_state import PageState
from explorer.models.tokens import BadText
from explorer.ui.depth import patching_words as texts
from explorer.ui.depth.activation_patching import (
    Maps,
    Texts,
    patch_all,
    proposals,
    read_both,
)
from explorer.ui.kit import words as shared
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.folds import fold
from explorer.ui.kit.queues import own_line
from explorer.ui.kit.running import running, stoppable
from explorer.views.depth.patching import Followed, patching_canvas
from explorer.views.markup import note

JOB_QUEUE = JobQueue(nullcontext)
"""One pair of texts at a time; each batch takes the slot, so that others are answered between."""
QUEUE = own_line("patching")
PRIVATE: dict[str, Any] = {"api_visibility": "private"}


def build_fold(state: gr.State) -> None:
    """The second text, its maps, and a button that stops them."""
    with fold("depth", "patching", texts.FOLD) as opened:
        with gr.Row(elem_classes="dq-ask"):
            second = gr.Textbox(
                label=texts.SECOND, max_lines=3, max_length=LINK_TEXT_LIMIT, scale=6, min_width=320
            )
            start = gr.Button(texts.START, size="md", scale=0, min_width=170)
            stop = gr.Button(texts.STOP, size="md", scale=0, min_width=80, visible=False)
        said, picture = gr.HTML(), Canvas("depth/patching")
        outputs = [second, said, picture, stop]
        asked = [start.click, second.submit]
        stoppable(
            JOB_QUEUE,
            stop,
            opened.on_open(show_patching, [state], outputs, **QUEUE),
            picture.on_question(show_offered, [state], outputs, **QUEUE),
            gr.on(asked, plain_errors(follow), [state, second], outputs, **QUEUE, **PRIVATE),
        )


def show_patching(
    state: PageState | None, request: gr.Request | None = None
) -> Iterator[list[Any]]:
    """The second text of the link, or the one that the page proposes."""
    yield from follow(state, state.other if state else "", request)


def show_offered(
    question: dict, state: PageState | None, request: gr.Request | None = None
) -> Iterator[list[Any]]:
    """One of the changes that the picture offers."""
    yield from follow(state, str(question.get("second") or ""), request)


def follow(
    state: PageState | None, second: str, request: gr.Request | None = None
) -> Iterator[list[Any]]:
    """The states of the page's text carried into the second, with progress; or why they are not."""
    if state is None:
        yield ["", "", "", gr.Button(visible=False)]
        return
    yield [gr.skip(), note(texts.READING), "", gr.Button(visible=False)]
    runs, _ = runs_with_mlm_head(state)
    offered = proposals(runs, state)
    second = second.strip() or (offered[0].text if offered else "")
    empty = patching_canvas(offered, second, None, texts.PICTURE)
    try:
        found = read_both(runs, second, state)
    except BadText as refusal:
        yield [second, note(str(refusal)), empty, gr.Button(visible=False)]
        return
    yield [second, gr.skip(), empty, gr.Button(visible=False)]

    def draw(update: JobUpdate) -> list[Any]:
        picture = gr.skip()
        if update.done and maps_of(update) is not None:
            whole = followed(found, maps_of(update) or {})
            picture = patching_canvas(offered, second, whole, texts.PICTURE)
        return [gr.skip(), standing(update), picture, gr.Button(visible=not update.done)]

    yield from running(
        JOB_QUEUE, lambda cancel_token: patch_all(found, state, cancel_token), request, draw
    )


def standing(update: JobUpdate) -> str:
    """How the work stands, in a sentence; nothing once it is done."""
    if update.place:
        return note(shared.PLACE.format(n=update.place))
    if update.done:
        return note(texts.STOPPED) if maps_of(update) is None else ""
    if update.partial is None:
        return note(texts.READING)
    return note(texts.PROGRESS.format(done=update.partial.done, n=update.partial.n))


def maps_of(update: JobUpdate) -> Maps | None:
    """The maps; none before the work is done."""
    return update.partial.maps if update.partial else None


def followed(found: Texts, maps: Maps) -> Followed:
    """What the picture is told."""
    pair = found.pair
    labels = {key: first.spec.label for key, (first, _) in found.runs.items()}
    refused = {
        key: texts.refusal(labels[key], pair.was, pair.becomes, pieces)
        for key, pieces in pair.pieces.items()
        if key not in pair.groups
    }
    tokens = next(iter(found.runs.values()))[0].tokens
    return Followed(tokens, pair, labels, maps, refused)
