"""Parameters tab: the location of every weight, and the savings of sharing and factorising."""

import json
from typing import Any

import gradio as gr

from explorer.inference.runs import Runs
from explorer.links.page_state import PageState
from explorer.ui.kit.canvas import Canvas
from explorer.ui.parameters import folds, strings
from explorer.views.markup import Markup

ID = "parameters"
LABEL = strings.LABEL
QUESTION = strings.QUESTION
READS: tuple[str, ...] = ("family",)


def build(state: gr.State) -> list[gr.components.Component]:
    """Build the finding, the three bars and the folds; return the headline."""
    headline: list[gr.components.Component] = [gr.HTML(), Canvas("parameters/map")]
    for build_fold in (
        folds.build_sizes,
        folds.build_embedding,
        folds.build_sharing,
        folds.build_memory,
    ):
        build_fold(state)
    return headline


def show(state: PageState, _: Runs) -> list[object]:
    """Return counts of the base, mini and chosen family; no model runs."""
    from explorer.analysis.parameters.shapes import family_members
    from explorer.views.parameters.counts import parameters_map

    families = {family: family_members(family) for family in ("base", "mini")}
    if state.family not in families:
        families["chosen"] = family_members(state.family)
    return [
        strings.parameters_findings(families),
        parameters_map(families, strings.MAP, state.family),
    ]


def first(_: PageState, values: list[Any]) -> list[Markup]:
    """Return the headline's values as HTML."""
    from explorer.views.first.parameters import parameters_html, shown_family
    from explorer.views.first.parts import canvas
    from explorer.views.markup import el

    findings, bars = values
    data = json.loads(bars)
    family = shown_family(data)
    findings_html = el("div", findings, class_="pm-findings", data_family=family)
    return [findings_html, canvas("parameters/map", parameters_html(data))]
