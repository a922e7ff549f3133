"""Depth tab: each model's answer after every layer (logit lens)."""

import json
from typing import Any

import gradio as gr

from explorer.inference.runs import Runs
from explorer.library import deeper as library
from explorer.links.page_state import RUN_FIELDS, PageState, looks_of
from explorer.links.tabs import MAX_DEPTHS
from explorer.models.tokens import BadText
from explorer.ui.depth import changed, folds, meaning, patching, strings
from explorer.ui.kit.asked import asked_page
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.strings import reading_note
from explorer.ui.kit.validation import refuse_bad_input
from explorer.views.markup import Markup, plain_cards

ID = "depth"
LABEL = strings.LABEL
QUESTION = strings.QUESTION
READS = RUN_FIELDS


def build(state: gr.State) -> list[gr.components.Component]:
    """Build the logit lens with its depth dial, and the folds; return the headline."""
    headline: list[gr.components.Component] = [gr.HTML(), Canvas("depth/lens", asks=read_deeper)]
    meaning.build_fold(state)
    folds.build_similarity_fold(state)
    changed.build_fold(state)
    patching.build_fold(state)
    folds.build_moves_folds(state)
    return headline


def show(state: PageState, text_runs: Runs) -> list[object]:
    """Return the logit lens for the state's text; cached runs are not computed again."""
    from explorer.views.depth.lens import lens_canvas

    runs, missing = text_runs.with_mlm_head
    cards = {key: (error.spec.label, str(error)) for key, error in missing.items()}
    if not runs:
        return [plain_cards(cards), ""]
    lenses = library.lenses_of(runs, state.ask)
    work = {
        key: library.dial_work(run, MAX_DEPTHS)
        for key, run in runs.items()
        if run.spec.architecture.shares_layers
    }
    canvas_texts = {
        "texts": strings.CANVAS,
        "run": {name: getattr(state, name) for name in RUN_FIELDS},
    }
    reading = reading_note(runs.values())
    return [reading or "", lens_canvas(runs, lenses, work, cards, canvas_texts)]


def first(state: PageState, values: list[Any]) -> list[Markup]:
    """Return the headline's values as HTML, of a mask also where every word was asked for."""
    from explorer.views.first.depth import depth_html
    from explorer.views.first.parts import canvas

    above, lens = values
    follow = looks_of(state).get("follow", "")
    drawn = depth_html(json.loads(lens), state.mask, follow) if lens else None
    return [above, canvas("depth/lens", drawn)]


def read_deeper(question: dict) -> str:
    """Return JSON that the browser asks for: the lens at every word, or a deeper encoder."""
    from explorer.analysis.alignment import align
    from explorer.views.depth.lens import dial_json, every_word_json

    state, text_runs = asked_page(question)
    runs, missing = text_runs.with_mlm_head
    if not runs:
        raise next(iter(missing.values()))
    if question.get("want") == "dial":
        with refuse_bad_input():
            run, mask = runs[str(question["model"])], int(question["mask"])
            run.tokens.mask_positions[mask]  # an IndexError is refused as bad input
        return dial_json(run, library.dial_of(run, state.ask, mask, MAX_DEPTHS))
    alignment = align({key: run.tokens for key, run in runs.items()})
    if not alignment.readable:
        raise BadText(strings.NO_WORD)
    return every_word_json(
        runs, alignment, library.MASKED_WORDS, library.words_of(runs, alignment, state.ask)
    )
