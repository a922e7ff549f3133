"""JSON and table rows of a list's result: what the endpoint, the shell and a frame hold."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from explorer.analysis.texts.comparison import Duel, Share
from explorer.analysis.texts.labelled import LabelledResult, Scored
from explorer.analysis.texts.results import (
    LabelledList,
    ListResult,
    MaskedList,
    PairList,
    SentenceList,
    by_disagreement,
)
from explorer.analysis.texts.sentences import SentenceScore

COLUMNS: dict[str, tuple[str, ...]] = {
    "masked": (
        "row",
        "model",
        "text",
        "answer",
        "group",
        "word",
        "probability",
        "answer_log_probability",
        "answer_rank",
        "answer_pieces",
    ),
    "plain": ("row", "model", "text", "group", "tokens", "pll", "pll_word_l2r"),
    "pairs": (
        "row",
        "model",
        "good",
        "bad",
        "group",
        "pll_good",
        "pll_bad",
        "pll_word_l2r_good",
        "pll_word_l2r_bad",
        "margin",
    ),
    "labelled": ("row", "model", "text", "label", "predicted", "right"),
}
"""Columns of ``table_rows`` by kind; one row for each row of the list and model."""


def as_json(result: ListResult) -> dict[str, Any]:
    """Return a result as the JSON object that ``/texts`` answers with."""
    kind = result.texts.kind
    names = COLUMNS[kind]
    rows = [dict(zip(names, row, strict=True)) for row in table_rows(result)]
    return {
        "kind": kind,
        "columns": dict(result.texts.columns),
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


def _scores(score: SentenceScore) -> tuple[int, float, float]:
    return score.n_tokens, score.pll, score.pll_word_l2r


def _pair_rows(result: PairList) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for place, row in enumerate(result.texts.rows):
        for key in result.good:
            good, bad = result.good[key][place], result.bad[key][place]
            sums = (good.pll, bad.pll, good.pll_word_l2r, bad.pll_word_l2r)
            margin = float(result.margins[key][place])
            rows.append((row.number, key, row.text, row.other, row.group, *sums, margin))
    return rows


def _labelled_rows(result: LabelledList) -> list[tuple[Any, ...]]:
    names = result.result.labels.names
    return [
        (
            row.number,
            key,
            row.text,
            row.label,
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
            }
            for key in result.scores
        }
    }


def _pairs_summary(result: PairList) -> dict[str, Any]:
    summary = result.summary
    models = {
        key: {"good_is_likelier": _share(share), "by_group": _by_group(summary.by_group[key])}
        for key, share in summary.good_first.items()
    }
    return {
        "score": result.score,
        "models": models,
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
            "learning_curve": [list(point) for point in result.learning.get(key, ())],
            "accuracy_by_layer": list(result.by_layer.get(key, ())),
        }
        for key in scores.judged
    }
    return {
        "advice": result.advice.sentence,
        "labels": list(scores.labels.names),
        "pooling": result.pooling,
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
            "macro_f1": _scored(each.macro_f1),
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
