"""Folds of Distillation: losses, agreement, masking, a live student."""

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
from explorer.ui.distillation import strings as texts
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
    """The triple loss on the sentence, and the words that would be hidden in it."""
    with fold("distillation", "losses", texts.LOSSES_FOLD) as f:
        gr.HTML(el("h3", texts.LOSSES_TITLE))
        said, picture = gr.HTML(), Canvas("distillation/losses")
        f.on_open(plain_errors(losses_or_why), [state], [said, picture])
        gr.HTML(el("h3", texts.MASKING_TITLE))
        build_masking(f, state)


def losses_or_why(state: PageState | None) -> tuple[str, str]:
    """The losses; of a text without a word to hide, the sentence that says so."""
    try:
        return "", show_losses(state)
    except BadText as error:
        return note(str(error)), ""


def show_losses(state: PageState | None) -> str:
    """The three parts with their sliders, and the KL of each token."""
    from explorer.analysis.distillation.losses import sentence_losses
    from explorer.analysis.distillation.soft import piece_id
    from explorer.analysis.distillation.triple_loss import WEIGHTS
    from explorer.views.distillation import distillation_losses

    if state is None:
        return ""
    at = focus_of(state)
    pair = pair_logits(state, at.text)
    answer = piece_id(pair.teacher, at.answer) if at.answer else -1
    answers = (*(None,) * at.mask, answer if answer >= 0 else None)
    missing = texts.NOT_ONE_PIECE.format(word=at.answer) if at.answer else texts.NO_ANSWER
    losses = sentence_losses(pair, answers)
    both = texts.ce_twice(losses, len(pair.student.tokens.mask_positions))
    notes = [*texts.LOSSES["notes"], both, *([] if answer >= 0 else [missing])]
    notes += [texts.unlike_widths(pair)] if losses.cos is None else []
    start = {**WEIGHTS, "t": PageState().temperature}
    total = texts.LOSSES["total" if answer >= 0 else "total_without"]
    return distillation_losses(
        losses,
        pair.teacher,
        (at.word, answer),
        {**texts.LOSSES, "total": total, "notes": notes, "start": start},
    )


def build_agreement(state: gr.State) -> None:
    """Agreement over the bundled sentences; a sentence clicked becomes the page's text."""
    with fold("distillation", "agreement", texts.AGREEMENT_FOLD):
        with gr.Row():
            run = gr.Button(texts.RUN_AGREEMENT, variant="primary")
            stop = gr.Button(texts.AGREEMENT_STOP, visible=False)
        picture = Canvas("distillation/agreement")
        show_stop_on(stop, run)
        event = run.click(plain_errors(run_agreement), [state], [picture], **LIGHT)
        stop.click(None, None, None, cancels=[event], js=STOP_JS, api_visibility="private")
        hide_stop_after(stop, event)
        gr.HTML(note(fold_link(texts.ELSEWHERE, "depth", "similarity")))


def run_agreement(state: PageState | None) -> Iterator[str]:
    """Both models over every sentence, with progress; runs already made are not made again."""
    import numpy as np

    from explorer.analysis.distillation.soft import agreement_at_large, check_pair, piece_id
    from explorer.views.distillation import agreement_canvas, progress_canvas

    state, listed = state or PageState(), sentences()
    logits: dict[str, list[np.ndarray]] = {TEACHER: [], STUDENT: []}
    check_pair(*(run_of(key, state, listed[0]["text"]) for key in (TEACHER, STUDENT)))
    for done, sentence in enumerate(listed):
        for key, rows in logits.items():
            run = run_of(key, state, sentence["text"])
            rows.append(run.mask_logits[0])
        if done % 6 == 0:
            said = texts.AGREEMENT_PROGRESS.format(done=done, n=len(listed))
            yield progress_canvas(done, len(listed), said, texts.STOPPED.format(progress=said))
    answers = np.array([piece_id(run, sentence["answer"]) for sentence in listed])
    found = agreement_at_large(np.stack(logits[TEACHER]), np.stack(logits[STUDENT]), answers)
    teacher, student = (run_of(key, state, listed[0]["text"]).spec.label for key in logits)
    yield agreement_canvas(
        found,
        listed,
        run.vocabulary,
        texts.AGREEMENT,
        texts.agreement_note(found, (teacher, student)),
    )


def build_masking(f: Fold, state: gr.State) -> None:
    """The masking simulator, inside a fold."""
    with gr.Row():
        rounds = gr.Radio(list(ROUNDS), value=ROUNDS[0], label=texts.ROUNDS)
        seed = gr.Number(0, label=texts.MASKING_SEED, precision=0, minimum=0, maximum=MAX_SEED)
        again = gr.Button(texts.REPLAY)
    picture = gr.HTML()
    inputs = [state, rounds, seed]
    f.on_open(plain_errors(show_masking), inputs, [picture])
    gr.on([rounds.change, seed.change], plain_errors(show_masking), inputs, picture, **LIGHT)
    again.click(lambda n: int(n or 0) + 1, [seed], [seed], api_visibility="private")


