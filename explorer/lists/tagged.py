"""Rows whose words have tags: exact spans of the models' own heads, as seqeval counts them."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from explorer.analysis.measures import softmax
from explorer.analysis.spans import OUTSIDE, label_names, parted, spans_of
from explorer.lists.comparison import counted_once, holm
from explorer.lists.heads import AskedHeads, OwnHead
from explorer.lists.judge import ERROR_RATE, Scored
from explorer.lists.labelled import FOLDS
from explorer.lists.multilabel import COUNTED, SPREAD, exchanged_f1, set_f1_interval
from explorer.lists.roles import BadRows
from explorer.lists.rows import TextList
from explorer.lists.scored import splits_of
from explorer.lists.seen import on_cards
from explorer.models.run import read_only
from explorer.refusal import Sentence

LEXICON = "lexicon"
"""Control: each word has the tag that it has most often in the other rows."""
NORMAL = 1.959963984540054
"""Quantile of the normal distribution for an interval of 95%."""
NO_SPANS = Sentence("no-spans", "No row has a span: all tags are O.")
Span = tuple[str, int, int]
"""Label, first and last word."""


@dataclass(frozen=True, slots=True)
class SpanScores:
    """Precision, recall and F1 of exact spans, with 95% intervals over the rows."""

    precision: Scored
    recall: Scored
    f1: Scored
    n_true: int
    """Spans of the list."""
    n_given: int
    """Spans of the head."""


@dataclass(frozen=True, slots=True, eq=False)
class TagScores:
    """Tags of one head, or of the control, and their scores."""

    tags: tuple[tuple[str, ...], ...]
    """By row and word, in the list's names."""
    probabilities: tuple[np.ndarray, ...]
    """By row float64 [word], the probability of the tag; empty of the control."""
    spans: tuple[tuple[Span, ...], ...]
    """By row."""
    hits: np.ndarray
    """int64 [row], spans of the list that are found exactly."""
    given: np.ndarray
    """int64 [row], spans given."""
    right: np.ndarray
    """bool [row]: the spans are those of the list."""
    micro: SpanScores
    macro_f1: Scored
    """Mean F1 of the labels that the list or the head has."""
    by_type: Mapping[str, SpanScores]
    """By label of the list's spans, and of the head's."""


@dataclass(frozen=True, slots=True)
class TagDuel:
    """Two heads, or a head and the control, on the same rows."""

    first: str
    second: str
    difference: Scored
    """Micro F1 of the first less that of the second, with the paired interval over the rows."""
    only_first: int
    """Rows of which only the first has all spans right."""
    only_second: int
    p_value: float
    """Two-sided, by exchanging the predictions of whole rows or groups (Yeh 2000)."""
    corrected: float
    """After Holm's correction for all comparisons of its kind."""

    @property
    def better_and_worse(self) -> tuple[str, str]:
        """The two, the one with the higher F1 first."""
        is_ahead = self.difference.value > 0
        return (self.first, self.second) if is_ahead else (self.second, self.first)


@dataclass(frozen=True, slots=True, eq=False)
class TagHeads:
    """Scores of the models' own heads on tagged rows, and how they compare."""

    asked: AskedHeads = field(default_factory=AskedHeads)
    scores: Mapping[str, TagScores] = field(default_factory=dict)
    """By model."""
    lexicon: TagScores | None = None
    """The control; None of a single row or group, from which nothing can be learnt."""
    duels: tuple[TagDuel, ...] = ()
    """Each two heads."""
    against: tuple[TagDuel, ...] = ()
    """Each head against the control."""
    learned: tuple[str, ...] = ()
    """The heads that are significantly better than the control."""
    best: tuple[str, ...] = ()
    """The head with the highest F1, and those that the rows cannot tell from it."""
    on_cards: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """By model the data sets that its card names and whose form the list has: see ``seen``."""


@dataclass(frozen=True, slots=True, eq=False)
class TaggedList:
    """Tagged rows through the own heads of all models."""

    texts: TextList
    labels: Mapping[str, str]
    """By model whose head is scored its label."""
    others: Mapping[str, str]
    """The same of the models whose heads are not scored."""
    types: tuple[str, ...]
    """The labels of the list's spans, sorted."""
    spans: tuple[tuple[Span, ...], ...]
    """By row those of the list."""
    heads: TagHeads


def types_of(texts: TextList) -> tuple[str, ...]:
    """Return the labels of the spans of a list, sorted.

    Raises:
        BadRows: no row has a span.
    """
    types = span_names(sorted({tag for row in texts.rows for tag in row.tags}))
    if not types:
        raise BadRows(NO_SPANS)
    return tuple(sorted(types))


