"""Fold of Predictions: the words of the text that each model's answer is read from."""

from collections.abc import Mapping

import gradio as gr

from explorer.analysis.scoring import Attribution
from explorer.inference.cache import key_of, memo
from explorer.inference.runs import runs_with_mlm_head
from explorer.library.scoring import attributions, targets_of
from explorer.links.page_state import PageState
from explorer.models.run import Run
from explorer.ui.kit.export import with_save_menu
from explorer.ui.kit.folds import fold
from explorer.ui.predictions import attribution_strings as strings
from explorer.ui.predictions.endpoint import MOST_WORDS
from explorer.ui.predictions.strings import NO_MODEL
from explorer.views.markup import Markup, join, note


def build_fold(state: gr.State) -> None:
    """Build the text of every model with its words coloured."""
    with fold("predictions", "attribution", strings.QUESTION) as section:
        html = gr.HTML()
        section.on_open(show_attribution, [state], [html])


def show_attribution(state: PageState | None) -> Markup:
    """Return the attributions of the answers at the mask in view, or what the text needs."""
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
    results = attributions_of(runs, state, mask)
    drawn = attribution_html(results, strings.TEXTS)
    return join(
        strings.attribution_finding(results),
        with_save_menu("predictions/attribution", drawn, attribution_records(results, mask)),
        note(strings.NOTE),
    )


def attributions_of(runs: Mapping[str, Run], state: PageState, mask: int) -> dict[str, Attribution]:
    """Return the attributions of every model's own answer at a mask; cached with the runs."""
    key = ("attribution", mask, *(key_of(run) for run in runs.values()))
    targets, _ = targets_of(runs, mask, "")
    return memo(key, lambda: attributions(runs, state, mask, targets))
