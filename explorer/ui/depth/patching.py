"""Activation patching: the fold, its job, and the second texts that it proposes."""

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr

from explorer.analysis.depth.patching import OneChange
from explorer.inference.runs import runs_with_mlm_head
from explorer.library.patching import (
    Maps,
    Texts,
    key_of_maps,
    patched_all,
    proposals,
    read_both,
)
from explorer.links.codec import LINK_TEXT_LIMIT
from explorer.links.page_state import PageState
from explorer.models.tokens import BadText, clean_text
from explorer.scheduling.cancel import CancelToken
from explorer.scheduling.job_queue import JobQueue, JobUpdate
from explorer.ui.depth import strings
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.folds import fold
from explorer.ui.kit.jobs import Job, Steps, handler, job_buttons, status, stepped
from explorer.views.depth.patching import PatchingResults, patching_canvas
from explorer.views.markup import note


@dataclass(frozen=True, slots=True, eq=False)
class PatchingQuestion:
    """Question of the job: two texts, and what the picture shows besides their maps."""

    state: PageState
    texts: Texts
    second: str
    offered: tuple[OneChange, ...]


def patch_all(question: PatchingQuestion, cancel_token: CancelToken) -> Steps:
    """Patch every state, one batch per model at a time, and return the maps."""
    texts = question.texts
    return stepped(patched_all(texts, question.state.ask), texts.n_patches, cancel_token)


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
    runs, _ = runs_with_mlm_head(state.ask)
    offered = proposals(runs, state.ask)
    second = clean_text(second) or (offered[0].text if offered else "")
    empty = patching_canvas(offered, state.text, second, None, strings.PICTURE)
    try:
        both_texts = read_both(runs, second, state.ask)
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
        patching_canvas(
            question.offered, question.state.text, question.second, data, strings.PICTURE
        ),
    ]


PATCHING = Job(
    "follow",
    JobQueue("patching"),
    ask,
    patch_all,
    draw,
    lambda question: key_of_maps(question.texts),
)


def followed(texts: Texts, maps: Maps) -> PatchingResults:
    """Return the data of the picture: tokens, text pair, labels, maps and refusals."""
    pair = texts.pair
    labels = {key: first.spec.label for key, (first, _) in texts.runs.items()}
    tokens = next(iter(texts.runs.values()))[0].tokens
    return PatchingResults(tokens, pair, labels, maps, texts.refused())
