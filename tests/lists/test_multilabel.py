"""Rows with several labels: one-vs-rest regressions and F1 against scikit-learn, and reading."""

import json
from itertools import product

import numpy as np
import pytest
from scipy.special import ndtri
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from explorer.lists import labelled, multilabel
from explorer.lists.labelled import PATTERNS, STRENGTHS, WORDS, WORDS_STRENGTH, Choice
from explorer.lists.library import table_of
from explorer.lists.multilabel import (
    JudgedSets,
    LabelSets,
    every_label,
    exchange_test,
    judged_sets,
    multilabel_advice,
    multilabel_result,
    set_f1,
    set_scores,
    sets_of,
)
from explorer.lists.read import read_table
from explorer.lists.roles import BadRows
from explorer.lists.rows import text_list
from explorer.lists.ui import strings
from explorer.lists.views.cautions import cautions
from explorer.lists.views.charts import list_charts
from explorer.lists.views.rows import as_json, rows_canvas, table_rows
from explorer.lists.views.strings import headline, read_as, second_line
from tests.lists.test_batches import SENTENCES
from tests.lists.test_run import finished

NAMES = {"bert": "BERT", "albert": "ALBERT"}
TRAINED = (Choice(1.0, "", 1.0),)


def drawn(n, width, n_labels, seed=0):
    """Return features, and labels that depend on them but for some noise."""
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(n, width))
    values = features @ generator.normal(size=(width, n_labels)) + generator.normal(
        size=(n, n_labels)
    )
    return features, values > np.quantile(values, 0.6, axis=0)


def by_hand(data, truth, groups, first, grid):
    """Return out-of-fold labels of a grid search inside each fold, by scikit-learn alone."""

    def minus_log_loss(model, asked, labels):
        shares = np.where(labels, model.predict_proba(asked), 1 - model.predict_proba(asked))
        return np.log(np.clip(shares, np.finfo(float).eps, 1)).mean()

    kind, found = (KFold if groups is None else GroupKFold), np.zeros(truth.shape, bool)
    for train, test in kind(5, shuffle=True, random_state=0).split(data, groups=groups):
        own = None if groups is None else groups[train]
        inner = list(kind(3, shuffle=True, random_state=0).split(data[train], groups=own))
        model = make_pipeline(first, OneVsRestClassifier(LogisticRegression(max_iter=200)))
        search = GridSearchCV(model, grid, scoring=minus_log_loss, cv=inner)
        found[test] = search.fit(data[train], truth[train].astype(int)).predict(data[test])
    return found


@pytest.mark.long
@pytest.mark.parametrize("is_grouped", [False, True])
def test_labels_are_those_of_one_vs_rest_regressions_by_scikit_learn(is_grouped):
    features, truth = drawn(60, 20, 3, seed=3)
    groups = np.arange(60) // 2 if is_grouped else None
    found = judged_sets(features, LabelSets(("a", "b", "c"), truth, groups))
    grid = {"onevsrestclassifier__estimator__C": STRENGTHS}
    expected = by_hand(features, truth, groups, StandardScaler(), grid)
    np.testing.assert_array_equal(found.predicted, expected)
    assert len({choice.strength for choice in found.choices}) > 1
    scores = set_scores(LabelSets(("a", "b", "c"), truth, groups), found)
    for average, value in (("macro", scores.macro), ("micro", scores.micro)):
        assert value.value == pytest.approx(f1_score(truth, expected, average=average))
        assert value.low < value.value < value.high
    by_label = f1_score(truth, expected, average=None)
    assert [each.value for each in scores.by_label] == pytest.approx(by_label.tolist())


@pytest.mark.long
def test_the_bag_of_words_chooses_its_words_as_a_grid_search_does(monkeypatch):
    monkeypatch.setattr(labelled, "STRENGTHS", (0.01, 1.0))
    generator = np.random.default_rng(0)
    truth = generator.random((48, 2)) < 0.5
    texts = [
        " ".join(generator.permutation([*"xyz", *["cat!"] * int(a), *["dog?"] * int(b)]))
        for a, b in truth
    ]
    found = judged_sets(texts, LabelSets(("a", "b"), truth), WORDS)
    grid = {
        "onevsrestclassifier__estimator__C": [WORDS_STRENGTH * C for C in (0.01, 1.0)],
        "tfidfvectorizer__token_pattern": PATTERNS,
    }
    words = TfidfVectorizer(sublinear_tf=True)
    expected = by_hand(np.array(texts, object), truth, None, words, grid)
    np.testing.assert_array_equal(found.predicted, expected)
    assert set_f1(truth, expected) > 0.9


