"""Rows with a score: a ridge regression against scikit-learn, correlations against scipy."""

import numpy as np
import pytest
import torch
from scipy.stats import pearsonr, spearmanr
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from explorer.lists import scored
from explorer.lists.read import read_table
from explorer.lists.roles import BadRows
from explorer.lists.rows import text_list
from explorer.lists.scored import (
    BASELINE,
    COUNTED,
    Truth,
    correlated,
    correlations_z,
    pearson_interval,
    ridge_predictions,
    scored_steps,
    spearman,
    spearman_interval,
    truth_of,
    word_features,
)
from explorer.lists.ui import strings
from explorer.lists.views.cautions import cautions
from explorer.lists.views.charts import list_charts
from explorer.lists.views.rows import as_json, table_rows
from explorer.lists.views.strings import headline, read_as, second_line
from tests.lists.test_batches import SENTENCES, csv_of
from tests.lists.test_run import finished

NAMES = {"bert": "BERT", "distilbert": "DistilBERT", "albert": "ALBERT", BASELINE: "words"}


def drawn(n, width, noise, seed=0):
    """Return features and scores that depend on them but for some noise."""
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(n, width)) * np.arange(1, width + 1)
    scores = features[:, 0] + features[:, -1] / width + noise * generator.normal(size=n)
    return features, scores


def ridge_by_hand(features, scores, groups=None):
    """Return out-of-fold predictions of a grid search inside each fold, by scikit-learn alone."""
    kind = KFold if groups is None else GroupKFold
    expected, alphas = np.empty(len(scores)), []
    outer = kind(5, shuffle=True, random_state=0)
    for train, test in outer.split(features, groups=groups):
        inner = kind(3, shuffle=True, random_state=0)
        own = None if groups is None else groups[train]
        search = GridSearchCV(
            make_pipeline(StandardScaler(), Ridge()),
            {"ridge__alpha": list(scored.PENALTIES)},
            scoring="neg_mean_squared_error",
            cv=list(inner.split(features[train], groups=own)),
        ).fit(features[train], scores[train])
        expected[test] = search.predict(features[test])
        alphas.append(search.best_params_["ridge__alpha"])
    return expected, tuple(alphas)


@pytest.mark.long
@pytest.mark.parametrize(("n", "width", "noise"), [(60, 12, 1.0), (45, 90, 3.0)])
@pytest.mark.parametrize("is_grouped", [False, True])
def test_predictions_are_those_of_a_grid_search_by_hand(n, width, noise, is_grouped):
    features, scores = drawn(n, width, noise)
    features[:, 3] = 1.0  # a constant feature has no spread to divide by
    groups = np.arange(n) // 2 if is_grouped else None
    found = ridge_predictions(features, Truth(scores, groups))
    expected, alphas = ridge_by_hand(features, scores, groups)
    assert found.penalties == alphas
    np.testing.assert_allclose(found.values, expected, rtol=1e-6, atol=1e-8)


def test_correlations_and_pearsons_interval_are_those_of_scipy():
    generator = np.random.default_rng(1)
    for n in (12, 80):
        scores = generator.integers(0, 6, n) / 2
        values = scores + generator.normal(size=n)
        found = correlated(values, Truth(scores), 0.0)
        assert found.spearman.value == pytest.approx(spearmanr(values, scores).statistic)
        expected = pearsonr(values, scores)
        assert found.pearson.value == pytest.approx(expected.statistic)
        ends = expected.confidence_interval(0.95)
        assert pearson_interval(expected.statistic, n) == pytest.approx(tuple(ends), abs=1e-6)
    assert np.isnan(spearman(np.ones(9), np.arange(9.0)))


@pytest.mark.long
@pytest.mark.parametrize("n", [10, 40, 200])
def test_the_intervals_of_correlations_cover_those_of_normal_pairs(n):
    """Spearman's true value of a normal pair is 6 / pi asin(r / 2)."""
    generator, covered = np.random.default_rng(0), []
    for r in (0.0, 0.3, 0.6, 0.85, 0.95):
        pairs = generator.multivariate_normal([0, 0], [[1, r], [r, 1]], (400, n))
        true = 6 / np.pi * np.arcsin(r / 2)
        for first, second in pairs.swapaxes(1, 2):
            ranks = spearman_interval(spearman(first, second), n)
            linear = pearson_interval(pearsonr(first, second).statistic, n)
            covered.append((ranks[0] <= true <= ranks[1], linear[0] <= r <= linear[1]))
    shares = np.mean(covered, axis=0)
    assert (shares >= 0.94 - 0.01).all(), shares  # a standard error of 2,000 draws is 0.5%
    assert (shares <= 0.97).all(), shares
    assert np.mean(covered, axis=0).min() >= 0.92


