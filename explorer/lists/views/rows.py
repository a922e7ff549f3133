"""Rows of a list's result, for the browser's table, the endpoint, the shell and a frame."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from explorer.lists import labelled, scored
from explorer.lists.disagreement import by_disagreement, distances, has_truth, right_of
from explorer.lists.head_scores import HeadScores
from explorer.lists.multilabel import MultilabelList
from explorer.lists.results import (
    LabelledList,
    ListResult,
    MaskedList,
    PairList,
    ScoredList,
    SentenceList,
    UnjudgedList,
)
from explorer.lists.rows import TextRow
from explorer.lists.scored import BASELINE as WORDS_KEY
from explorer.lists.sentences import SentenceScore
from explorer.lists.tagged import TaggedList, renamed
from explorer.lists.views.heads import has_heads, number
from explorer.lists.views.strings import WORDS_NAME, names_of, read_as
from explorer.lists.views.summary_json import summary_json
from explorer.lists.views.tags import tagged_rows, wrong_span
from explorer.models.tokens import MASK, SEPARATOR, clean_text, hide_choices, split_words
from explorer.views.markup import script_json

COLUMNS: dict[str, tuple[str, ...]] = {
    "masked": (
        "row",
        "model",
        "text",
        "answer",
        "group",
        "word",
        "probability",
        "answer_probability",
        "answer_log_probability",
        "answer_rank",
        "answer_pieces",
        "words",
        "word_probabilities",
        "log_ratio",
    ),
    "plain": ("row", "model", "text", "group", "tokens", "unknown", "pll", "pll_word_l2r"),
    "pairs": (
        "row",
        "model",
        "good",
        "bad",
        "group",
        "unknown_good",
        "unknown_bad",
        "pll_good",
        "pll_bad",
        "pll_word_l2r_good",
        "pll_word_l2r_bad",
        "margin",
        "pll_unmodified_good",
        "pll_unmodified_bad",
        "blank_good",
        "blank_bad",
        "blank_unrelated",
    ),
    "labelled": (
        *("row", "model", "text", "label", "group", "predicted", "right"),
        *("head_predicted", "head_probability", "head_right"),
    ),
    "multilabel": (
        *("row", "model", "text", "labels", "group", "predicted", "right"),
        *("head_predicted", "head_right"),
    ),
    "scored": ("row", "model", "text", "score", "group", "predicted", "head_score"),
    "tagged": (
        *("row", "model", "text", "tags", "spans", "group"),
        *("predicted", "missed", "in_vain", "right"),
    ),
}
"""Columns of ``table_rows`` by kind; one row for each row of the list and model."""
MAX_MARKED = 3
"""Words of a sentence that are marked, those with the largest surprise."""
LEAD = dict.fromkeys(COLUMNS, 3) | {"plain": 2, "tagged": 4}
"""Columns of a row itself, after its number and the model: the text and what is given of it."""
Span = tuple[int, int]


def as_json(result: ListResult) -> dict[str, Any]:
    """Return a result as the JSON object that ``/texts`` answers with."""
    kind = result.texts.kind
    names = COLUMNS[kind]
    rows = [dict(zip(names, row, strict=True)) for row in table_rows(result)]
    for row, words in zip(rows, offered_of(result), strict=False):
        row["word_probabilities"] = words
    return {
        "kind": kind,
        "columns": dict(result.texts.columns),
        "read_as": read_as(result.texts),
        "n_rows": len(result.texts.rows),
        "left_out": [{"row": row.number, "reason": row.reason} for row in result.texts.left_out],
        "summary": summary_json(result),
        "rows": rows,
    }


def table_rows(result: ListResult) -> list[tuple[Any, ...]]:
    """Return a row of ``COLUMNS`` for each row of the list and each model."""
    writers: dict[type, Callable[[Any], list[tuple[Any, ...]]]] = {
        MaskedList: _masked_rows,
        SentenceList: _sentence_rows,
        PairList: _pair_rows,
        LabelledList: _labelled_rows,
        MultilabelList: _multilabel_rows,
        ScoredList: _scored_rows,
        TaggedList: tagged_rows,
        UnjudgedList: _unjudged_rows,
    }
    return writers[type(result)](result)


def _masked_rows(result: MaskedList) -> list[tuple[Any, ...]]:
    return [
        (
            row.number,
            key,
            row.text,
            row.answer,
            row.group,
            answers.words[place],
            float(answers.probabilities[place]),
            number(np.exp(answers.log_probs[place])),
            number(answers.log_probs[place]),
            int(answers.ranks[place]) or None,
            int(answers.n_pieces[place]),
            *_of_words(row, answers.offered[place]),
        )
        for place, row in enumerate(result.texts.rows)
        for key, answers in result.answers.items()
    ]


def _of_words(row: TextRow, log_probs: Sequence[float]) -> tuple[str, str, float | None]:
    """Return the words whose probability is asked for, their probabilities, and a log-ratio.

    Bars divide both. They are empty where there is only one answer, which has columns of its own.
    The ratio is ln P(first) - ln P(second) of the words that the text offers, in nats.
    """
    if len(row.words) < 2:
        return "", "", None
    nats = dict(zip(row.words, log_probs, strict=True))
    said = "|".join("" if np.isnan(value) else repr(float(np.exp(value))) for value in log_probs)
    first, second = (*(nats[word] for word in row.choices), np.nan, np.nan)[:2]
    return "|".join(row.words), said, number(first - second)


def offered_of(result: ListResult) -> Iterator[dict[str, float | None]]:
    """Yield by row and model the probability of each word that is asked for."""
    if not isinstance(result, MaskedList):
        return
    for place, row in enumerate(result.texts.rows):
        for answers in result.answers.values():
            yield dict(zip(row.words, map(number, np.exp(answers.offered[place])), strict=True))


def _sentence_rows(result: SentenceList) -> list[tuple[Any, ...]]:
    return [
        (row.number, key, row.text, row.group, *_scores(scores[place]))
        for place, row in enumerate(result.texts.rows)
        for key, scores in result.scores.items()
    ]


def _scores(score: SentenceScore) -> tuple[int, int, float, float]:
    return score.n_tokens, score.n_unknown, score.pll, score.pll_word_l2r


def _pair_rows(result: PairList) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for place, row in enumerate(result.texts.rows):
        for key in result.good:
            good, bad = result.good[key][place], result.bad[key][place]
            sums = (good.pll, bad.pll, good.pll_word_l2r, bad.pll_word_l2r)
            margin = float(result.margins[key][place])
            unknown = (good.n_unknown, bad.n_unknown)
            given = (row.text, row.other, row.group)
            unmodified = map(float, result.unmodified[key][place])
            blank = result.blanks[key][place] if result.blanks else None
            words = (None,) * 3 if blank is None else map(float, blank.words)
            rows.append((row.number, key, *given, *unknown, *sums, margin, *unmodified, *words))
    return rows


def _labelled_rows(result: LabelledList) -> list[tuple[Any, ...]]:
    names, judged = result.result.labels.names, result.result.judged
    return [
        (
            row.number,
            key,
            row.text,
            row.label,
            row.group,
            predicted := names[int(judged[key].predicted[place])] if key in judged else None,
            None if predicted is None else predicted == row.label,
            *_by_head(result.heads.scores.get(key), place),
        )
        for place, row in enumerate(result.texts.rows)
        for key in names_of(result)
    ]


def _by_head(scores: HeadScores | None, place: int) -> tuple[str | None, float | None, bool | None]:
    """Return the label that a model's own head gives to a row, its probability, and if it is right.

    Without a head all are None; nothing is right or wrong about a label that the head cannot give.
    """
    if scores is None:
        return None, None, None
    label = scores.head.labels[int(scores.predicted[place])]
    is_right = bool(scores.right[place]) if scores.rows[place] else None
    return label, float(scores.confidence[place]), is_right


def _multilabel_rows(result: MultilabelList) -> list[tuple[Any, ...]]:
    sets = result.result.sets
    names = np.array(sets.names, object)
    return [
        (
            row.number,
            key,
            row.text,
            row.label,
            row.group,
            "|".join(names[classifier.predicted[place]]),
            bool((classifier.predicted[place] == sets.truth[place]).all()),
            *_sets_by_head(result, key, place),
        )
        for place, row in enumerate(result.texts.rows)
        for key, classifier in result.result.judged.items()
    ]


def _sets_by_head(result: MultilabelList, key: str, place: int) -> tuple[str | None, bool | None]:
    """Return the labels of the list that a model's own head gives to a row, and if all are right.

    None without a head.
    """
    scores = result.heads.scores.get(key)
    if scores is None:
        return None, None
    given = {name for name, has in zip(scores.labels, scores.predicted[place], strict=True) if has}
    sets = result.result.sets
    true = {name for name, has in zip(sets.names, sets.truth[place], strict=True) if has}
    return "|".join(sorted(given)), given == true & set(scores.labels)


def _unjudged_rows(result: UnjudgedList) -> list[tuple[Any, ...]]:
    is_scored = result.texts.kind == "scored"
    nothing = (None,) * (len(COLUMNS[result.texts.kind]) - 5)
    return [
        (row.number, key, row.text, row.score if is_scored else row.label, row.group, *nothing)
        for row in result.texts.rows
        for key in result.labels
    ]


def _scored_rows(result: ScoredList) -> list[tuple[Any, ...]]:
    def of_head(key: str, place: int) -> float | None:
        scores = result.heads.scores.get(key)
        return None if scores is None else float(scores.values[place])

    return [
        (
            row.number,
            key,
            row.text,
            row.score,
            row.group,
            float(each.values[place]),
            of_head(key, place),
        )
        for place, row in enumerate(result.texts.rows)
        for key, each in result.result.predicted.items()
    ]


def rows_canvas(
    result: ListResult,
    texts: Mapping[str, str],
    header: Mapping[str, object],
    most: int | None = None,
    marks: Mapping[str, object] | None = None,
) -> str:
    """Return the JSON of the table of rows.

    Args:
        result: The result of a list, or of the rows that are done.
        texts: Strings of the table.
        header: What a saved file says of the rows.
        most: Rows that are sent; None for all.
        marks: What ``fast_marks`` says of a fast list; None in float32.
    """
    kind, names = result.texts.kind, dict(result.labels)
    if isinstance(result, LabelledList | MultilabelList):
        names = names_of(result)
    if isinstance(result, ScoredList):
        names |= {WORDS_KEY: WORDS_NAME}
    if isinstance(result, PairList):
        texts = _of_sides(result, texts)
    return script_json(
        {
            "kind": kind,
            "columns": COLUMNS[kind],
            "names": names,
            "models": list(result.labels),
            "total": len(result.texts.rows),
            "lines": _lines(result)[:most],
            "constants": _constants(result),
            "said": dict(header),
            "texts": dict(texts),
            **({"fast": marks} if marks else {}),
        }
    )


def _constants(result: ListResult) -> dict[str, object]:
    """Return what the lines of Python that compute the rows again need besides them."""
    rows = result.texts.rows
    if isinstance(result, LabelledList | MultilabelList | ScoredList):
        read = {str(row.number): hide_choices(row.read) for row in rows}
        return {
            "POOLING": result.pooling,
            "LAYERS": {label: result.layers.get(key, 0) for key, label in result.labels.items()},
            **_settings(result),
            "READ": {
                n: text for (n, text), r in zip(read.items(), rows, strict=True) if text != r.text
            },
            "CUT": {str(row.number): row.cut for row in rows if row.cut},
            **_of_heads(result),
        }
    if isinstance(result, PairList):
        blanks = {str(r.number): [r.blank.context, *r.blank.words] for r in rows if r.blank}
        return {"SCORE": result.score, "BLANKS": blanks}
    if isinstance(result, MaskedList):
        return {"WORDS": {str(row.number): row.choices for row in rows if row.choices}}
    if isinstance(result, TaggedList):
        heads = result.heads.asked.heads
        return {"HEADS": {label: renamed(heads[key]) for key, label in result.labels.items()}}
    return {}


def _of_heads(result: LabelledList | MultilabelList | ScoredList) -> dict[str, object]:
    """Return the adapter, the labels and the matches of each own head that is scored."""
    heads = {result.labels[key]: each.head for key, each in result.heads.scores.items()}
    return {
        "ADAPTERS": {label: head.adapter for label, head in heads.items()},
        "HEADS": {label: [head.labels, head.problem, head.places] for label, head in heads.items()},
    }


def _settings(result: LabelledList | MultilabelList | ScoredList) -> dict[str, object]:
    """Return the settings that each fold chooses from, and the labels of each row."""
    if isinstance(result, ScoredList):
        return {"PENALTIES": scored.PENALTIES}
    if isinstance(result, MultilabelList):
        given = {str(row.number): row.labels for row in result.texts.rows}
        names = {"LABELS": result.result.sets.names, "GIVEN": given}
        return {**names, "STRENGTHS": labelled.STRENGTHS, "PATTERNS": labelled.PATTERNS}
    return {
        "LEARNS": not result.untrained,
        "STRENGTHS": labelled.STRENGTHS,
        "PATTERNS": labelled.PATTERNS,
    }


def _of_sides(result: PairList, texts: Mapping[str, str]) -> dict[str, str]:
    """Return the strings of the table in the names of the sides of a list's pairs.

    Where the list does not say which sentence is the good one, no row is right or wrong.
    """
    if result.sides.is_judged:
        return dict(texts)
    names = {"first": result.sides.first, "second": result.sides.second}
    renamed = {
        key[6:]: text.format(right="{right}", wrong="{wrong}", bad="{bad}", **names)
        for key, text in texts.items()
        if key.startswith("sides_")
    }
    return {**texts, **renamed}


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
                "right": _rights(result, hits, int(place)) if judged[place] else [],
                **_opened(result, int(place)),
            }
        )
    return lines


def _rights(result: ListResult, hits: Mapping[str, np.ndarray], place: int) -> list[bool | None]:
    """Return by model whether it has a row right; None where its head cannot give the label."""
    if not isinstance(result, LabelledList):
        return [bool(hit[place]) for hit in hits.values()]
    heads = result.heads.scores
    return [
        bool(hits[key][place])
        if key in hits and (key not in heads or heads[key].rows[place])
        else None
        for key in result.labels
    ]


def _opened(result: ListResult, place: int) -> dict[str, Any]:
    """Return the view that a row opens, and the words of it that are marked."""
    row = result.texts.rows[place]
    if isinstance(result, LabelledList | MultilabelList | ScoredList | UnjudgedList):
        more = [{"tab": tab, "text": row.text} for tab in ("attention", "depth")]
        if has_heads(result):
            pair = {"sentiment": row.text} if SEPARATOR in row.text else {}
            more.append({"tab": "tasks", "text": row.text, "fold": "sentiment", **pair})
        return {"open": more[0], "more": more, "marks": []}
    if isinstance(result, TaggedList):
        asked = wrong_span(result, place)
        views = [{"tab": "tasks", "text": row.text, "fold": "sentiment", **asked}]
        views += [{"tab": tab, "text": row.text} for tab in ("attention", "depth")]
        return {"open": views[0], "more": views, "marks": []}
    if isinstance(result, SentenceList):
        scores = [of_model[place] for of_model in result.scores.values()]
        marks = surprising(scores)
        return {"open": hiding(row.text, marks[0] if marks else None), "marks": sorted(marks)}
    if isinstance(result, PairList):
        span = first_difference(row.text, row.other)
        return {"open": hiding(row.text, span), "marks": []}
    hidden = "" if set("[]|\n") & set(row.answer) else row.answer
    choice = f"[{'|'.join(row.choices)}]" if row.choices else MASK
    text = row.text.replace(MASK, choice)
    offered = [
        [[word, number(np.exp(nats))] for word, nats in zip(row.words, of_row, strict=True)]
        for of_row in (each.offered[place] for each in result.answers.values())
    ]
    return {
        "open": {"tab": "predictions", "text": text, "hidden": hidden},
        "marks": [],
        "offered": offered,
    }


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
    if any(not np.array_equal(score.spans, spans) for score in scores):
        return []
    means = np.mean([score.words for score in scores], axis=0)
    order = [int(i) for i in np.argsort(means, kind="stable") if means[i] < 0]
    return [(int(start), int(end)) for start, end in (spans[i] for i in order[:MAX_MARKED])]


def first_difference(good: str, bad: str) -> Span | None:
    """Return the first word of the good sentence that the bad one has otherwise; None if none."""
    words, others = split_words(good), split_words(bad)
    for place, word in enumerate(words):
        if place >= len(others) or others[place].text != word.text:
            return word.start, word.end
    return None
