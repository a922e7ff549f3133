"""Which rows are tested, and what scores on them allow to say."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

from explorer.lists.labelled import Labels
from explorer.lists.read import read_table
from explorer.lists.roles import BadRows
from explorer.lists.rows import text_list
from explorer.lists.tuned import (
    BAG,
    FROZEN,
    GUESS,
    TUNED,
    Answers,
    enough,
    plan_of,
    tuning_scores,
)

NAMES = {"bert": "BERT", "distilbert": "DistilBERT", "albert": "ALBERT"}


def labels_of(n, n_labels=2, groups=None, seed=0):
    truth = np.arange(n) % n_labels
    return Labels(
        tuple("abcdef"[:n_labels]), np.random.default_rng(seed).permutation(truth), groups
    )


@pytest.mark.parametrize(("n", "n_folds"), [(119, 5), (120, 1), (200, 1)])
def test_a_quarter_is_held_out_or_five_folds_test_every_row(n, n_folds):
    labels = labels_of(n, 3)
    plan, again = plan_of(labels), plan_of(labels)
    assert len(plan.splits) == len(plan.early) == n_folds
    for (train, test), (kept, early), (_, same) in zip(
        plan.splits, plan.early, again.splits, strict=True
    ):
        assert sorted([*train, *test]) == [*range(n)]
        assert sorted([*kept, *early]) == sorted(train)
        assert not {*early} & {*test}
        assert len(early) == pytest.approx(len(train) / 6, abs=2)
        np.testing.assert_array_equal(test, same)
        for part in (train, test, early):  # stratified: within a row of each label's share
            counts = np.bincount(labels.truth[part], minlength=3)
            shares = np.bincount(labels.truth) * len(part) / n
            assert np.abs(counts - shares).max() <= 1
    assert [*plan.tested] == [*range(n)] if n_folds == 5 else len(plan.tested) == n // 4


def test_rows_of_a_group_stay_together_for_early_stopping_too():
    groups = np.arange(160) // 4
    plan = plan_of(labels_of(160, groups=groups))
    (_, test), (kept, early) = plan.splits[0], plan.early[0]
    parts = [{*groups[rows]} for rows in (kept, early, test)]
    assert not parts[0] & parts[1] | parts[0] & parts[2] | parts[1] & parts[2]


def test_rows_that_are_too_few_of_one_label_or_without_labels_have_their_sentences():
    def listed(rows):
        return text_list(read_table("text,label\n" + "\n".join(rows)), "labelled")

    with pytest.raises(BadRows, match="at least 40 rows with a label, and this list has 5 rows"):
        enough(listed([f"row {n},{'ab'[n % 2]}" for n in range(5)]))
    with pytest.raises(
        BadRows, match="needs rows with two labels, and all of these rows have the label “a”"
    ):
        enough(listed([f"row {n},a" for n in range(50)]))
    with pytest.raises(BadRows, match="needs rows with one label each"):
        enough(text_list(read_table("One line.\nAnother line.")))
    rare = [f"row {n},{'ab'[n % 2]}" for n in range(50)] + ["one more row,c"]
    kept = enough(listed(rare))
    assert [row.number for row in kept.left_out] == [51]


def answers(labels, plan, right_by_kind, seed=0, n_seeds=3):
    """Classifiers that are right by chance with a given share: stand-ins for networks."""
    draw, truth = np.random.default_rng(seed), labels.truth[plan.tested]

    def guessed(share, n):
        easy = draw.random(len(truth))  # seeds of a model are right on similar rows
        right = (easy + 0.1 * draw.standard_normal((n, len(truth)))) < share
        return np.where(right, truth, 1 - truth)

    found = []
    for kind, shares in right_by_kind.items():
        for (key, label), share in zip(NAMES.items(), shares, strict=False):
            column = key if kind in (TUNED, FROZEN) else ""
            predicted = guessed(share, n_seeds if kind == TUNED else 1)
            size = {"bert": 30.0, "distilbert": 20.0, "albert": 7.0}[key]
            found.append(
                Answers((kind, column), label if column else "", predicted, 2.0, 1.0, size)
            )
    constant = np.full((1, len(truth)), np.bincount(labels.truth).argmax())
    return [*found, Answers((GUESS, ""), "", constant)]


def scores(shares, n=400, seed=0):
    labels = labels_of(n, seed=seed)
    plan = plan_of(labels)
    return tuning_scores(labels, plan, answers(labels, plan, shares, seed))


def test_random_labels_lead_to_no_advice_in_twenty_draws():
    for draw in range(20):
        half = (0.5, 0.5, 0.5)
        found = scores({TUNED: half, FROZEN: half, BAG: (0.5,)}, (60, 200, 500)[draw % 3], draw)
        assert found.advised == ()
        assert found.advice.startswith(
            "Fine-tune none of them: no classifier is significantly better"
        )


def test_a_model_is_advised_below_an_error_rate_of_1_percent_alone():
    levels = []
    for draw, share in enumerate(np.linspace(0.5, 0.95, 19)):
        half = (0.5, 0.5, 0.5)
        found = scores({TUNED: (share, 0.5, 0.5), FROZEN: half, BAG: (0.5,)}, 400, draw)
        p_values = {
            (each.first, each.second): each.p_value if each.difference > 0 else 1.0
            for each in found.comparisons
        }
        own, others = (TUNED, "bert"), [(FROZEN, "bert"), (BAG, ""), (GUESS, "")]
        level = len(found.comparisons) * max(p_values[own, other] for other in others)
        assert ("bert" in found.advised) == (level < 0.01)
        levels.append(level)
    assert any(0.01 < level < 0.9 for level in levels)
    assert min(levels) < 0.01


@pytest.mark.parametrize(
    ("shares", "advised", "said"),
    [
        (
            ((0.97, 0.55, 0.55), (0.6, 0.5, 0.5), 0.6),
            ("bert",),
            "Fine-tune BERT: on 100 held-out rows it is right significantly more often than its frozen features and a bag of words.",
        ),
        (
            ((0.97, 0.97, 0.97), (0.6, 0.6, 0.6), 0.6),
            ("bert", "distilbert", "albert"),
            "Fine-tune ALBERT, the smallest of BERT, DistilBERT and ALBERT:",
        ),
        (
            ((0.8, 0.8, 0.8), (0.8, 0.8, 0.8), 0.8),
            (),
            "Fine-tuning makes no difference that 100 held-out rows can show: a bag of words may do as well",
        ),
        (
            ((0.95, 0.5, 0.5), (0.95, 0.5, 0.5), 0.6),
            (),
            "Fine-tuning makes no difference that 100 held-out rows can show: the frozen features of BERT may do as well",
        ),
        (
            ((0.6, 0.6, 0.6), (0.99, 0.6, 0.6), 0.6),
            (),
            "Fine-tune none of them: the frozen features of BERT are significantly better than the same model fine-tuned.",
        ),
        (
            ((0.97, 0.97, 0.97), (0.6, 0.6, 0.6), 0.97),
            (),
            "Fine-tune none of them: none is significantly better than both its frozen features and a bag of words",
        ),
    ],
)
def test_the_advice_says_what_the_rows_show(shares, advised, said):
    tuned, frozen, bag = shares
    found = scores({TUNED: tuned, FROZEN: frozen, BAG: (bag,)})
    assert found.advised == advised
    assert found.advice.startswith(said)


def test_scores_are_scikit_learn_s_over_all_seeds():
    labels = labels_of(200)
    plan = plan_of(labels)
    given = answers(labels, plan, {TUNED: (0.8,), FROZEN: (0.7,), BAG: (0.6,)})
    found, truth = tuning_scores(labels, plan, given), labels.truth[plan.tested]
    for each in given:
        standing = found.standings[each.key]
        by_seed = [accuracy_score(truth, predicted) for predicted in each.predicted]
        assert standing.by_seed == pytest.approx(by_seed)
        assert standing.accuracy.value == pytest.approx(np.mean(by_seed))
        every = np.tile(truth, len(each.predicted))
        assert standing.macro_f1.value == pytest.approx(
            f1_score(every, each.predicted.ravel(), average="macro")
        )
        assert standing.accuracy.low < standing.accuracy.value < standing.accuracy.high
    tuned, guess = found.standings[TUNED, "bert"], found.standings[GUESS, ""]
    gained = 100 * (tuned.accuracy.value - guess.accuracy.value)
    assert tuned.per_second == pytest.approx(gained / 2.0)
    assert tuned.per_megabyte == pytest.approx(gained / 30.0)
    assert np.isnan(guess.per_second)


def test_a_difference_over_seeds_is_tested_by_rows():
    """Three seeds on the same rows are no three times as many rows."""
    labels = labels_of(200)
    plan = plan_of(labels)
    truth = labels.truth[plan.tested]
    wrong = np.arange(len(truth)) < 4
    others = np.where(wrong, 1 - truth, truth)[None]
    given = [
        Answers((TUNED, "bert"), "BERT", np.tile(truth, (3, 1))),
        Answers((BAG, ""), "", others),
        Answers((GUESS, ""), "", np.zeros_like(others)),
    ]
    compared = tuning_scores(labels, plan, given).comparisons[0]
    assert compared.p_value == pytest.approx(2 / 2**4)
    assert compared.difference == pytest.approx(4 / len(truth))
