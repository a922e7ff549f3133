"""Rows of a list's result, for the browser's table, the endpoint, the shell and a frame."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from explorer.lists import labelled
from explorer.lists.bias import CrowsScore
from explorer.lists.comparison import Duel, Mean, Share
from explorer.lists.judge import LabelledResult, Scored
from explorer.lists.results import (
    BestLayer,
    LabelledList,
    ListResult,
    MaskedList,
    PairList,
    SentenceList,
    by_disagreement,
    distances,
    has_truth,
    right_of,
)
from explorer.lists.sentences import SentenceScore
from explorer.lists.views.strings import BASELINES, cautions, read_as
from explorer.models.tokens import MASK, clean_text, hide_choices, split_words
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
    ),
    "labelled": ("row", "model", "text", "label", "group", "predicted", "right"),
}
"""Columns of ``table_rows`` by kind; one row for each row of the list and model."""
MAX_MARKED = 3
"""Words of a sentence that are marked, those with the largest surprise."""
LEAD = {"masked": 3, "plain": 2, "pairs": 3, "labelled": 3}
"""Columns of a row itself, after its number and the model: the text and what is given of it."""
Span = tuple[int, int]


def as_json(result: ListResult) -> dict[str, Any]:
    """Return a result as the JSON object that ``/texts`` answers with."""
    kind = result.texts.kind
    names = COLUMNS[kind]
    rows = [dict(zip(names, row, strict=True)) for row in table_rows(result)]
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
    }
    return writers[type(result)](result)


def summary_json(result: ListResult) -> dict[str, Any]:
    """Return the headline of a result as JSON; no number is rounded."""
    writers: dict[type, Callable[[Any], dict[str, Any]]] = {
        MaskedList: _masked_summary,
        SentenceList: _sentences_summary,
        PairList: _pairs_summary,
        LabelledList: _labelled_summary,
    }
    return writers[type(result)](result)


def number(value: float) -> float | None:
    """Return a number for JSON, which has no nan."""
    return float(value) if np.isfinite(value) else None


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
        )
        for place, row in enumerate(result.texts.rows)
        for key, answers in result.answers.items()
    ]


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
            rows.append((row.number, key, *given, *unknown, *sums, margin, *unmodified))
    return rows


def _labelled_rows(result: LabelledList) -> list[tuple[Any, ...]]:
    names = result.result.labels.names
    return [
        (
            row.number,
            key,
            row.text,
            row.label,
            row.group,
            predicted := names[int(classifier.predicted[place])],
            predicted == row.label,
        )
        for place, row in enumerate(result.texts.rows)
        for key, classifier in result.result.judged.items()
    ]


def _masked_summary(result: MaskedList) -> dict[str, Any]:
    summary = result.summary
    models = {
        key: {
            "accuracy_at_1": _share(summary.at_1[key]),
            "accuracy_at_5": _share(summary.at_5[key]),
            "by_group": _by_group(summary.by_group[key]),
            "answers_of_several_pieces": summary.several_pieces[key],
            "unknown_answers": summary.unknown[key],
            "mean_rank": number(summary.mean_rank[key]),
            "median_rank": number(summary.median_rank[key]),
        }
        for key in result.answers
    }
    pairs = [
        {
            "models": list(pair),
            "same_first_word": _share(share),
            "mean_js": number(result.divergence[pair].mean()),
        }
        for pair, share in summary.agreement.items()
    ]
    order = [result.texts.rows[place].number for place in by_disagreement(result)]
    return {
        "models": models,
        "pairs": pairs,
        "cautions": list(cautions(result)),
        "mcnemar": _duels(summary.duels),
        "rows_by_disagreement": order,
    }


def _sentences_summary(result: SentenceList) -> dict[str, Any]:
    summary = result.summary
    return {
        "models": {
            key: {
                "pseudo_perplexity": number(summary.pseudo_perplexity[key]),
                "pll_word_l2r_per_word": number(summary.per_word[key]),
                "rows_with_unknown": summary.unknown[key],
            }
            for key in result.scores
        },
        "n_compared": summary.n_compared,
        "cautions": list(cautions(result)),
    }


def _pairs_summary(result: PairList) -> dict[str, Any]:
    summary = result.summary
    models = {
        key: {
            "good_is_likelier": _share(share),
            "by_group": _by_group(summary.by_group[key]),
            "mean_margin": number(summary.mean_margin[key].value),
            "mean_margin_interval": _ends(summary.mean_margin[key]),
            "mean_margin_p_value": summary.mean_margin[key].p_value,
            "rows_with_unknown": summary.unknown[key],
        }
        for key, share in summary.good_first.items()
    }
    return {
        "score": result.score,
        "sides": [result.sides.first, result.sides.second],
        "models": models,
        "mean_margin_differences": [
            {
                "models": [each.first, each.second],
                "value": number(each.difference.value),
                "interval": _ends(each.difference),
                "p_value": each.difference.p_value,
            }
            for each in summary.margin_duels
        ],
        "crows_pairs": {key: _crows(score) for key, score in result.crows.items()} or None,
        "n_compared": summary.n_compared,
        "cautions": list(cautions(result)),
        "mcnemar": _duels(summary.duels),
        "disputed_rows": [result.texts.rows[place].number for place in summary.disputed],
    }


def _labelled_summary(result: LabelledList) -> dict[str, Any]:
    scores = result.result
    models = {
        key: {
            "accuracy": _scored(scores.accuracy[key]),
            "macro_f1": _scored(scores.macro_f1[key]),
            "confusion": scores.confusion[key].tolist(),
            "layer": result.layers.get(key),
            "learning_curve": [
                [point.n_rows, point.accuracy.value] for point in result.learning.get(key, ())
            ],
            "learning_curve_intervals": [
                [point.accuracy.low, point.accuracy.high] for point in result.learning.get(key, ())
            ],
            "accuracy_by_layer": list(result.by_layer.get(key, ())),
            "layer_chosen_in_training": _best_layer(result.best_layer.get(key)),
        }
        for key in scores.judged
    }
    return {
        "advice": result.advice.sentence,
        "cautions": list(cautions(result)),
        "labels": list(scores.labels.names),
        "pooling": result.pooling,
        "groups": None if scores.labels.groups is None else len(set(scores.labels.groups.tolist())),
        "near_copies": {"rows": result.copies.n, "with_another_label": result.copies.n_other_label},
        "below_guessing": list(scores.below_guessing),
        "classifiers": models,
        "differences": _differences(scores),
        "rows_all_models_have_wrong": [
            result.texts.rows[place].number for place in scores.all_wrong
        ],
    }


def _differences(result: LabelledResult) -> list[dict[str, Any]]:
    return [
        {
            "classifiers": [each.first, each.second],
            "accuracy": _scored(each.accuracy),
            "macro_f1": _alone(each.macro_f1),
            "only_first": each.only_first,
            "only_second": each.only_second,
            "p_value": each.p_value,
        }
        for each in result.differences
    ]


def _share(share: Share) -> dict[str, Any]:
    return {
        "value": number(share.value),
        "interval": list(share.interval),
        "hits": share.hits,
        "n": share.n,
    }


def _ends(mean: Mean) -> list[float] | None:
    """Return the ends of a mean's interval; None where there is none."""
    return [mean.low, mean.high] if np.isfinite(mean.low) else None


