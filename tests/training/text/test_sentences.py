"""Batches of single sentences: whole, one text each, one or two whole words hidden."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from explorer.refusal import Refusal
from training.recipe import TINY
from training.text.batch import CLS, MASK, PAD, SEP
from training.text.batches import Sampler
from training.text.corpus import Shard
from training.text.pieces import Pieces
from training.text.sentences import Sentences

NAMES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", ","]
NAMES += [f"w{i}" for i in range(40)] + [f"##p{i}" for i in range(20)]
STOP, COMMA, FIRST, GOES_ON = 5, 6, 7, 47
RECIPE = replace(TINY, vocabulary=len(NAMES), sentence_lengths=((6, 9), (10, 20)))


@pytest.fixture(scope="module")
def shard():
    """Sentences of 4 to 25 pieces; every seventh lacks its stop."""
    rng = np.random.default_rng(0)
    texts = []
    for number in range(1500):
        text = [FIRST]
        while len(text) < rng.integers(4, 25) - 1:
            text.append(int(rng.integers(COMMA, len(NAMES))))
        texts.append([*text, FIRST if number % 7 == 0 else STOP])
    lengths = [len(text) for text in texts]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    ids = np.concatenate(texts).astype(np.uint16)
    return Shard(ids, offsets, np.arange(0, 1501, 5), np.ones(1500, dtype=np.uint16))


@pytest.fixture(scope="module")
def sentences(shard):
    return Sentences.of(shard, Pieces.of(NAMES, np.full(len(NAMES), 1e-3)), RECIPE)


def rows_of(batch):
    """Every text as it was, and the places of it that are hidden."""
    ids = batch.ids.clone().reshape(-1)
    assert (ids[batch.masked_positions] == MASK).all()
    ids[batch.masked_positions] = batch.labels
    hidden = torch.zeros_like(ids, dtype=torch.bool)
    hidden[batch.masked_positions] = True
    shape = batch.ids.shape
    return list(zip(ids.reshape(shape).tolist(), hidden.reshape(shape).tolist(), strict=True))


def words_of(text):
    """Groups of places, by the rule of this toy vocabulary."""
    groups = []
    for place, piece in enumerate(text):
        after_sign = place > 0 and text[place - 1] in (STOP, COMMA)
        if groups and piece >= GOES_ON and not after_sign:
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups


def test_every_row_is_a_whole_sentence_of_the_corpus_that_ends_with_a_stop(shard, sentences):
    bounds = zip(shard.sentences, shard.sentences[1:], strict=False)
    known = {tuple(shard.ids[a:b].tolist()) for a, b in bounds}
    rng = np.random.default_rng(1)
    for _ in range(6):
        batch = sentences.batch(rng)
        assert (batch.pairs == -100).all()
        assert not batch.types.any()
        lengths = set()
        for row, _ in rows_of(batch):
            text = row[1 : row.index(SEP)]
            lengths.add(len(text))
            assert row[0] == CLS
            assert tuple(text) in known
            assert text[-1] == STOP
            assert set(row[row.index(SEP) + 1 :]) <= {PAD}
        assert lengths <= set(range(6, 10)) or lengths <= set(range(10, 21))


def test_one_or_two_words_are_hidden_and_always_whole(sentences):
    rng = np.random.default_rng(2)
    hidden_words = []
    for _ in range(12):
        for row, hidden in rows_of(sentences.batch(rng)):
            text, flags = row[1 : row.index(SEP)], hidden[1 : row.index(SEP)]
            groups = [{flags[place] for place in group} for group in words_of(text)]
            assert all(len(group) == 1 for group in groups)
            hidden_words.append(sum(True in group for group in groups))
            signs = [flags[place] for place, piece in enumerate(text) if piece in (STOP, COMMA)]
            assert not any(signs)
    assert set(hidden_words) == {1, 2}
    assert np.mean(np.array(hidden_words) == 2) == pytest.approx(RECIPE.second_share, abs=0.08)


def test_common_words_and_long_words_are_hidden_less_often(shard):
    shares = np.full(len(NAMES), 1e-4)
    shares[FIRST] = 0.2  # ten times less
    sentences = Sentences.of(shard, Pieces.of(NAMES, shares), replace(RECIPE, second_share=0.0))
    text = np.array([FIRST, FIRST + 1, FIRST + 2, GOES_ON, STOP])
    rng = np.random.default_rng(3)
    picked = [tuple(sentences.choose(rng, text)) for _ in range(4000)]
    found = [picked.count(places) / len(picked) for places in ((0,), (1,), (2, 3))]
    weights = np.array([0.1, 1.0, 0.25])
    np.testing.assert_allclose(found, weights / weights.sum(), atol=0.03)


def test_the_share_of_such_batches_rises_late_in_a_run(shard, sentences):
    recipe = replace(RECIPE, sentence_share=0.3, late_sentence_share=0.9)
    sampler = Sampler(shard, recipe, "nsp", 1, sentences=sentences)

    def share(late):
        drawn = [sampler.batch(step, late=late) for step in range(150)]
        flat = [batch.ids.reshape(-1)[batch.masked_positions] for batch in drawn]
        return np.mean([(seen == MASK).all().item() for seen in flat])

    early, last = share(late=False), share(late=True)
    assert early == pytest.approx(0.3, abs=0.12)
    assert last == pytest.approx(0.9, abs=0.08)


def test_a_batch_of_a_given_length_is_never_one_of_single_sentences(shard, sentences):
    plain = Sampler(shard, RECIPE, "nsp", 1)
    recipe = replace(RECIPE, sentence_share=1.0)
    both = [s.batch(3, 32) for s in (plain, Sampler(shard, recipe, "nsp", 1, sentences=sentences))]
    assert torch.equal(both[0].ids, both[1].ids)


def test_a_corpus_without_such_sentences_is_refused_in_one_sentence(shard):
    pieces = Pieces.of(NAMES, np.full(len(NAMES), 1e-3))
    with pytest.raises(Refusal, match="no sentence of the lengths"):
        Sentences.of(shard, pieces, replace(RECIPE, sentence_lengths=((90, 99),)))
