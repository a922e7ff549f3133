"""Fold: every word masked in turn."""

from collections.abc import Iterator

import gradio as gr

from explorer.inference.runs import runs_with_mlm_head
from explorer.links.page_state import PageState
from explorer.models.run import Run
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.folds import fold
from explorer.ui.kit.queues import AT_ONCE, LONG
from explorer.ui.predictions import folds_words as texts
from explorer.ui.predictions.masked_scores import Plans, priced
from explorer.ui.predictions.words import NO_MODEL
from explorer.views.markup import note


def build_fold(state: gr.State) -> None:
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
    from explorer.views.predictions.every_word import words_canvas

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
    from explorer.analysis.predictions.every_word import word_plans

    return {key: word_plans(run.tokens, run.mask_id) for key, run in runs.items()}
