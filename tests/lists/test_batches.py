"""Lists of texts against plain transformers, one text at a time; and that batches change nothing."""

import gc
import random
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from explorer.analysis.measures import js
from explorer.context import configure
from explorer.links.page_state import PageState
from explorer.lists import batches as lists
from explorer.lists.masked import shared_divergences
from explorer.lists.read import read_table
from explorer.lists.roles import BadRows
from explorer.lists.rows import text_list
from explorer.scheduling.cancel import Cancelled, CancelToken
from explorer.scheduling.measurement_lock import MeasurementLock
from tests.lists import by_hand as texts_by_hand
from tests.tiny_models import WORDS

CHOICE = random.Random(5)
PLAIN = [word for word in WORDS if not word.startswith("##")]


def sentence(n_words):
    return " ".join(CHOICE.choices([*PLAIN, "playing", "dogs"], k=n_words)) + "."


def masked_sentence(n_words):
    words = sentence(n_words).rstrip(".").split()
    words[CHOICE.randrange(n_words)] = "[MASK]"
    return " ".join(words) + "."


SENTENCES = [sentence(CHOICE.randint(2, 6)) for _ in range(50)]
MASKED = [
    (masked_sentence(CHOICE.randint(2, 14)), CHOICE.choice(["paris", "played", "good", "dogs"]))
    for _ in range(25)
]


def listed(rows, kind=""):
    return text_list(read_table("\n".join(rows)), kind)


def csv_of(pairs, header):
    return "\n".join([header, *(",".join(pair) for pair in pairs)])


def in_order(parts, n_rows):
    by_row = {row: (part, place) for part in parts for place, row in enumerate(part.rows)}
    return [by_row[row] for row in range(n_rows)]


@pytest.mark.long
def test_masked_rows_equal_plain_transformers(tiny_family):
    texts = text_list(read_table(csv_of(MASKED, "text,answer")))
    parts = list(
        lists.masked_parts(
            lists.prepare_masked(texts, PageState().ask, CancelToken()), CancelToken()
        )
    )
    several = 0
    for (text, answer), (part, place) in zip(MASKED, in_order(parts, 25), strict=True):
        for key, answers in part.value.answers.items():
            loaded = tiny_family.loaded(key)
            first, probability, total, rank = texts_by_hand.masked(loaded, text, answer)
            assert answers.probabilities[place] == pytest.approx(probability, abs=1e-4)
            assert answers.log_probs[place] == pytest.approx(total, abs=1e-4)
            assert answers.ranks[place] == rank
            piece = loaded.vocabulary[first].replace("##", "…").replace("▁", "")
            assert answers.words[place] in (piece, f"…{piece}", "␣")
            several += answers.n_pieces[place] > 1
    assert several > 10


def test_divergence_is_that_of_the_shared_words(tiny_family):
    texts = listed([text for text, _ in MASKED[:6]])
    parts = list(
        lists.masked_parts(
            lists.prepare_masked(texts, PageState().ask, CancelToken()), CancelToken()
        )
    )
    run = {key: tiny_family.loaded(key) for key in ("bert", "distilbert", "albert")}

    def at_mask(key, text):
        ids = run[key].tokenizer(text)["input_ids"]
        place = ids.index(run[key].tokenizer.mask_token_id)
        return texts_by_hand.logits_of(run[key], ids)[place].softmax(-1).numpy()

    for (text, _), (part, place) in zip(MASKED[:6], in_order(parts, 6), strict=True):
        bert, student, albert = (at_mask(key, text) for key in run)
        assert part.value.divergence["bert", "distilbert"][place] == pytest.approx(
            js(bert, student), abs=1e-5
        )
        both = shared_by_hand(run["bert"].vocabulary, run["albert"].vocabulary)
        p, q = (
            values[list(ids)]
            for values, ids in zip((bert, albert), zip(*both, strict=True), strict=True)
        )
        by_hand = js(p / p.sum(), q / q.sum())
        assert part.value.divergence["bert", "albert"][place] == pytest.approx(by_hand, abs=1e-5)


def shared_by_hand(wordpieces, sentencepieces):
    """Pair ids of equal text at the beginning of a word or inside; a mark that begins may be inside."""
    ids = {(p.removeprefix("▁"), p.startswith("▁")): i for i, p in enumerate(sentencepieces)}
    pairs = {}
    for i, piece in enumerate(wordpieces):
        text, begins = piece.removeprefix("##"), not piece.startswith("##")
        places = [(text, begins)] if text.isalnum() or not begins else [(text, True), (text, False)]
        partner = next((ids[place] for place in places if place in ids), None)
        if partner is not None and not text.startswith("["):
            pairs.setdefault(partner, i)
    return [(i, partner) for partner, i in pairs.items()]