@pytest.mark.long
def test_a_list_of_labels_is_judged_by_the_models_its_words_a_constant_and_a_control(
    tiny_family, monkeypatch
):
    monkeypatch.setattr(labelled, "STRENGTHS", (0.01,))
    monkeypatch.setattr(multilabel, "SHUFFLES", 1)
    rows = [
        {"text": f"{SENTENCES[i % 14]} {i}", "labels": ["x", "<b>"][: i % 3] + ["rare"] * (i < 3)}
        for i in range(45)
    ]
    result = finished("\n".join(map(json.dumps, rows)))
    assert (result.texts.kind, len(result.texts.rows)) == ("multilabel", 45)
    assert "45 texts with several labels each" in read_as(result.texts)
    truth = np.array([[name in row["labels"] for name in ("<b>", "x")] for row in rows])
    summary = as_json(result)["summary"]
    assert summary["labels"] == ["<b>", "x"]
    assert summary["labels_not_judged"] == {"rare": 3}
    assert cautions(result)[0].startswith("Not judged: “rare” (3 rows). A label must be on 10")
    found = {
        key: np.array(
            [
                [name in row[5].split("|") for name in ("<b>", "x")]
                for row in table_rows(result)
                if row[1] == key
            ]
        )
        for key in (*tiny_family.specs, "tfidf", "majority")
    }
    assert found["majority"].all()
    for key, predicted in found.items():
        each = summary["classifiers"][key]
        macro = f1_score(truth, predicted, average="macro", zero_division=0)
        assert each["macro_f1"]["value"] == pytest.approx(macro)
        assert (each["macro_f1_of_shuffled_labels"] is None) == (key == "majority")
    assert headline(result) == summary["advice"]
    assert second_line(result).startswith("Macro F1: ")
    assert "With the rows' labels shuffled: " in second_line(result)
    assert "<b>" not in rows_canvas(result, strings.TABLE, {})
    assert list_charts(result, strings.CHARTS, {})


def coverage(n, n_labels, recall, false, draws=300):
    """Return how often both intervals cover the F1 of the population that rows are drawn from."""
    generator, ends = np.random.default_rng(0), []

    def rows(many):
        common, own = generator.normal(size=(many, 1)), generator.normal(size=(many, n_labels))
        truth = np.sqrt(0.2) * common + np.sqrt(0.8) * own > ndtri(0.65)
        return truth, generator.random(truth.shape) < np.where(truth, recall, false)

    truth, given = rows(100_000)
    true = [f1_score(truth, given, average=average) for average in ("macro", "micro")]
    names = tuple(map(str, range(n_labels)))
    for _ in range(draws):
        truth, given = rows(n)
        found = set_scores(LabelSets(names, truth), JudgedSets(given))
        ends.append([(each.low, each.high) for each in (found.macro, found.micro)])
    low, high = np.moveaxis(np.array(ends), -1, 0)
    return ((low <= true) & (true <= high)).mean(0)


@pytest.mark.long
@pytest.mark.parametrize("n", [40, 200])
def test_the_intervals_of_f1_cover_it_and_have_no_width_of_zero(n):
    ways = [(0.3, 0.1), (0.6, 0.1), (0.9, 0.03), (0.98, 0.003)]
    covered = np.array([coverage(n, 3, *way) for way in ways])
    assert ((covered.mean(0) >= 0.93) & (covered.mean(0) <= 0.985)).all(), covered
    assert covered.min() >= 0.89, covered
    truth = np.arange(n)[:, None] % 3 == np.arange(3)
    whole = set_scores(LabelSets(("a", "b", "c"), truth), JudgedSets(truth, TRAINED))
    none = set_scores(LabelSets(("a", "b", "c"), truth), JudgedSets(~truth & False, TRAINED))
    for score in (whole.macro, whole.micro, *whole.by_label):
        assert score.low < 0.995
        assert (score.value, score.high) == (1.0, 1.0)
    for score in (none.macro, none.micro, *none.by_label):
        assert (score.value, score.low) == (0.0, 0.0)
        assert score.high > 0.005