@pytest.mark.long
def test_the_interval_of_an_out_of_fold_correlation_covers_that_on_further_rows():
    """Counted in full, the rows would cover the five regressions' correlation in 84 to 89%."""
    generator, hits = np.random.default_rng(0), {1.0: [], COUNTED: []}
    for noise in (1e3, 3.0, 1.0, 0.3):
        for _ in range(50):
            weights = generator.normal(size=10)
            rows, further = generator.normal(size=(40, 10)), generator.normal(size=(500, 10))
            scores, later = (
                each @ weights + noise * 3 * generator.normal(size=len(each))
                for each in (rows, further)
            )
            found, true = np.empty(40), []
            for train, test in KFold(5, shuffle=True, random_state=0).split(rows):
                model = Ridge(10.0).fit(rows[train], scores[train])
                found[test] = model.predict(rows[test])
                true.append(spearmanr(model.predict(further), later).statistic)
            for share, of_share in hits.items():
                low, high = spearman_interval(spearman(found, scores), share * 40)
                of_share.append(low <= np.mean(true) <= high)
    assert 0.92 <= np.mean(hits[COUNTED]) <= 0.985
    assert np.mean(hits[1.0]) < 0.91


@pytest.mark.long
def test_the_test_of_two_correlations_rejects_equal_ones_as_often_as_it_says():
    generator, found = np.random.default_rng(0), []
    for _ in range(600):
        common = generator.normal(size=80)
        scores = common + generator.normal(size=80)
        first, second = (common + 0.7 * generator.normal(size=80) for _ in range(2))
        r = spearman(first, scores), spearman(second, scores), spearman(first, second)
        found.append(abs(correlations_z(*r, 80)) > 1.96)
    assert 0.03 <= np.mean(found) <= 0.08
    assert correlations_z(0.9, 0.1, 0.2, 80) > 5
    assert correlations_z(0.5, 0.5, 1.0, 80) == 0.0


def result_of(features, scores, n_words=4, seed=9):
    generator = np.random.default_rng(seed)
    by_key = {**features, BASELINE: generator.normal(size=(len(scores), n_words))}
    steps = scored_steps(by_key, Truth(scores), NAMES)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


@pytest.mark.long
def test_random_scores_recommend_nothing_in_twenty_lists():
    for seed in range(20):
        generator = np.random.default_rng(seed)
        features = {key: generator.normal(size=(60, 8)) for key in ("bert", "albert")}
        found = result_of(features, generator.normal(size=60), seed=seed + 100)
        assert found.recommended == ()
        assert found.advice.startswith("No model's predictions are significantly closer")


def test_the_model_that_knows_the_scores_is_the_best_and_its_control_is_not():
    features, scores = drawn(120, 8, 0.5)
    noise = np.random.default_rng(3).normal(size=(120, 8))
    found = result_of({"bert": noise, "albert": features}, scores)
    assert found.recommended == ("albert",)
    assert found.advice.startswith("ALBERT is the best of these models for your scores on 120 rows")
    assert found.correlations["albert"].spearman.low > 0.6
    assert abs(found.correlations["albert"].control) < 0.25
    both = result_of({"bert": features, "albert": features}, scores)
    assert both.recommended == ("bert", "albert")
    assert "too few to tell more" in both.advice


def test_words_that_two_texts_have_in_common_are_counted_by_hand():
    pair = "The cat sat. [SEP] A cat, a cat sat down!"
    assert word_features([pair])[0].tolist() == [2 / 5, 2 / 3, 2 / 4, 3 - 6]
    assert word_features(["It sat."])[0].tolist() == [2, 7, 2.5, 2]
    assert np.isfinite(word_features(["! [SEP] ?", "!"])).all()


PAIRS = [
    (a, b, f"{len(set(a.split()) & set(b.split())) / 2}")
    for i, a in enumerate(SENTENCES[:8])
    for b in SENTENCES[8 : 14 - i % 2]
]


