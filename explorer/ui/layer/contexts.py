"""Layer fold: one text read in six ways, and the same over many sentences."""

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import gradio as gr

from explorer import assets
from explorer.inference.runs import call_on_model, gather, runs_with_mlm_head
from explorer.inference.scheduling.cancel import CancelToken
from explorer.inference.scheduling.job_queue import JobQueue, JobUpdate
from explorer.links.page_state import PageState, hidden_words
from explorer.models.rows import READINGS
from explorer.models.run import Run
from explorer.models.specs import ModelSpec
from explorer.models.spelling import word_id
from explorer.ui.kit.canvas import Chart
from explorer.ui.kit.export import with_save_menu
from explorer.ui.kit.folds import fold
from explorer.ui.kit.queues import own_line
from explorer.ui.kit.running import job_updates, running
from explorer.ui.layer import recurrent
from explorer.ui.layer import words as texts
from explorer.ui.layer.job_button import job_button
from explorer.views.markup import join, note, table

if TYPE_CHECKING:
    from explorer.analysis.layer.contexts import ContextAnswers

JOB_QUEUE = JobQueue(nullcontext)
"""One family at a time; each round of sentences leaves the workers to others in between."""
QUEUE = own_line("contexts")
AT_ONCE = 6
_KEPT: dict[tuple, Any] = {}
"""Once for the models of a family, a device and a precision."""


def build_fold(state: gr.State) -> None:
    """The table of the text; a press for what takes longer."""
    with fold("layer", "contexts", texts.CONTEXTS_FOLD) as opened:
        answers = gr.HTML()
        opened.on_open(show_contexts, [state], [answers])
        label = texts.MANY.format(n=len(assets.sentences()))
        job_button(state, label, Chart("layer/held_out", render=False), JOB_QUEUE, score, **QUEUE)
        recurrent.build(state)


def show_contexts(state: PageState | None) -> str:
    """The six readings at the mask that Depth looks at."""
    from explorer.views.layer.contexts import context_numbers, context_rows

    if state is None:
        return ""
    runs, _ = runs_with_mlm_head(state)
    n = min((len(run.tokens.mask_positions) for run in runs.values()), default=0)
    if not n:
        return note(texts.NO_MASK)
    mask = min(state.mask, n - 1)
    found = {key: masks[mask] for key, masks in contexts_of(runs, state).items()}
    labels = {key: run.spec.label for key, run in runs.items()}
    head, rows = context_rows(found, labels, texts.CONTEXTS)
    which = texts.MASK_OF.format(i=mask + 1, n=n) if n > 1 else ""
    said = join(note(which, texts.CONTEXTS_NOTE), note(str(texts.CONTEXTS["upper"])))
    numbers = context_numbers(found, labels, _constants(runs, found, mask))
    return join(
        with_save_menu("layer/contexts", table(head, rows), numbers, is_picture=False), said
    )


def _constants(
    runs: Mapping[str, Run], found: "Mapping[str, ContextAnswers]", mask: int
) -> dict[str, object]:
    from explorer.models.inside.contexts import shuffled

    orders = {run.spec.label: list(shuffled(run.tokens)) for run in runs.values()}
    wanted = {run.spec.label: found[key].wanted_id for key, run in runs.items()}
    return {"MASK": mask, "ORDERS": orders, "WANTED": wanted}


def contexts_of(
    runs: Mapping[str, Run], state: PageState
) -> "dict[str, tuple[ContextAnswers, ...]]":
    """Every model at every mask in every reading: one pass over six rows each."""
    jobs = [partial(_contexts, run, state) for run in runs.values()]
    return dict(zip(runs, gather(jobs), strict=True))


def _contexts(run: Run, state: PageState) -> "tuple[ContextAnswers, ...]":
    from explorer.analysis.layer.contexts import context_answers
    from explorer.models.inside.contexts import context_logits, is_shuffled

    logits = call_on_model(context_logits, run.spec, state, run.tokens)
    moves = is_shuffled(run.tokens)
    kept = [i for i, name in enumerate(READINGS) if moves or name != "shuffled"]
    readings = tuple(READINGS[i] for i in kept)
    n, hidden = logits.shape[1], hidden_words(state)
    ids = [_id_of(run, word) for word in hidden[:n]]
    wanted = [*ids, *[-1] * n][:n]
    return tuple(
        context_answers(logits[kept, mask], run.vocabulary, one if one >= 0 else None, readings)
        for mask, one in enumerate(wanted)
    )


def _id_of(run: Run, word: str) -> int:
    """The id of a hidden word; -1 where it is unknown or not one piece."""
    return word_id(run.vocabulary, word, run.spec.lower_case) if word else -1


def score(state: PageState | None, request: gr.Request | None = None) -> Iterator[list[Any]]:
    """The number of sentences read, then the chart; at once where it was drawn before.

    Raises:
        ModelUnavailable: not one of the models predicts words.
    """
    from explorer.views.layer.contexts import held_out_canvas

    if state is None:
        yield ["", "", gr.Button(visible=False)]
        return
    runs, missing = runs_with_mlm_head(replace(state, text=assets.sentences()[0]["text"]))
    if not runs:
        raise next(iter(missing.values()))
    specs = {key: run.spec for key, run in runs.items()}
    which = (tuple(spec.name for spec in specs.values()), state.device, state.dtype)
    if which not in _KEPT:
        yield from running(
            JOB_QUEUE,
            lambda cancel_token: _read_all(specs, state, which, cancel_token),
            request,
            _stands,
        )
    if which in _KEPT:
        labels = {key: specs[key].label for key in _KEPT[which]}
        chart = held_out_canvas(_KEPT[which], labels, len(assets.sentences()), texts.CONTEXTS)
        yield [
            note(*map(str, missing.values())) if missing else "",
            chart,
            gr.Button(visible=False),
        ]


def _stands(update: JobUpdate) -> list[Any]:
    said = job_updates(update, len(assets.sentences()), texts.PROGRESS, texts.STOPPED)
    return [said, gr.skip(), gr.Button(visible=not update.done)]


def _read_all(
    specs: Mapping[str, ModelSpec], state: PageState, which: tuple, cancel_token: CancelToken
) -> Iterator[int]:
    """How many sentences were read, again and again; what they show is kept."""
    from explorer.analysis.layer.contexts import context_scores
    from explorer.models.inside.contexts import context_ranks

    ranks: dict[str, list[tuple[int, ...]]] = {key: [] for key in specs}
    for start in range(0, len(assets.sentences()), AT_ONCE):
        yield start
        cancel_token.check()
        some = assets.sentences()[start : start + AT_ONCE]
        jobs = [
            partial(call_on_model, context_ranks, spec, state, one["text"], one["answer"])
            for one in some
            for spec in specs.values()
        ]
        found = iter(gather(jobs))
        for _ in some:
            for key in specs:
                ranks[key].append(next(found))
    _KEPT[which] = context_scores(ranks)
