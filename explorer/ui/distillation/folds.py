"""Folds of Distillation: losses, agreement, masking, a student trained live."""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import gradio as gr

from explorer import limits
from explorer.analysis.distillation.live import LIMITS, LiveReport, LiveSettings, Watched
from explorer.assets import sentences
from explorer.inference.runs import live_lesson
from explorer.inference.scheduling.cancel import CancelToken
from explorer.inference.scheduling.job_queue import JobQueue, JobUpdate
from explorer.links.page_state import PageState
from explorer.models.tokens import BadText, spelling_of
from explorer.ui.distillation import strings
from explorer.ui.distillation.runs import (
    STUDENT,
    TEACHER,
    Focus,
    focus_of,
    pair_logits,
    run_of,
)
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.export import with_save_menu
from explorer.ui.kit.folds import Fold, fold
from explorer.ui.kit.running import LIGHT, hide_stop_after, running, show_stop_on
from explorer.views.markup import el, fold_link, note

ROUNDS = (1, 100, 10_000)
MAX_SEED = 2**31
STOP_JS = "() => { document.dispatchEvent(new Event('explorer-agreement-stop')); }"


def build_losses(state: gr.State) -> None:
    """Build the fold of the triple loss on the sentence and of the masking simulator."""
    with fold("distillation", "losses", strings.LOSSES_FOLD) as section:
        gr.HTML(el("h3", strings.LOSSES_TITLE))
        message, canvas = gr.HTML(), Canvas("distillation/losses")
        section.on_open(plain_errors(losses_or_why), [state], [message, canvas])
        gr.HTML(el("h3", strings.MASKING_TITLE))
        build_masking(section, state)


def losses_or_why(state: PageState | None) -> tuple[str, str]:
    """Return message and losses; for a text without a word to mask only the message."""
    try:
        return "", show_losses(state)
    except BadText as error:
        return note(str(error)), ""


def show_losses(state: PageState | None) -> str:
    """Return the three losses with their weight sliders, and the KL of each token."""
    from explorer.analysis.distillation.losses import sentence_losses
    from explorer.analysis.distillation.soft import piece_id
    from explorer.analysis.distillation.triple_loss import WEIGHTS
    from explorer.views.distillation import distillation_losses

    if state is None:
        return ""
    focus = focus_of(state)
    pair = pair_logits(state, focus.text)
    answer = piece_id(pair.teacher, focus.answer) if focus.answer else -1
    answers = (*(None,) * focus.mask, answer if answer >= 0 else None)
    no_answer = (
        strings.NOT_ONE_PIECE.format(word=focus.answer) if focus.answer else strings.NO_ANSWER
    )
    losses = sentence_losses(pair, answers)
    ce_note = strings.ce_twice(losses, len(pair.student.tokens.mask_positions))
    notes = [*strings.LOSSES["notes"], ce_note, *([] if answer >= 0 else [no_answer])]
    notes += [strings.unlike_widths(pair)] if losses.cos is None else []
    start = {**WEIGHTS, "t": PageState().temperature}
    total = strings.LOSSES["total" if answer >= 0 else "total_without"]
    return distillation_losses(
        losses,
        pair.teacher,
        (focus.word, answer),
        {**strings.LOSSES, "total": total, "notes": notes, "start": start},
    )


def build_agreement(state: gr.State) -> None:
    """Build the agreement over the bundled sentences; a click on one loads it into the page."""
    with fold("distillation", "agreement", strings.AGREEMENT_FOLD):
        with gr.Row():
            run = gr.Button(strings.RUN_AGREEMENT, variant="primary")
            stop = gr.Button(strings.AGREEMENT_STOP, visible=False)
        canvas = Canvas("distillation/agreement")
        show_stop_on(stop, run)
        event = run.click(plain_errors(run_agreement), [state], [canvas], **LIGHT)
        stop.click(None, None, None, cancels=[event], js=STOP_JS, api_visibility="private")
        hide_stop_after(stop, event)
        gr.HTML(note(fold_link(strings.ELSEWHERE, "depth", "similarity")))


