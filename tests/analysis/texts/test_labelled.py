"""Labelled rows against scikit-learn called by hand, and advice that no chance brings about."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, f1_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from explorer.analysis.texts.labelled import (
    STRENGTHS,
    Judged,
    Labels,
    bag_of_words,
    judged,
    labelled_result,
    labels_of,
    layer_accuracy,
    learning_curve,
    majority,
    usable,
)
from explorer.analysis.texts.results import advice
from explorer.analysis.texts.rows import BadRows, TextList, TextRow

NAMES = {"bert": "BERT", "distilbert": "DistilBERT", "albert": "ALBERT"}


def listed(labels, texts=None):
    texts = texts or [f"text {i}" for i in range(len(labels))]
    rows = (
        TextRow(i + 1, text, label=label)
        for i, (text, label) in enumerate(zip(texts, labels, strict=True))
    )
    return TextList("labelled", {"text": "text", "label": "label"}, tuple(rows))


def drawn(n, shift, seed=0, width=12):
    """Return features of two classes that lie ``shift`` apart, and the classes."""
    generator = np.random.default_rng(seed)
    truth = np.arange(n) % 2
    return generator.normal(size=(n, width)) + shift * truth[:, None], truth


def test_predictions_are_those_of_a_grid_search_by_hand():
    features, truth = drawn(90, 0.6)
    pipeline = Pipeline([("scale", StandardScaler()), ("fit", LogisticRegression(max_iter=200))])
    inner = StratifiedKFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(pipeline, {"fit__C": list(STRENGTHS)}, cv=inner, scoring="accuracy")
    outer = StratifiedKFold(5, shuffle=True, random_state=0)
    by_hand = cross_val_predict(search, features, truth, cv=outer)
    np.testing.assert_array_equal(judged(features, truth).predicted, by_hand)


def test_the_most_frequent_label_is_the_dummy_classifiers():
    truth = np.array([0] * 30 + [1] * 20)
    outer = StratifiedKFold(5, shuffle=True, random_state=0)
    dummy = DummyClassifier(strategy="most_frequent")
    by_hand = cross_val_predict(dummy, np.zeros((50, 1)), truth, cv=outer)
    np.testing.assert_array_equal(majority(truth).predicted, by_hand)


def result_of(truth, **features):
    by_classifier = {key: judged(values, truth) for key, values in features.items()}
    texts = [f"word{i} and more" for i in range(len(truth))]
    by_classifier |= {"tfidf": judged(texts, truth, bag_of_words), "majority": majority(truth)}
    return labelled_result(Labels(("no", "yes"), truth), by_classifier)


def test_scores_are_those_of_scikit_learn():
    features, truth = drawn(60, 0.5)
    result = result_of(truth, bert=features, albert=features[:, :3])
    for key, classifier in result.judged.items():
        assert result.accuracy[key].value == pytest.approx((classifier.predicted == truth).mean())
        expected = f1_score(truth, classifier.predicted, average="macro")
        assert result.macro_f1[key].value == pytest.approx(expected)
        assert result.macro_f1[key].low <= expected <= result.macro_f1[key].high
        np.testing.assert_array_equal(
            result.confusion[key], confusion_matrix(truth, classifier.predicted)
        )
    wrong = [
        i
        for i in range(60)
        if all(result.judged[k].predicted[i] != truth[i] for k in ("bert", "albert"))
    ]
    assert list(result.all_wrong) == wrong


def test_a_difference_is_resampled_by_the_same_rows():
    features, truth = drawn(60, 0.5)
    result = result_of(truth, bert=features, albert=features.copy())
    same = next(d for d in result.differences if {d.first, d.second} == {"bert", "albert"})
    assert (same.accuracy.low, same.accuracy.value, same.accuracy.high) == (0.0, 0.0, 0.0)


def test_random_labels_give_no_advice_for_any_model():
    """False advice would come about once in a hundred lists; thirty lists are drawn."""
    for seed in range(30):
        generator = np.random.default_rng(seed)
        truth = generator.permutation(np.arange(60) % 2)
        guesses = {key: Judged(generator.integers(0, 2, 60), ()) for key in NAMES}
        guesses |= {"tfidf": Judged(generator.integers(0, 2, 60), ()), "majority": majority(truth)}
        assert advice(labelled_result(Labels(("a", "b"), truth), guesses), NAMES).models == ()
    features, _ = drawn(60, 0.0, seed=5)
    truth = np.random.default_rng(6).permutation(np.arange(60) % 2)
    found = advice(result_of(truth, **dict.fromkeys(NAMES, features)), NAMES)
    assert found.models == ()
    assert "60 rows" in found.sentence


def predictions(truth, n_wrong, first=0):
    values = truth.copy()
    values[first : first + n_wrong] = 1 - values[first : first + n_wrong]
    return Judged(values, ())


@pytest.mark.parametrize(
    ("wrong", "models", "words"),
    [
        (
            {"bert": 5, "distilbert": 60, "albert": 62, "tfidf": 70},
            ("bert",),
            "BERT is the best of these",
        ),
        (
            {"bert": 5, "distilbert": 8, "albert": 80, "tfidf": 70},
            ("bert", "distilbert"),
            "no difference that 200 rows",
        ),
        (
            {"bert": 20, "distilbert": 22, "albert": 25, "tfidf": 18},
            (),
            "A bag of words may do as well",
        ),
        (
            {"bert": 95, "distilbert": 97, "albert": 99, "tfidf": 98},
            (),
            "No model is significantly better than always",
        ),
    ],
)
def test_the_advice_follows_from_the_scores(wrong, models, words):
    truth = np.arange(200) % 2
    by_classifier = {key: predictions(truth, n) for key, n in wrong.items()} | {
        "majority": majority(truth)
    }
    found = advice(labelled_result(Labels(("a", "b"), truth), by_classifier), NAMES)
    assert found.models == models
    assert words in found.sentence


def test_only_the_highest_score_is_called_so():
    """BERT is right more often than DistilBERT, but by rows on which TF-IDF is right too."""
    truth = np.arange(200) % 2
    tfidf = predictions(truth, 60)
    guesses = {
        "bert": predictions(truth, 43, first=100),
        "distilbert": predictions(truth, 44, first=16),
        "tfidf": tfidf,
        "majority": majority(truth),
    }
    result = labelled_result(Labels(("a", "b"), truth), guesses)
    assert result.accuracy["bert"].value > result.accuracy["distilbert"].value
    found = advice(result, NAMES)
    assert found.models == ("distilbert",)
    assert found.sentence.startswith("DistilBERT is significantly better than a bag of words;")
    guesses["bert"] = predictions(truth, 44, first=20)
    tied = advice(labelled_result(Labels(("a", "b"), truth), guesses), NAMES)
    assert "scores highest" not in tied.sentence


def test_one_model_alone_has_no_others():
    truth = np.arange(200) % 2
    guesses = {key: predictions(truth, n) for key, n in (("distilbert", 5), ("tfidf", 70))}
    found = advice(
        labelled_result(Labels(("a", "b"), truth), guesses | {"majority": majority(truth)}), NAMES
    )
    assert found.models == ("distilbert",)
    assert found.sentence == (
        "DistilBERT is significantly better than a bag of words on 200 rows; "
        "no other model was read."
    )


def test_the_curves_end_at_the_usual_score():
    features, truth = drawn(100, 0.8)
    whole = judged(features, truth)
    accuracy = (whole.predicted == truth).mean()
    curve = list(learning_curve(features, truth, whole.strengths))
    assert [size for size, _ in curve] == [16, 32, 64, 80]
    assert curve[-1][1] == pytest.approx(
        accuracy, abs=0.011
    )  # a permuted training set rounds otherwise
    assert layer_accuracy(features, truth, whole.strengths) == accuracy


def test_one_label_is_refused():
    with pytest.raises(BadRows, match="“good”: there is nothing to tell apart"):
        usable(listed(["good"] * 50))


def test_a_label_in_one_row_only_is_left_out():
    kept = usable(listed(["a", "b"] * 25 + ["rare"]))
    assert len(kept.rows) == 50
    (row,) = kept.left_out
    assert (row.number, row.reason) == (
        51,
        "Its label “rare” is on 1 of 51 rows; 5 are needed for 5 folds.",
    )


def test_too_few_rows_and_too_many_labels_are_refused():
    with pytest.raises(BadRows, match="39 rows with labels"):
        usable(listed(["a", "b", "c"] * 13))
    with pytest.raises(BadRows, match="21 different labels"):
        usable(listed([f"label {i}" for i in range(21)] * 5))


def test_identical_rows_give_no_advice():
    texts = usable(listed(["a", "b"] * 20, ["the same"] * 40))
    labels = labels_of(texts)
    by_classifier = {key: judged(np.ones((40, 8)), labels.truth) for key in NAMES}
    by_classifier |= {"tfidf": judged([row.text for row in texts.rows], labels.truth, bag_of_words)}
    by_classifier |= {"majority": majority(labels.truth)}
    assert advice(labelled_result(labels, by_classifier), NAMES).models == ()
