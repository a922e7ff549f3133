"""Rows of a list's result as JSON for the browser's table, those of most disagreement first."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from explorer.analysis.texts import labelled
from explorer.analysis.texts.results import (
    LabelledList,
    ListResult,
    PairList,
    SentenceList,
    by_disagreement,
    distances,
    has_truth,
    right_of,
)
from explorer.analysis.texts.sentences import SentenceScore
from explorer.models.tokens import MASK, clean_text, split_words
from explorer.views.markup import script_json
from explorer.views.texts.rows import COLUMNS, number, table_rows
from explorer.views.texts.strings import BASELINES

MOST_MARKED = 3
"""Words of a sentence that are marked, those with the largest surprise."""
LEAD = {"masked": 3, "plain": 2, "pairs": 3, "labelled": 2}
"""Columns of a row itself, after its number and the model: the text and what is given of it."""
Span = tuple[int, int]


def rows_canvas(
    result: ListResult,
    texts: Mapping[str, str],
    header: Mapping[str, object],
    most: int | None = None,
) -> str:
    """Return the JSON of the table of rows.

    Args:
        result: The result of a list, or of the rows that are done.
        texts: Strings of the table.
        header: What a saved file says of the rows.
        most: Rows that are sent; None for all.
    """
    kind, names = result.texts.kind, dict(result.labels)
    if isinstance(result, LabelledList):
        names |= BASELINES
    constants: dict[str, object] = {}
    if isinstance(result, LabelledList):
        layers = {result.labels[key]: layer for key, layer in result.layers.items()}
        constants = {"POOLING": result.pooling, "LAYERS": layers, "STRENGTHS": labelled.STRENGTHS}
    elif isinstance(result, PairList):
        constants = {"SCORE": result.score}
    return script_json(
        {
            "kind": kind,
            "columns": COLUMNS[kind],
            "names": names,
            "models": list(result.labels),
            "total": len(result.texts.rows),
            "lines": _lines(result)[:most],
            "constants": constants,
            "said": dict(header),
            "texts": dict(texts),
        }
    )


def _lines(result: ListResult) -> list[dict[str, Any]]:
    """Return the rows in the order of disagreement, each with its cells by classifier."""
    cells: dict[int, list[tuple[Any, ...]]] = {}
    for row in table_rows(result):
        cells.setdefault(row[0], []).append(row)
    lead = 2 + LEAD[result.texts.kind]
    apart, hits, judged = distances(result), right_of(result), has_truth(result)
    lines = []
    for place in by_disagreement(result):
        row = result.texts.rows[place]
        by_model = cells[row.number]
        lines.append(
            {
                "n": row.number,
                "lead": by_model[0][2:lead],
                "cells": [each[lead:] for each in by_model],
                "group": row.group,
                "apart": number(apart[place]),
                "right": [bool(hit[place]) for hit in hits.values()] if judged[place] else [],
                **_opened(result, int(place)),
            }
        )
    return lines


def _opened(result: ListResult, place: int) -> dict[str, Any]:
    """Return the view that a row opens, and the words of it that are marked."""
    row = result.texts.rows[place]
    if isinstance(result, LabelledList):
        return {"open": {"tab": "attention", "text": row.text}, "marks": []}
    if isinstance(result, SentenceList):
        scores = [of_model[place] for of_model in result.scores.values()]
        marks = surprising(scores)
        return {"open": hiding(row.text, marks[0] if marks else None), "marks": sorted(marks)}
    if isinstance(result, PairList):
        span = first_difference(row.text, row.other)
        return {"open": hiding(row.text, span), "marks": []}
    hidden = "" if set("[]|\n") & set(row.answer) else row.answer
    return {"open": {"tab": "predictions", "text": row.text, "hidden": hidden}, "marks": []}


def hiding(text: str, span: Span | None) -> dict[str, str]:
    """Return the view of Predictions with a word of a text masked."""
    if span is None or clean_text(text) != text:
        return {"tab": "predictions", "text": text, "hidden": ""}
    start, end = span
    masked = text[:start] + MASK + text[end:]
    return {"tab": "predictions", "text": masked, "hidden": text[start:end]}


def surprising(scores: Sequence[SentenceScore]) -> list[Span]:
    """Return the words of a sentence that cost the models most on average, the most first."""
    spans = scores[0].spans
    if any(score.spans != spans for score in scores):
        return []
    means = np.mean([score.words for score in scores], axis=0)
    order = [int(i) for i in np.argsort(means, kind="stable") if means[i] < 0]
    return [spans[i] for i in order[:MOST_MARKED]]


def first_difference(good: str, bad: str) -> Span | None:
    """Return the first word of the good sentence that the bad one has otherwise; None if none."""
    words, others = split_words(good), split_words(bad)
    for place, word in enumerate(words):
        if place >= len(others) or others[place].text != word.text:
            return word.start, word.end
    return None
