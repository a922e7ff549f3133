"""Folds of Attention: summaries, head ablation, BertViz."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import gradio as gr
import numpy as np

from explorer.inference.runs import Runs, call_on_model, gather, get_run
from explorer.library.attention import ablated, kept_heads, summary, swept_layers
from explorer.links.page_state import PageState
from explorer.models.choice.family import page_columns, specs_by_key
from explorer.models.run import Run, answer_id
from explorer.models.specs import label_of
from explorer.models.tokens import spelling_of
from explorer.refusal import Refusal
from explorer.scheduling.cancel import CancelToken
from explorer.scheduling.job_queue import JobUpdate
from explorer.ui.attention import strings
from explorer.ui.kit.asked import with_runs
from explorer.ui.kit.canvas import Canvas, with_save_menu
from explorer.ui.kit.folds import fold
from explorer.ui.kit.jobs import LONG, Job, Progress, Steps, job_buttons, shown, supersede
from explorer.ui.kit.strings import PLACE
from explorer.ui.kit.validation import refuse_bad_input
from explorer.views.attention.folds import LIMITS, bertviz_payload
from explorer.views.markup import explained, finding, join, note, why_missing

if TYPE_CHECKING:
    from explorer.analysis.attention import HeadImportance


def build_summary_fold(state: gr.State) -> None:
    """Build the choice of a summary, one matrix per model, and the formula on demand."""
    with fold("attention", "summary", strings.SUMMARY_QUESTION) as section:
        kind = gr.Radio(
            [(label, key) for key, label in strings.SUMMARIES.items()],
            value="rollout",
            label=strings.SUMMARY_LABEL,
        )
        message, canvas, formula = gr.HTML(), Canvas("attention/summary"), gr.HTML()
    outputs = [message, canvas, formula]
    section.keep("summary", kind=kind)
    section.on_open(show_summary, [state, kind], outputs, also=[kind.change])


@with_runs
def show_summary(state: PageState, text_runs: Runs, kind: str) -> list[str]:
    """Return finding, canvas and formula of one summary; only "gradient" runs the models again."""
    from explorer.analysis.alignment import align
    from explorer.analysis.attention import row_shares
    from explorer.views.attention.folds import attention_summary_canvas

    runs, missing = text_runs.with_mlm_head if kind == "gradient" else text_runs
    if not runs:
        return [why_missing(missing), "", strings.formula_html(kind)]
    if kind == "gradient" and not all(run.tokens.mask_positions for run in runs.values()):
        return [note(strings.SUMMARY_NO_MASK), "", strings.formula_html(kind)]
    alignment = align({key: run.tokens for key, run in runs.items()})
    matrices = {key: summary(run, state.ask, kind, alignment) for key, run in runs.items()}
    specs = {key: run.spec for key, run in runs.items()}
    labels = {key: spec.label for key, spec in specs.items()}
    rows = {key: row_shares(matrix, alignment) for key, matrix in matrices.items()}
    canvas_texts = strings.SUMMARY | {"kind": strings.SUMMARIES[kind], "way": kind}
    return [
        strings.summary_finding(rows, labels, kind),
        attention_summary_canvas(matrices, specs, alignment, details(runs, kind), canvas_texts),
        strings.formula_html(kind),
    ]


def details(runs: Mapping[str, Run], kind: str) -> dict[str, str]:
    """Return by model key the predicted token that the gradient explains; else nothing."""
    if kind != "gradient":
        return {}
    return {key: strings.PREDICTED.format(token=first_choice(run)) for key, run in runs.items()}


def first_choice(run: Run) -> str:
    """Return the model's likeliest token at the first mask, as readers spell it."""
    return spelling_of(run.vocabulary).text(
        run.vocabulary[answer_id(run.mask_logits[0], run.vocabulary)]
    )


def build_ablation_fold(state: gr.State) -> None:
    """Build a switch for every head, the changed answers, and the sweep with its stop button."""
    with fold("attention", "ablation", strings.ABLATION_QUESTION) as heads:
        message = gr.HTML()
        switches = Canvas("attention/switches")
        with gr.Row(elem_classes="ab-buttons"):
            sweep = gr.Button(strings.SWEEP, size="sm")
            stop = gr.Button(strings.STOP, size="sm", visible=False)
        changes = gr.HTML()
        gr.HTML(join(note(explained(strings.HOW, "KL", "nats")), note(strings.OFF)))
        heads.on_open(show_switches, [state], [message, switches, changes, stop])
        switches.on_question(
            show_changes,
            [state],
            [message, changes],
            trigger_mode="always_last",
            show_progress="hidden",
        )
        job_buttons(
            {sweep.click: SWEEP},
            [state],
            [message, switches],
            stop,
            show_progress="minimal",
            show_progress_on=[message],
        )


@with_runs
def show_switches(_: PageState, text_runs: Runs) -> tuple[str, str, str, gr.Button]:
    """Return the fold's first state: every head on, no changes; a sweep draws there no more."""
    from explorer.views.attention.folds import head_switches

    supersede(SWEEP)
    hidden = gr.Button(visible=False)
    runs, missing = text_runs.with_mlm_head
    if not runs:
        return why_missing(missing), "", "", hidden
    if not any(run.tokens.mask_positions for run in runs.values()):
        return finding(strings.NO_MASK), "", "", hidden
    cards = {key: (error.spec.label, str(error)) for key, error in missing.items()}
    return strings.nothing_off(), head_switches(runs, cards, {}, strings.SWITCHES), "", hidden