def run_agreement(state: PageState | None) -> Iterator[str]:
    """Run both models on every sentence; yield progress, then the result. Runs are cached."""
    import numpy as np

    from explorer.analysis.distillation.soft import agreement_at_large, check_pair, piece_id
    from explorer.views.distillation import agreement_canvas, progress_canvas

    state, examples = state or PageState(), sentences()
    logits: dict[str, list[np.ndarray]] = {TEACHER: [], STUDENT: []}
    check_pair(*(run_of(key, state, examples[0]["text"]) for key in (TEACHER, STUDENT)))
    for n_done, sentence in enumerate(examples):
        for key, rows in logits.items():
            run = run_of(key, state, sentence["text"])
            rows.append(run.mask_logits[0])
        if n_done % 6 == 0:
            message = strings.AGREEMENT_PROGRESS.format(done=n_done, n=len(examples))
            yield progress_canvas(
                n_done, len(examples), message, strings.STOPPED.format(progress=message)
            )
    answers = np.array([piece_id(run, sentence["answer"]) for sentence in examples])
    agreement = agreement_at_large(np.stack(logits[TEACHER]), np.stack(logits[STUDENT]), answers)
    teacher, student = (run_of(key, state, examples[0]["text"]).spec.label for key in logits)
    yield agreement_canvas(
        agreement,
        examples,
        run.vocabulary,
        strings.AGREEMENT,
        strings.agreement_note(agreement, (teacher, student)),
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
    f.on_open(plain_errors(show_masking), inputs, [picture])
    gr.on([rounds.change, seed.change], plain_errors(show_masking), inputs, picture, **LIGHT)
    replayed = again.click(lambda n: int(n or 0) + 1, [seed], [seed], api_visibility="private")
    replayed.then(None, [seed], None, **f.told(seed))


def show_masking(state: PageState | None, rounds: int = 1, seed: int | None = 0) -> str:
    """Return the tokens of the page's text that the training recipe would mask."""
    import numpy as np

    from explorer.analysis.distillation.losses import masking_simulation
    from explorer.views.distillation import masking_html, masking_numbers

    if state is None:
        return ""
    run = run_of(TEACHER, state, state.text)
    rounds = min(int(rounds), ROUNDS[-1])
    own_masks = run.tokens.mask_positions
    indices = [i for i, special in enumerate(run.tokens.special) if not special]
    candidates = [i for i in indices if i not in own_masks]
    if not candidates:
        return note(strings.NOTHING_TO_MASK)
    spelling = spelling_of(run.vocabulary)
    pool = [i for i, piece in enumerate(run.vocabulary) if spelling.text(piece).isalpha()]
    simulation = masking_simulation(
        len(candidates), np.array(pool), int(seed or 0) % MAX_SEED, rounds
    )
    pieces = [(spelling.word(run.tokens.pieces[i]), i in own_masks) for i in indices]
    replacements = [
        spelling.word(run.vocabulary[i]) if i >= 0 else "" for i in simulation.swapped_ids
    ]
    html = masking_html(simulation, pieces, replacements, strings.masking_note(len(own_masks)))
    return with_save_menu(
        "distillation/masking", html, masking_numbers(simulation, len(pool)), is_picture=False
    )


JOB_QUEUE = JobQueue(nullcontext)
"""Queue of one student at a time; other requests are answered between its steps."""
WATCHED_WORDS = 8
DEFAULTS = LiveSettings()
LIVE_STOP_JS = "() => { document.dispatchEvent(new Event('explorer-live-stop')); }"


def build_live(state: gr.State) -> None:
    """Build the settings, the buttons and the canvas of the live training."""
    with fold("distillation", "live", strings.FOLD) as section:
        gr.HTML(note(strings.INTRO))
        controls = _controls()
        section.keep("live", **dict(zip(LiveSettings.__slots__, controls, strict=True)))
        with gr.Row():
            run = gr.Button(strings.RUN, variant="primary")
            stop, reset = gr.Button(strings.STOP, visible=False), gr.Button(strings.RESET)
            with_teacher, without_teacher = gr.Button(strings.WITH), gr.Button(strings.WITHOUT)
        canvas = Canvas("distillation/live")
        weights = controls[4:7]
        show_stop_on(stop, run)
        event = run.click(
            plain_errors(run_live),
            [state, *controls],
            [canvas],
            api_visibility="private",
            concurrency_id="live",
            concurrency_limit=limits.OWN_LINE.most,
            show_progress="hidden",
        )
        stop.click(None, None, None, cancels=[event], js=LIVE_STOP_JS, api_visibility="private")
        hide_stop_after(stop, event, reset)
        presets = [
            reset.click(
                lambda: [*_defaults(), ""],
                None,
                [*controls, canvas],
                cancels=[event],
                api_visibility="private",
            ),
            with_teacher.click(lambda: (5.0, 2.0, 1.0), None, weights, api_visibility="private"),
            without_teacher.click(lambda: (0.0, 2.0, 0.0), None, weights, api_visibility="private"),
        ]
        for preset in presets:
            preset.then(None, controls, None, **section.told(*controls))


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


def run_live(
    state: PageState | None,
    *chosen: Any,  # noqa: ANN401 - one value per control, checked in settings_of
) -> Iterator[str]:
    """Wait in the queue, then train a student; yield the canvas every few steps."""
    from explorer.views.distillation import waiting_canvas

    settings = settings_of(chosen)
    # The teacher is always the bundled one, whatever family the page shows.
    state = replace(state or PageState(), family="mini", device="cpu", dtype="float32")
    focus = focus_of(state)

    def draw(update: JobUpdate) -> list[str]:
        message = strings.WAITING.format(place=update.place) if update.place else strings.PREPARING
        return [update.partial or waiting_canvas(message)]

    for (picture,) in running(
        JOB_QUEUE, lambda cancel_token: teach(state, focus, settings, cancel_token), None, draw
    ):
        yield picture


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


def teach(
    state: PageState, at: Focus, settings: LiveSettings, cancel_token: CancelToken
) -> Iterator[str]:
    """Train the student and yield the canvas after each report, until done or cancelled."""
    from explorer.analysis.distillation.soft import top_ids
    from explorer.analysis.measures import softmax
    from explorer.views.distillation import live_canvas, shown_word

    run = run_of(TEACHER, state, at.text)
    logits, position = run.mask_logits[at.mask], run.tokens.mask_positions[at.mask]
    ids = top_ids(logits, WATCHED_WORDS)
    watched = Watched(run.tokens.ids, position, tuple(int(i) for i in ids))
    teacher_probabilities = softmax(logits, settings.temperature)[ids]
    words = [shown_word(run.vocabulary, int(i)) for i in ids]
    reports: list[LiveReport] = []
    for report in live_lesson(run.spec, state, settings, watched):
        cancel_token.check()
        if report is None:
            continue
        reports.append(report)
        sentence = strings.live_sentence(settings, reports)
        yield live_canvas(
            settings,
            reports,
            words,
            teacher_probabilities,
            {
                "texts": strings.CANVAS,
                "sentence": sentence,
                "done": report.step == settings.steps,
            },
        )
