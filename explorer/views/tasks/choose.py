"""Score against size and against time, as data for two charts that the browser draws."""

from collections.abc import Callable, Mapping
from math import isfinite

from explorer.analysis.tasks.choose import Advice, Candidate, Figure, Limits, frontier
from explorer.models.specs import ModelSpec
from explorer.views.markup import Markup, milliseconds, model_name, percent, script_json, table

COSTS: tuple[str, ...] = ("megabytes", "milliseconds")


def choose_canvas(
    specs: Mapping[str, ModelSpec],
    candidates: Mapping[str, Candidate],
    found: tuple[Advice, Limits],
    titles: Mapping[str, str],
) -> str:
    """A chart for each cost: every measured model, the reader's limits, the front."""
    advice, limits = found
    return script_json(
        {
            "titles": dict(titles),
            "limits": {name: getattr(limits, name) for name in (*COSTS, "score")},
            "models": [
                {
                    "key": key,
                    "label": specs[key].label,
                    "fits": key in advice.fits,
                    **{name: _ends(getattr(one, name)) for name in (*COSTS, "score")},
                }
                for key, one in candidates.items()
            ],
            "fronts": {name: frontier(_points(candidates, name)) for name in COSTS},
        }
    )


def _ends(figure: Figure | None) -> tuple[float, float | None, float | None] | None:
    """A number and the ends of its interval, where it has two."""
    if figure is None:
        return None
    sure = isfinite(figure.low) and isfinite(figure.high)
    return (figure.value, figure.low, figure.high) if sure else (figure.value, None, None)


def _points(candidates: Mapping[str, Candidate], name: str) -> dict[str, tuple[float, float]]:
    found = {}
    for key, one in candidates.items():
        cost, score = getattr(one, name), one.score
        if cost and score:
            found[key] = (cost.value, score.value)
    return found


def choose_table(
    specs: Mapping[str, ModelSpec],
    candidates: Mapping[str, Candidate],
    verdicts: Mapping[str, str],
    head: tuple[str, ...],
) -> Markup:
    """The same numbers in words, and what became of each model."""
    rows: list[list[str | Markup]] = [
        [
            model_name(key, specs[key].label),
            _said(one.megabytes, "{:.1f} MB".format),
            _said(one.milliseconds, milliseconds),
            _said(one.score, percent),
            verdicts[key],
        ]
        for key, one in candidates.items()
    ]
    return table(list(head), rows)


def _said(figure: Figure | None, form: Callable[[float], str]) -> str:
    """A number, and its interval where it has one: the unit is said once."""
    if figure is None:
        return "–"
    if figure.low == figure.high or not isfinite(figure.high):
        return form(figure.value)
    low, high = (form(end).rpartition(" ")[0] for end in (figure.low, figure.high))
    return f"{form(figure.value)} [{low}, {high}]"
