"""Curves over temperature, as data for four small charts that the browser draws."""

from collections.abc import Mapping

import numpy as np

from explorer.analysis.distillation.curves import TemperatureCurves
from explorer.views.markup import script_json

SERIES = (
    "kl_teacher_student",
    "kl_student_teacher",
    "js",
    "entropy_teacher",
    "entropy_student",
    "t_squared_kl",
    "gradient",
)


def distillation_curves(
    curves: TemperatureCurves, overlap: str, texts: Mapping[str, object]
) -> str:
    """The charts' JSON; ``overlap`` is the sentence about the top lists."""
    series = {name: getattr(curves, name) for name in SERIES}
    series["t_squared_gradient"] = curves.temperatures**2 * curves.gradient
    return script_json(
        {
            "temperatures": [float(t) for t in curves.temperatures],
            "series": {name: rounded(values) for name, values in series.items()},
            "d_vocab": curves.d_vocab,
            "ln_vocab": float(np.log(curves.d_vocab)),
            "overlap": overlap,
            "texts": dict(texts),
        }
    )


def rounded(values: np.ndarray) -> list[float]:
    """Six significant digits: more than any chart shows."""
    return [float(f"{value:.6g}") for value in values]
