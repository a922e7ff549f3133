"""Random labels and random scores are reported as no better than chance, and nothing is recommended."""

import numpy as np
import pytest

from explorer.assets import text_lists
from explorer.lists import judge, labelled
from explorer.lists.bias import sides_of
from explorer.lists.judge import advice, labelled_result
from explorer.lists.labelled import Choice, Judged, Labels, folds, labels_of, majority
from explorer.lists.library import answered, table_of
from explorer.lists.read import read_table
from explorer.lists.results import PairList, TextsOptions
from explorer.lists.rows import text_list
from explorer.lists.sentences import pairs_summary
from explorer.lists.views.cautions import cautions
from explorer.lists.views.strings import second_line
from explorer.scheduling.cancel import CancelToken

NAMES = {"bert": "BERT", "distilbert": "DistilBERT", "albert": "ALBERT"}
DRAWS = 100
LISTS = {
    row["name"]: text_list(read_table(row["content"], "a.csv"))
    for row in text_lists()
    if row["kind"] == "labelled"
}


def features_of(texts, seed):
    """Return features of real sentences without a model: random directions of their letters."""
    generator = np.random.default_rng(seed)
    counts = np.array(
        [[text.lower().count(letter) for letter in "abcdefghiklmnoprstuwy"] for text in texts]
    )
    return counts @ generator.normal(size=(counts.shape[1], 8))


def permuted(name, seed):
    """Return a real list's labels in another order, in whole groups where it has some."""
    labels, generator = labels_of(LISTS[name]), np.random.default_rng(seed)
    if labels.groups is None:
        return Labels(labels.names, generator.permutation(labels.truth))
    flips = generator.integers(0, 2, labels.groups.max() + 1)[labels.groups]
    return Labels(labels.names, np.where(flips, 1 - labels.truth, labels.truth), labels.groups)


def nearest(rows, labels):
    """Return out-of-fold predictions of the class whose mean is nearest: a fast stand-in."""
    predicted = np.empty(len(rows), int)
    for train, test in folds(labels):
        means = [
            rows[train][labels.truth[train] == label].mean(0) for label in range(len(labels.names))
        ]
        predicted[test] = ((rows[test][:, None] - np.array(means)) ** 2).sum(-1).argmin(1)
    return Judged(predicted, (Choice(1.0, "", 1.0),))


@pytest.fixture(scope="module")
def results():
    """Return the scores on permuted labels: three stand-ins of models, and both baselines."""
    found = []
    for seed in range(DRAWS):
        name = list(LISTS)[seed % len(LISTS)]
        texts, labels = [row.text for row in LISTS[name].rows], permuted(name, seed)
        keys = (*NAMES, "tfidf")
        judged = {key: nearest(features_of(texts, place), labels) for place, key in enumerate(keys)}
        found.append(labelled_result(labels, judged | {"majority": majority(labels.truth)}))
    return found


def recommended(results):
    """Return how many of the draws recommend a model."""
    return sum(bool(advice(result, NAMES).models) for result in results)


@pytest.mark.long
def test_permuted_labels_of_real_sentences_recommend_nothing(results):
    assert recommended(results) <= DRAWS - 95


@pytest.mark.long
def test_without_correction_they_would(results, monkeypatch):
    """The same draws, where any difference counts: the law can fail."""
    monkeypatch.setattr(judge, "ERROR_RATE", 9.0)
    assert recommended(results) > DRAWS - 95


@pytest.mark.long
def test_permuted_labels_recommend_nothing_through_the_models(monkeypatch):
    monkeypatch.setattr(labelled, "STRENGTHS", (0.01,))
    for name in LISTS:
        labels = permuted(name, 1)
        rows = [
            {"text": row.text, "label": labels.names[label], "group": row.group}
            for row, label in zip(LISTS[name].rows, labels.truth, strict=True)
        ]
        how = ("labelled", {}, TextsOptions(curves=False))
        found = answered(table_of(rows), "mini", how, CancelToken())
        assert found.answers.advice.models == ()


@pytest.mark.parametrize("n", [12, 42])
def test_random_scores_of_pairs_are_no_better_than_guessing_and_no_model_is_better(n):
    texts = text_list(read_table("good,bad\n" + "x,y\n" * n), "pairs")
    guess = "no better than guessing which sentence is the good one: BERT, DistilBERT and ALBERT"
    is_guess, is_alike = [], []
    for seed in range(DRAWS):
        generator = np.random.default_rng(seed)
        margins = {key: generator.normal(size=n) for key in NAMES}
        unknown = {key: np.zeros(n, bool) for key in NAMES}
        summary = pairs_summary(margins, [""] * n, unknown)
        found = PairList(texts, NAMES, "pll", {}, {}, margins, summary, sides_of(texts), {}, {})
        is_guess.append(any(guess in line for line in cautions(found)))
        is_alike.append("too few to tell the models apart" in second_line(found))
    assert sum(is_guess) >= 95
    assert sum(is_alike) >= 95
