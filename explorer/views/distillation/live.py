"""Charts of a student that is trained while the reader watches."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from explorer.analysis.distillation.live import PARTS, LiveReport, LiveSettings
from explorer.analysis.records import unrounded
from explorer.views.chart import Chart, figure_json, line
from explorer.views.markup import script_json
from explorer.views.theme import LOSSES

if TYPE_CHECKING:
    import plotly.graph_objects as go

LIVE_HEIGHT = 300
AGREEMENTS = ("same_first", "shared_five", "found")


class LiveNotes(TypedDict):
    """Texts of a run, its sentence, whether it is over, and the columns of its models."""

    texts: Mapping[str, Any]
    sentence: str
    done: bool
    keys: dict[str, str]


class LiveData(LiveNotes):
    """Reports of a live run so far, as charts and as numbers."""

    settings: LiveSettings
    steps: list[int]
    parts: dict[str, list[float]]
    exams: list[int]
    agreement: dict[str, list[float]]
    figures: list[Chart]
    words: list[str]
    teacher: list[float]
    first: list[float]
    student: list[float]


class WaitingData(TypedDict):
    """Sentence on a run without reports."""

    waiting: str


def live_canvas(
    settings: LiveSettings,
    reports: Sequence[LiveReport],
    words: Sequence[str],
    teacher: np.ndarray,
    notes: LiveNotes,
) -> str:
    """Return the JSON of a live run.

    Args:
        settings: The run's settings.
        reports: All reports so far.
        words: The watched words of the reader's sentence.
        teacher: The teacher's probabilities of them at the run's temperature.
        notes: The chart's texts, and the sentence on the progress.
    """
    trained = [report for report in reports if report.parts]
    exams = [report for report in reports if report.agreement is not None]
    steps, exam_steps = ([report.step for report in subset] for subset in (trained, exams))
    parts = {p: unrounded(np.array([r.parts[p] for r in trained])) for p in PARTS}
    agreement = {n: [round(getattr(r.agreement, n), 5) for r in exams] for n in AGREEMENTS}
    figures = live_figures((steps, parts), (exam_steps, agreement), notes["texts"])
    for figure in figures:  # so that the axis covers the whole run from the start
        figure.update_xaxes(autorangeoptions={"include": [0, settings.steps]})
    data: LiveData = {
        "settings": settings,
        "steps": steps,
        "parts": parts,
        "exams": exam_steps,
        "agreement": agreement,
        "figures": [figure_json(figure) for figure in figures],
        "words": list(words),
        "teacher": unrounded(teacher),
        "first": _soft(reports[0]),
        "student": _soft(reports[-1]),
        **notes,
    }
    return script_json(data)


Course = tuple[Sequence[int], Mapping[str, Sequence[float]]]
"""Steps, and the values of named measures at each of them."""


def live_figures(
    losses: Course, evaluations: Course, texts: Mapping[str, Any]
) -> "list[go.Figure]":
    """Draw agreement, loss and the parts of the loss over the steps so far."""
    import plotly.graph_objects as go

    named = dict(zip(AGREEMENTS, (texts["same"], texts["five"], texts["found"]), strict=True))
    charts = (
        (texts["agree_title"], evaluations, named),
        (texts["loss_title"], losses, {"loss": texts["total"]}),
        (texts["parts_title"], losses, texts["parts"]),
    )
    figures = []
    for title, (steps, values), names in charts:
        figure = go.Figure(layout={"title": title, "height": LIVE_HEIGHT, "hovermode": "x unified"})
        for (key, name), colour in zip(names.items(), LOSSES.values(), strict=False):
            curve = line(steps, values[key], name, mode="lines+markers", line_color=colour)
            figure.add_trace(curve.update(marker_size=5, hovertemplate="%{y:.4~g}"))
        figure.update_xaxes(title=texts["step"], rangemode="tozero")
        figure.update_yaxes(rangemode="tozero")
        figures.append(figure)
    figures[0].update_yaxes(range=[0, 1.02])
    return figures


def waiting_canvas(sentence: str) -> str:
    """Return the JSON of a run that waits in the queue."""
    data: WaitingData = {"waiting": sentence}
    return script_json(data)


def _soft(report: LiveReport) -> list[float]:
    return [] if report.soft is None else unrounded(report.soft)
