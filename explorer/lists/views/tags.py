"""Tagged rows: tables of the heads, JSON, and the spans of a row in words."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from explorer.lists.rows import TextRow
from explorer.lists.tagged import LEXICON, Span, SpanScores, TagDuel, TaggedList, TagScores
from explorer.lists.views.heads import cards_json, folded, score_json
from explorer.lists.views.strings import p_value, scored
from explorer.lists.views.tag_strings import CONTROL, SPAN
from explorer.models.tokens import split_words, word_of_span
from explorer.views.markup import Markup, el, join, model_name, table

MAX_TYPES = 20
"""Labels of spans in the table, those of the list with the most spans."""
Texts = Mapping[str, str]
Row = list[str | Markup]


def tags_html(result: TaggedList, texts: Texts) -> Markup:
    """Build the table of the heads, and closed ones of each label and of the comparisons."""
    found = result.heads
    names = ("model", "f1", "precision", "recall", "macro_f1", "rows_right")
    rows = [_scores_row(key, each, result) for key, each in _all(result)]
    whole = table([texts[f"tags_{name}"] for name in names], rows, texts["table_tagged"])
    parts = [el("div", whole, class_="tx-models"), _by_type(result, texts)]
    if found.duels or found.against:
        head = [texts[f"tags_{name}"] for name in ("two", "only_first", "only_second")]
        head += [texts[f"tags_{name}"] for name in ("difference", "p_value", "holm")]
        duels = [_duel_row(duel, result) for duel in (*found.duels, *found.against)]
        inside = table(head, duels, texts["table_duels_tags"])
        parts.append(folded(texts["tags_duels"], inside))
    return join(*parts)


def _all(result: TaggedList) -> list[tuple[str, TagScores]]:
    control = result.heads.lexicon
    return [*result.heads.scores.items(), *([(LEXICON, control)] if control else [])]


def _named(key: str, result: TaggedList) -> str | Markup:
    return CONTROL if key == LEXICON else model_name(key, result.labels[key])


def _scores_row(key: str, each: TagScores, result: TaggedList) -> Row:
    micro = [scored(score) for score in (each.micro.f1, each.micro.precision, each.micro.recall)]
    n_right = f"{int(each.right.sum()):,}"
    return [_named(key, result), *micro, scored(each.macro_f1), n_right]


def _by_type(result: TaggedList, texts: Texts) -> Markup:
    """Build the closed table of each label of the list's spans: F1 of each head."""
    n_of = {
        label: sum(span[0] == label for spans in result.spans for span in spans)
        for label in result.types
    }
    types = sorted(sorted(n_of, key=lambda label: -n_of[label])[:MAX_TYPES])
    every = _all(result)
    head = [texts["tags_label"], texts["tags_n"], *(_named(key, result) for key, _ in every)]
    rows: list[Row] = [
        [
            label,
            f"{n_of[label]:,}",
            *(scored(each.by_type[label].f1) for _, each in every),
        ]
        for label in types
    ]
    return folded(texts["tags_by_label"], table(head, rows, texts["table_by_label"]))


def _duel_row(duel: TagDuel, result: TaggedList) -> Row:
    return [
        join(_named(duel.first, result), ", ", _named(duel.second, result)),
        f"{duel.only_first:,}",
        f"{duel.only_second:,}",
        scored(duel.difference),
        p_value(duel.p_value),
        p_value(duel.corrected),
    ]


def spans_said(row: TextRow, spans: Iterable[Span]) -> str:
    """Return spans in the words of a row: ``Anna Berg (PER), Paris (LOC)``."""
    return ", ".join(
        SPAN.format(words=" ".join(row.tokens[first : last + 1]), label=label)
        for label, first, last in spans
    )


def tagged_rows(result: TaggedList) -> list[tuple[Any, ...]]:
    """Return a row for each row of the list and each model."""
    found = []
    for place, row in enumerate(result.texts.rows):
        true = result.spans[place]
        lead = (row.text, " ".join(row.tags), spans_said(row, true), row.group)
        for key, each in result.heads.scores.items():
            given = each.spans[place]
            missed, in_vain = (spans_said(row, spans) for spans in _wrong(true, given))
            tags, is_right = " ".join(each.tags[place]), bool(each.right[place])
            found.append((row.number, key, *lead, tags, missed, in_vain, is_right))
    return found


def tagged_json(result: TaggedList) -> dict[str, Any]:
    """Return the headline of tagged rows as JSON; no number is rounded."""
    heads = result.heads
    return {
        "labels": list(result.types),
        "models": {
            key: _scores_json(each)
            | {
                "matched": sorted(heads.asked.heads[key].places),
                "tags": list(heads.asked.heads[key].labels),
            }
            for key, each in heads.scores.items()
        },
        "most_frequent_tag": None if heads.lexicon is None else _scores_json(heads.lexicon),
        "best": list(heads.best),
        "differences": [_duel_json(duel) for duel in (*heads.duels, *heads.against)],
        "not_scored": {
            key: {"reason": why.reason, "labels": list(why.labels)}
            for key, why in heads.asked.others.items()
        },
        "on_cards": cards_json(heads.on_cards),
    }


def _scores_json(each: TagScores) -> dict[str, Any]:
    return _span_json(each.micro) | {
        "macro_f1": score_json(each.macro_f1),
        "rows_right": int(each.right.sum()),
        "by_label": {label: _span_json(score) for label, score in each.by_type.items()},
    }


def _span_json(scores: SpanScores) -> dict[str, Any]:
    return {
        "f1": score_json(scores.f1),
        "precision": score_json(scores.precision),
        "recall": score_json(scores.recall),
        "spans": scores.n_true,
        "spans_given": scores.n_given,
    }


def _duel_json(duel: TagDuel) -> dict[str, Any]:
    return {
        "heads": [duel.first, "most frequent tag" if duel.second == LEXICON else duel.second],
        "f1": score_json(duel.difference),
        "only_first": duel.only_first,
        "only_second": duel.only_second,
        "p_value": duel.p_value,
        "p_value_corrected": duel.corrected,
    }


def wrong_span(result: TaggedList, place: int) -> dict[str, str]:
    """Return the link's field for the first span of a row that a head misses, or gives in vain.

    A tagged row's words may be several of the Tasks tab's, which parts signs from letters.
    """
    row, heads = result.texts.rows[place], result.heads.scores.values()
    by_head = [_wrong(result.spans[place], scores.spans[place]) for scores in heads]
    missed = [span for spans, _ in by_head for span in spans]
    in_vain = [span for _, spans in by_head for span in spans]
    if not (wrong := missed or in_vain):
        return {}
    label, first, _ = min(wrong, key=lambda span: span[1:])
    start = sum(len(word) + 1 for word in row.tokens[:first])
    word = word_of_span([each.end for each in split_words(row.text)], start)
    return {"span": f"{word}:{label}"}


def _wrong(true: Sequence[Span], given: Sequence[Span]) -> tuple[list[Span], list[Span]]:
    """Return the spans of a row that a head misses, and those that it gives in vain."""
    missed = [span for span in true if span not in given]
    return missed, [span for span in given if span not in true]