@pytest.mark.long
def test_pairs_with_a_score_equal_scikit_learn_on_features_of_transformers(
    tiny_family, monkeypatch
):
    """One penalty: where little can be learnt, roundings decide between two of them."""
    monkeypatch.setattr(scored, "PENALTIES", (100.0,))
    result = finished(csv_of(PAIRS, "sentence1,sentence2,score"))
    assert result.texts.kind == "scored"
    scores = np.array([float(score) for *_, score in PAIRS])
    summary = as_json(result)["summary"]["regressions"]
    rows = table_rows(result)
    for key in tiny_family.specs:
        loaded, features = tiny_family.loaded(key), []
        for first, second, _ in PAIRS:
            has_segments = key != "distilbert"
            inputs = loaded.tokenizer(
                first, second, return_tensors="pt", return_token_type_ids=has_segments
            )
            with torch.no_grad():
                out = loaded.network.base_model(**inputs, output_hidden_states=True)
            features.append(out.hidden_states[-1][0].mean(0).numpy())
        expected, alphas = ridge_by_hand(np.stack(features).astype(float), scores)
        found = [row[5] for row in rows if row[1] == key]
        np.testing.assert_allclose(found, expected, atol=1e-3)
        rank = spearmanr(expected, scores).statistic
        assert summary[key]["spearman"]["value"] == pytest.approx(rank, abs=0.01)
        assert summary[key]["penalties"] == list(alphas)
        assert abs(summary[key]["spearman_of_shuffled_scores"]) < 0.5
    assert headline(result) == as_json(result)["summary"]["advice"]
    assert second_line(result).startswith("Spearman correlation of predictions and scores: ")
    assert "“score” the score (" in read_as(result.texts)
    assert list_charts(result, strings.CHARTS, {})


@pytest.mark.long
def test_groups_stay_together_count_once_and_near_copies_are_said(tiny_family, monkeypatch):
    """Each pair is there twice: one of them is in training where the other is asked."""
    monkeypatch.setattr(scored, "PENALTIES", (100.0,))
    monkeypatch.setattr(scored, "SHUFFLES", 1)
    rows = [(*pair[:2], str(i % 7), str(i)) for i, pair in enumerate(PAIRS[:20])]
    header = "sentence1,sentence2,score"
    alone = finished(csv_of([row[:3] for row in rows] * 2, header))
    together = finished(csv_of(rows * 2, f"{header},group"))
    fold = np.empty(40, int)
    for place, (_, test) in enumerate(KFold(5, shuffle=True, random_state=0).split(fold)):
        fold[test] = place
    apart = 2 * int((fold[:20] != fold[20:]).sum())
    assert 0 < apart <= alone.copies.n
    (said,) = cautions(alone)
    assert said.startswith(
        f"{alone.copies.n} of 40 rows have a near-copy among the rows that their regression"
    )
    assert cautions(together)[0].startswith("The rows of a group stay together: 40 rows in 20 gro")
    for result, n in ((alone, 0.55 * 40), (together, 0.55 * 20)):
        found = result.result.correlations["bert"].spearman
        assert (found.low, found.high) == spearman_interval(found.value, n)


@pytest.mark.parametrize(
    ("header", "row", "kind", "columns"),
    [
        ("sentence1,sentence2,label", "a b,a c,2.5", "scored", {"score": "label"}),
        ("sentence1,sentence2,label", "a b,a c,1", "labelled", {"label": "label"}),
        (
            "sentence_A,sentence_B,relatedness_score,entailment_judgment",
            "a,b,4.5,NEUTRAL",
            "labelled",
            {},
        ),
        ("good,bad,score", "a,b,1", "pairs", {}),
        ("text,score", "a b,0.5", "plain", {}),
    ],
)
def test_a_pair_with_a_score_or_a_broken_number_as_its_label_is_scored(header, row, kind, columns):
    rows = [row, row.replace("a b", "d e").replace("NEUTRAL", "ENTAILMENT").replace(",1", ",0")]
    found = text_list(read_table("\n".join([header, *rows * 25])))
    assert found.kind == kind
    assert columns.items() <= found.columns.items()


def test_the_relatedness_of_sick_can_be_chosen_and_a_german_comma_is_read():
    text = "sentence_A;sentence_B;relatedness_score;entailment_judgment\n"
    table = read_table(text + "".join(f"a {i};b;{i},5;NEUTRAL\n" for i in range(4)))
    assert [row.score for row in text_list(table, "scored").rows] == [0.5, 1.5, 2.5, 3.5]


def test_what_cannot_be_scored_is_said():
    rows = [(f"a {i}", "b", str(i)) for i in range(40)]
    with pytest.raises(BadRows, match="39 rows with a score; at least 40 are needed"):
        truth_of(text_list(read_table(csv_of(rows[:39], "sentence1,sentence2,score"))))
    same = csv_of([(a, b, "1") for a, b, _ in rows], "sentence1,sentence2,score")
    with pytest.raises(BadRows, match="All scores are 1: there is nothing to predict"):
        truth_of(text_list(read_table(same)))
    faulty = csv_of([*rows, ("a", "b", "high"), ("a", "b", "")], "sentence1,sentence2,score")
    left_out = text_list(read_table(faulty)).left_out
    assert [row.reason for row in left_out] == [
        "Its score “high” is no number.",
        "It has no score.",
    ]
