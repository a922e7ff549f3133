"""Attention folds: heads of two models that behave alike, and ALBERT's shared heads."""

from itertools import combinations

import gradio as gr

from explorer.models.kinds import label_of
from explorer.models.specs import MODEL_KEYS, family_specs
from explorer.page_state import PageState
from explorer.runs import get_runs
from explorer.ui.attention import folds_words as texts
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.folds import fold
from explorer.views.markup import join, note

PAIRS = {
    f"{first}/{second}": f"{label_of(first)} and {label_of(second)}"
    for first, second in combinations(MODEL_KEYS, 2)
}


def build_twins_fold(state: gr.State) -> None:
    """Nearest heads, the best one-to-one matching, and layers against layers."""
    with fold("attention", "twins", texts.TWINS_QUESTION) as opened:
        pair = gr.Radio(
            [(label, key) for key, label in PAIRS.items()],
            value=next(iter(PAIRS)),
            label=texts.TWINS_PAIR,
        )
        found = gr.HTML()
    opened.on_open(show_twins, [state, pair], [found])
    pair.change(
        plain_errors(show_twins),
        [state, pair],
        [found],
        api_visibility="private",
        show_progress="minimal",
        concurrency_id="infer",
    )


def build_shared_fold(state: gr.State) -> None:
    """The strip of one shared head over its applications."""
    with fold("attention", "shared", texts.SHARED_QUESTION) as opened:
        finding, film, remark = gr.HTML(), Canvas("attention/film"), gr.HTML()
    opened.on_open(show_shared, [state], [finding, film, remark])


def show_twins(state: PageState | None, pair: str) -> str:
    """The pair's finding, tables and note; no model runs if the text was compared before."""
    from explorer.analysis.attention.compare import head_twins
    from explorer.analysis.attention.heads import word_heads
    from explorer.views.attention.compare import head_twins_html, layer_twins_html

    if state is None:
        return ""
    runs, _ = get_runs(state)
    keys = pair.split("/")
    if not set(keys) <= set(runs):
        return note(texts.ONE_MODEL)
    heads = word_heads(runs)
    first, second = (runs[key].spec for key in keys)
    twins = head_twins(heads.attention[keys[0]], heads.attention[keys[1]], heads.alignment)
    return join(
        texts.twins_finding(twins, first, second),
        layer_twins_html(twins, first, second, texts.TWINS),
        head_twins_html(twins, first, second, texts.TWINS),
        note(texts.TWINS_NOTE),
    )


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
