"""A live run so far, as data for the browser: losses, agreement and the reader's own sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.analysis.distillation.live import PARTS, LiveReport, LiveSettings
from explorer.views.chart import figure_json, line
from explorer.views.distillation.soft import rounded
from explorer.views.markup import script_json
from explorer.views.theme import LOSSES

if TYPE_CHECKING:
    import plotly.graph_objects as go

HEIGHT = 300
EXAMS = ("same_first", "shared_five", "found")


def live_canvas(
    settings: LiveSettings,
    reports: Sequence[LiveReport],
    words: Sequence[str],
    teacher: np.ndarray,
    texts: Mapping[str, object],
) -> str:
    """The run's JSON.

    Args:
        settings: What was chosen.
        reports: All reports so far.
        words: The watched words of the reader's sentence.
        teacher: The teacher's probabilities of them at the run's temperature.
        texts: The sentences printed, with ``sentence`` for where the run is and ``done``.
    """
    trained = [report for report in reports if report.parts]
    exams = [report for report in reports if report.agreement is not None]
    steps, asked = ([report.step for report in some] for some in (trained, exams))
    parts = {p: rounded(np.array([r.parts[p] for r in trained])) for p in PARTS}
    agreement = {n: [round(getattr(r.agreement, n), 5) for r in exams] for n in EXAMS}
    figures = live_figures((steps, parts), (asked, agreement), texts["texts"])  # type: ignore[arg-type]
    for figure in figures:  # the axis holds the whole run from its first step on
        figure.update_xaxes(autorangeoptions={"include": [0, settings.steps]})
    return script_json(
        {
            "settings": asdict(settings),
            "steps": steps,
            "parts": parts,
            "exams": asked,
            "agreement": agreement,
            "figures": [figure_json(figure) for figure in figures],
            "words": list(words),
            "teacher": rounded(teacher),
            "first": _soft(reports[0]),
            "student": _soft(reports[-1]),
            **texts,
        }
    )


Course = tuple[Sequence[int], Mapping[str, Sequence[float]]]
"""Steps, and the values of some measures at each."""


def live_figures(losses: Course, exams: Course, texts: Mapping[str, Any]) -> "list[go.Figure]":
    """What the student agrees on, its loss, and the loss's parts, over the steps so far."""
    import plotly.graph_objects as go

    named = dict(zip(EXAMS, (texts["same"], texts["five"], texts["found"]), strict=True))
    charts = (
        (texts["agree_title"], exams, named),
        (texts["loss_title"], losses, {"loss": texts["total"]}),
        (texts["parts_title"], losses, texts["parts"]),
    )
    figures = []
    for title, (steps, values), names in charts:
        figure = go.Figure(layout={"title": title, "height": HEIGHT, "hovermode": "x unified"})
        for (key, name), colour in zip(names.items(), LOSSES.values(), strict=False):
            curve = line(steps, values[key], name, mode="lines+markers", line_color=colour)
            figure.add_trace(curve.update(marker_size=5, hovertemplate="%{y:.4~g}"))
        figure.update_xaxes(title=texts["step"], rangemode="tozero")
        figure.update_yaxes(rangemode="tozero")
        figures.append(figure)
    figures[0].update_yaxes(range=[0, 1.02])
    return figures


def waiting_canvas(sentence: str) -> str:
    """A place in the line."""
    return script_json({"waiting": sentence})


def _soft(report: LiveReport) -> list[float]:
    return [] if report.soft is None else rounded(report.soft)
