"""Labelled rows against scikit-learn called by hand, and advice that no chance brings about."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, f1_score
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from explorer.lists import labelled
from explorer.lists.judge import advice, below_guessing, gain, labelled_result
from explorer.lists.labelled import (
    PATTERNS,
    REPEATS,
    STRENGTHS,
    WORDS,
    WORDS_STRENGTH,
    Choice,
    Cost,
    Judged,
    Labels,
    best_layers,
    folds,
    inner_folds,
    judged,
    labels_of,
    learning_curve,
    majority,
    usable,
)
from explorer.lists.read import read_table
from explorer.lists.roles import BadRows
from explorer.lists.rows import TextList, TextRow, text_list
from explorer.lists.run import judgeable

NAMES = {"bert": "BERT", "distilbert": "DistilBERT", "albert": "ALBERT"}


TRAINED = (Choice(1.0, "", 1.0),)


def listed(labels, texts=None, groups=None):
    texts = texts or [f"text {i}" for i in range(len(labels))]
    groups = groups or [""] * len(labels)
    rows = (
        TextRow(i + 1, text, label=label, group=group)
        for i, (text, label, group) in enumerate(zip(texts, labels, groups, strict=True))
    )
    return TextList("labelled", {"text": "text", "label": "label"}, tuple(rows))


def drawn(n, shift, seed=0, width=12):
    """Return features of two classes that lie ``shift`` apart, and the classes."""
    generator = np.random.default_rng(seed)
    truth = np.arange(n) % 2
    return generator.normal(size=(n, width)) + shift * truth[:, None], truth


def of(truth, groups=None):
    return Labels(tuple(f"label {i}" for i in range(max(truth) + 1)), np.asarray(truth), groups)


@pytest.mark.long
def test_predictions_are_those_of_a_grid_search_by_hand():
    features, truth = drawn(90, 0.6)
    pipeline = Pipeline([("scale", StandardScaler()), ("fit", LogisticRegression(max_iter=200))])
    inner = StratifiedKFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(pipeline, {"fit__C": list(STRENGTHS)}, cv=inner, scoring="neg_log_loss")
    outer = StratifiedKFold(5, shuffle=True, random_state=0)
    by_hand = cross_val_predict(search, features, truth, cv=outer)
    np.testing.assert_array_equal(judged(features, of(truth)).predicted, by_hand)


def words(n=60, seed=0):
    """Return texts whose label follows from a sign, from one letter, or from a word, and classes."""
    generator, truth = np.random.default_rng(seed), np.arange(n) % 2
    decide = [("it", "is"), ("!", "?"), ("a", "b")]
    texts = [
        f"{' '.join(generator.choice(['one', 'two', 'six', 'ten'], 4))} {decide[i % 3][label]}."
        if generator.random() < 0.7
        else "one two."
        for i, label in enumerate(truth)
    ]
    return texts, truth


def search_of_words(cv):
    pipeline = Pipeline(
        [("words", TfidfVectorizer(sublinear_tf=True)), ("fit", LogisticRegression(max_iter=200))]
    )
    grid = {
        "fit__C": [WORDS_STRENGTH * strength for strength in STRENGTHS],
        "words__token_pattern": list(PATTERNS),
    }
    return GridSearchCV(pipeline, grid, cv=cv, scoring="neg_log_loss")


@pytest.mark.long
def test_the_bag_of_words_is_a_grid_search_over_both_patterns_by_hand():
    texts, truth = words()
    search = search_of_words(StratifiedKFold(3, shuffle=True, random_state=0))
    outer = StratifiedKFold(5, shuffle=True, random_state=0)
    by_hand = cross_val_predict(search, np.array(texts, object), truth, cv=outer)
    np.testing.assert_array_equal(judged(texts, of(truth), WORDS).predicted, by_hand)


@pytest.mark.long
def test_a_word_before_a_full_stop_is_the_same_word():
    """Fifteen words decide for each label; in half of the rows a full stop follows the word."""
    generator = np.random.default_rng(0)
    fill = [f"word{i}" for i in range(40)]
    texts, truth = [], np.arange(120) % 2
    for place, label in enumerate(truth):
        deciding = f"{('good', 'bad')[label]}{place // 4 % 15}"
        others = list(generator.choice(fill, 6))
        if place % 4 > 1:
            texts.append(" ".join([*others, deciding]) + ".")
        else:
            texts.append(" ".join([others[0], deciding, *others[1:]]))
    right = [
        (judged(texts, of(truth), replace(WORDS, ways=patterns)).predicted == truth).mean()
        for patterns in (PATTERNS, (r"\S+",))
    ]
    assert right[0] >= 0.96
    assert right[1] < 0.8, "with the full stop kept on a word the test would show it"


def test_texts_of_signs_only_have_words_too():
    texts, truth = ["! ?" if i % 2 else "? ." for i in range(40)], np.arange(40) % 2
    found = judged(texts, of(truth), WORDS)
    assert (found.predicted == truth).all()
    assert {choice.way for choice in found.choices} == {PATTERNS[1]}


@pytest.mark.long
def test_groups_stay_together_in_the_folds_and_in_the_choice_of_the_penalty():
    features, truth = drawn(90, 0.6)
    groups = np.arange(90) // 2 % 31
    pipeline = Pipeline([("scale", StandardScaler()), ("fit", LogisticRegression(max_iter=200))])
    expected = np.empty(90, int)
    outer = StratifiedGroupKFold(5, shuffle=True, random_state=0)
    for train, test in outer.split(features, truth, groups):
        assert not set(groups[train]) & set(groups[test])
        inner = StratifiedGroupKFold(3, shuffle=True, random_state=0)
        splits = list(inner.split(features[train], truth[train], groups[train]))
        search = GridSearchCV(
            pipeline, {"fit__C": list(STRENGTHS)}, cv=splits, scoring="neg_log_loss"
        )
        expected[test] = search.fit(features[train], truth[train]).predict(features[test])
    labels = of(truth, groups)
    np.testing.assert_array_equal(judged(features, labels).predicted, expected)
    for train, test in (*folds(labels), *inner_folds(labels)):
        assert not set(groups[train]) & set(groups[test])


@pytest.mark.long
def test_forty_words_in_two_sentences_are_not_learnt_from_each_other():
    """The list of the notebook: with its rows split one by one, a bag of words has four fifths."""
    frames = ("We talked about the {} all day.", "There was {} again this morning.")
    names = [f"word{place}" for place in range(40)]
    rows = [
        (frame.format(name), "abcd"[i % 4], name)
        for i, name in enumerate(names)
        for frame in frames
    ]
    texts, labels, groups = zip(*rows, strict=True)
    alone, together = (labels_of(listed(labels, texts, given)) for given in (None, list(groups)))
    shares = [
        (judged(texts, each, WORDS).predicted == each.truth).mean() for each in (alone, together)
    ]
    assert shares[0] > 0.6
    assert shares[1] <= 0.3


def test_labels_in_too_few_groups_are_refused_with_the_reason():
    groups = [str(i % 3) for i in range(50)]
    with pytest.raises(BadRows, match=r"0 of 50 labelled rows can be used.*in 3 groups; 5 are"):
        usable(listed(["a", "b"] * 25, groups=groups))


def test_a_row_without_a_group_is_its_own():
    labels = labels_of(listed(["a", "b"] * 3, groups=["x", "x", "", "", "y", "x"]))
    assert labels.groups.tolist() == [0, 0, 1, 2, 3, 0]
    assert labels_of(listed(["a", "b"])).groups is None


def test_the_most_frequent_label_is_a_constant():
    truth = np.array([1] * 26 + [0] * 24)
    by_hand = DummyClassifier(strategy="most_frequent").fit(truth, truth).predict(truth)
    np.testing.assert_array_equal(majority(truth).predicted, by_hand)
    assert (majority(np.arange(50) % 2).predicted == 0).all()


def result_of(truth, **features):
    by_classifier = {key: judged(values, of(truth)) for key, values in features.items()}
    texts = [f"word{i} and more" for i in range(len(truth))]
    by_classifier |= {"tfidf": judged(texts, of(truth), WORDS), "majority": majority(truth)}
    return labelled_result(Labels(("no", "yes"), truth), by_classifier)


@pytest.mark.long
def test_scores_are_those_of_scikit_learn():
    features, truth = drawn(60, 0.5)
    result = result_of(truth, bert=features, albert=features[:, :3])
    for key, classifier in result.judged.items():
        assert result.accuracy[key].value == pytest.approx((classifier.predicted == truth).mean())
        expected = f1_score(truth, classifier.predicted, average="macro")
        assert result.macro_f1[key].value == pytest.approx(expected)
        np.testing.assert_array_equal(
            result.confusion[key], confusion_matrix(truth, classifier.predicted)
        )
    wrong = [
        i
        for i in range(60)
        if all(result.judged[k].predicted[i] != truth[i] for k in ("bert", "albert"))
    ]
    assert list(result.all_wrong) == wrong


@pytest.mark.long
def test_equal_predictions_differ_by_nothing_but_no_interval_has_no_width():
    features, truth = drawn(60, 0.5)
    result = result_of(truth, bert=features, albert=features.copy())
    same = next(d for d in result.differences if {d.first, d.second} == {"bert", "albert"})
    assert same.accuracy.value == same.macro_f1 == 0.0
    assert same.p_value == 1.0
    assert -same.accuracy.low == pytest.approx(same.accuracy.high)
    assert same.accuracy.high > 0


@pytest.mark.long
def test_random_labels_give_no_advice_for_any_model():
    """False advice would come about once in a hundred lists; thirty lists are drawn."""
    for seed in range(30):
        generator = np.random.default_rng(seed)
        truth = generator.permutation(np.arange(60) % 2)
        guesses = {key: Judged(generator.integers(0, 2, 60), TRAINED) for key in NAMES}
        guesses |= {
            "tfidf": Judged(generator.integers(0, 2, 60), TRAINED),
            "majority": majority(truth),
        }
        assert advice(labelled_result(Labels(("a", "b"), truth), guesses), NAMES).models == ()
    features, _ = drawn(60, 0.0, seed=5)
    truth = np.random.default_rng(6).permutation(np.arange(60) % 2)
    found = advice(result_of(truth, **dict.fromkeys(NAMES, features)), NAMES)
    assert found.models == ()
    assert "60 rows" in found.sentence


def predictions(truth, n_wrong, first=0):
    values = truth.copy()
    values[first : first + n_wrong] = 1 - values[first : first + n_wrong]
    return Judged(values, TRAINED)


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
            "are significantly better than a bag of words; 200 rows are too few to tell them apart",
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
    assert found.sentence == (
        "DistilBERT is significantly better than a bag of words; 200 rows are too few to tell it "
        "from BERT."
    )


def test_of_equally_good_models_the_smallest_is_named_and_the_fastest_where_it_is():
    truth = np.arange(200) % 2
    guesses = {key: predictions(truth, 4) for key in NAMES}
    guesses |= {"tfidf": predictions(truth, 70), "majority": majority(truth)}
    result = labelled_result(Labels(("a", "b"), truth), guesses)
    start = (
        "BERT, DistilBERT and ALBERT are significantly better than a bag of words; 200 rows are "
        "too few to tell them apart."
    )
    for times, sizes, end in (
        ((4, 2, 4), (40, 30, 7), " Take ALBERT: it is the smallest; DistilBERT is the fastest."),
        ((4, 2, 1), (40, 30, 7), " Take ALBERT: it is the smallest and the fastest."),
        ((4, 2, 1.9), (40, 30, 7), " Take ALBERT: it is the smallest."),
        ((4, 2, 4), (40, 7, 7), ""),
    ):
        costs = {key: Cost(*each) for key, *each in zip(NAMES, times, sizes, strict=True)}
        found = advice(result, NAMES, costs)
        assert found.sentence == start + end
        assert found.models == tuple(NAMES)


def test_below_guessing_is_said_only_of_those_whose_interval_is_below():
    truth = np.arange(200) % 2
    guesses = {"bert": predictions(truth, 150), "albert": predictions(truth, 104)}
    guesses |= {"tfidf": predictions(truth, 10), "majority": majority(truth)}
    result = labelled_result(Labels(("a", "b"), truth), guesses)
    assert result.below_guessing == ("bert",)
    said = below_guessing(result, NAMES)
    assert said.startswith("BERT is right less often than always answering")
    guesses.pop("bert")
    assert below_guessing(labelled_result(Labels(("a", "b"), truth), guesses), NAMES) == ""


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


def curve_by_hand(features, truth, size):
    """Return the accuracy from as many training rows, C chosen on them, by scikit-learn alone."""
    order, right = np.random.default_rng(0), []
    outer = StratifiedKFold(5, shuffle=True, random_state=0)
    for train, test in outer.split(features, truth):
        shuffled = order.permutation(len(train))
        first = [train[i] for i in shuffled if truth[train[i]] == 0]
        second = [train[i] for i in shuffled if truth[train[i]] == 1]
        rows = np.array(first[: size // 2] + second[: size // 2])
        inner = StratifiedKFold(3, shuffle=True, random_state=0)
        pipeline = Pipeline([("scale", StandardScaler()), ("fit", LogisticRegression())])
        search = GridSearchCV(
            pipeline, {"fit__C": list(STRENGTHS)}, cv=inner, scoring="neg_log_loss"
        )
        right.append(search.fit(features[rows], truth[rows]).predict(features[test]) == truth[test])
    return np.concatenate(right).mean()


@pytest.mark.long
def test_a_curve_learns_from_balanced_rows_with_their_own_penalty_and_ends_at_the_table():
    """It kept the C of all rows: at few rows it then gave every row one label, exactly 50%."""
    features, truth = drawn(100, 0.8)
    whole = judged(features, of(truth))
    curve = list(learning_curve(features, of(truth), whole))
    assert [size for size, _ in curve] == [16, 32, 64, 80]
    np.testing.assert_array_equal(curve[-1][1], whole.predicted == truth)
    for size, right in curve[:-1]:  # the subsets are others
        assert right.mean() == pytest.approx(curve_by_hand(features, truth, size), abs=0.06)
        assert set(np.round(right * REPEATS, 6)) <= set(range(REPEATS + 1))


@pytest.mark.long
def test_sixteen_rows_of_two_clear_classes_are_enough():
    generator = np.random.default_rng(0)
    truth = np.arange(60) % 2
    features = generator.normal(size=(60, 384)) + 0.4 * truth[:, None]
    whole = judged(features, of(truth))
    assert all(right.mean() > 0.9 for _, right in learning_curve(features, of(truth), whole))


@pytest.mark.long
def test_a_curve_of_rare_labels_and_of_groups_can_be_drawn(monkeypatch):
    monkeypatch.setattr(labelled, "STRENGTHS", (0.1,))
    monkeypatch.setattr(labelled, "REPEATS", 1)
    generator = np.random.default_rng(0)
    truth = np.array([0] * 35 + [1] * 5 + [2] * 10)
    features = generator.normal(size=(50, 4)) + truth[:, None]
    for groups in (None, np.arange(50) // 2):
        labels = of(truth, groups)
        sizes = [size for size, _ in learning_curve(features, labels, judged(features, labels))]
        assert sizes[:2] == [16, 32]


@pytest.mark.long
def test_the_layer_is_chosen_on_the_training_rows_of_each_fold(monkeypatch):
    """The best of ten random layers scores above chance on the rows that it is chosen by."""
    monkeypatch.setattr(labelled, "STRENGTHS", (0.1,))
    flattered, honest = [], []
    for seed in range(4):
        generator = np.random.default_rng(seed)
        truth = generator.permutation(np.arange(60) % 2)
        by_layer = [judged(generator.normal(size=(60, 3)), of(truth)) for _ in range(10)]
        found, layers = best_layers(by_layer, of(truth))
        flattered.append(max((each.predicted == truth).mean() for each in by_layer))
        honest.append((found.predicted == truth).mean())
        for fold, (_, test) in enumerate(folds(of(truth))):
            losses = [each.choices[fold].loss for each in by_layer]
            assert losses[layers[fold]] == min(losses)
            assert (found.predicted[test] == by_layer[layers[fold]].predicted[test]).all()
    assert np.mean(flattered) > 0.58
    assert np.mean(honest) < 0.56


def layered(seed, is_shuffled):
    """Return the verdict on a model whose first layer knows the labels, or on shuffled labels."""
    generator = np.random.default_rng(seed)
    truth = np.arange(60) % 2
    features = generator.normal(size=(60, 4, 6))
    features[:, 1] += 1.2 * truth[:, None]
    truth = generator.permutation(truth) if is_shuffled else truth
    by_layer = [judged(features[:, layer], of(truth)) for layer in range(4)]
    best, layers = best_layers(by_layer, of(truth))
    found = gain(of(truth), best, by_layer[-1])
    share = float((best.predicted == truth).mean() - (by_layer[-1].predicted == truth).mean())
    assert found.value == pytest.approx(share)
    return found.low > 0, layers


@pytest.mark.long
def test_a_better_layer_is_said_where_it_is_one_and_by_chance_in_few_shuffled_lists(monkeypatch):
    """The best of the layers' own accuracies is above the last one's in most shuffled lists."""
    monkeypatch.setattr(labelled, "STRENGTHS", (0.1,))
    found = [layered(seed, is_shuffled=False) for seed in range(5)]
    assert all(is_said and set(layers) == {1} for is_said, layers in found)
    assert np.mean([layered(seed, is_shuffled=True)[0] for seed in range(60)]) <= 0.05


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


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        ("text,label\nGood.,a\nBad.,b\n", "a.csv", "^2 labelled rows; at least 40 are needed"),
        ("text,label\n" + "Good.,a\n" * 45, "a.csv", "^All rows have the label “a”: there is no"),
        (
            "".join(f"__label__a{i % 120} Text {i}.\n" for i in range(720)),
            "a.txt",
            "^There are 120 different labels",
        ),
    ],
)
def test_a_file_with_labels_that_cannot_be_judged_is_refused_and_never_read_as_sentences(
    content, name, said
):
    with pytest.raises(BadRows, match=said) as refused:
        judgeable(text_list(read_table(content, name)))
    assert refused.value.__notes__


def test_too_few_rows_and_too_many_labels_are_refused():
    with pytest.raises(BadRows, match=r"^39 labelled rows; at least 40 are needed"):
        usable(listed(["a", "b", "c"] * 13))
    with pytest.raises(BadRows, match="101 different labels"):
        usable(listed([f"label {i}" for i in range(101)] * 5))
    assert len(labels_of(usable(listed([f"label {i}" for i in range(77)] * 5))).names) == 77


@pytest.mark.long
def test_identical_rows_give_no_advice():
    texts = usable(listed(["a", "b"] * 20, ["the same"] * 40))
    labels = labels_of(texts)
    by_classifier = {key: judged(np.ones((40, 8)), labels) for key in NAMES}
    by_classifier |= {"tfidf": judged([row.text for row in texts.rows], labels, WORDS)}
    by_classifier |= {"majority": majority(labels.truth)}
    assert advice(labelled_result(labels, by_classifier), NAMES).models == ()
