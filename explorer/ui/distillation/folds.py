"""The deeper questions of the distillation tab; each is computed when its fold is opened."""

from collections.abc import Iterator

import gradio as gr

from explorer.assets import sentences
from explorer.links.page_state import PageState
from explorer.models.spelling import spelling_of
from explorer.models.tokens import BadText
from explorer.ui.distillation import folds_words as texts
from explorer.ui.distillation.runs import (
    STUDENT,
    TEACHER,
    focus_of,
    pair_logits,
    run_of,
)
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.export import with_save_menu
from explorer.ui.kit.folds import Fold, fold
from explorer.ui.kit.queues import LIGHT
from explorer.ui.kit.running import hide_stop_after, show_stop_on
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
    from explorer.views.distillation.losses import distillation_losses

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
            stop = gr.Button(texts.STOP, visible=False)
        picture = Canvas("distillation/agreement")
        show_stop_on(stop, run)
        event = run.click(plain_errors(run_agreement), [state], [picture], **LIGHT)
        stop.click(None, None, None, cancels=[event], js=STOP_JS, api_visibility="private")
        hide_stop_after(stop, event)
        gr.HTML(note(fold_link(texts.ELSEWHERE, "depth", "similarity")))


def run_agreement(state: PageState | None) -> Iterator[str]:
    """Both models over every sentence, with progress; runs already made are not made again."""
    import numpy as np

    from explorer.analysis.distillation.agreement import agreement_at_large
    from explorer.analysis.distillation.soft import check_pair, piece_id
    from explorer.views.distillation.agreement import agreement_canvas, progress_canvas

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
        seed = gr.Number(0, label=texts.SEED, precision=0, minimum=0, maximum=MAX_SEED)
        again = gr.Button(texts.REPLAY)
    picture = gr.HTML()
    inputs = [state, rounds, seed]
    f.on_open(plain_errors(show_masking), inputs, [picture])
    gr.on([rounds.change, seed.change], plain_errors(show_masking), inputs, picture, **LIGHT)
    again.click(lambda n: int(n or 0) + 1, [seed], [seed], api_visibility="private")


def show_masking(state: PageState | None, rounds: int = 1, seed: int | None = 0) -> str:
    """What training would hide in the page's own text."""
    import numpy as np

    from explorer.analysis.distillation.masking import masking_simulation
    from explorer.views.distillation.masking import masking_html, masking_numbers

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
