"""Summary of a list's result as HTML: the sentences, a table of the models, rows left out."""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from explorer.analysis.digits import UNBREAKABLE, cosine, counted, in_unit, milliseconds, percent
from explorer.analysis.precision import ListPrecision
from explorer.lists.bias import CrowsScore
from explorer.lists.comparison import Duel, Share
from explorer.lists.disagreement import has_truth
from explorer.lists.multilabel import MultilabelList
from explorer.lists.results import (
    LabelledList,
    ListResult,
    MaskedList,
    PairList,
    ScoredList,
    SentenceList,
    is_untrained,
)
from explorer.lists.roles import LeftOut
from explorer.lists.rule import FastReport
from explorer.lists.tagged import TaggedList
from explorer.lists.views.fast import fast_sentence
from explorer.lists.views.head_strings import IN_TASKS
from explorer.lists.views.heads import folded, has_heads, heads_html
from explorer.lists.views.pair_strings import mean_said, stereo_said
from explorer.lists.views.strings import (
    correlation,
    interval,
    names_of,
    nats,
    p_value,
    precision_sentence,
    scored,
    scored_names,
)
from explorer.lists.views.tags import tags_html
from explorer.lists.views.verdict import head_lines, lines_said
from explorer.views.markup import (
    Markup,
    el,
    explained,
    finding,
    fold_link,
    join,
    model_name,
    note,
    plain_cards,
    table,
)

MAX_LEFT_OUT = 20
"""Rows left out that are named; the others are counted."""
Texts = Mapping[str, str]


def summary_html(
    result: ListResult,
    missing: Mapping[str, tuple[str, str]],
    texts: Texts,
    notes: Texts,
    precision: ListPrecision | FastReport | None = None,
) -> Markup:
    """Return the finding, the tables of the models and of their comparisons, and the notes.

    Args:
        result: The result of a list, or of the rows that are done.
        missing: By model its label, and the reason why it was not asked.
        texts: Strings of the tables.
        notes: By kind how its numbers are made.
        precision: What half precision changes, or what a fast list did; None in float32.
    """
    kind, keys = result.texts.kind, {label: key for key, label in result.labels.items()}
    first, *others = lines_said(result)
    said = [el("p", with_names(line, keys), class_="tx-second") for line in others]
    of_heads = max(0, len(head_lines(result)) - 1)
    return join(
        finding(with_names(first, keys)),
        *said[:of_heads],
        heads_html(result, texts),
        *said[of_heads:],
        repeated_html(result, texts),
        tags_html(result, texts) if isinstance(result, TaggedList) else models_table(result, texts),
        duels_table(result, texts),
        left_out_html(result.texts.left_out, texts),
        note(with_names(_precision_said(result, precision), keys)) if precision else None,
        note(notes["heads"]) if has_heads(result) else None,
        None if is_untrained(result) else note(notes[kind]),
        el("div", plain_cards(missing), class_="columns") if missing else None,
    )


def _precision_said(result: ListResult, precision: ListPrecision | FastReport) -> str:
    if isinstance(precision, ListPrecision):
        return precision_sentence(result, precision)
    return fast_sentence(result, precision)


def with_names(sentence: str, keys: Mapping[str, str]) -> Markup:
    """Return a sentence in which the models' labels have their colours, and terms are explained.

    The part of Tasks where labels are named is a link.
    """
    linked = [_named(part, keys) for part in sentence.split(IN_TASKS)]
    link = fold_link(IN_TASKS, "tasks", "sentiment")
    return join(linked[0], *(part for each in linked[1:] for part in (link, each)))


def _named(sentence: str, keys: Mapping[str, str]) -> Markup:
    labels = sorted(keys, key=len, reverse=True)
    parts = re.split(rf"(?<![\w-])({'|'.join(map(re.escape, labels))})(?![\w-])", sentence)
    terms = (
        *("PLL-word-l2r", "pseudo-perplexity", "McNemar's exact test", "TF-IDF"),
        *("Spearman correlation", "mean log-ratio", "expected calibration error", "temperature"),
        "Holm's correction",
    )
    return join(
        *(
            model_name(keys[part], part) if i % 2 else explained(part, *terms)
            for i, part in enumerate(parts)
        )
    )


