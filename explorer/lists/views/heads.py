"""The models' own heads on a list: their tables, and their part of the summary in JSON."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from explorer.analysis.digits import percent
from explorer.lists.calibration import Calibration
from explorer.lists.head_scores import (
    HeadDuel,
    HeadScores,
    HeadScoresResult,
    HeadSets,
    HeadSetsResult,
    HeadsResult,
)
from explorer.lists.judge import Scored
from explorer.lists.multilabel import MultilabelList
from explorer.lists.results import LabelledList, ListResult, ScoredList
from explorer.lists.views.strings import BASELINES, correlation, p_value, scored
from explorer.views.markup import Markup, el, join, model_name, table

Texts = Mapping[str, str]
Row = list[str | Markup]


def has_heads(result: ListResult) -> bool:
    """Return whether any model's own head is scored on a list."""
    kinds = LabelledList | MultilabelList | ScoredList
    return isinstance(result, kinds) and bool(result.heads.scores)


def heads_html(result: ListResult, texts: Texts) -> Markup | None:
    """Build the table of the models' own heads, and that of each two; None where none is scored."""
    if not isinstance(result, LabelledList | MultilabelList | ScoredList) or not has_heads(result):
        return None
    makers = {LabelledList: _labelled, MultilabelList: _multilabel, ScoredList: _scored_rows}
    head, rows = makers[type(result)](result, texts)  # type: ignore[operator]
    whole = el("div", table(head, rows, texts["table_heads"]), class_="tx-models")
    duels = _duels(result, texts) if isinstance(result, LabelledList) else None
    return join(whole, duels)


def _labelled(result: LabelledList, texts: Texts) -> tuple[list[str], list[Row]]:
    same, learns = result.heads.same_rows, not result.untrained
    names = ["model", "accuracy", "frozen", "macro_f1", "confidence", "ece", "temperature"]
    if not learns:
        names = [name for name in names if name not in ("frozen", "temperature")]
    rows: list[Row] = []
    for key, each in result.heads.scores.items():
        found, fitted = each.calibration, each.calibration.temperature
        cells: Row = [model_name(key, result.labels[key]), scored(each.accuracy)]
        cells += [scored(same[key])] if learns else []
        cells += [scored(each.macro_f1), percent(found.confidence)]
        cells += [f"{percent(found.error)} ({percent(found.by_chance)})"]
        cells += ["–" if fitted is None else f"{fitted.value:.2f}"] if learns else []
        rows.append(cells)
    if not (learns and all(each.rows.all() for each in result.heads.scores.values())):
        for key, name in BASELINES.items():  # of all rows, the other table has them
            if key in same:
                rows.append([name, scored(same[key]), *["–"] * (len(names) - 2)])
    return [texts[f"heads_{name}"] for name in names], rows


def _multilabel(result: MultilabelList, texts: Texts) -> tuple[list[str], list[Row]]:
    names = ("model", "macro_f1", "micro_f1", "ece_labels")
    rows: list[Row] = [
        [
            model_name(key, result.labels[key]),
            scored(each.scores.macro),
            scored(each.scores.micro),
            f"{percent(each.calibration.error)} ({percent(each.calibration.by_chance)})",
        ]
        for key, each in result.heads.scores.items()
    ]
    return [texts[f"heads_{name}"] for name in names], rows


def _scored_rows(result: ScoredList, texts: Texts) -> tuple[list[str], list[Row]]:
    rows: list[Row] = [
        [
            model_name(key, result.labels[key]),
            correlation(each.spearman),
            correlation(each.pearson),
        ]
        for key, each in result.heads.scores.items()
    ]
    return [texts[f"heads_{name}"] for name in ("model", "spearman", "pearson")], rows


def _duels(result: LabelledList, texts: Texts) -> Markup:
    """Build the comparisons of each two heads, and of each head with what learns from the rows."""
    names = ("two", "only_first", "only_second", "difference", "p_value", "holm")
    rows = [
        _duel_row(duel, result, is_head)
        for duels, is_head in ((result.heads.duels, True), (result.heads.against, False))
        for duel in duels
    ]
    head = [texts[f"heads_{name}"] for name in names]
    return folded(texts["heads_duels"], table(head, rows, texts["table_duels"]))


def folded(title: str, inside: Markup) -> Markup:
    """Build a part that opens below its title."""
    return el("details", el("summary", title), inside, class_="tx-more")


def _duel_row(duel: HeadDuel, result: LabelledList, is_head: bool) -> Row:
    other: str | Markup = BASELINES.get(duel.second, "")
    if not other:
        other = model_name(duel.second, result.labels[duel.second])
        other = other if is_head else join(other, ", frozen features")
    return [
        join(model_name(duel.first, result.labels[duel.first]), ", ", other),
        f"{duel.only_first:,}",
        f"{duel.only_second:,}",
        scored(duel.difference),
        p_value(duel.p_value),
        p_value(duel.corrected),
    ]


