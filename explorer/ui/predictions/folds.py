"""Folds of Predictions: words asked for, contrasts, every word masked, several masks."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import gradio as gr
import numpy as np

from explorer.analysis.predictions import (
    MAX_MASKS,
    Contrast,
    MaskFillings,
    SpanPlan,
    SpanScore,
    contrast,
    loaded_plans,
    mask_fillings,
    span_score,
)
from explorer.inference.runs import call_on_model, gather, runs_with_mlm_head
from explorer.links.page_state import PageState
from explorer.models.run import MaskedRow, Run, batches
from explorer.models.tokens import BadText, Word, choose, find_choices, plain_text, put_into
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.export import with_save_menu
from explorer.ui.kit.folds import fold
from explorer.ui.kit.running import AT_ONCE, LIGHT, LONG
from explorer.ui.predictions import strings as texts
from explorer.ui.predictions.strings import CONTRAST_TITLE, NO_MASK, NO_MODEL, asked_equals
from explorer.views.markup import Markup, el, join, note
from explorer.views.predictions import (
    asked_numbers,
    asked_table,
    contrast_html,
    contrast_numbers,
    joint_html,
    joint_numbers,
)

Runs = Mapping[str, Run]
Plans = Mapping[str, Sequence[SpanPlan]]
Scores = dict[str, list[SpanScore]]


def plans_of(
    run: Run, state: PageState, stretches: Sequence[tuple[str, Word]]
) -> list[SpanPlan | str]:
    """How a run's model prices stretches of texts, or the sentence that says why it cannot."""
    return call_on_model(loaded_plans, run.spec, state, tuple(stretches))


def batch_logits(run: Run, state: PageState, rows: Sequence[MaskedRow]) -> np.ndarray:
    """Logits [row, vocabulary] of one batch, by a run's model."""
    from explorer.models.scoring import row_logits

    return call_on_model(row_logits, run.spec, state, rows)


def all_logits(run: Run, state: PageState, rows: Sequence[MaskedRow]) -> np.ndarray:
    """Logits [row, vocabulary] of rows of one length, batch after batch."""
    return np.concatenate([batch_logits(run, state, batch) for batch in batches(rows)])


def priced(runs: Runs, state: PageState, plans: Plans) -> Iterator[Scores]:
    """Each model's scores so far: at once (none yet), then after every round of batches.

    Rounds keep the workers free for other visitors in between, and a reader who stops waits for
    one batch at most.
    """
    waiting = {
        key: deque(batches([row for plan in listed for row in plan.rows]))
        for key, listed in plans.items()
    }
    rows: dict[str, deque[np.ndarray]] = {key: deque() for key in plans}
    scores: Scores = {key: [] for key in plans}
    yield scores
    while any(waiting.values()):
        asked = {
            key: partial(batch_logits, runs[key], state, queue.popleft())
            for key, queue in waiting.items()
            if queue
        }
        for key, logits in zip(asked, gather(list(asked.values())), strict=True):
            rows[key].extend(logits)
        for key, listed in plans.items():
            _take_complete(runs[key], listed, rows[key], scores[key])
        yield scores


def final_scores(runs: Runs, state: PageState, plans: Plans) -> Scores:
    """Each model's scores when all is done."""
    scores: Scores = {key: [] for key in plans}
    for scores in priced(runs, state, plans):  # noqa: B007 - only the last round is wanted
        pass
    return scores


def _take_complete(
    run: Run, plans: Sequence[SpanPlan], rows: deque[np.ndarray], scores: list[SpanScore]
) -> None:
    """Score every plan whose rows have all arrived, in order."""
    for plan in plans[len(scores) :]:
        if len(rows) < len(plan.rows):
            return
        logits = np.stack([rows.popleft() for _ in plan.rows])
        scores.append(span_score(plan, logits, run.vocabulary))


def build_every_word_fold(state: gr.State) -> None:
    """A strip of tiles that fills while the models work; it can be stopped."""
    with fold("predictions", "words", texts.WORDS_QUESTION) as words:
        line = gr.HTML()
        stop = gr.Button(texts.STOP, size="sm", elem_classes="pr-stop", visible=False)
        strip = Canvas("predictions/words")
        running = words.on_open(show_words, [state], [line, strip, stop], **LONG)
        stop.click(stopped, None, [line, stop], cancels=[running], **AT_ONCE)


def stopped() -> tuple[str, gr.Button]:
    """What the fold says when the reader has had enough."""
    return texts.STOPPED, gr.Button(visible=False)