def show_changes(question: dict, state: PageState | None) -> tuple[str, str]:
    """Return the finding and the answers with the heads in ``question["off"]`` ablated."""
    return _changes(state, question.get("off", {})) if state else ("", "")


@with_runs
def _changes(state: PageState, text_runs: Runs, off: Mapping[str, Any]) -> tuple[str, str]:
    from explorer.views.attention.folds import changed_answers, changed_records

    runs, missing = text_runs.with_mlm_head
    if not runs:
        return why_missing(missing), ""
    if not any(run.tokens.mask_positions for run in runs.values()):
        return finding(strings.NO_MASK), ""
    with refuse_bad_input():
        masks = {key: kept_heads(run, off.get(key, [])) for key, run in runs.items()}
    jobs = [partial(ablated, runs[key], masks[key], state.ask) for key in runs]
    changed = [result for result in gather(jobs) if result.n_off]
    if not changed:
        return strings.change_finding(changed), ""
    answers = changed_answers(changed, strings.CHANGES)
    switched = {key: np.argwhere(~heads).tolist() for key, heads in masks.items()}
    html = with_save_menu("attention/ablation", answers, changed_records(changed, switched))
    return strings.change_finding(changed), html


@dataclass(frozen=True, slots=True, eq=False)
class SweepProgress:
    """Importance of the heads in each model, as far as the sweep is."""

    runs: Mapping[str, Run]
    cards: Mapping[str, tuple[str, str]]
    importance: "Mapping[str, HeadImportance]"
    waiting: str
    """The layer that is done; empty at the end."""


@with_runs
def sweep_heads(state: PageState, text_runs: Runs, cancel_token: CancelToken) -> Steps:
    """Ablate every head on its own; yield the importance so far after every layer.

    Raises:
        ModelUnavailable: not one of the models predicts words.
    """
    from explorer.analysis.attention import head_importance

    runs, missing = text_runs.with_mlm_head
    if not runs:
        raise next(iter(missing.values()))
    cards = {key: (error.spec.label, str(error)) for key, error in missing.items()}
    importance: dict[str, HeadImportance] = {}
    for key, run in runs.items():
        if not run.tokens.mask_positions:
            continue
        layers: list[np.ndarray] = []
        for logits in swept_layers(run, state.ask):
            layers.append(logits)
            importance = importance | {key: head_importance(run, layers)}
            waiting = strings.progress(run.spec.label, len(layers), run.spec.architecture.n_layers)
            yield Progress(part=SweepProgress(runs, cards, importance, waiting))
            cancel_token.check()
    return SweepProgress(runs, cards, importance, "" if importance else strings.NO_MASK)


def draw_sweep(_: PageState, update: JobUpdate) -> list[Any]:
    """Return the finding so far and the coloured switches."""
    from explorer.views.attention.folds import head_switches

    progress: SweepProgress | None = shown(update)
    if update.position:
        return [note(PLACE.format(n=update.position)), gr.skip()]
    if progress is None:
        return [finding(strings.STOPPED) if update.done else gr.skip(), gr.skip()]
    message = strings.sweep_finding(list(progress.importance.values()), progress.waiting)
    if not progress.importance:
        return [message, ""]
    return [
        finding(strings.STOPPED) if update.stopped else message,
        head_switches(progress.runs, progress.cards, progress.importance, strings.SWITCHES),
    ]


SWEEP = Job("show_sweep", LONG, lambda state: state, sweep_heads, draw_sweep)


def build_bertviz_fold(state: gr.State) -> None:
    """Build the choice of model and view, and the sandboxed frame that BertViz draws in."""
    with fold("attention", "advanced", strings.BERTVIZ_QUESTION) as bertviz:
        with gr.Row(elem_classes="bv-choices"):
            model = gr.Radio(strings.models(), value=page_columns()[0], label=strings.MODEL_LABEL)
            view = gr.Radio(strings.VIEWS, value="head", label=strings.VIEW_LABEL)
        message = gr.HTML()
        frame = Canvas("attention/bertviz")
        gr.HTML(note(strings.CREDIT))
        inputs, outputs = [state, model, view], [message, frame]
        bertviz.keep("bertviz", model=model, view=view)
        bertviz.on_open(show_view, inputs, outputs, also=[model.change, view.change])


def show_view(state: PageState, model: str, view: str) -> tuple[str, str]:
    """Return the finding and the payload of one BertViz view, or why it is not drawn."""
    spec = specs_by_key(state.family).get(model)
    if spec is None:
        return note(strings.NOT_SHOWN.format(model=label_of(model))), ""
    try:
        run = get_run(spec, state.ask)
    except Refusal as error:
        return note(str(error)), ""
    if len(run.tokens) > LIMITS[view]:
        return strings.too_long(spec.label, len(run.tokens), LIMITS[view]), ""
    vectors = None
    if view == "neuron":
        from explorer.models.inside.activations import queries_and_keys

        vectors = call_on_model(queries_and_keys, spec, state.ask, run.tokens)
    payload = bertviz_payload(run, view, strings.title(spec.label, view), vectors)
    message = strings.view_finding(model, spec.label, view)
    return message, payload
