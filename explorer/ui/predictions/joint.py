"""Fold: several gaps filled apart, and from left to right."""

from functools import partial

import gradio as gr

from explorer.analysis.predictions.joint import MAX_MASKS, MaskFillings, mask_fillings
from explorer.inference.runs import gather, runs_with_mlm_head
from explorer.links.page_state import PageState
from explorer.models.run import Run
from explorer.ui.kit.export import with_save_menu
from explorer.ui.kit.folds import fold
from explorer.ui.predictions import folds_words as texts
from explorer.ui.predictions.masked_scores import all_logits
from explorer.ui.predictions.words import NO_MODEL
from explorer.views.markup import Markup, join, note
from explorer.views.predictions.joint import joint_html, joint_numbers


def build_fold(state: gr.State) -> None:
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