def show_words(state: PageState | None) -> Iterator[tuple[str, str, gr.Button]]:
    """The strip after every round of batches."""
    from explorer.views.predictions import words_canvas

    if state is None:
        yield "", "", gr.Button(visible=False)
        return
    runs, _ = runs_with_mlm_head(state)
    if not runs:
        yield note(NO_MODEL), "", gr.Button(visible=False)
        return
    plans = plans_of_words(runs)
    labels = {key: run.spec.label for key, run in runs.items()}
    tokens = next(iter(runs.values())).tokens
    for scores in priced(runs, state, plans):
        done = {key: (len(found), len(plans[key])) for key, found in scores.items()}
        yield (
            texts.words_finding(scores, labels, done),
            words_canvas(tokens.words, tokens.text, scores, labels, texts.WORDS_CANVAS),
            gr.Button(visible=any(count < total for count, total in done.values())),
        )


def plans_of_words(runs: dict[str, Run]) -> Plans:
    """What each model has to price: every word of the text, masked in turn."""
    from explorer.analysis.predictions import word_plans

    return {key: word_plans(run.tokens, run.mask_id) for key, run in runs.items()}


MAX_CHOICES, MAX_ALTERNATIVES = 4, 8


def show_contrast(state: PageState | None) -> Markup:
    """Every choice in the state's text, or how to write one."""
    if state is None:
        return note("")
    text = plain_text(state.text)
    offered = find_choices(text)
    if not offered:
        return note(texts.CONTRAST_HINT)
    if len(offered) > MAX_CHOICES or any(
        len(choice.alternatives) > MAX_ALTERNATIVES for choice in offered
    ):
        raise BadText(
            texts.CONTRAST_TOO_MUCH.format(choices=MAX_CHOICES, alternatives=MAX_ALTERNATIVES)
        )
    runs, _ = runs_with_mlm_head(state)
    if not runs:
        return note(NO_MODEL)
    blocks: list[Markup] = []
    for choice in offered:
        stretches = [choose(text, choice, alternative) for alternative in choice.alternatives]
        found = contrasts(runs, state, stretches)
        drawn = contrast_html(found, texts.CONTRAST)
        blocks += [texts.contrast_finding(found)]
        blocks += [
            with_save_menu("predictions/contrast", drawn, contrast_numbers(found, stretches))
        ]
    return join(*blocks, note(texts.CONTRAST_RULE))


def contrasts(
    runs: dict[str, Run], state: PageState, stretches: list[tuple[str, Word]]
) -> list[Contrast]:
    """One choice through every model, from the text with each alternative in its place."""
    plans: dict[str, list[SpanPlan]] = {key: [] for key in runs}
    for key, run in runs.items():
        for plan in plans_of(run, state, stretches):
            if isinstance(plan, str):
                raise BadText(plan)
            plans[key].append(plan)
    scores = final_scores(runs, state, plans)
    return [contrast(key, run.spec.label, scores[key]) for key, run in runs.items()]


MAX_WORDS, MAX_GAPS, MAX_LETTERS = 8, 4, 60


def build_ask_fold(state: gr.State) -> None:
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


def build_joint_fold(state: gr.State) -> None:
    """Both fillings of every model, side by side."""
    with fold("predictions", "joint", texts.JOINT_QUESTION) as joint:
        out = gr.HTML()
        joint.on_open(show_joint, [state], [out])


def show_joint(state: PageState | None) -> Markup:
    """Both fillings for the state's text, or what the text needs first."""
    if state is None:
        return note("")
    runs, _ = runs_with_mlm_head(state)
    n_masks = len(next(iter(runs.values())).tokens.mask_positions) if runs else 0
    if not runs or not 2 <= n_masks <= MAX_MASKS:
        return note(texts.JOINT_NEEDS.format(n=n_masks, most=MAX_MASKS) if runs else NO_MODEL)
    found = fillings(runs, state)
    drawn = with_save_menu(
        "predictions/joint", joint_html(found, texts.JOINT), joint_numbers(found), is_picture=False
    )
    return join(texts.joint_finding(found), drawn, note(texts.JOINT_RULE))


def fillings(runs: dict[str, Run], state: PageState) -> list[MaskFillings]:
    """Every model's fillings, the models side by side in the workers."""
    return gather(
        [partial(mask_fillings, run, partial(all_logits, run, state)) for run in runs.values()]
    )