def span_names(tags: Sequence[str]) -> tuple[str, ...]:
    """Return the labels of the spans that tags make, in their order, without O."""
    return tuple(name for name in label_names(tags) if name != OUTSIDE)


def tagged_list(
    texts: TextList,
    labels: Mapping[str, str],
    asked: AskedHeads,
    logits: Mapping[str, Sequence[np.ndarray]],
) -> TaggedList:
    """Return the scores of the heads on tagged rows.

    Args:
        texts: The rows.
        labels: By model its label, also of those whose heads are not scored.
        asked: The heads.
        logits: By model and row float32 [word, output].
    """
    truth = Truths(texts)
    scores = {key: truth.of_head(asked.heads[key], logits[key]) for key in logits}
    lexicon = truth.of_lexicon()
    pairs = [(a, b, scores[a], scores[b]) for a, b in combinations(scores, 2)]
    against = [(key, LEXICON, each, lexicon) for key, each in scores.items() if lexicon]
    duels, controls = truth.duels(pairs), truth.duels(against)  # type: ignore[arg-type]
    found = TagHeads(
        *(asked, scores, lexicon, duels, controls),
        *_verdict(scores, (*duels, *controls)),
        on_cards(asked.data, texts),
    )
    scored, others = (
        {key: label for key, label in labels.items() if (key in scores) is is_scored}
        for is_scored in (True, False)
    )
    return TaggedList(texts, scored, others, truth.types, truth.spans, found)