def number(value: float) -> float | None:
    """Return a number for JSON, which has no nan."""
    return float(value) if np.isfinite(value) else None


def score_json(score: Scored) -> dict[str, Any]:
    """Return a score and its interval as JSON."""
    return {"value": number(score.value), "interval": [score.low, score.high]}


def cards_json(on_cards: Mapping[str, tuple[tuple[str, str], ...]]) -> dict[str, Any]:
    """Return by model the data sets that its card names, and their names on the list, as JSON."""
    return {
        key: [{"card": name, "list": known} for name, known in pairs]
        for key, pairs in on_cards.items()
    }


def heads_json(heads: HeadsResult | HeadSetsResult | HeadScoresResult) -> dict[str, Any]:
    """Return the models' own heads as JSON; no number is rounded."""
    writers: dict[type, Any] = {
        HeadsResult: _labelled_json,
        HeadSetsResult: _sets_json,
        HeadScoresResult: _correlations_json,
    }
    others = {
        key: {"reason": why.reason, "labels": list(why.labels)}
        for key, why in heads.asked.others.items()
    }
    return writers[type(heads)](heads) | {"not_scored": others}


def _labelled_json(heads: HeadsResult) -> dict[str, Any]:
    return {
        "models": {key: _scores_json(each) for key, each in heads.scores.items()},
        "best": list(heads.verdict.best),
        "same_rows": {key: score_json(each) for key, each in heads.same_rows.items()},
        "differences": [_duel_json(duel, duel.second) for duel in heads.duels]
        + [
            _duel_json(
                duel, duel.second if duel.second in BASELINES else f"{duel.second}, frozen features"
            )
            for duel in heads.against
        ],
        "rows_in_sst2_training": heads.copies,
        "on_cards": cards_json(heads.on_cards),
    }


def _scores_json(scores: HeadScores) -> dict[str, Any]:
    return {
        "labels": list(scores.head.labels),
        "problem": scores.head.problem,
        "matched": {name: scores.head.labels[place] for name, place in scores.head.places.items()},
        "matched_by_number": scores.head.by_number,
        "rows": int(scores.rows.sum()),
        "accuracy": score_json(scores.accuracy),
        "macro_f1": score_json(scores.macro_f1),
        "confusion": scores.confusion.tolist(),
        "confusion_labels": list(scores.labels),
        "calibration": calibration_json(scores.calibration),
    }


def calibration_json(found: Calibration) -> dict[str, Any]:
    """Return the calibration of a head as JSON."""
    fitted = found.temperature
    return {
        "expected_calibration_error": found.error,
        "by_chance": found.by_chance,
        "by_chance_95th_percentile": found.most_by_chance,
        "p_value": found.p_value,
        "mean_confidence": found.confidence,
        "bins": [
            {"rows": each.n, "confidence": each.confidence, "right": score_json(each.right)}
            for each in found.bins
        ],
        "temperature": None
        if fitted is None
        else {
            "value": fitted.value,
            "by_fold": list(fitted.by_fold),
            "loss_before": fitted.loss_before,
            "loss_after": fitted.loss_after,
            "lowered": {
                "value": number(fitted.lowered.value),
                "interval": [number(fitted.lowered.low), number(fitted.lowered.high)],
            },
            "expected_calibration_error_after": fitted.error_after,
        },
    }


def _duel_json(duel: HeadDuel, second: str) -> dict[str, Any]:
    return {
        "classifiers": [duel.first, second],
        "rows": duel.n_rows,
        "accuracy": score_json(duel.difference),
        "only_first": duel.only_first,
        "only_second": duel.only_second,
        "p_value": duel.p_value,
        "p_value_corrected": duel.corrected,
    }


def _sets_json(heads: HeadSetsResult) -> dict[str, Any]:
    return {
        "models": {key: _of_sets(each) for key, each in heads.scores.items()},
        "differences": [
            {
                "classifiers": [each.first, each.second],
                "macro_f1": each.macro,
                "p_value": each.p_value,
                "p_value_corrected": each.corrected,
            }
            for each in heads.duels
        ],
    }


def _of_sets(each: HeadSets) -> dict[str, Any]:
    by_label = zip(each.labels, map(score_json, each.scores.by_label), strict=True)
    return {
        "labels": list(each.head.labels),
        "scored_labels": list(each.labels),
        "macro_f1": score_json(each.scores.macro),
        "micro_f1": score_json(each.scores.micro),
        "f1_by_label": dict(by_label),
        "calibration": calibration_json(each.calibration),
    }


def _correlations_json(heads: HeadScoresResult) -> dict[str, Any]:
    return {
        "models": {
            key: {"spearman": score_json(each.spearman), "pearson": score_json(each.pearson)}
            for key, each in heads.scores.items()
        }
    }