def show_masking(state: PageState | None, rounds: int = 1, seed: int | None = 0) -> str:
    """What training would hide in the page's own text."""
    import numpy as np

    from explorer.analysis.distillation.losses import masking_simulation
    from explorer.views.distillation import masking_html, masking_numbers

    if state is None:
        return ""
    run = run_of(TEACHER, state, state.text)
    rounds = min(int(rounds), ROUNDS[-1])
    own = run.tokens.mask_positions
    shown = [i for i, special in enumerate(run.tokens.special) if not special]
    drawn_from = [i for i in shown if i not in own]
    if not drawn_from:
        return note(texts.NOTHING_TO_MASK)
    spelling = spelling_of(run.vocabulary)
    pool = [i for i, piece in enumerate(run.vocabulary) if spelling.text(piece).isalpha()]
    found = masking_simulation(len(drawn_from), np.array(pool), int(seed or 0) % MAX_SEED, rounds)
    pieces = [(spelling.word(run.tokens.pieces[i]), i in own) for i in shown]
    other = [spelling.word(run.vocabulary[i]) if i >= 0 else "" for i in found.swapped_ids]
    drawn = masking_html(found, pieces, other, texts.masking_note(len(own)))
    return with_save_menu(
        "distillation/masking", drawn, masking_numbers(found, len(pool)), is_picture=False
    )


JOB_QUEUE = JobQueue(nullcontext)
"""One student at a time; each of its steps is one job, so that others are answered between."""
WATCHED_WORDS = 8
DEFAULTS = LiveSettings()
LIVE_STOP_JS = "() => { document.dispatchEvent(new Event('explorer-live-stop')); }"


def build_live(state: gr.State) -> None:
    """The settings, the buttons and the picture."""
    with fold("distillation", "live", texts.FOLD):
        gr.HTML(note(texts.INTRO))
        controls = _controls()
        with gr.Row():
            run = gr.Button(texts.RUN, variant="primary")
            stop, reset = gr.Button(texts.STOP, visible=False), gr.Button(texts.RESET)
            taught, alone = gr.Button(texts.WITH), gr.Button(texts.WITHOUT)
        picture = Canvas("distillation/live")
        weights = controls[4:7]
        show_stop_on(stop, run)
        event = run.click(
            plain_errors(run_live),
            [state, *controls],
            [picture],
            api_visibility="private",
            concurrency_id="live",
            concurrency_limit=limits.OWN_LINE.most,
            show_progress="hidden",
        )
        stop.click(None, None, None, cancels=[event], js=LIVE_STOP_JS, api_visibility="private")
        hide_stop_after(stop, event, reset)
        reset.click(
            lambda: [*_defaults(), ""],
            None,
            [*controls, picture],
            cancels=[event],
            api_visibility="private",
        )
        taught.click(lambda: (5.0, 2.0, 1.0), None, weights, api_visibility="private")
        alone.click(lambda: (0.0, 2.0, 0.0), None, weights, api_visibility="private")


def _controls() -> list[gr.components.Component]:
    """One control per field of LiveSettings, in its order."""
    with gr.Row(elem_classes="dv-controls"):
        layers = gr.Radio([1, 2, 3], value=DEFAULTS.layers, label=texts.LAYERS)
        starts = [(label, key) for key, label in texts.STARTS.items()]
        start = gr.Radio(starts, value=DEFAULTS.start, label=texts.START)
        steps = _slider("steps", texts.STEPS, 10)
        temperature = _slider("temperature", texts.TEMPERATURE, 0.05)
    with gr.Row(elem_classes="dv-controls"):
        parts = (("ce", texts.CE), ("mlm", texts.MLM), ("cos", texts.COS))
        weights = [_slider(name, label, 0.1) for name, label in parts]
        seed = gr.Number(DEFAULTS.seed, label=texts.SEED, precision=0, minimum=0, maximum=2**31)
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
    """Wait for the place in line, then teach a student and show it after every few steps."""
    from explorer.views.distillation import waiting_canvas

    settings = settings_of(chosen)
    # The student learns from the bundled teacher, whatever family the page shows.
    state = replace(state or PageState(), family="mini", device="cpu", dtype="float32")
    at = focus_of(state)

    def drawn(update: JobUpdate) -> list[str]:
        waiting = texts.WAITING.format(place=update.place) if update.place else texts.PREPARING
        return [update.partial or waiting_canvas(waiting)]

    for (picture,) in running(
        JOB_QUEUE, lambda cancel_token: teach(state, at, settings, cancel_token), None, drawn
    ):
        yield picture


def settings_of(chosen: tuple[Any, ...]) -> LiveSettings:
    """The controls' values as settings; an emptied field counts as its default.

    Raises:
        BadSettings: a value is out of range.
    """
    named = zip(LiveSettings.__slots__, chosen, _defaults(), strict=True)
    values: dict[str, Any] = {
        name: usual if value is None else type(usual)(value) for name, value, usual in named
    }
    return LiveSettings(**values)


def teach(
    state: PageState, at: Focus, settings: LiveSettings, cancel_token: CancelToken
) -> Iterator[str]:
    """The run itself; it ends when it is through or nobody watches any more."""
    from explorer.analysis.distillation.soft import top_ids
    from explorer.analysis.measures import softmax
    from explorer.views.distillation import live_canvas, shown_word

    run = run_of(TEACHER, state, at.text)
    logits, position = run.mask_logits[at.mask], run.tokens.mask_positions[at.mask]
    ids = top_ids(logits, WATCHED_WORDS)
    watched = Watched(run.tokens.ids, position, tuple(int(i) for i in ids))
    taught = softmax(logits, settings.temperature)[ids]
    words = [shown_word(run.vocabulary, int(i)) for i in ids]
    reports: list[LiveReport] = []
    for report in live_lesson(run.spec, state, settings, watched):
        cancel_token.check()
        if report is None:
            continue
        reports.append(report)
        said = texts.live_sentence(settings, reports)
        yield live_canvas(
            settings,
            reports,
            words,
            taught,
            {
                "texts": texts.CANVAS,
                "sentence": said,
                "done": report.step == settings.steps,
            },
        )
