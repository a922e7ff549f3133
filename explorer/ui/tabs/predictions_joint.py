"""Fold: several gaps filled apart, and from left to right."""

import gradio as gr

from explorer.page_state import PageState
from explorer.runs import get_runs
from explorer.ui import texts_predictions as texts
from explorer.ui.folds import fold
from explorer.ui.masked_scores import all_logits, loaded_models
from explorer.views.markup import Markup, join, note


def build_fold(state: gr.State) -> None:
    """Both fillings of every model, side by side."""
    with fold(texts.JOINT_QUESTION) as joint:
        out = gr.HTML()
        joint.on_open(show_joint, [state], [out])


def show_joint(state: PageState | None) -> Markup:
    """Both fillings for the state's text, or what the text needs first."""
    from explorer.analysis.predictions_joint import MAX_MASKS, mask_fillings
    from explorer.runs import in_workers
    from explorer.views.predictions_joint import joint_html

    if state is None:
        return note("")
    runs, _ = get_runs(state)
    n_masks = len(next(iter(runs.values())).tokens.mask_positions) if runs else 0
    if not runs or not 2 <= n_masks <= MAX_MASKS:
        return note(texts.JOINT_NEEDS.format(n=n_masks, most=MAX_MASKS) if runs else texts.NO_MODEL)
    loaded = loaded_models(runs, state)
    jobs = [
        lambda key=key, run=run: mask_fillings(run, lambda rows: all_logits(loaded[key], rows))
        for key, run in runs.items()
    ]
    found = [future.result() for future in in_workers(jobs)]
    return join(texts.joint_finding(found), joint_html(found, texts.JOINT), note(texts.JOINT_RULE))
