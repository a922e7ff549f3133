"""What a sentence-pair head says of two sentences in three orders, and how good it is at all."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.analysis.measures import share_interval, softmax
from explorer.models.run import read_only
from explorer.models.tokens import SEPARATOR, clean_text, split_words

ORDERS: tuple[str, ...] = ("written", "swapped", "elsewhere")
"""The second sentence where it was written, before the first, and replaced by a stranger."""
CHANCE, OPEN = 0.5, 0.02


@dataclass(frozen=True, slots=True)
class SentencePair:
    """Two sentences, and one that has nothing to do with them."""

    first: str
    second: str
    stranger: str

    def text(self, order: str) -> str:
        """The pair in one of the three orders, as it is run."""
        sides = {
            "written": (self.first, self.second),
            "swapped": (self.second, self.first),
            "elsewhere": (self.first, self.stranger),
        }
        return f" {SEPARATOR} ".join(sides[order])


@dataclass(frozen=True, slots=True)
class Skill:
    """How many of the held-out pairs a head tells right; half is chance."""

    share: float
    count: int

    @property
    def ends(self) -> tuple[float, float]:
        """The 95% interval of the share."""
        return share_interval(self.share * self.count, self.count)

    @property
    def beats_chance(self) -> bool:
        """Whether the whole interval lies above one half."""
        return self.ends[0] > CHANCE


@dataclass(frozen=True, slots=True, eq=False)
class PairOrders:
    """One head's answer to a pair in the three orders."""

    yes: np.ndarray
    """float64 [order]: the probability of "in order", which for NSP means "it follows"."""

    @property
    def is_undecided(self) -> bool:
        """Whether all three answers lie within 0.02 of one half."""
        return bool((abs(self.yes - CHANCE) < OPEN).all())

    def says_yes(self, order: str) -> bool:
        """Whether the head finds the pair in this order more likely true than not."""
        return bool(self.yes[ORDERS.index(order)] >= CHANCE)


def sentence_pair(text: str, strangers: tuple[str, ...]) -> SentencePair | None:
    """The two sentences of ``A [SEP] B``; None where there are not two.

    A later [SEP] is left out. The stranger is the first that shares no longer word with them.
    """
    first, separator, rest = clean_text(text).partition(SEPARATOR)
    first, second = first.strip(), " ".join(rest.replace(SEPARATOR, " ").split())
    if not (separator and first and second):
        return None
    known = _long_words(first) | _long_words(second)
    free = (one for one in strangers if not known & _long_words(one))
    return SentencePair(first, second, next(free, strangers[0]))


def pair_orders(logits: np.ndarray) -> PairOrders:
    """The probabilities of class 0 from a head's scores [order, 2]."""
    return PairOrders(read_only(softmax(logits)[:, 0]))


def pair_skill(results: Mapping[str, Any], name: str, objective: str) -> Skill | None:
    """A model's share of held-out pairs told right, from the cards; None where none was taken."""
    own = results.get("models", {}).get(name, {})
    if objective not in own:
        return None
    return Skill(float(own[objective]), int(own[f"{objective}_count"]))


def _long_words(text: str) -> set[str]:
    return {word.text.lower() for word in split_words(text) if len(word.text) > 3}
