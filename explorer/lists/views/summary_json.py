"""Headline of a list's result as JSON: what ``/texts`` answers besides the rows."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from explorer.lists.bias import CrowsScore
from explorer.lists.comparison import Duel, Mean, Share
from explorer.lists.disagreement import by_disagreement
from explorer.lists.judge import LabelledResult
from explorer.lists.multilabel import MultilabelList
from explorer.lists.results import (
    BestLayer,
    LabelledList,
    ListResult,
    MaskedList,
    PairList,
    ScoredList,
    SentenceList,
    UnjudgedList,
)
from explorer.lists.stereoset import StereoScore
from explorer.lists.tagged import TaggedList
from explorer.lists.views.cautions import cautions
from explorer.lists.views.heads import heads_json, number, score_json
from explorer.lists.views.strings import headline
from explorer.lists.views.tags import tagged_json


def summary_json(result: ListResult) -> dict[str, Any]:
    """Return the headline of a result as JSON; no number is rounded."""
    writers: dict[type, Callable[[Any], dict[str, Any]]] = {
        MaskedList: _masked_summary,
        SentenceList: _sentences_summary,
        PairList: _pairs_summary,
        LabelledList: _labelled_summary,
        MultilabelList: _multilabel_summary,
        ScoredList: _scored_summary,
        TaggedList: _tagged_summary,
        UnjudgedList: _unjudged_summary,
    }
    return writers[type(result)](result)


def _scored_summary(result: ScoredList) -> dict[str, Any]:
    scores = result.result
    return {
        "advice": scores.advice,
        "heads": heads_json(result.heads),
        "cautions": list(cautions(result)),
        "near_copies": {"rows": result.copies.n},
        "cut": {"rows": result.texts.n_cut, "way": result.texts.way or None},
        "pooling": result.pooling,
        "groups": None if scores.truth.groups is None else len(set(scores.truth.groups.tolist())),
        "regressions": {
            key: {
                "spearman": score_json(each.spearman),
                "pearson": score_json(each.pearson),
                "spearman_of_shuffled_scores": number(each.control),
                "layer": result.layers.get(key),
                "penalties": list(scores.predicted[key].penalties),
            }
            for key, each in scores.correlations.items()
        },
        "differences": [
            {
                "regressions": [each.first, each.second],
                "spearman": number(each.difference),
                "p_value": each.p_value,
            }
            for each in scores.duels
        ],
    }


def _tagged_summary(result: TaggedList) -> dict[str, Any]:
    return tagged_json(result) | {"cautions": list(cautions(result))}


def _unjudged_summary(result: UnjudgedList) -> dict[str, Any]:
    what = "regressions" if result.texts.kind == "scored" else "classifiers"
    return {"advice": headline(result), "cautions": [], "pooling": result.pooling, what: {}}


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
        "words": list(summary.offered or ()),
        "mean_log_ratios": {
            key: {"value": number(mean.value), "interval": _ends(mean), "p_value": mean.p_value}
            for key, mean in summary.ratio.items()
        },
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
        "stereoset": {key: _stereo(score) for key, score in result.stereo.items()} or None,
        "n_compared": summary.n_compared,
        "cautions": list(cautions(result)),
        "mcnemar": _duels(summary.duels),
        "disputed_rows": [result.texts.rows[place].number for place in summary.disputed],
    }


def _labelled_summary(result: LabelledList) -> dict[str, Any]:
    scores = result.result
    models = {
        key: {
            "accuracy": score_json(scores.accuracy[key]),
            "macro_f1": score_json(scores.macro_f1[key]),
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
        "heads": heads_json(result.heads),
        "cautions": list(cautions(result)),
        "labels": list(scores.labels.names),
        "pooling": result.pooling,
        "groups": None if scores.labels.groups is None else len(set(scores.labels.groups.tolist())),
        "near_copies": {"rows": result.copies.n, "with_another_label": result.copies.n_other_label},
        "cut": {"rows": result.texts.n_cut, "way": result.texts.way or None},
        "below_guessing": list(scores.below_guessing),
        "classifiers": models,
        "differences": _differences(scores),
        "rows_all_models_have_wrong": [
            result.texts.rows[place].number for place in scores.all_wrong
        ],
    }


def _multilabel_summary(result: MultilabelList) -> dict[str, Any]:
    scores = result.result
    names = scores.sets.names
    return {
        "advice": result.advice.sentence,
        "heads": heads_json(result.heads),
        "cautions": list(cautions(result)),
        "labels": list(names),
        "labels_not_judged": dict(scores.sets.omitted),
        "pooling": result.pooling,
        "groups": None if scores.sets.groups is None else len(set(scores.sets.groups.tolist())),
        "near_copies": {"rows": result.copies.n, "with_another_label": result.copies.n_other_label},
        "cut": {"rows": result.texts.n_cut, "way": result.texts.way or None},
        "classifiers": {
            key: {
                "macro_f1": score_json(each.macro),
                "micro_f1": score_json(each.micro),
                "f1_by_label": dict(zip(names, map(score_json, each.by_label), strict=True)),
                "macro_f1_of_shuffled_labels": number(each.control),
                "layer": result.layers.get(key),
            }
            for key, each in scores.scores.items()
        },
        "differences": [
            {
                "classifiers": [each.first, each.second],
                "macro_f1": _alone(each.macro),
                "p_value": each.p_value,
            }
            for each in scores.differences
        ],
    }


def _differences(result: LabelledResult) -> list[dict[str, Any]]:
    return [
        {
            "classifiers": [each.first, each.second],
            "accuracy": score_json(each.accuracy),
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


def _stereo(score: StereoScore) -> dict[str, Any]:
    found = {"ss": score.ss, "lms": score.lms, "icat": score.icat}
    return {
        name: {"value": value, "interval": [low, high] if np.isfinite(low) else None}
        for name, (value, low, high) in found.items()
    } | {"terms": score.n_terms, "rows": score.n_rows, "unknown_words": score.n_unknown}


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


def _alone(value: float) -> dict[str, Any]:
    """Return a score that has no interval."""
    return {"value": value, "interval": None}


def _best_layer(best: BestLayer | None) -> dict[str, Any] | None:
    if best is None:
        return None
    gained = {"gain_over_layer": score_json(best.gain)}
    return {"accuracy": score_json(best.accuracy), "layers": list(best.layers)} | gained
