"""Whole lists: results of every kind, of rows that were done, and against scikit-learn by hand."""

import copy
import json
import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import sem, t
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from explorer.links.page_state import PageState
from explorer.lists import batches, labelled
from explorer.lists.disagreement import by_disagreement, distances
from explorer.lists.masked import MaskedAnswers, shared_divergences
from explorer.lists.read import read_table
from explorer.lists.results import TextsOptions
from explorer.lists.roles import BadRows
from explorer.lists.rows import text_list
from explorer.lists.run import TextsQuestion, layer_of
from explorer.lists.views.cautions import cautions
from explorer.lists.views.pair_strings import means_said
from explorer.lists.views.rows import as_json, rows_canvas
from explorer.lists.views.strings import precision_sentence
from explorer.scheduling.cancel import Cancelled, CancelToken
from tests.lists import by_hand
from tests.lists.test_batches import MASKED, SENTENCES, csv_of


def question(content, kind="", **options):
    return TextsQuestion(
        text_list(read_table(content), kind), PageState().ask, TextsOptions(**options)
    )


def finished(content, kind="", **options):
    asked = question(content, kind, **options)
    progress = list(asked.run(CancelToken()))
    assert progress[0].done == 0
    assert progress[-1].done == progress[-1].total
    return asked.result()


def test_masked_rows_keep_their_order_and_are_counted(tiny_family):
    rows = [*MASKED[:9], ("the [MASK] sat.", "")]
    result = finished(csv_of(rows, "text,answer"))
    assert [row.text for row in result.texts.rows] == [text for text, _ in rows]
    for key, answers in result.answers.items():
        ranks = [by_hand.masked(tiny_family.loaded(key), *row)[3] for row in rows[:9]]
        assert answers.ranks.tolist() == [*ranks, 0]
        assert result.summary.at_1[key].n == 9
        assert result.summary.at_5[key].hits == sum(rank <= 5 for rank in ranks)
    same = result.answers["bert"].words == result.answers["albert"].words
    share = result.summary.agreement["bert", "albert"]
    assert share.n == 10
    assert (share.hits == 10) == same
    means = np.mean(list(result.divergence.values()), axis=0)
    assert (np.diff(means[by_disagreement(result)]) <= 0).all()


def test_the_probability_and_the_mean_rank_of_the_answers_are_those_of_plain_transformers(
    tiny_family,
):
    rows = [*MASKED[:9], ("the [MASK] sat.", ""), ("the [MASK] sat.", "日本")]
    result = finished(csv_of(rows, "text,answer"))
    found = as_json(result)
    for key in tiny_family.specs:
        by_row = [by_hand.masked(tiny_family.loaded(key), *row) for row in rows[:9]]
        given = [row["answer_probability"] for row in found["rows"] if row["model"] == key]
        assert given[:9] == pytest.approx([np.exp(nats) for *_, nats, _ in by_row], rel=1e-4)
        assert given[9:] == [None, None]
        ranks = [rank for *_, rank in by_row]
        summary = found["summary"]["models"][key]
        assert summary["mean_rank"] == pytest.approx(np.mean(ranks))
        assert summary["median_rank"] == pytest.approx(np.median(ranks))


OFFERED = [
    ("the [MASK] sat.", "日本| unbelievable |dog"),
    ("the [cat|unbelievable|日本] sat.", ""),
    ("the [cat|dog] sat.", "dog"),
    ("the ____ sat on the mat.", "cat"),
]


@pytest.mark.long
def test_any_accepted_answer_counts_and_every_word_that_is_asked_for_has_its_probability(
    tiny_family,
):
    result = finished(csv_of(OFFERED, "text,answer"))
    assert result.texts.kind == "masked"
    lines = as_json(result)["rows"]
    for key, answers in result.answers.items():
        loaded = tiny_family.loaded(key)
        for place, (text, answer) in enumerate(OFFERED):
            accepted = [each.strip() for each in answer.split("|") if each]
            offered = re.findall(r"\[(.*\|.*)]", text)
            offered = offered[0].split("|") if offered else []
            masked = re.sub(r"\[.*]|____", by_hand.MASK, text)
            found = {
                word: by_hand.masked(loaded, masked, word)[2:]
                for word in dict.fromkeys([*accepted, *offered])
                if word != "日本"
            }
            said = {word: p for word, p in _asked(lines, key, place).items() if p}
            wanted = {word: np.exp(nats) for word, (nats, _) in found.items()}
            assert said == pytest.approx(wanted, rel=1e-4)
            ranks = [rank for word, (_, rank) in found.items() if word in accepted]
            assert answers.ranks[place] == min(ranks, default=0)
            ratio = _row(lines, key, place)["log_ratio"]
            if len(offered) < 2:
                assert ratio is None
            else:
                wanted = found[offered[0]][0] - found[offered[1]][0]
                assert ratio == pytest.approx(wanted, abs=1e-5)
        assert result.summary.at_1[key].n == 3


