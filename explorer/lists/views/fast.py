"""Sentences and JSON of a fast list: its rows in float32, and what all other numbers are worth."""

import math
from typing import Any

from explorer.analysis.digits import counted
from explorer.lists.results import ListResult
from explorer.lists.rows import JUDGED
from explorer.lists.rule import FACTOR, FastModel, FastReport

MOST_DECIMALS = 6
IN_HALF = "{label}: {half} of {rows} in bfloat16; in float32 {first} drawn at random and {close}."
CLOSE = "{n} with a margin below {bound:.2f} nats"
WITHOUT_MARGINS = "no others"
DIFFERENCES = {
    "masked": "Probabilities of first words differ by {typical:.1g}, at most by {largest:.1g}.",
    "plain": "PLLs differ by {typical:.1g} nats, at most by {largest:.1g}.",
    "pairs": "PLLs differ by {typical:.1g} nats, at most by {largest:.1g}.",
}
"""By kind: the root mean square and the largest difference between both precisions."""
CHECKED = "Of {n} others that were run in float32 too, {changed} have another decision."
EXACT = "{label} was run in float32: {reason}."
FAST, FLOAT32 = "bfloat16", "float32"


def fast_sentence(result: ListResult, report: FastReport | None) -> str:
    """Return what a fast list did, model by model; empty where float32 was asked for."""
    if report is None:
        return ""
    reasons = report.reasons.values()
    if len(report.reasons) > 1 and len({*reasons}) == 1 and not report.models:
        return EXACT.format(label="Every model", reason=next(iter(reasons)))
    said = []
    for key, label in result.labels.items():
        if key in report.reasons:
            said.append(EXACT.format(label=label, reason=report.reasons[key]))
        elif key in report.models:
            said.append(_of_model(result, label, report.models[key], int(report.exact[key].sum())))
    return " ".join(said)


def _of_model(result: ListResult, label: str, seen: FastModel, n_exact: int) -> str:
    n_rows, kind = len(result.texts.rows), result.texts.kind
    close = CLOSE.format(n=seen.n_repeated, bound=seen.bound) if kind != "plain" else ""
    sentences = [
        IN_HALF.format(
            label=label,
            half=f"{n_rows - n_exact:,}",
            rows=counted(n_rows, "row"),
            first=seen.n_first,
            close=close or WITHOUT_MARGINS,
        )
    ]
    if math.isfinite(seen.typical):
        sentences.append(DIFFERENCES[kind].format(typical=seen.typical, largest=seen.largest))
    if seen.n_checked and kind != "plain":
        sentences.append(CHECKED.format(n=seen.n_checked, changed=seen.n_changed))
    return " ".join(sentences)


def decimals_of(seen: FastModel) -> int:
    """Return the decimals that the printed numbers of a model's rows in bfloat16 are worth."""
    if not (math.isfinite(seen.typical) and seen.typical > 0):
        return MOST_DECIMALS
    return min(MOST_DECIMALS, max(0, round(-math.log10(seen.typical))))


def precisions(result: ListResult, report: FastReport | None) -> list[str]:
    """Return the precision of each of ``table_rows``; nothing where all are float32 by request."""
    if report is None or result.texts.kind in (*JUDGED, "tagged"):
        return []
    exact = [report.exact[key] for key in result.labels]
    return [
        FLOAT32 if of_model[place] else FAST
        for place in range(len(result.texts.rows))
        for of_model in exact
    ]


def fast_marks(result: ListResult, report: FastReport | None) -> dict[str, Any] | None:
    """Return by model which rows are float32, by number, and the decimals of all others.

    None where float32 was asked for, or where no row was run in bfloat16.
    """
    if report is None or not report.models:
        return None
    numbers = [row.number for row in result.texts.rows]
    return {
        "exact": {
            key: [n for n, is_exact in zip(numbers, report.exact[key], strict=True) if is_exact]
            for key in result.labels
        },
        "decimals": {
            key: decimals_of(report.models[key]) if key in report.models else MOST_DECIMALS
            for key in result.labels
        },
    }


def fast_json(report: FastReport) -> dict[str, Any]:
    """Return what was seen as JSON: differences of margins in nats, and of printed numbers."""
    return {
        "asked": "fast",
        "factor": FACTOR,
        "models": {
            key: {
                "rows_in_float32": int(report.exact[key].sum()),
                "drawn_rows": seen.n_first,
                "repeated_rows": seen.n_repeated,
                "bound": _number(seen.bound),
                "rms_of_margins": _number(seen.rms),
                "rms_of_numbers": _number(seen.typical),
                "largest_of_numbers": _number(seen.largest),
                "decimals": decimals_of(seen),
                "checked_rows": seen.n_checked,
                "checked_rows_that_differ": seen.n_changed,
            }
            for key, seen in report.models.items()
        },
        "in_float32": dict(report.reasons),
    }


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
