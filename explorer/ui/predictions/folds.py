"""Folds of Predictions: typed words, alternatives, every word masked, several masks, sources."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr

from explorer.analysis.predictions import (
    MAX_MASKS,
    Contrast,
    SpanScore,
    contrast,
)
from explorer.inference.cache import key_of, memo
from explorer.inference.runs import Runs
from explorer.library.predictions import attributions, targets_of
from explorer.library.refusals import not_one_piece
from explorer.library.spans import (
    Plans,
    asked_scores,
    contrasts,
    fillings,
    plans_of_words,
    priced,
)
from explorer.links.page_state import PageState
from explorer.models.run import Run, typeable_answers
from explorer.models.tokens import (
    MASK,
    BadText,
    Word,
    choose,
    clean_text,
    find_choices,
    plain_text,
    put_into,
)
from explorer.scheduling.cancel import CancelToken
from explorer.scheduling.job_queue import JobUpdate
from explorer.ui.kit.asked import with_runs
from explorer.ui.kit.canvas import Canvas, with_save_menu
from explorer.ui.kit.folds import fold
from explorer.ui.kit.jobs import LONG, Job, Progress, Steps, shown
from explorer.ui.kit.strings import PLACE
from explorer.ui.kit.validation import MAX_WORDS
from explorer.ui.predictions import attribution_strings, strings
from explorer.ui.predictions.strings import CONTRAST_TITLE, NO_MASK, NO_MODEL, asked_equals
from explorer.views.markup import Markup, el, join, note
from explorer.views.predictions import (
    contrast_html,
    contrast_records,
    joint_html,
    joint_records,
    word_score_records,
    word_score_table,
)

LONGEST_TARGET = 60


def build_every_word_fold(state: gr.State) -> None:
    """Build the strip of words that fills as batches finish, and its stop button."""
    with fold("predictions", "words", strings.WORDS_QUESTION) as section:
        message = gr.HTML()
        stop = gr.Button(strings.STOP, size="sm", elem_classes="pr-stop", visible=False)
        strip = Canvas("predictions/words")
        section.on_open_job(WORDS, [state], [message, strip], stop, show_progress="minimal")


@dataclass(frozen=True, slots=True, eq=False)
class EveryWordQuestion:
    """Models that predict every word of a text, and their plans for it."""

    state: PageState
    runs: Mapping[str, Run]
    plans: Plans


@with_runs
def ask_words(
    state: PageState | None, text_runs: Runs
) -> Generator[list[Any], None, EveryWordQuestion | None]:
    """Return the page's models that predict words; draw that there are none."""
    if state is None:
        return None
    runs, _ = text_runs.with_mlm_head
    if not runs:
        yield [note(NO_MODEL), ""]
        return None
    return EveryWordQuestion(state, runs, plans_of_words(runs))


def score_words(question: EveryWordQuestion, cancel_token: CancelToken) -> Steps:
    """Score every word; yield the scores so far after every round of batches."""
    scores: Mapping[str, tuple[SpanScore, ...]] = {}
    for growing in priced(question.runs, question.state.ask, question.plans):
        cancel_token.check()
        scores = {key: tuple(of_model) for key, of_model in growing.items()}
        yield Progress(part=scores)
    return scores


def draw_words(question: EveryWordQuestion, update: JobUpdate) -> list[Any]:
    """Return the finding and the strip as far as the words are scored."""
    from explorer.views.predictions import words_canvas

    if update.position:
        return [note(PLACE.format(n=update.position)), gr.skip()]
    scores = shown(update) or dict.fromkeys(question.plans, ())
    labels = {key: run.spec.label for key, run in question.runs.items()}
    tokens = next(iter(question.runs.values())).tokens
    done = {key: (len(of_model), len(question.plans[key])) for key, of_model in scores.items()}
    message = strings.STOPPED if update.stopped else strings.words_finding(scores, labels, done)
    return [message, words_canvas(tokens.words, tokens.text, scores, labels, strings.WORDS_CANVAS)]


WORDS = Job(
    "show_words",
    LONG,
    ask_words,
    score_words,
    draw_words,
    lambda question: ("words", *map(key_of, question.runs.values())),
)


MAX_CHOICES, MAX_ALTERNATIVES = 4, 8


@with_runs
def show_contrast(state: PageState, text_runs: Runs) -> Markup:
    """Return the comparison of every ``[a|b]`` in the text, or how to write one."""
    text = plain_text(state.text)
    choices = {choice: [*dict.fromkeys(choice.alternatives)] for choice in find_choices(text)}
    choices = {choice: different for choice, different in choices.items() if len(different) > 1}
    if not choices:
        return note(strings.CONTRAST_HINT)
    if len(choices) > MAX_CHOICES or max(map(len, choices.values())) > MAX_ALTERNATIVES:
        return note(
            strings.CONTRAST_TOO_MUCH.format(choices=MAX_CHOICES, alternatives=MAX_ALTERNATIVES)
        )
    runs, _ = text_runs.with_mlm_head
    if not runs:
        return note(NO_MODEL)
    blocks: list[Markup] = []
    for choice, alternatives in choices.items():
        stretches = [choose(text, choice, alternative) for alternative in alternatives]
        try:
            results = contrasts(runs, state.ask, stretches)
        except BadText as refusal:
            return note(str(refusal))
        html = contrast_html(results, strings.CONTRAST)
        blocks += [strings.contrast_finding(results)]
        blocks += [
            with_save_menu("predictions/contrast", html, contrast_records(results, stretches))
        ]
    return join(*blocks, note(strings.CONTRAST_RULE))