def _crows(score: CrowsScore) -> dict[str, Any]:
    return {
        "metric_score": _share(score.metric),
        "stereotype_score": _share(score.stereotype),
        "anti_stereotype_score": _share(score.anti_stereotype),
        "neutral": score.n_neutral,
    }


def _by_group(shares: Mapping[str, Share]) -> dict[str, Any]:
    return {group: _share(share) for group, share in shares.items()}


def _duels(duels: Sequence[Duel]) -> list[dict[str, Any]]:
    return [
        {
            "models": [duel.first, duel.second],
            "only_first": duel.only_first,
            "only_second": duel.only_second,
            "p_value": duel.p_value,
        }
        for duel in duels
    ]


def _scored(score: Scored) -> dict[str, Any]:
    return {"value": score.value, "interval": [score.low, score.high]}


def _alone(value: float) -> dict[str, Any]:
    """Return a score that has no interval."""
    return {"value": value, "interval": None}


def _best_layer(best: BestLayer | None) -> dict[str, Any] | None:
    if best is None:
        return None
    return {"accuracy": _scored(best.accuracy), "layers": list(best.layers)}


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
        read = {str(row.number): hide_choices(row.text) for row in result.texts.rows}
        constants = {
            "POOLING": result.pooling,
            "LAYERS": layers,
            "STRENGTHS": labelled.STRENGTHS,
            "PATTERNS": labelled.PATTERNS,
            "READ": {
                n: read[n]
                for n, row in zip(read, result.texts.rows, strict=True)
                if read[n] != row.text
            },
        }
    elif isinstance(result, PairList):
        constants, texts = {"SCORE": result.score}, _of_sides(result, texts)
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
    return [spans[i] for i in order[:MAX_MARKED]]


def first_difference(good: str, bad: str) -> Span | None:
    """Return the first word of the good sentence that the bad one has otherwise; None if none."""
    words, others = split_words(good), split_words(bad)
    for place, word in enumerate(words):
        if place >= len(others) or others[place].text != word.text:
            return word.start, word.end
    return None
