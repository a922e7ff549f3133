"""Attention fold: how one shared head of ALBERT changes from layer to layer."""

import gradio as gr

from explorer.models.specs import MODEL_KEYS, family_specs
from explorer.page_state import PageState
from explorer.runs import get_runs
from explorer.ui.attention import folds_words as texts
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.folds import fold
from explorer.views.markup import note


def build_shared_fold(state: gr.State) -> None:
    """The strip of one shared head over its applications."""
    with fold("attention", "shared", texts.SHARED_QUESTION) as opened:
        finding, film, remark = gr.HTML(), Canvas("attention/film"), gr.HTML()
    opened.on_open(show_shared, [state], [finding, film, remark])


def show_shared(state: PageState | None) -> list[str]:
    """How the heads of the one shared layer drift over its applications."""
    from explorer.analysis.attention.compare import shared_drift
    from explorer.analysis.attention.heads import word_heads
    from explorer.views.attention.compare import shared_drift_canvas

    if state is None:
        return ["", "", ""]
    runs, _ = get_runs(state)
    sharing = [s.key for s in family_specs(state.family) if s.architecture.shares_layers]
    key = next((key for key in MODEL_KEYS if key in sharing and key in runs), None)
    if key is None:
        return [note(texts.NO_ALBERT), "", ""]
    heads = word_heads(runs)
    drift, spec = shared_drift(heads.attention[key], heads.alignment), runs[key].spec
    return [
        texts.shared_finding(drift, spec),
        shared_drift_canvas(drift, spec, texts.SHARED),
        note(texts.SHARED_NOTE),
    ]
