"""Fold: how likely a word of the reader's own is, in each gap and model."""

import gradio as gr

from explorer.analysis.predictions.contrast import Contrast, contrast
from explorer.analysis.predictions.every_word import SpanPlan, SpanScore
from explorer.inference.runs import runs_with_mlm_head
from explorer.links.page_state import PageState
from explorer.models.run import Run
from explorer.models.tokens import BadText, Word, plain_text, put_into
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.export import with_save_menu
from explorer.ui.kit.folds import fold
from explorer.ui.kit.queues import LIGHT
from explorer.ui.predictions import folds_words as texts
from explorer.ui.predictions.contrast import show_contrast
from explorer.ui.predictions.contrast_words import CONTRAST_TITLE, asked_equals
from explorer.ui.predictions.masked_scores import final_scores, plans_of
from explorer.ui.predictions.words import NO_MASK, NO_MODEL
from explorer.views.markup import Markup, el, join, note
from explorer.views.predictions.every_word import asked_numbers, asked_table

MAX_WORDS, MAX_GAPS, MAX_LETTERS = 8, 4, 60


def build_fold(state: gr.State) -> None:
    """A box for words and what the models think of them; below, the words the text offers."""
    with fold("predictions", "ask", texts.ASK_QUESTION) as ask:
        gr.HTML(el("h3", texts.ASK_TITLE))
        with gr.Row(elem_classes="pr-ask"):
            box = gr.Textbox(
                label=texts.ASK_LABEL, placeholder=texts.ASK_PLACEHOLDER, max_lines=1, scale=5
            )
            button = gr.Button(texts.ASK_BUTTON, scale=1)
        answer = gr.HTML()
        ask.on_open(show_asked, [state, box], [answer])
        gr.on(
            [button.click, box.submit],
            plain_errors(show_asked),
            [state, box],
            [answer],
            **LIGHT,
        )
        gr.HTML(el("h3", CONTRAST_TITLE))
        ask.on_open(show_contrast, [state], [gr.HTML()])


def show_asked(state: PageState | None, asked: str) -> Markup:
    """Probability and rank of each asked word in each gap."""
    if state is None:
        return note("")
    runs, _ = runs_with_mlm_head(state)
    if not runs:
        return note(NO_MODEL)
    gaps = [word for word in next(iter(runs.values())).tokens.words if word.is_mask]
    wanted = split_asked(asked)
    if not gaps or not wanted:
        return note(NO_MASK if not gaps else texts.ASK_HINT)
    pairs = [(word, number) for number in range(min(len(gaps), MAX_GAPS)) for word in wanted]
    return answer_table(runs, state, gaps, pairs)


def split_asked(asked: str) -> list[str]:
    """The words or phrases between the commas.

    Raises:
        BadText: too many, too long, or one that is a special token.
    """
    words = list(dict.fromkeys(part.strip() for part in plain_text(asked or "").split(",")))
    words = [word for word in words if word]
    if len(words) > MAX_WORDS or any(len(word) > MAX_LETTERS for word in words):
        raise BadText(texts.ASK_TOO_MUCH.format(words=MAX_WORDS, letters=MAX_LETTERS))
    if any("[" in word or "]" in word for word in words):
        raise BadText(texts.ASK_BRACKETS)
    return words


def answer_table(
    runs: dict[str, Run], state: PageState, gaps: list[Word], pairs: list[tuple[str, int]]
) -> Markup:
    """The table of every (word, gap) pair."""
    found: dict[str, list[SpanScore | str]] = {key: [] for key in runs}
    plans: dict[str, list[SpanPlan]] = {key: [] for key in runs}
    text = next(iter(runs.values())).tokens.text
    stretches = [put_into(text, gaps[number], word) for word, number in pairs]
    for key, run in runs.items():
        for planned in plans_of(run, state, stretches):
            found[key].append(planned if isinstance(planned, str) else "")
            plans[key] += [] if isinstance(planned, str) else [planned]
    scores = final_scores(runs, state, plans)
    for key in runs:
        arrived = iter(scores[key])
        found[key] = [refusal or next(arrived) for refusal in found[key]]
    rows = [
        (texts.asked_title(word, number, len(gaps)), {key: found[key][i] for key in runs})
        for i, (word, number) in enumerate(pairs)
    ]
    labels = {key: run.spec.label for key, run in runs.items()}
    sizes = {key: len(run.vocabulary) for key, run in runs.items()}
    equals = [
        asked_equals(_among(key, run, found[key], pairs, gap), gap, len(gaps))
        for gap in range(len(gaps))
        for key, run in runs.items()
    ]
    table = with_save_menu(
        "predictions/asked",
        asked_table(rows, labels, sizes, texts.ASK_TABLE),
        asked_numbers(pairs, found, labels, sizes, stretches),
        is_picture=False,
    )
    return join(table, *equals, note(texts.ASK_RULE))


def _among(
    key: str, run: Run, found: list[SpanScore | str], pairs: list[tuple[str, int]], gap: int
) -> Contrast:
    """What one model makes of the asked words in one gap, as far as it can read them."""
    here = [
        score
        for score, (_, number) in zip(found, pairs, strict=True)
        if number == gap and not isinstance(score, str)
    ]
    return contrast(key, run.spec.label, here)
