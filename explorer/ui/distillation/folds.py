"""Folds of Distillation: losses, agreement, masking, a student trained live."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import gradio as gr

from explorer import limits
from explorer.analysis.distillation.live import LIMITS, LiveSettings
from explorer.assets import sentences
from explorer.inference.cache import key_of_family
from explorer.inference.runs import Runs
from explorer.library.distillation import (
    LiveRun,
    SentencesAgreement,
    live_distillation,
    sentences_agreement,
    word_losses,
)
from explorer.links.page_state import PageState
from explorer.models.choice.family import is_parent, specs_by_key
from explorer.refusal import Refusal
from explorer.scheduling.cancel import CancelToken
from explorer.scheduling.job_queue import JobQueue, JobUpdate
from explorer.ui.distillation import strings
from explorer.ui.distillation.runs import (
    STUDENT,
    TEACHER,
    Focus,
    focus_of,
    knows_lineage,
    pair_in,
)
from explorer.ui.kit.asked import with_runs
from explorer.ui.kit.canvas import Canvas, ran_with, with_save_menu
from explorer.ui.kit.folds import Fold, fold
from explorer.ui.kit.jobs import Job, Progress, Steps, job_buttons, shown, stepped, supersede
from explorer.ui.kit.running import AT_ONCE
from explorer.views.markup import el, fold_link, note, script_json

if TYPE_CHECKING:
    from explorer.models.specs import ModelSpec

ROUNDS = (1, 100, 10_000)
MAX_SEED = 2**31


def build_losses(state: gr.State) -> None:
    """Build the fold of the triple loss on the sentence and of the masking simulator."""
    with fold("distillation", "losses", strings.LOSSES_FOLD) as section:
        gr.HTML(el("h3", strings.LOSSES_TITLE))
        message, canvas = gr.HTML(), Canvas("distillation/losses")
        section.on_open(losses_or_why, [state], [message, canvas])
        gr.HTML(el("h3", strings.MASKING_TITLE))
        build_masking(section, state)


def losses_or_why(state: PageState) -> tuple[str, str]:
    """Return message and losses; only the message where there is no word, or no pair of models."""
    try:
        return "", show_losses(state)
    except Refusal as error:
        return note(str(error)), ""


def lineage_in(state: PageState) -> "tuple[ModelSpec, ModelSpec]":
    """Return the teacher and the student of the tab.

    Raises:
        NotAPair: there are no two models to compare, or none is known to be the other's teacher.
    """
    from explorer.analysis.distillation.soft import NotAPair

    pair = pair_in(state)
    if pair is None:
        raise NotAPair(strings.NO_PAIR)
    teacher, student = (state.ask.specs[key] for key in pair)
    if not knows_lineage(state, pair):
        raise NotAPair(strings.UNKNOWN_LINEAGE.format(a=teacher.label, b=student.label))
    return teacher, student


def show_losses(state: PageState) -> str:
    """Return the three losses with their weight sliders, and the KL of each token."""
    from explorer.analysis.distillation.triple_loss import WEIGHTS
    from explorer.views.distillation.losses import distillation_losses

    focus, (teacher, student) = focus_of(state), lineage_in(state)
    keys = (teacher.key, student.key)
    result = word_losses(state.ask, focus.text, keys, focus.mask, focus.answer)
    is_known = result.answer >= 0
    no_answer = (
        strings.NOT_ONE_PIECE.format(word=focus.answer) if focus.answer else strings.NO_ANSWER
    )
    ce_note = strings.ce_twice(result.losses, result.n_masks)
    texts = {
        **strings.LOSSES,
        "total": strings.LOSSES["total" if is_known else "total_without"],
        "notes": [*strings.LOSSES["notes"], ce_note, *([] if is_known else [no_answer])],
        "how": "" if focus.answer else strings.MASK_A_WORD,
        "pair": [teacher.label, student.label],
        "start": {**WEIGHTS, "t": PageState().temperature},
    }
    return distillation_losses(result.losses, result.teacher, focus.word, result.answer, texts)


def build_agreement(state: gr.State) -> None:
    """Build the agreement over the bundled sentences; a click on one loads it into the page."""
    with fold("distillation", "agreement", strings.AGREEMENT_FOLD):
        with gr.Row():
            run = gr.Button(strings.RUN_AGREEMENT, variant="primary")
            stop = gr.Button(strings.AGREEMENT_STOP, visible=False)
        canvas = Canvas("distillation/agreement")
        job_buttons({run.click: AGREEMENT}, [state], [canvas], stop, show_progress="minimal")
        gr.HTML(note(fold_link(strings.ELSEWHERE, "depth", "similarity")))


def run_agreement(state: PageState, cancel_token: CancelToken) -> Steps:
    """Run both models on every sentence. Their runs are cached."""
    from explorer.analysis.distillation.soft import NotAPair

    examples, keys = sentences(), pair_in(state)
    if keys is None:
        raise NotAPair(strings.NO_PAIR)
    return stepped(sentences_agreement(state.ask, keys, examples), len(examples), cancel_token)


def draw_agreement(state: PageState, update: JobUpdate) -> list[Any]:
    """Return the canvas of the progress, or of the result."""
    from explorer.views.distillation.agreement import agreement_canvas, progress_canvas

    result: SentencesAgreement | None = update.result
    if result is not None:
        teacher, student = result.specs
        labels = teacher.label, student.label
        is_lineage = is_parent(teacher, student)
        texts = {
            **strings.in_roles(strings.AGREEMENT, teacher, student),
            "note": strings.agreement_note(result.agreement, labels, is_lineage=is_lineage),
            "pair": list(labels),
        }
        return [
            agreement_canvas(
                result.agreement, sentences(), result.vocabulary, texts, ran_with(state)
            )
        ]
    step = update.partial or Progress(n=len(sentences()))
    message = strings.AGREEMENT_PROGRESS.format(done=step.done, n=step.n)
    if update.stopped:
        return [progress_canvas(None, step.n, strings.STOPPED.format(progress=message))]
    return [progress_canvas(step.done, step.n, message)]


AGREEMENT = Job(
    "run_agreement",
    JobQueue("agreement", limits.OWN_LINE.maximum),
    lambda state: state or PageState(),
    run_agreement,
    draw_agreement,
    lambda state: (
        *key_of_family("agreement", specs_by_key(state.family), state.ask),
        state.teacher,
        state.student,
    ),
)


def build_masking(f: Fold, state: gr.State) -> None:
    """Build the controls and the picture of the masking simulator inside a fold."""
    with gr.Row():
        rounds = gr.Radio(list(ROUNDS), value=ROUNDS[0], label=strings.ROUNDS)
        seed = gr.Number(0, label=strings.MASKING_SEED, precision=0, minimum=0, maximum=MAX_SEED)
        again = gr.Button(strings.REPLAY)
    picture = gr.HTML()
    inputs = [state, rounds, seed]
    f.keep("masking", rounds=rounds, seed=seed)
    f.on_open(show_masking, inputs, [picture], also=[rounds.change, seed.change])
    next_seed = f.setting([seed], "[Math.round(values[0] ?? 0) + 1]")
    again.click(None, [seed], [seed], js=next_seed, api_visibility="private")


@with_runs
def show_masking(state: PageState, text_runs: Runs, rounds: int = 1, seed: int | None = 0) -> str:
    """Return the tokens of the page's text that the training recipe would mask."""
    from explorer.analysis.distillation.losses import masked_text
    from explorer.views.distillation.masking import masking_html, masking_records

    run = text_runs.of(next(iter(state.ask.specs)))
    masked = masked_text(run, int(seed or 0) % MAX_SEED, min(int(rounds), ROUNDS[-1]))
    if masked is None:
        return note(strings.NOTHING_TO_MASK)
    sentence = strings.masking_note(len(run.tokens.mask_positions))
    html = masking_html(masked, sentence)
    return with_save_menu("distillation/masking", html, masking_records(masked), is_picture=False)


