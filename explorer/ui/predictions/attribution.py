"""Fold of Predictions: the words of the text that each model's answer is read from."""

import gradio as gr

from explorer.inference.cache import key_of, memo
from explorer.inference.runs import runs_with_mlm_head
from explorer.library.predictions import attributions, targets_of
from explorer.library.strings import not_one_piece
from explorer.links.page_state import PageState
from explorer.models.tokens import plain_text
from explorer.ui.kit.export import with_save_menu
from explorer.ui.kit.folds import fold
from explorer.ui.predictions import attribution_strings as strings
from explorer.ui.predictions.endpoint import MOST_WORDS
from explorer.ui.predictions.strings import NO_MODEL
from explorer.views.markup import Markup, join, note

LONGEST_TARGET = 60


def build_fold(state: gr.State) -> None:
    """Build the text of every model with its words coloured."""
    with fold("predictions", "attribution", strings.QUESTION) as section:
        box = gr.Textbox(
            label=strings.TARGET,
            placeholder=strings.TARGET_PLACEHOLDER,
            max_lines=1,
            max_length=LONGEST_TARGET,
        )
        html = gr.HTML()
        section.on_open(show_attribution, [state, box], [html], also=[box.submit])


def show_attribution(state: PageState | None, target: str = "") -> Markup:
    """Return the attributions at the mask in view, of a typed answer or of each model's own."""
    from explorer.views.predictions import attribution_html, attribution_records

    if state is None:
        return note("")
    runs, _ = runs_with_mlm_head(state)
    if not runs:
        return note(NO_MODEL)
    tokens = next(iter(runs.values())).tokens
    if not tokens.mask_positions:
        return note(strings.NO_MASK)
    if len(tokens.words) > MOST_WORDS:
        return note(strings.TOO_LONG.format(n=len(tokens.words), most=MOST_WORDS))
    mask = min(state.mask, len(tokens.mask_positions) - 1)
    word = plain_text(target or "").strip()
    targets, unknown = targets_of(runs, mask, word)
    refusals = [note(str(error)) for error in unknown.values()]
    if not targets:
        return note(not_one_piece(word, [run.spec.label for run in runs.values()]))
    key = ("attribution", mask, word, *(key_of(run) for run in runs.values()))
    results = memo(key, lambda: attributions({k: runs[k] for k in targets}, state, mask, targets))
    records = attribution_records(results, mask, is_typed=bool(word))
    return join(
        strings.attribution_finding(results),
        *refusals,
        with_save_menu(
            "predictions/attribution", attribution_html(results, strings.TEXTS), records
        ),
        note(strings.NOTE),
    )