@pytest.mark.long
def test_sentences_equal_plain_transformers(tiny_family):
    sentences = ["the cat's mat. it's good-looking!", *SENTENCES[:24]]
    texts = listed(sentences)
    assert texts.kind == "plain"
    parts = list(
        lists.sentence_parts(
            lists.prepare_sentences(texts, PageState().ask, CancelToken()), CancelToken()
        )
    )
    for text, (part, place) in zip(sentences, in_order(parts, 25), strict=True):
        for key, scores in part.value.items():
            (score,) = scores[place]
            by_hand = texts_by_hand.pseudo_log_likelihoods(tiny_family.loaded(key), text)
            assert (score.pll, score.pll_word_l2r) == pytest.approx(by_hand, abs=1e-4)
            assert score.words.sum() == pytest.approx(score.pll_word_l2r)


def test_pairs_are_scored_as_two_sentences(tiny_family):
    texts = text_list(read_table("good,bad\nthe cat sat.,the cat on.\nhe is good.,he is is bad."))
    assert texts.kind == "pairs"
    parts = list(
        lists.sentence_parts(
            lists.prepare_sentences(texts, PageState().ask, CancelToken()), CancelToken()
        )
    )
    part, place = in_order(parts, 2)[0]
    good, bad = part.value["albert"][place]
    loaded = tiny_family.loaded("albert")
    assert good.pll == pytest.approx(
        texts_by_hand.pseudo_log_likelihoods(loaded, "the cat sat.")[0], abs=1e-4
    )
    assert bad.pll == pytest.approx(
        texts_by_hand.pseudo_log_likelihoods(loaded, "the cat on.")[0], abs=1e-4
    )


@pytest.mark.long
@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_features_equal_plain_transformers(tiny_family, pooling):
    texts = listed(SENTENCES)
    ready = lists.prepare_features(texts, PageState().ask, CancelToken())
    features = lists.in_row_order(list(lists.feature_parts(ready, pooling, CancelToken())), 50)
    for key, of_model in features.items():
        by_hand = [
            texts_by_hand.features(tiny_family.loaded(key), text, pooling) for text in SENTENCES
        ]
        np.testing.assert_allclose(of_model, np.stack(by_hand), atol=1e-4)


def everything(texts):
    """Return all numbers of masked rows and of features, in the rows' order."""
    ready = lists.prepare_masked(texts, PageState().ask, CancelToken())
    parts = list(lists.masked_parts(ready, CancelToken()))
    rows = in_order(parts, len(texts.rows))
    numbers = {
        (row.text, row.answer): [
            (p.value.answers[k].probabilities[i], p.value.answers[k].log_probs[i])
            for k in ready.specs
        ]
        for row, (p, i) in zip(texts.rows, rows, strict=True)
    }
    features = lists.feature_parts(
        lists.prepare_features(texts, PageState().ask, CancelToken()), "mean", CancelToken()
    )
    by_model = lists.in_row_order(list(features), len(texts.rows))
    vectors = {
        (row.text, row.answer): [by_model[k][i].mean(-1) for k in by_model]
        for i, row in enumerate(texts.rows)
    }
    return numbers, vectors


@pytest.mark.long
def test_a_row_does_not_depend_on_its_batch(tiny_family, monkeypatch):
    shuffled = MASKED[:]
    CHOICE.shuffle(shuffled)
    results = []
    for most, rows in ((1, MASKED), (16, shuffled), (64, MASKED[::-1])):
        monkeypatch.setattr(lists, "MAX_TEXTS", most)
        monkeypatch.setattr(lists, "MAX_TOKENS_AT_ONCE", 4_000)
        results.append(everything(text_list(read_table(csv_of(rows, "text,answer")))))
    for numbers, vectors in results[1:]:
        for text, alone in results[0][0].items():
            np.testing.assert_allclose(numbers[text], alone, atol=1e-5)
            for one, other in zip(vectors[text], results[0][1][text], strict=True):
                np.testing.assert_allclose(one, other, atol=1e-5)


def test_a_row_too_long_is_left_out_and_the_rest_goes_on(tiny_family):
    texts = listed(["the cat sat.", "a " * 600, "the dog is good."])
    ready = lists.prepare_features(texts, PageState().ask, CancelToken())
    assert [row.number for row in ready.texts.rows] == [1, 3]
    (left_out,) = ready.texts.left_out
    assert left_out.number == 2
    assert "602 tokens" in left_out.reason
    assert "512" in left_out.reason


def test_a_list_of_which_no_row_can_be_read_says_why(tiny_family):
    with pytest.raises(BadRows, match=r"No row can be read. Row 1: .*602 tokens"):
        lists.prepare_features(listed(["a " * 600]), PageState().ask, CancelToken())


def test_a_cancelled_list_ends_between_two_batches_and_keeps_its_parts(tiny_family, monkeypatch):
    monkeypatch.setattr(lists, "BLOCK_ROWS", 8)
    texts, cancel = listed(SENTENCES), CancelToken()
    parts = lists.feature_parts(
        lists.prepare_features(texts, PageState().ask, CancelToken()), "mean", cancel
    )
    kept = [next(parts), next(parts)]
    cancel.stop()
    with pytest.raises(Cancelled):
        next(parts)
    assert sum(len(part.rows) for part in kept) == 16