DEFAULTS = LiveSettings()


def build_live(state: gr.State) -> None:
    """Build the settings, the buttons and the canvas of the live training."""
    with fold("distillation", "live", strings.FOLD) as section:
        gr.HTML(note(strings.INTRO))
        controls = _controls()
        section.keep("live", **dict(zip(LiveSettings.__slots__, controls, strict=True)))
        with gr.Row(elem_classes="dv-buttons"):
            with_teacher, without_teacher = gr.Button(strings.WITH), gr.Button(strings.WITHOUT)
        with gr.Row(elem_classes="dv-buttons dv-run"):
            run, reset = gr.Button(strings.RUN, variant="primary"), gr.Button(strings.RESET)
            stop = gr.Button(strings.STOP, visible=False)
        canvas = Canvas("distillation/live")
        weights = controls[4:7]
        job_buttons({run.click: LIVE}, [state, *controls], [canvas], stop)
        usual = section.setting(controls, script_json(_defaults()))
        no_inputs = f"() => {{ ({usual})(); return []; }}"
        reset.click(reset_live, None, [*controls, canvas, stop], js=no_inputs, **AT_ONCE)
        for button, preset in ((with_teacher, [5.0, 2.0, 1.0]), (without_teacher, [0.0, 2.0, 0.0])):
            js = section.setting(weights, script_json(preset))
            button.click(None, None, weights, js=js, api_visibility="private")