def test_the_test_of_two_f1_is_the_share_of_all_exchanges_that_are_as_far():
    generator = np.random.default_rng(1)
    truth = generator.random((8, 2)) < 0.5
    first, second = truth ^ (generator.random((8, 2)) < 0.1), generator.random((8, 2)) < 0.5
    far = set_f1(truth, first) - set_f1(truth, second)
    assert far > 0.1

    def apart(swaps):
        swap = np.array(swaps, bool)[:, None]
        pair = np.where(swap, second, first), np.where(swap, first, second)
        return set_f1(truth, pair[0]) - set_f1(truth, pair[1])

    exact = np.mean([abs(apart(s)) >= far - 1e-12 for s in product((0, 1), repeat=8)])
    sets = LabelSets(("a", "b"), truth)
    assert exchange_test(sets, first, second) == pytest.approx(exact, abs=0.02)
    together = LabelSets(("a", "b"), truth, np.arange(8) // 4)
    assert exchange_test(together, first, second) >= 0.45  # two groups have four exchanges


def judged_alike(truth, wrong, seed):
    """Return predictions of which a share is wrong."""
    generator = np.random.default_rng(seed)
    return JudgedSets(truth ^ (generator.random(truth.shape) < wrong), TRAINED)


@pytest.mark.parametrize(
    ("wrong", "said", "models"),
    [
        ((0.5, 0.5, 0.5), "No model is significantly better than always giving every label", ()),
        ((0.1, 0.1, 0.1), "A bag of words may do as well", ()),
        ((0.4, 0.02, 0.4), "ALBERT is the best of these models for your labels", ("albert",)),
    ],
)
def test_a_model_is_recommended_only_if_it_is_better_than_both_baselines(wrong, said, models):
    truth = np.random.default_rng(0).random((120, 3)) < 0.5
    sets = LabelSets(("a", "b", "c"), truth)
    judged = {
        key: judged_alike(truth, share, seed)
        for seed, (key, share) in enumerate(zip(("bert", "albert", "tfidf"), wrong, strict=True), 1)
    }
    judged["majority"] = every_label(sets)
    scores = {key: set_scores(sets, each) for key, each in judged.items()}
    found = multilabel_advice(multilabel_result(sets, judged, scores), NAMES)
    assert found.sentence.startswith(said)
    assert found.models == models


def listed(rows, **how):
    return text_list(table_of(rows), **how)


def test_an_empty_list_is_a_row_without_labels_and_a_missing_one_is_left_out():
    rows = [
        {"text": f"T {i}.", "labels": [["a", "b"], ["a"], [], None, "c"][i % 5]} for i in range(50)
    ]
    texts = listed(rows)
    assert (texts.kind, len(texts.rows), len(texts.left_out)) == ("multilabel", 40, 10)
    assert {row.reason for row in texts.left_out} == {"It has no label."}
    assert [row.labels for row in texts.rows[:4]] == [("a", "b"), ("a",), (), ("c",)]
    sets = sets_of(texts)
    assert sets.names == ("a", "b", "c")
    assert sets.truth.sum(0).tolist() == [20, 10, 10]


def test_lists_of_a_column_of_another_name_and_of_a_parquet_file_are_labels(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    rows = [{"post": f"Text {i}.", "marks": ["x", "y"][: 1 + i % 2]} for i in range(45)]
    path = tmp_path / "rows.parquet"
    pandas.DataFrame(rows).to_parquet(path)
    for texts in (listed(rows), text_list(table_of(path))):
        assert (texts.kind, dict(texts.columns)) == (
            "multilabel",
            {"text": "post", "label": "marks"},
        )
        assert texts.rows[1].labels == ("x", "y")


@pytest.mark.parametrize(
    ("cells", "kind", "labels"),
    [
        (("joy,anger", "joy", "anger"), "multilabel", ("joy", "anger")),
        (("joy; anger", "joy", "anger"), "multilabel", ("joy", "anger")),
        (("Toys, games", "Kitchen, bath", "Garden"), "labelled", ()),
        (("a|b", "c|d", "e"), "labelled", ()),
    ],
)
def test_a_sign_divides_labels_only_where_its_parts_are_labels_themselves(cells, kind, labels):
    rows = [f"Text {i}.\t{cells[i % 3]}" for i in range(45)]
    texts = text_list(read_table("\n".join(["text\tlabel", *rows]), "a.tsv"))
    assert (texts.kind, texts.rows[0].labels) == (kind, labels)
    assert ("are divided at each" in read_as(texts)) == bool(labels)


def test_what_cannot_be_judged_is_said():
    few = [{"text": f"T {i}.", "labels": ["a", "b"]} for i in range(39)]
    with pytest.raises(BadRows, match="39 labelled rows; at least 40 are needed"):
        sets_of(listed(few))
    rare = [{"text": f"T {i}.", "labels": [f"l{i}", f"k{i // 9}"]} for i in range(45)]
    with pytest.raises(BadRows, match=r"No label can be judged.*“k0” is on 9 of 45"):
        sets_of(listed(rare))
    many = [{"text": f"T {i}.", "labels": [f"l{i % 25}", f"l{i * 3 % 25}"]} for i in range(250)]
    sets = sets_of(listed(many))
    assert (len(sets.names), len(sets.omitted)) == (20, 5)