def test_the_words_that_all_texts_offer_have_a_mean_log_ratio_and_say_who_favours_which(
    tiny_family,
):
    texts = ["the [cat|dog] sat.", "it was a [cat|dog|mat].", "he is the [cat|dog]."]
    result = finished(csv_of([(text, "dog") for text in texts], "text,answer"))
    for key, mean in result.summary.ratio.items():
        loaded, values = tiny_family.loaded(key), []
        for text in texts:
            masked = re.sub(r"\[.*]", by_hand.MASK, text)
            cat, dog = (by_hand.masked(loaded, masked, word)[2] for word in ("cat", "dog"))
            values.append(cat - dog)
        low, high = t.interval(0.95, 2, np.mean(values), sem(values))
        assert (mean.value, mean.low, mean.high) == pytest.approx(
            (np.mean(values), low, high), abs=1e-4
        )
    assert len(result.summary.ratio) == 3
    assert as_json(result)["summary"]["words"] == ["cat", "dog"]
    (said,) = means_said(result)
    assert said.startswith("The mean log-ratio of “cat” to “dog” is ")
    others = finished(csv_of([(texts[0], ""), ("the [mat|dog] sat.", "")], "text,answer"))
    assert others.summary.offered is None
    assert [*means_said(others)] == []


def _row(lines, key, place):
    return next(line for line in lines if (line["model"], line["row"]) == (key, place + 1))


def _asked(lines, key, place):
    return _row(lines, key, place)["word_probabilities"]


def test_models_without_a_word_in_common_have_no_divergence(tiny_family):
    """It was 0.0, which reads as identical, and the rows were ordered by it."""
    result = finished(csv_of(MASKED[:6], "text,answer"))
    logs = np.log(np.full((6, 2), 0.5))
    words = {"bert": ("cat", "dog"), "albert": ("chat", "chien")}
    nowhere = shared_divergences(dict.fromkeys(words, logs), words)["bert", "albert"]
    assert np.isnan(nowhere).all()
    pairs = dict.fromkeys(result.divergence, nowhere)
    kept = ("bert", "distilbert")
    for known in ({}, {kept: result.divergence[kept]}):
        found = replace(result, divergence=pairs | known)
        summary = as_json(found)["summary"]
        unknown = [pair["models"] for pair in summary["pairs"] if pair["mean_js"] is None]
        assert unknown == [list(pair) for pair in result.divergence if pair not in known]
        (said,) = cautions(found)
        assert "no word of their vocabularies in common" in said
        assert ("mini-BERT and mini-DistilBERT" in said) == (not known)
        assert "mini-BERT and mini-ALBERT" in said
        expected = known[kept] if known else np.full(6, np.nan)
        np.testing.assert_array_equal(distances(found), expected)
        order = np.argsort(-expected, kind="stable") if known else np.arange(6)
        assert by_disagreement(found).tolist() == order.tolist()
        lines = json.loads(rows_canvas(found, {}, {}))["lines"]
        assert [line["apart"] is None for line in lines] == [not known] * 6


def test_identical_rows_have_identical_numbers(tiny_family):
    result = finished(csv_of([("the [MASK] sat.", "cat")] * 20, "text,answer"))
    for answers in result.answers.values():
        assert len(set(answers.words)) == 1
        assert np.ptp(answers.probabilities) < 1e-6
    assert all(
        duel.p_value == 1.0 or not duel.only_first * duel.only_second
        for duel in result.summary.duels
    )


def test_plain_sentences_have_a_pseudo_perplexity(tiny_family):
    result = finished("\n".join(SENTENCES[:5]))
    for key, perplexity in result.summary.pseudo_perplexity.items():
        loaded = tiny_family.loaded(key)
        total = sum(by_hand.pseudo_log_likelihoods(loaded, text)[0] for text in SENTENCES[:5])
        n_tokens = sum(len(loaded.tokenizer(text)["input_ids"]) - 2 for text in SENTENCES[:5])
        assert perplexity == pytest.approx(np.exp(-total / n_tokens), rel=1e-4)