def repeated_html(result: ListResult, texts: Texts) -> Markup | None:
    """Say that rows are equal, for which an interval is too narrow; None where all differ."""
    n_rows, n_different = len(result.texts.rows), result.texts.n_different
    if n_different == n_rows:
        return None
    sentence = texts["repeated"].format(n=f"{n_different:,}", rows=counted(n_rows, "row"))
    return el("p", sentence, class_="tx-second")


def models_table(result: ListResult, texts: Texts) -> Markup | None:
    """Build the table with a row for each model, or classifier.

    None without given answers, or where no classifier learns from the rows.
    """
    if isinstance(result, MaskedList) and not has_truth(result).any():
        return None
    if is_untrained(result):
        return None
    makers = {
        MaskedList: _masked_rows,
        SentenceList: _sentence_rows,
        PairList: _pair_rows,
        LabelledList: _labelled_rows,
        MultilabelList: _multilabel_rows,
        ScoredList: _scored_rows,
    }
    head, rows = makers[type(result)](result, texts)  # type: ignore[operator]
    is_features = isinstance(result, LabelledList) and has_heads(result)
    title = texts["table_features" if is_features else f"table_{result.texts.kind}"]
    if isinstance(result, PairList):
        title = title.format(first=result.sides.first)
    return el("div", table(head, rows, title), class_="tx-models")


def duels_table(result: ListResult, texts: Texts) -> Markup | None:
    """Build the table of each two models by McNemar's exact test, closed; None for other kinds."""
    if not isinstance(result, MaskedList | PairList) or not result.summary.duels:
        return None
    if isinstance(result, MaskedList) and not has_truth(result).any():
        return None
    head = [texts["two"], texts["only_first"], texts["only_second"], texts["p_value"]]
    rows = [_duel_row(duel, result.labels) for duel in result.summary.duels]
    return folded(texts["duels"], table(head, rows, texts["table_duels"]))


def left_out_html(left_out: Sequence[LeftOut], texts: Texts) -> Markup | None:
    """Build the list of the rows that are not read, closed; None if all are."""
    if not left_out:
        return None
    items = [
        el("li", texts["row"].format(n=f"{row.number:,}"), " ", row.reason)
        for row in left_out[:MAX_LEFT_OUT]
    ]
    if len(left_out) > MAX_LEFT_OUT:
        items.append(el("li", texts["more_rows"].format(n=f"{len(left_out) - MAX_LEFT_OUT:,}")))
    return el(
        "details", el("summary", texts["left_out"]), el("ul", *items), class_="tx-more tx-left-out"
    )


def megabytes(size: float) -> str:
    """Format a size: one decimal from 1 MB on, two digits below."""
    return in_unit(size, "MB") if size >= 1 else f"{size:.2g}{UNBREAKABLE}MB"


Table = tuple[list[str], list[list[str | Markup]]]


def _masked_rows(result: MaskedList, texts: Texts) -> Table:
    summary = result.summary
    head = [texts[name] for name in ("model", "at_1", "at_5", "mean_rank", "several", "unknown")]
    rows: list[list[str | Markup]] = [
        [
            model_name(key, label),
            interval(summary.at_1[key]),
            interval(summary.at_5[key]),
            ranks(summary.mean_rank[key], summary.median_rank[key]),
            f"{summary.several_pieces[key]:,}",
            f"{summary.unknown[key]:,}",
        ]
        for key, label in result.labels.items()
    ]
    return head, rows


def ranks(mean: float, median: float) -> str:
    """Format the mean rank of answers and their median; a dash without any."""
    return "–" if np.isnan(mean) else f"{mean:,.1f} ({median:,.0f})"


