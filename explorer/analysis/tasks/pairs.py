"""Sentence pairs: NSP and SOP heads, order of the pair, and attention between two sentences."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.analysis.alignment import Alignment, word_attention
from explorer.analysis.claims.ledger import benchmark_tables
from explorer.analysis.measures import share_interval, softmax
from explorer.models.run import Run, read_only
from explorer.models.tokens import SEPARATOR, clean_text, split_words

OBJECTIVES: tuple[str, ...] = ("nsp", "sop")
TABLE = "albert-5"


@dataclass(frozen=True, slots=True)
class PairAccuracy:
    """Accuracy of a pair head on held-out pairs; half is chance."""

    accuracy: float
    count: int

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of the share."""
        return share_interval(self.accuracy * self.count, self.count)

    @property
    def beats_chance(self) -> bool:
        """Return whether the whole interval lies above one half."""
        return self.interval[0] > CHANCE


@dataclass(frozen=True, slots=True)
class CrossTest:
    """The cross test of ALBERT's Table 5: as measured on the bundled heads, and as printed."""

    measured: Mapping[str, tuple[PairAccuracy | None, ...]]
    """By model name, in the order of ``OBJECTIVES``; None where it was not measured."""
    printed: Mapping[str, tuple[float, ...]]
    """By the training objective of ALBERT-base, in per cent."""
    source: str


def cross_test(results: Mapping[str, Any], names: tuple[str, ...]) -> CrossTest:
    """Build the cross test of every head on both objectives from the cards and the paper."""
    table = benchmark_tables()[TABLE]
    columns = [f"{objective.upper()} accuracy" for objective in OBJECTIVES]
    skills = {
        name: tuple(pair_accuracy(results, name, objective) for objective in OBJECTIVES)
        for name in names
    }
    return CrossTest(
        {name: scores for name, scores in skills.items() if any(scores)},
        {row.name: tuple(table.cell(row.name, column) for column in columns) for row in table.rows},
        table.source,
    )


ORDERS: tuple[str, ...] = ("written", "swapped", "elsewhere")
"""The second sentence in place, before the first, and replaced by an unrelated one."""
CHANCE, OPEN = 0.5, 0.02


@dataclass(frozen=True, slots=True)
class SentencePair:
    """Two sentences, and an unrelated one in place of the second."""

    first: str
    second: str
    unrelated: str

    def text(self, order: str) -> str:
        """Return the text of the pair in one of the three orders, as the model reads it."""
        sides = {
            "written": (self.first, self.second),
            "swapped": (self.second, self.first),
            "elsewhere": (self.first, self.unrelated),
        }
        return f" {SEPARATOR} ".join(sides[order])


@dataclass(frozen=True, slots=True, eq=False)
class PairOrders:
    """One head's probabilities for a pair in the three orders."""

    in_order: np.ndarray
    """float64 [order]: the probability of "in order", which for NSP means "it follows"."""

    @property
    def is_undecided(self) -> bool:
        """Return whether all three probabilities lie within 0.02 of one half."""
        return bool((abs(self.in_order - CHANCE) < OPEN).all())

    def is_accepted(self, order: str) -> bool:
        """Return whether the head's probability of the pair in this order is at least one half."""
        return bool(self.in_order[ORDERS.index(order)] >= CHANCE)


def sentence_pair(text: str, candidates: tuple[str, ...]) -> SentencePair | None:
    """Split ``A [SEP] B`` into its two sentences; None where there are not two.

    A later [SEP] is dropped. The unrelated sentence is the first of ``candidates`` that shares no
    word of more than three letters with them.
    """
    first, separator, rest = clean_text(text).partition(SEPARATOR)
    first, second = first.strip(), " ".join(rest.replace(SEPARATOR, " ").split())
    if not (separator and first and second):
        return None
    used_words = _long_words(first) | _long_words(second)
    unrelated = (sentence for sentence in candidates if not used_words & _long_words(sentence))
    return SentencePair(first, second, next(unrelated, candidates[0]))


def pair_orders(logits: np.ndarray) -> PairOrders:
    """Compute the probabilities of class 0 from a head's logits [order, 2]."""
    return PairOrders(read_only(softmax(logits)[:, 0]))


def pair_accuracy(results: Mapping[str, Any], name: str, objective: str) -> PairAccuracy | None:
    """Return a model's accuracy on held-out pairs from the cards; None if not measured."""
    scores = results.get("models", {}).get(name, {})
    if objective not in scores:
        return None
    return PairAccuracy(float(scores[objective]), int(scores[f"{objective}_count"]))


def _long_words(text: str) -> set[str]:
    return {word.text.lower() for word in split_words(text) if len(word.text) > 3}


@dataclass(frozen=True, slots=True, eq=False)
class PairQuadrants:
    """Attention from the words of each sentence to A, B and the special tokens."""

    model: str
    label: str
    mass: np.ndarray
    """float64 [layer, head, from, to]: from A, B; to A, B, special. Sums to 1 over ``to``."""

    @property
    def mean(self) -> np.ndarray:
        """The mean over all layers and heads: float64 [from, to]."""
        return self.mass.mean((0, 1))

    @property
    def crossing(self) -> np.ndarray:
        """The attention to the other sentence, mean of A to B and B to A: float64 [layer, head]."""
        return (self.mass[..., 0, 1] + self.mass[..., 1, 0]) / 2

    def strongest(self, count: int) -> tuple[tuple[int, int, float], ...]:
        """Return (layer, head, share) of the heads that attend most to the other sentence."""
        order = np.argsort(-self.crossing, axis=None, kind="stable")[:count]
        places = [divmod(int(i), self.mass.shape[1]) for i in order]
        return tuple((layer, head, float(self.crossing[layer, head])) for layer, head in places)


def pair_quadrants(run: Run, alignment: Alignment) -> PairQuadrants | None:
    """Compute the attention mass between the words of two sentences; None without a pair.

    A word's row is the mean of its tokens' rows and its column the sum of their columns; rows of
    one sentence are then averaged. Attention to [CLS] and [SEP] is a column of its own, so that
    every row sums to 1.
    """
    groups = alignment.groups[run.spec.key]
    sentences = _sentences(run, groups)
    if not ((sentences == 0).any() and (sentences == 1).any()):
        return None
    words = word_attention(run.attention.astype(np.float64), groups)
    mass = np.stack(
        [
            np.stack(
                [
                    words[:, :, sentences == a][..., sentences == b].sum(-1).mean(-1)
                    for b in (0, 1, -1)
                ],
                -1,
            )
            for a in (0, 1)
        ],
        -2,
    )
    return PairQuadrants(run.spec.key, run.spec.label, read_only(mass))


def _sentences(run: Run, groups: tuple[tuple[int, ...], ...]) -> np.ndarray:
    """Return the sentence of each word: 0, 1, or -1 for special tokens."""
    tokens = run.tokens
    first = [group[0] if group else None for group in groups]
    return np.array([-1 if i is None or tokens.special[i] else tokens.segments[i] for i in first])
