"""EM and F1 of an answer, by SQuAD's official definition, and their confidence intervals."""

import re
import string
from collections import Counter
from collections.abc import Sequence

import numpy as np

ARTICLES = re.compile(r"\b(a|an|the)\b")


def plain_answer(text: str) -> str:
    """Return the text in lower case without punctuation, articles and extra spaces (SQuAD)."""
    text = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return " ".join(ARTICLES.sub(" ", text).split())


def exact(answer: str, answers: Sequence[str]) -> float:
    """Return 1 if the text equals one of the answers, else 0."""
    return float(plain_answer(answer) in map(plain_answer, answers))


def overlap(answer: str, answers: Sequence[str]) -> float:
    """Return the largest F1 of word overlap with one of the answers."""
    return max(_f1(plain_answer(answer).split(), plain_answer(a).split()) for a in answers)


def _f1(words: list[str], answer: list[str]) -> float:
    common = sum((Counter(words) & Counter(answer)).values())
    if not words or not answer:
        return float(words == answer)
    return 2 * common / (len(words) + len(answer))


def mean_interval(values: Sequence[float], seed: int = 0, draws: int = 2000) -> tuple[float, float]:
    """Compute the 95% interval of a mean over questions, by the bootstrap."""
    numbers, rng = np.asarray(values, np.float64), np.random.default_rng(seed)
    means = [numbers[rng.integers(len(numbers), size=len(numbers))].mean() for _ in range(draws)]
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)
