"""Depth tab: at which layer each model knows its answer, and what more layers would change."""

import gradio as gr

from explorer.inference.runs import runs_with_mlm_head
from explorer.links.codec import from_page
from explorer.links.page_state import MAX_DEPTHS, RUN_FIELDS, PageState
from explorer.models.run import Run
from explorer.models.tokens import BadText
from explorer.ui.depth import patching, similarity, trajectories
from explorer.ui.depth import words as texts
from explorer.ui.depth.reading import MOST_WORDS, dial_of, lenses_of, words_of
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.validation import link_in, refuse_bad_input
from explorer.ui.kit.words import reading_note
from explorer.views.markup import plain_cards

ID = "depth"
LABEL = texts.LABEL
QUESTION = texts.QUESTION
READS = RUN_FIELDS


def build(state: gr.State) -> list[gr.components.Component]:
    """The lens with its dial; below, the deeper questions as folds."""
    headline: list[gr.components.Component] = [gr.HTML(), Canvas("depth/lens", asks=read_deeper)]
    similarity.build_fold(state)
    patching.build_fold(state)
    trajectories.build_folds(state)
    return headline


def show(state: PageState) -> list[object]:
    """The lens for the state's text; no model runs if it was computed before."""
    from explorer.views.depth.lens import lens_canvas

    runs, missing = runs_with_mlm_head(state)
    cards = {key: (error.spec.label, str(error)) for key, error in missing.items()}
    if not runs:
        return [plain_cards(cards), ""]
    lenses = lenses_of(runs, state)
    work = {key: work_of(run) for key, run in runs.items() if run.spec.architecture.shares_layers}
    said = {"texts": texts.CANVAS, "run": {name: getattr(state, name) for name in RUN_FIELDS}}
    read = reading_note({run.spec.label: run.tokens for run in runs.values()})
    return [read or "", lens_canvas(runs, lenses, work, cards, said)]


def work_of(run: Run) -> list[int]:
    """Operations of the encoder after 1, 2, 3 ... applications of its layer."""
    from explorer.analysis.depth.dial import dial_flops

    return list(dial_flops(run, MAX_DEPTHS * run.spec.architecture.n_layers))


def read_deeper(question: dict) -> str:
    """What the picture asks for when the reader wants it: every word, or a deeper model."""
    from explorer.analysis.alignment import align
    from explorer.views.depth.lens import dial_json, every_word_json

    state, _ = from_page(link_in(question), PageState())
    runs, _ = runs_with_mlm_head(state)
    if question.get("want") == "dial":
        with refuse_bad_input():
            run, mask = runs[str(question["model"])], int(question["mask"])
            run.tokens.mask_positions[mask]  # whether there is one
        return dial_json(run, dial_of(run, state, mask))
    alignment = align({key: run.tokens for key, run in runs.items()})
    if not alignment.content:
        raise BadText(texts.NO_WORD)
    return every_word_json(runs, alignment, MOST_WORDS, words_of(runs, alignment, state))