MAX_CANDIDATES, MAX_GAPS, MAX_LETTERS = 8, 4, 60


def build_ask_fold(state: gr.State) -> None:
    """Build the box for words and their scores; below, the alternatives in the text."""
    with fold("predictions", "ask", strings.ASK_QUESTION) as section:
        gr.HTML(el("h3", strings.ASK_TITLE))
        with gr.Row(elem_classes="pr-ask"):
            box = gr.Textbox(
                label=strings.ASK_LABEL,
                placeholder=strings.ASK_PLACEHOLDER,
                max_lines=1,
                max_length=MAX_CANDIDATES * (MAX_LETTERS + 2),
                scale=5,
            )
            button = gr.Button(strings.ASK_BUTTON, scale=1)
        answer = gr.HTML()
        section.keep("ask", words=box)
        section.on_open(show_asked, [state, box], [answer], also=[button.click, box.submit])
        gr.HTML(el("h3", CONTRAST_TITLE))
        section.on_open(show_contrast, [state], [gr.HTML()])


@with_runs
def show_asked(state: PageState, text_runs: Runs, typed: str) -> Markup:
    """Return probability and rank of each typed word at each mask."""
    runs, _ = text_runs.with_mlm_head
    if not runs:
        return note(NO_MODEL)
    gaps = [word for word in next(iter(runs.values())).tokens.words if word.is_mask]
    wanted = split_asked(typed)
    if not gaps or not wanted:
        return note(NO_MASK if not gaps else strings.ASK_HINT)
    pairs = [(word, number) for number in range(min(len(gaps), MAX_GAPS)) for word in wanted]
    first = strings.FIRST_MASKS.format(n=MAX_GAPS, all=len(gaps))
    return join(
        answer_table(runs, state, gaps, pairs), note(first) if len(gaps) > MAX_GAPS else None
    )


def split_asked(typed: str) -> list[str]:
    """Return the words or phrases between the commas.

    Raises:
        BadText: too many, too long, or one that is a special token.
    """
    words = list(dict.fromkeys(part.strip() for part in plain_text(typed or "").split(",")))
    words = [word for word in words if word]
    if len(words) > MAX_CANDIDATES or any(len(word) > MAX_LETTERS for word in words):
        raise BadText(strings.ASK_TOO_MUCH.format(words=MAX_CANDIDATES, letters=MAX_LETTERS))
    if any("[" in word or "]" in word for word in words):
        raise BadText(strings.ASK_BRACKETS)
    return words


def answer_table(
    runs: dict[str, Run], state: PageState, gaps: list[Word], pairs: list[tuple[str, int]]
) -> Markup:
    """Return the table of every (word, mask) pair."""
    text = next(iter(runs.values())).tokens.text
    stretches = [put_into(text, gaps[number], word) for word, number in pairs]
    cells = asked_scores(runs, state.ask, stretches)
    rows = [
        (strings.asked_title(word, number, len(gaps)), {key: cells[key][i] for key in runs})
        for i, (word, number) in enumerate(pairs)
    ]
    labels = {key: run.spec.label for key, run in runs.items()}
    sizes = {key: len(run.vocabulary) for key, run in runs.items()}
    equals = [
        asked_equals(_among(key, run, cells[key], pairs, gap), gap, len(gaps))
        for gap in range(len(gaps))
        for key, run in runs.items()
    ]
    table = with_save_menu(
        "predictions/asked",
        word_score_table(rows, labels, sizes, strings.ASK_TABLE),
        word_score_records(pairs, cells, labels, sizes, stretches),
        is_picture=False,
    )
    return join(table, *equals, note(strings.ASK_RULE))


def _among(
    key: str, run: Run, cells: list[SpanScore | str], pairs: list[tuple[str, int]], gap: int
) -> Contrast:
    """Compare the typed words at one mask in one model, without those it cannot read."""
    scores = [
        score
        for score, (_, number) in zip(cells, pairs, strict=True)
        if number == gap and not isinstance(score, str)
    ]
    return contrast(key, run.spec.label, scores)


def build_joint_fold(state: gr.State) -> None:
    """Build the two fillings of several masks for every model."""
    with fold("predictions", "joint", strings.JOINT_QUESTION) as section:
        html = gr.HTML()
        section.on_open(show_joint, [state], [html])