def test_logits_are_computed_at_masks_alone(tiny_family, monkeypatch):
    from explorer.models import read_at

    shapes = []

    def watched(loaded, hidden, own=read_at.apply_head):
        shapes.append(hidden.shape)
        return own(loaded, hidden)

    monkeypatch.setattr(read_at, "apply_head", watched)
    texts = listed([text for text, _ in MASKED[:20]])
    list(
        lists.masked_parts(
            lists.prepare_masked(texts, PageState().ask, CancelToken()), CancelToken()
        )
    )
    assert {len(shape) for shape in shapes} == {2}
    assert sum(shape[0] for shape in shapes) == 3 * 20


def test_an_accelerator_gets_larger_batches_and_the_same_order(monkeypatch):
    monkeypatch.setattr(lists, "MEASUREMENT_LOCK", MeasurementLock())
    sizes: dict[str, list[int]] = {"cpu": [], "cuda": []}
    for device, asked in sizes.items():
        monkeypatch.setattr(lists, "device_of", lambda _, device=device: device)

        def ask(items, asked=asked):
            asked.append(len(items))
            return np.array(items)

        lengths = [10 + n % 3 for n in range(100)]
        found = lists.in_batches(ask, list(range(100)), lengths, PageState().ask, CancelToken())
        assert found.tolist() == list(range(100))
    assert max(sizes["cpu"]) == lists.MAX_TEXTS
    assert max(sizes["cuda"]) == lists.MAX_ON_DEVICE[0]


def test_long_passes_of_this_process_take_turns_and_short_ones_do_not(monkeypatch):
    lock, turns = MeasurementLock(), []
    monkeypatch.setattr(lists, "MEASUREMENT_LOCK", lock)

    def ask(items):
        turns.append(lock._turns)
        return np.array(items)

    for length in (9, lists.LONG_TOKENS):
        lists.in_batches(ask, [0], [length], PageState().ask, CancelToken())
    assert turns == [0, 1]
    configure(backend=SimpleNamespace(devices=lambda: ("cpu",)))
    lists.in_batches(ask, [0], [lists.LONG_TOKENS], PageState().ask, CancelToken())
    assert turns == [0, 1, 0]
    assert not lock._turns


def test_beside_visitors_batches_are_small_and_the_order_is_the_same(monkeypatch):
    lock, sizes = MeasurementLock(), []

    def ask(items):
        sizes.append(len(items))
        return np.array(items)

    monkeypatch.setattr(lists, "MEASUREMENT_LOCK", lock)
    with lock.answering():
        found = lists.in_batches(ask, list(range(37)), [9] * 37, PageState().ask, CancelToken())
    assert found.tolist() == list(range(37))
    assert max(sizes) == lists.MAX_TEXTS_BESIDE_VISITORS


@pytest.mark.long
def test_a_sentence_waits_in_a_few_arrays_and_not_in_objects_for_each_token(tiny_family):
    """Two thousand long sentences of three models held over 1 GB of small tuples."""
    sentences = [" ".join(SENTENCES[i % 14] for _ in range(20)) for i in range(12)]
    texts = text_list(read_table("\n".join(sentences)), "plain")
    lists.prepare_sentences(texts, PageState().ask, CancelToken())
    gc.collect()
    before = sys.getallocatedblocks()
    ready = lists.prepare_sentences(texts, PageState().ask, CancelToken())
    gc.collect()
    n_tokens = sum(plans[0].n_tokens for rows in ready.plans.values() for plans in rows)
    assert n_tokens > 2_000
    assert (sys.getallocatedblocks() - before) / n_tokens < 0.5  # it was five and more


def test_divergences_equal_those_in_float64_also_of_impossible_words():
    rows = np.random.default_rng(3)
    logs = {key: rows.normal(0, 4, (5, 300)).astype(np.float32) for key in "abc"}
    logs["b"][0] = logs["a"][0]
    logs["c"][1, :4] = -np.inf
    logs = {
        key: each - np.log(np.exp(each.astype(float)).sum(-1))[:, None]
        for key, each in logs.items()
    }
    pieces = tuple(map(str, range(300)))
    found = shared_divergences(
        {key: each.astype(np.float32) for key, each in logs.items()},
        {"a": pieces, "b": pieces, "c": pieces[::-1]},
    )
    for (first, second), values in found.items():
        for row, value in enumerate(values):
            p, q = np.exp(logs[first][row]), np.exp(logs[second][row])
            assert value == pytest.approx(js(p, q[::-1] if second == "c" else q), abs=1e-6)
    assert found["a", "b"][0] == pytest.approx(0, abs=1e-6)