def _verdict(
    scores: Mapping[str, TagScores], tests: Sequence[TagDuel]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return which heads are better than the control, and the best with those like it.

    All tests are corrected together by Holm.
    """
    sure = [
        each.better_and_worse
        for each, p_value in zip(tests, holm([each.p_value for each in tests]), strict=True)
        if p_value < ERROR_RATE
    ]
    learned = tuple(key for key in scores if (key, LEXICON) in sure)
    best = max(scores, key=lambda key: scores[key].micro.f1.value)
    return learned, tuple(key for key in scores if key == best or (best, key) not in sure)


class Truths:
    """Spans of the rows of a list: scores of tags against them."""

    def __init__(self, texts: TextList) -> None:
        """Find the spans of the rows, and which rows stay together."""
        self._rows = texts.rows
        self._tags = tuple(row.tags for row in texts.rows)
        self._scheme = sorted({tag for tags in self._tags for tag in tags})
        self.spans = _spans(self._tags, self._scheme)
        self.types = tuple(sorted({span[0] for spans in self.spans for span in spans}))
        units: dict[object, int] = {}
        groups = [units.setdefault(row.group or f" {row.number}", len(units)) for row in self._rows]
        self._groups = np.array(groups) if any(row.group for row in self._rows) else None

    def of_head(self, head: OwnHead, logits: Sequence[np.ndarray]) -> TagScores:
        """Return the scores of a head from its logits, by row float [word, output]."""
        p = [softmax(of_row.astype(np.float64)) for of_row in logits]
        labels = renamed(head)
        tags = tuple(tuple(labels[place] for place in of_row.argmax(1)) for of_row in p)
        spans = _spans(tags, labels)
        return self._scored(tags, spans, tuple(read_only(of_row.max(1)) for of_row in p))

    def of_lexicon(self) -> TagScores | None:
        """Return the scores of the most frequent tag of each word in the rows of other folds.

        A word that they do not have gets their most frequent tag.
        """
        n_units = len(self._rows) if self._groups is None else len(set(self._groups.tolist()))
        if n_units < 2:
            return None
        tags: list[tuple[str, ...]] = [()] * len(self._rows)
        for train, test in splits_of(min(FOLDS, n_units), len(self._rows), self._groups):
            of_word: dict[str, Counter[str]] = defaultdict(Counter)
            for row in (self._rows[place] for place in train):
                for word, tag in zip(row.tokens, row.tags, strict=True):
                    of_word[word.casefold()][tag] += 1
            usual = sum(of_word.values(), Counter()).most_common(1)[0][0]
            known = {word: counts.most_common(1)[0][0] for word, counts in of_word.items()}
            for place in test:
                words = self._rows[place].tokens
                tags[place] = tuple(known.get(word.casefold(), usual) for word in words)
        return self._scored(tuple(tags), _spans(tags, self._scheme), (), COUNTED)

    def _scored(
        self,
        tags: tuple[tuple[str, ...], ...],
        spans: tuple[tuple[Span, ...], ...],
        probabilities: tuple[np.ndarray, ...],
        share: float = 1.0,
    ) -> TagScores:
        """Return the scores of tags; ``share`` of the rows count for the intervals."""
        types = sorted({span[0] for rows in (self.spans, spans) for row in rows for span in row})
        counts = np.zeros((3, len(self.spans), len(types)), np.int64)
        for row, (true, given) in enumerate(zip(self.spans, spans, strict=True)):
            for kind, found in enumerate(({*true} & {*given}, {*given}, {*true})):
                for label, *_ in found:
                    counts[kind, row, types.index(label)] += 1
        n = share * counted_once(len(self.spans), self._groups)
        hits, sizes = counts[0], counts[1] + counts[2]
        macro = float((2 * hits.sum(0) / np.maximum(1, sizes.sum(0))).mean())
        total = counts.sum(2)
        return TagScores(
            tags,
            probabilities,
            spans,
            read_only(total[0]),
            read_only(total[1]),
            read_only(np.array([{*a} == {*b} for a, b in zip(self.spans, spans, strict=True)])),
            _span_scores(total[:, :, None], n),
            Scored(macro, *set_f1_interval(hits, sizes, n)),
            {label: _span_scores(counts[:, :, [i]], n) for i, label in enumerate(types)},
        )

    def duels(self, pairs: Sequence[tuple[str, str, TagScores, TagScores]]) -> tuple[TagDuel, ...]:
        """Compare two classifiers each, with p values corrected for the number of pairs."""
        found = [self._compared(first, second) for *_, first, second in pairs]
        corrected = holm([p_value for *_, p_value in found])
        return tuple(
            TagDuel(a, b, *each, p)
            for (a, b, *_), each, p in zip(pairs, found, corrected, strict=True)
        )

    def _compared(self, first: TagScores, second: TagScores) -> tuple[Scored, int, int, float]:
        true = np.array([len(spans) for spans in self.spans])
        sides = [(each.hits[:, None], each.given[:, None]) for each in (first, second)]
        hits, given = zip(*sides, strict=True)
        p_value = exchanged_f1(hits, given, true.sum(keepdims=True), self._groups)
        n = counted_once(len(true), self._groups)
        difference = f1_difference(hits, [each + true[:, None] for each in given], n)
        only = first.right & ~second.right, second.right & ~first.right
        return difference, int(only[0].sum()), int(only[1].sum()), p_value


def renamed(head: OwnHead) -> tuple[str, ...]:
    """Return the tags of a head in the list's names, where these match."""
    own = span_names(head.labels)
    yours = {own[place]: name for name, place in head.places.items()}
    found = []
    for tag in head.labels:
        _, label = parted(tag)
        found.append(tag.removesuffix(label) + yours.get(label, label))
    return tuple(found)


def _spans(tags: Sequence[Sequence[str]], scheme: Sequence[str]) -> tuple[tuple[Span, ...], ...]:
    return tuple(tuple(span[:3] for span in spans_of(row, scheme)) for row in tags)


def _span_scores(counts: np.ndarray, n: float) -> SpanScores:
    """Return precision, recall and F1 from counts [hits, given, true; row; 1]."""
    hits, given, true = counts

    def scored(sizes: np.ndarray) -> Scored:
        value = float(2 * hits.sum() / max(1, sizes.sum()))
        return Scored(value, *set_f1_interval(hits, sizes, n))

    n_true, n_given = int(true.sum()), int(given.sum())
    return SpanScores(scored(2 * given), scored(2 * true), scored(given + true), n_true, n_given)


def f1_difference(hits: Sequence[np.ndarray], sizes: Sequence[np.ndarray], n: float) -> Scored:
    """Return the difference of two micro F1 on the same rows, with its 95% interval.

    The variance is that of the delta method over the rows. Two further rows of weight one half are
    counted, in each of which one of the two finds all spans and the other none, so that no interval
    has a width of 0.

    Args:
        hits: Of both int [row, 1], the spans found.
        sizes: Of both int [row, 1], the spans of the list plus those given.
        n: The number of rows that count; it may be a fraction.
    """
    values, influences = [], []
    for side in (0, 1):
        unit = max(1.0, float(sizes[side].mean()) / 2)
        own = np.concatenate([hits[side][:, 0], unit * np.array([1 - side, side])])
        size = np.concatenate([sizes[side][:, 0], unit * np.array([2 - side, 1 + side])])
        weights = np.concatenate([np.ones(len(own) - 2), np.full(2, SPREAD)])
        mean = np.average(size, weights=weights)
        f1 = 2 * np.average(own, weights=weights) / mean
        influences.append((2 * own - f1 * size) / mean)
        values.append(2 * hits[side].sum() / max(1, sizes[side].sum()))
    apart = influences[0] - influences[1]
    middle = np.average(apart, weights=weights)
    variance = np.average((apart - middle) ** 2, weights=weights)
    value, half = float(values[0] - values[1]), NORMAL * float(np.sqrt(variance / n))
    return Scored(value, max(-1.0, value - half), min(1.0, value + half))
