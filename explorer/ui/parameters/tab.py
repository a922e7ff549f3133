"""Parameters tab: where every weight sits, and what sharing and factorising buy."""

import gradio as gr

from explorer.links.page_state import PageState
from explorer.ui.kit.canvas import Canvas
from explorer.ui.parameters import folds
from explorer.ui.parameters import strings as texts

ID = "parameters"
LABEL = texts.LABEL
QUESTION = texts.QUESTION
READS: tuple[str, ...] = ("family",)


def build(state: gr.State) -> list[gr.components.Component]:
    """The finding, the three bars, and the deeper questions as folds."""
    headline: list[gr.components.Component] = [gr.HTML(), Canvas("parameters/map")]
    for build_fold in (
        folds.build_sizes,
        folds.build_embedding,
        folds.build_sharing,
        folds.build_memory,
    ):
        build_fold(state)
    return headline


def show(state: PageState) -> list[object]:
    """Counts of both families, and of the page's models where they are others; nothing is run."""
    from explorer.analysis.parameters.shapes import family_members
    from explorer.views.parameters.counts import parameters_map

    families = {family: family_members(family) for family in ("base", "mini")}
    if state.family not in families:
        families["chosen"] = family_members(state.family)
    return [texts.parameters_findings(families), parameters_map(families, texts.MAP, state.family)]
