"""One sentence of advice from labelled rows, no stronger than the rows allow."""

from collections.abc import Mapping
from dataclasses import dataclass

from explorer.analysis.texts.comparison import mcnemar
from explorer.analysis.texts.labelled import LabelledResult

ERROR_RATE = 0.01
"""Chance of any advice where there is no difference, shared equally by all comparisons."""
NOTHING = (
    "No model is surely better than always answering the most frequent label, as far as {n} rows "
    "can show."
)
BAG = (
    "A bag of words may do as well: no model is surely better than TF-IDF with the same "
    "regression, as far as {n} rows can show."
)
BEST = (
    "{best} is the best of these models for your labels: the others are surely worse on {n} rows."
)
TIED = (
    "{best} scores highest and is surely better than a bag of words; between it and {rivals} there "
    "is no difference that {n} rows can show."
)


@dataclass(frozen=True, slots=True)
class Advice:
    """Sentence for the reader, and the models that it names."""

    sentence: str
    models: tuple[str, ...]
    """The models that may be recommended; empty where none is."""


def advice(result: LabelledResult, names: Mapping[str, str]) -> Advice:
    """Return what the scores allow to say.

    A difference counts if McNemar's exact test on the out-of-fold predictions stays below 1% after
    division by the number of comparisons: each model with two baselines and with each other.
    """
    n_rows, models = len(result.labels.truth), result.models
    n_compared = len(result.differences) or 1
    beaten = {
        (better, worse)
        for better, worse, p_value in _ordered(result)
        if p_value * n_compared < ERROR_RATE
    }
    learned = [key for key in models if (key, "majority") in beaten]
    useful = [key for key in learned if (key, "tfidf") in beaten]
    if not learned:
        return Advice(NOTHING.format(n=f"{n_rows:,}"), ())
    if not useful:
        return Advice(BAG.format(n=f"{n_rows:,}"), ())
    best = max(useful, key=lambda key: result.accuracy[key].value)
    rivals = [key for key in models if key != best and (best, key) not in beaten]
    if not rivals:
        return Advice(BEST.format(best=names[best], n=f"{n_rows:,}"), (best,))
    names_of_rivals = _listed([names[key] for key in rivals])
    sentence = TIED.format(best=names[best], rivals=names_of_rivals, n=f"{n_rows:,}")
    return Advice(sentence, (best, *(key for key in rivals if key in useful)))


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _ordered(result: LabelledResult) -> list[tuple[str, str, float]]:
    """Return (better, worse, p value) of each two classifiers."""
    rows = []
    for each in result.differences:
        p_value = mcnemar(each.only_first, each.only_second)
        pair = (each.first, each.second)
        better, worse = pair if each.only_first > each.only_second else pair[::-1]
        rows.append((better, worse, p_value))
    return rows