@pytest.mark.long
def test_pairs_are_won_by_the_likelier_sentence(tiny_family):
    pairs = [(*SENTENCES[i : i + 2], "xy"[i % 4 > 1]) for i in range(0, 6, 2)]
    pairs.append((SENTENCES[0], SENTENCES[0], "y"))
    sums = {
        key: [
            [by_hand.pseudo_log_likelihoods(tiny_family.loaded(key), s) for s in pair[:2]]
            for pair in pairs
        ]
        for key in tiny_family.specs
    }
    for which, score in enumerate(("pll", "pll_word_l2r")):
        result = finished(csv_of(pairs, "good,bad,group"), score=score)
        for key, share in result.summary.good_first.items():
            won = [good[which] > bad[which] + 1e-4 for good, bad in sums[key]]
            assert not won[-1]
            assert share.hits == sum(won)
            assert {group: each.n for group, each in result.summary.by_group[key].items()} == {
                "x": 2,
                "y": 2,
            }


LABELLED = [
    (f"{text} the cat is good" if i % 2 else text, "ab"[i % 2]) for i, text in enumerate(SENTENCES)
]


@pytest.mark.long
def test_labelled_rows_equal_scikit_learn_on_features_of_transformers(tiny_family, monkeypatch):
    monkeypatch.setattr(labelled, "STRENGTHS", (0.01,))
    result = finished(csv_of(LABELLED, "text,label"), curves=False)
    truth = np.array(["ab".index(label) for _, label in LABELLED])
    splits = StratifiedKFold(5, shuffle=True, random_state=0)
    for key in tiny_family.specs:
        rows = [by_hand.features(tiny_family.loaded(key), text, "mean")[-1] for text, _ in LABELLED]
        model = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=200))
        expected = cross_val_predict(model, np.stack(rows), truth, cv=splits)
        np.testing.assert_array_equal(result.result.judged[key].predicted, expected)
    assert list(result.result.judged) == [*tiny_family.specs, "tfidf", "majority"]


@pytest.mark.long
def test_curves_and_layers_are_there_if_they_are_asked_for(tiny_family, monkeypatch):
    monkeypatch.setattr(labelled, "STRENGTHS", (0.01,))
    monkeypatch.setattr(labelled, "REPEATS", 1)
    result = finished(csv_of(LABELLED, "text,label"), layer=1)
    for key, spec in tiny_family.specs.items():
        assert len(result.by_layer[key]) == spec.architecture.n_layers + 1
        predicted = result.result.judged[key].predicted == result.result.labels.truth
        assert result.by_layer[key][1] == predicted.mean()
        assert [point.n_rows for point in result.learning[key]] == [16, 32, 40]
        assert result.learning[key][-1].accuracy == result.result.accuracy[key]


def test_right_is_what_is_first_unless_more_places_are_asked_for():
    row = np.zeros(3)
    answers = MaskedAnswers((), row, row, np.array([1, 2, 0]), row, ())
    assert answers.right().tolist() == [True, False, False]
    assert answers.right(5).tolist() == [True, True, False]


def test_what_is_not_offered_is_refused(tiny_family):
    for options, words in (
        ({"pooling": "max"}, "mean, cls"),
        ({"score": "nll"}, "pll, pll_word_l2r"),
    ):
        with pytest.raises(BadRows, match=words):
            question("the cat sat.", **options)
    with pytest.raises(BadRows, match=r"has the layers 0 \(the embeddings\) to 3"):
        question(csv_of(LABELLED, "text,label"), layer=4)
    bert = tiny_family.specs["bert"]
    last = bert.architecture.n_layers
    assert [layer_of(bert, layer) for layer in (-last - 1, -1, 0, last)] == [0, last, 0, last]
    for layer in (-last - 2, last + 1, 0.5):
        with pytest.raises(BadRows, match=f"{last}"):
            layer_of(bert, layer)