def _controls() -> list[gr.components.Component]:
    """Build one control per field of ``LiveSettings``, in its order."""
    with gr.Row(elem_classes="dv-controls"):
        layers = gr.Radio([1, 2, 3], value=DEFAULTS.layers, label=strings.LAYERS)
        starts = [(label, key) for key, label in strings.STARTS.items()]
        start = gr.Radio(starts, value=DEFAULTS.start, label=strings.START)
        steps = _slider("steps", strings.STEPS, 10)
        temperature = _slider("temperature", strings.TEMPERATURE, 0.05)
    with gr.Row(elem_classes="dv-controls"):
        parts = (("ce", strings.CE), ("mlm", strings.MLM), ("cos", strings.COS))
        weights = [_slider(name, label, 0.1) for name, label in parts]
        seed = gr.Number(DEFAULTS.seed, label=strings.SEED, precision=0, minimum=0, maximum=2**31)
    return [layers, start, steps, temperature, *weights, seed]


def _slider(name: str, label: str, step: float) -> gr.Slider:
    low, high = LIMITS[name]
    return gr.Slider(low, high, getattr(DEFAULTS, name), step=step, label=label)


def _defaults() -> list[Any]:
    return [getattr(DEFAULTS, name) for name in LiveSettings.__slots__]


@dataclass(frozen=True, slots=True)
class LiveQuestion:
    """Student that is to be trained on the page's sentence."""

    state: PageState
    focus: Focus
    settings: LiveSettings


def ask_live(
    state: PageState | None,
    *chosen: Any,  # noqa: ANN401 - one value per control, checked in settings_of
) -> LiveQuestion:
    """Return the student that the controls describe.

    Raises:
        BadSettings: a value is out of range.
        NotAPair: the page shows no teacher with its student.
    """
    settings, state = settings_of(chosen), state or PageState()
    lineage_in(state)
    # The teacher is always the bundled one, whichever teacher the page shows.
    state = replace(state, family="mini", device="cpu", dtype="float32", teacher="", student="")
    return LiveQuestion(state, focus_of(state), settings)


def reset_live() -> list[Any]:
    """Stop the visitor's training; return the controls' defaults, no picture, no stop button."""
    supersede(LIVE)
    return [*_defaults(), "", gr.Button(visible=False)]


def settings_of(chosen: tuple[Any, ...]) -> LiveSettings:
    """Return the controls' values as settings; an empty field gets its default.

    Raises:
        BadSettings: a value is out of range.
    """
    named = zip(LiveSettings.__slots__, chosen, _defaults(), strict=True)
    values: dict[str, Any] = {
        name: default if value is None else type(default)(value) for name, value, default in named
    }
    return LiveSettings(**values)


def teach(question: LiveQuestion, cancel_token: CancelToken) -> Steps:
    """Train the student; yield all reports so far after each."""
    focus, latest = question.focus, None
    ask = replace(question.state.ask, text=focus.text)
    for live_run in live_distillation(ask, TEACHER, focus.mask, question.settings):
        cancel_token.check()
        if live_run is not None:
            latest = live_run
            yield Progress(part=latest)
    return latest


def draw_live(question: LiveQuestion, update: JobUpdate) -> list[Any]:
    """Return the canvas of the student so far, or of its place in the queue."""
    from explorer.views.distillation.live import LiveNotes, live_canvas, waiting_canvas

    live_run: LiveRun | None = shown(update)
    trained = [report.step for report in live_run.reports if report.parts] if live_run else []
    stopped = strings.LIVE_STOPPED.format(step=max(trained, default=0))
    if live_run is None or (update.stopped and not trained):
        waiting = (
            strings.WAITING.format(place=update.position) if update.position else strings.PREPARING
        )
        return [waiting_canvas(stopped if update.stopped else waiting)]
    sentence = (
        stopped if update.stopped else strings.live_sentence(question.settings, live_run.reports)
    )
    keys = {"teacher": TEACHER, "student": STUDENT}
    notes: LiveNotes = {
        "texts": strings.CANVAS,
        "sentence": sentence,
        "done": update.done,
        "keys": keys,
    }
    return [
        live_canvas(question.settings, live_run.reports, live_run.words, live_run.teacher, notes)
    ]


LIVE = Job("run_live", JobQueue("live"), ask_live, teach, draw_live)
