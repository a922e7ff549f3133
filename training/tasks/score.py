"""EM and F1 of an answer, as the authors of SQuAD count them, and intervals of what is measured."""

import re
import string
from collections import Counter
from collections.abc import Sequence

import numpy as np

ARTICLES = re.compile(r"\b(a|an|the)\b")


def plain_answer(text: str) -> str:
    """Lower case, without punctuation, articles and extra spaces (Rajpurkar et al. 2016)."""
    text = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return " ".join(ARTICLES.sub(" ", text).split())


def exact(said: str, answers: Sequence[str]) -> float:
    """1 where it is one of the answers, else 0."""
    return float(plain_answer(said) in map(plain_answer, answers))


def overlap(said: str, answers: Sequence[str]) -> float:
    """F1 of its words with those of the answer that it is most like."""
    return max(_f1(plain_answer(said).split(), plain_answer(a).split()) for a in answers)


def _f1(said: list[str], answer: list[str]) -> float:
    both = sum((Counter(said) & Counter(answer)).values())
    if not said or not answer:
        return float(said == answer)
    return 2 * both / (len(said) + len(answer))


def mean_interval(values: Sequence[float], seed: int = 0, draws: int = 2000) -> tuple[float, float]:
    """The 95% interval of a mean over questions, by drawing them again with replacement."""
    numbers, rng = np.asarray(values, np.float64), np.random.default_rng(seed)
    means = [numbers[rng.integers(len(numbers), size=len(numbers))].mean() for _ in range(draws)]
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)
