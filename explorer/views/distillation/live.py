"""A live run so far, as data for the browser: losses, agreement and the reader's own sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from explorer.analysis.distillation.live import PARTS, LiveReport, LiveSettings
from explorer.views.distillation.soft import rounded
from explorer.views.markup import script_json


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
    names = ("same_first", "shared_five", "found")
    return script_json(
        {
            "settings": asdict(settings),
            "steps": [report.step for report in trained],
            "parts": {p: rounded(np.array([r.parts[p] for r in trained])) for p in PARTS},
            "exams": [report.step for report in exams],
            "agreement": {n: [round(getattr(r.agreement, n), 5) for r in exams] for n in names},
            "words": list(words),
            "teacher": rounded(teacher),
            "first": _soft(reports[0]),
            "student": _soft(reports[-1]),
            **texts,
        }
    )


def waiting_canvas(sentence: str) -> str:
    """A place in the line."""
    return script_json({"waiting": sentence})


def _soft(report: LiveReport) -> list[float]:
    return [] if report.soft is None else rounded(report.soft)