@with_runs
def show_joint(state: PageState, text_runs: Runs) -> Markup:
    """Return both fillings of the state's text, or what the text needs."""
    runs, _ = text_runs.with_mlm_head
    n_masks = len(next(iter(runs.values())).tokens.mask_positions) if runs else 0
    if not runs or not 2 <= n_masks <= MAX_MASKS:
        return note(strings.JOINT_NEEDS.format(n=n_masks, most=MAX_MASKS) if runs else NO_MODEL)
    results = fillings(runs, state.ask)
    html = with_save_menu(
        "predictions/joint",
        joint_html(results, strings.JOINT),
        joint_records(results),
        is_picture=False,
    )
    return join(strings.joint_finding(results), html, note(strings.JOINT_RULE))


def build_attribution_fold(state: gr.State) -> None:
    """Build the text of every model with its words coloured."""
    with fold("predictions", "attribution", attribution_strings.QUESTION) as section:
        with gr.Row(elem_classes="pr-ask"):
            box = gr.Textbox(
                label=attribution_strings.TARGET,
                placeholder=attribution_strings.TARGET_PLACEHOLDER,
                max_lines=1,
                max_length=LONGEST_TARGET,
                scale=5,
                min_width=240,
            )
            mask = gr.Number(
                label=attribution_strings.WHICH_MASK,
                precision=0,
                minimum=1,
                scale=1,
                visible="hidden",
            )
        offers = gr.Radio([], label=attribution_strings.ASK_ALL, visible="hidden")
        html = gr.HTML()
        section.keep("attribution", answer=box, mask=mask)
        inputs, outputs = [state, box, mask], [html, mask, offers]
        section.on_open(draw_attribution, inputs, outputs, also=[box.submit, mask.change])
        chosen = section.on_choice(offers, box, attribution_strings.OWN)
        section.after(chosen, draw_attribution, inputs, outputs)


def draw_attribution(state: PageState, target: str, mask: int | None) -> list[Any]:
    """Return the attributions, and the choices of a mask and of one word for all models.

    A choice is visible where there is more than one of its kind.
    """
    several = clean_text(state.text).count(MASK) > 1
    drawn = show_attribution(state, target, mask)
    return [drawn, gr.Number(visible=several or "hidden"), _offers(state, target, mask)]


@with_runs
def _offers(state: PageState, text_runs: Runs, target: str, number: int | None) -> gr.Radio:
    """Return the choice of one word that all models are asked about: each one's own answer."""
    runs, _ = text_runs.with_mlm_head
    n_masks = min((len(run.tokens.mask_positions) for run in runs.values()), default=0)
    if not n_masks:
        return gr.Radio(choices=[], value=None, visible="hidden")
    answers = typeable_answers(runs, min(state.mask if number is None else number - 1, n_masks - 1))
    labels = {key: run.spec.label for key, run in runs.items()}
    choices = attribution_strings.offered_words(answers, labels)
    typed = plain_text(target or "").strip()
    asked = typed or attribution_strings.OWN
    value = asked if asked in dict(choices).values() else None
    is_choice = len(choices) > 2 or bool(typed)
    return gr.Radio(choices=choices, value=value, visible=is_choice or "hidden")


@with_runs
def show_attribution(
    state: PageState | None, text_runs: Runs, target: str = "", number: int | None = None
) -> Markup:
    """Return the attributions at a mask, of a typed answer or of each model's own.

    Args:
        state: The page's state; None shows nothing.
        text_runs: Its runs.
        target: The answer; empty: each model's own.
        number: The mask, counted from 1, the last one if there are fewer; None: the state's.
    """
    from explorer.views.predictions import attribution_html, attribution_records

    if state is None:
        return note("")
    runs, _ = text_runs.with_mlm_head
    if not runs:
        return note(NO_MODEL)
    tokens = next(iter(runs.values())).tokens
    if not tokens.mask_positions:
        return note(attribution_strings.NO_MASK)
    if len(tokens.words) > MAX_WORDS:
        return note(attribution_strings.TOO_LONG.format(n=len(tokens.words), most=MAX_WORDS))
    n = len(tokens.mask_positions)
    mask = min(state.mask if number is None else number - 1, n - 1)
    word = plain_text(target or "").strip()
    targets, unknown = targets_of(runs, mask, word)
    refusals = [note(str(error)) for error in unknown.values()]
    if not targets:
        return note(not_one_piece(word, [run.spec.label for run in runs.values()]))
    key = ("attribution", mask, word, *(key_of(run) for run in runs.values()))
    results = memo(
        key, lambda: attributions({k: runs[k] for k in targets}, state.ask, mask, targets)
    )
    records = attribution_records(results, mask, word)
    return join(
        note(attribution_strings.MASK_OF.format(i=mask + 1, n=n)) if n > 1 else None,
        attribution_strings.attribution_finding(results),
        None if word else attribution_strings.own_answers_note(results),
        *refusals,
        with_save_menu(
            "predictions/attribution", attribution_html(results, attribution_strings.TEXTS), records
        ),
        note(attribution_strings.NOTE),
    )