def test_a_stopped_list_has_the_rows_that_are_done(tiny_family, monkeypatch):
    monkeypatch.setattr(batches, "BLOCK_ROWS", 4)
    asked, cancel = question(csv_of(MASKED[:12], "text,answer")), CancelToken()
    with pytest.raises(BadRows, match="before any row"):
        asked.result()
    progress = asked.run(cancel)
    while next(progress).done < 8:
        pass
    cancel.stop()
    with pytest.raises(Cancelled):
        next(progress)
    result = asked.result()
    assert len(result.texts.rows) == len(result.answers["bert"].words) == 8


def test_a_model_that_cannot_be_had_is_missing_and_the_others_go_on(tiny_family, monkeypatch):
    from explorer.models import loading
    from explorer.models.hub import ModelUnavailable

    def absent(spec, report=None, own=loading.checkpoint_path):
        if spec.key == "albert":
            raise ModelUnavailable(spec, "its files are missing")
        return own(spec, report)

    monkeypatch.setattr(loading, "checkpoint_path", absent)
    monkeypatch.setattr(loading, "_loaded", {})
    asked = question("the cat sat.")
    assert list(asked.ready.specs) == ["bert", "distilbert"]
    assert "its files are missing" in str(asked.ready.missing["albert"])


@pytest.mark.long
@pytest.mark.parametrize("kind", ["masked", "plain", "pairs", "labelled"])
def test_what_half_precision_changes_is_that_of_plain_networks(tiny_family, little_training, kind):
    texts = {
        "masked": csv_of(MASKED[:9], "text,answer"),
        "plain": "\n".join(SENTENCES[:5]),
        "pairs": csv_of(list(zip(SENTENCES[:4], SENTENCES[4:8], strict=True)), "good,bad"),
        "labelled": csv_of([(s, "ab"[i % 2]) for i, s in enumerate(SENTENCES[:40])], "text,label"),
    }[kind]
    asked = TextsQuestion(text_list(read_table(texts), kind), PageState(dtype="bfloat16").ask)
    assert asked.precision is None
    list(asked.run(CancelToken()))
    assert asked.precision.dtype == "bfloat16"
    for key, difference in asked.precision.differences.items():
        exact = tiny_family.loaded(key)
        assert exact.network.config._attn_implementation == "eager"
        rows = asked.ready.texts.rows
        half = (
            half_by_kind(asked, kind, key)
            if kind != "labelled"
            else by_hand_of(half_of(exact), kind, rows)
        )
        tolerance = {"rel": 0.5} if kind == "labelled" else {"abs": 1e-4}
        assert difference.n_rows == len(rows)
        assert difference.largest == pytest.approx(
            largest(kind, half, by_hand_of(exact, kind, rows)), **tolerance
        )
        assert difference.largest > 1e-4


def half_by_kind(asked, kind, key):
    """Return the list's own numbers, in half precision."""
    result = asked.result()
    if kind == "masked":
        return result.answers[key].probabilities
    return np.array([side.pll for row in asked._by_row()[key] for side in row])


def half_of(loaded):
    """Return a copy of a network in bfloat16 with PyTorch's fused attention."""
    network = copy.deepcopy(loaded.network).to(torch.bfloat16)
    network.set_attn_implementation("sdpa")
    return replace(loaded, network=network, dtype="bfloat16")


def by_hand_of(loaded, kind, rows):
    if kind == "masked":
        return np.array([by_hand.masked(loaded, row.text, row.answer)[1] for row in rows])
    if kind == "labelled":
        return np.stack([by_hand.features(loaded, row.text, "mean") for row in rows])
    sides = [side for row in rows for side in (row.text, row.other) if side]
    return np.array([by_hand.pseudo_log_likelihoods(loaded, side)[0] for side in sides])


def largest(kind, half, exact):
    apart = half - exact
    if kind == "labelled":
        return (np.linalg.norm(apart, axis=-1) / np.linalg.norm(exact, axis=-1)).max()
    return np.abs(apart).max()


def test_a_model_that_is_not_had_in_float32_is_not_compared(tiny_family, monkeypatch):
    asked = TextsQuestion(text_list(read_table("the cat sat.")), PageState(dtype="bfloat16").ask)
    parts = asked._all_parts

    def refused(ready, cancel):
        if ready.ask.dtype == "float32":
            raise BadRows("It is too large.")
        return parts(ready, cancel)

    monkeypatch.setattr(asked, "_all_parts", refused)
    list(asked.run(CancelToken()))
    result = asked.result()
    assert precision_sentence(result, asked.precision) == (
        "bfloat16 is not compared with float32: It is too large."
    )
    assert precision_sentence(result, None) == ""