def crows_shares(score: CrowsScore) -> tuple[Share, Share, Share]:
    """Return the shares of CrowS-Pairs: of all pairs, of stereotypes and of anti-stereotypes."""
    return score.metric, score.stereotype, score.anti_stereotype


def _sentence_rows(result: SentenceList, texts: Texts) -> Table:
    head = [texts[name] for name in ("model", "per_word", "perplexity", "has_unknown")]
    rows: list[list[str | Markup]] = [
        [
            model_name(key, label),
            nats(result.summary.per_word[key]) if result.summary.n_compared else "–",
            f"{result.summary.pseudo_perplexity[key]:,.1f}" if result.summary.n_compared else "–",
            f"{result.summary.unknown[key]:,}",
        ]
        for key, label in result.labels.items()
    ]
    return head, rows


def _pair_rows(result: PairList, texts: Texts) -> Table:
    groups = list(next(iter(result.summary.by_group.values()), {}))[:MAX_LEFT_OUT]
    crows = ("crows", "stereotype", "anti_stereotype") if result.crows else ()
    stereo = ("ss", "lms", "icat") if result.stereo else ()
    names = ("model", "all_pairs", "mean_margin", *crows, *stereo, "has_unknown")
    head = [*(texts[name] for name in names), *groups]
    rows: list[list[str | Markup]] = [
        [
            model_name(key, label),
            interval(result.summary.good_first[key]),
            mean_said(result.summary.mean_margin[key]),
            *(map(interval, crows_shares(result.crows[key])) if result.crows else ()),
            *(stereo_said(result.stereo[key]).values() if result.stereo else ()),
            f"{result.summary.unknown[key]:,}",
            *(interval(result.summary.by_group[key][group]) for group in groups),
        ]
        for key, label in result.labels.items()
    ]
    return head, rows


def _labelled_rows(result: LabelledList, texts: Texts) -> Table:
    scores = result.result
    head = [texts[name] for name in ("classifier", "accuracy", "macro_f1", "time", "size")]
    rows: list[list[str | Markup]] = []
    for key, name in names_of(result).items():
        cost = result.costs.get(key)
        rows.append(
            [
                model_name(key, name) if key in result.labels else name,
                scored(scores.accuracy[key]),
                scored(scores.macro_f1[key]),
                milliseconds(cost.ms_per_row) if cost else "–",
                megabytes(cost.megabytes) if cost else "–",
            ]
        )
    return head, rows


def _multilabel_rows(result: MultilabelList, texts: Texts) -> Table:
    head = [texts[name] for name in ("classifier", "macro_f1", "micro_f1", "mixed", "time")]
    rows: list[list[str | Markup]] = []
    for key, name in names_of(result).items():
        found, cost = result.result.scores[key], result.costs.get(key)
        rows.append(
            [
                model_name(key, name) if key in result.labels else name,
                scored(found.macro),
                scored(found.micro),
                percent(found.control) if np.isfinite(found.control) else "–",
                milliseconds(cost.ms_per_row) if cost else "–",
            ]
        )
    return head, rows


def _scored_rows(result: ScoredList, texts: Texts) -> Table:
    head = [texts[name] for name in ("classifier", "spearman", "pearson", "shuffled", "time")]
    rows: list[list[str | Markup]] = []
    for key, name in scored_names(result):
        found, cost = result.result.correlations[key], result.costs.get(key)
        rows.append(
            [
                model_name(key, name) if key in result.labels else name,
                correlation(found.spearman),
                correlation(found.pearson),
                cosine(found.control),
                milliseconds(cost.ms_per_row) if cost else "–",
            ]
        )
    return head, rows


def _duel_row(duel: Duel, labels: Mapping[str, str]) -> list[str | Markup]:
    names = join(
        model_name(duel.first, labels[duel.first]),
        ", ",
        model_name(duel.second, labels[duel.second]),
    )
    return [names, f"{duel.only_first:,}", f"{duel.only_second:,}", p_value(duel.p_value)]
