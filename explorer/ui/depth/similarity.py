"""Depth fold: every layer of every model against every other, over the bundled sentences."""

from collections.abc import Iterator
from contextlib import nullcontext
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import gradio as gr
import numpy as np

from explorer import assets
from explorer.inference.runs import call_on_model, gather, get_runs
from explorer.inference.scheduling.cancel import CancelToken
from explorer.inference.scheduling.job_queue import JobQueue, JobUpdate
from explorer.links.page_state import PageState
from explorer.models.choice.family import teacher_of
from explorer.models.specs import ModelSpec, distilled_pair
from explorer.models.tokens import MASK
from explorer.ui.depth import strings as texts
from explorer.ui.kit.canvas import Chart
from explorer.ui.kit.folds import fold
from explorer.ui.kit.running import job_updates, own_line, running, stoppable
from explorer.views.markup import Markup, note

if TYPE_CHECKING:
    from explorer.analysis.depth.states import LayerSimilarity

JOB_QUEUE = JobQueue(nullcontext)
"""One family at a time; each round of sentences leaves the workers to others in between."""
QUEUE = own_line("similarity")
MOST_WORDS = 1000
"""Words that are compared: their square matrices of all layers stay under 150 MB."""
AT_ONCE = 8
Found = tuple[tuple[str, ...], str, str]
_KEPT: "dict[Found, LayerSimilarity]" = {}
"""Once for the models of a family, a device and a precision."""


@cache
def sentences() -> tuple[str, ...]:
    """The bundled sentences with their hidden words put back."""
    return tuple(one["text"].replace(MASK, one["answer"]) for one in assets.sentences())


def build_fold(state: gr.State) -> None:
    """The heatmap, which comes once all sentences were read; it can be stopped."""
    with fold("depth", "similarity", texts.SIMILARITY_FOLD) as opened:
        said = gr.HTML()
        stop = gr.Button(texts.SIMILARITY_STOP, size="sm", elem_classes="dk-stop", visible=False)
        picture, remark = Chart("depth/similarity"), gr.HTML()
        outputs = [said, picture, remark, stop]
        stoppable(JOB_QUEUE, stop, opened.on_open(show_similarity, [state], outputs, **QUEUE))


def show_similarity(
    state: PageState | None, request: gr.Request | None = None
) -> Iterator[list[Any]]:
    """The number of sentences read, then the heatmap; at once where they were drawn before."""
    if state is None:
        yield ["", "", "", gr.Button(visible=False)]
        return
    runs, _ = get_runs(state)
    if not runs:
        yield [note(texts.SIMILARITY_NO_MODEL), "", "", gr.Button(visible=False)]
        return
    specs = {key: run.spec for key, run in runs.items()}
    which = (tuple(spec.name for spec in specs.values()), state.device, state.dtype)
    if which not in _KEPT:
        yield from running(
            JOB_QUEUE,
            lambda cancel_token: compare(specs, state, which, cancel_token),
            request,
            standing,
        )
    if which in _KEPT:
        yield [*drawn(_KEPT[which], specs, state), gr.Button(visible=False)]


def standing(update: JobUpdate) -> list[Any]:
    """How the reading stands; what was drawn before stays meanwhile."""
    said = job_updates(
        update, len(sentences()), texts.SIMILARITY_PROGRESS, texts.SIMILARITY_STOPPED
    )
    return [said, gr.skip(), gr.skip(), gr.Button(visible=not update.done)]


def compare(
    specs: dict[str, ModelSpec], state: PageState, which: Found, cancel_token: CancelToken
) -> Iterator[int]:
    """How many sentences were read, again and again; what they show is kept."""
    from explorer.analysis.depth.states import layer_similarity

    parts: dict[str, list[np.ndarray]] = {key: [] for key in specs}
    for start in range(0, 0 if which in _KEPT else len(sentences()), AT_ONCE):
        yield start
        cancel_token.check()
        some = sentences()[start : start + AT_ONCE]
        for found in gather([partial(states_of, specs, state, text) for text in some]):
            for key, states in found.items():
                parts[key].append(states)
        if sum(states.shape[1] for states in next(iter(parts.values()))) >= MOST_WORDS:
            break
    if which not in _KEPT:
        cancel_token.check()
        whole = {key: np.concatenate(part, 1)[:, :MOST_WORDS] for key, part in parts.items()}
        _KEPT[which] = layer_similarity(whole)


def states_of(specs: dict[str, ModelSpec], state: PageState, text: str) -> dict[str, np.ndarray]:
    """One sentence through every model: the states of its words, without keeping the runs."""
    from explorer.analysis.alignment import align
    from explorer.analysis.depth.lens import sentence_states
    from explorer.models.forward import tokenize

    tokens = {key: call_on_model(tokenize, spec, state, text) for key, spec in specs.items()}
    alignment, found = align(tokens), {}
    for key, spec in specs.items():
        groups = tuple(alignment.groups[key][i] for i in alignment.content)
        found[key] = call_on_model(sentence_states, spec, state, tokens[key], groups)
    return found


def drawn(
    found: "LayerSimilarity", specs: dict[str, ModelSpec], state: PageState
) -> tuple[str, str, str]:
    """The finding, the heatmap, and what stands below them."""
    from explorer.analysis.depth.states import copied_rows
    from explorer.views.depth.states import similarity_canvas

    labels = {key: spec.label for key, spec in specs.items()}
    remark = note(texts.SIMILARITY_NOTE.format(n=f"{found.n_words:,}"))
    pair, pairs = distilled_pair(), []
    if pair[1] in specs and teacher_of(specs[pair[1]]) == specs.get(pair[0]):
        pairs = copied_rows(found.rows, pair, specs[pair[1]].initialised_from)
        remark = Markup(remark + lineage_of(specs, state))
    canvas = similarity_canvas(found, labels, pairs, sentences(), texts.SIMILARITY)
    return texts.similarity_finding(found, labels), canvas, remark


def lineage_of(specs: dict[str, ModelSpec], state: PageState) -> Markup:
    """What the weights of teacher and student say of how the student began."""
    from explorer.analysis.depth.states import weight_lineage
    from explorer.models.inside.reading import cosines_with

    teacher, student = (specs[key] for key in distilled_pair())
    cosines = call_on_model(cosines_with, student, state, teacher)
    lineage = weight_lineage(cosines, student.initialised_from)
    return texts.lineage_note(lineage, (teacher.label, student.label))
