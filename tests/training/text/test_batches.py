from dataclasses import replace

import numpy as np
import pytest
import torch

from explorer.refusal import Refusal
from training.recipe import TINY
from training.text.batch import CLS, MASK, PAD, SEP
from training.text.batches import Sampler
from training.text.corpus import Shard

RECIPE = replace(TINY, vocabulary=50_000, tokens_per_step=4096, lengths=((32, 0.5), (64, 0.5)))


@pytest.fixture(scope="module")
def shard():
    """Every piece has its own id, so that a batch can be traced back to where it came from."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(4, 14, size=2000)
    documents = np.arange(0, 2001, 8)
    ids = np.arange(5, 5 + lengths.sum()).astype(np.uint16)
    sentences = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Shard(ids, sentences, documents, np.ones(2000, dtype=np.uint16))


def original(batch):
    ids = batch.ids.clone().reshape(-1)
    ids[batch.masked_positions] = batch.labels
    return ids.reshape(batch.ids.shape)


def rows_of(batch):
    return zip(original(batch).tolist(), batch.types.tolist(), batch.pairs.tolist(), strict=True)


def segments(row, types):
    inner = [(i, t) for i, t in zip(row, types, strict=True) if i not in (CLS, SEP, PAD)]
    return [i for i, t in inner if t == 0], [i for i, t in inner if t == 1]


def document_of(shard, piece):
    sentence = np.searchsorted(shard.sentences, piece - 5, "right") - 1
    return int(np.searchsorted(shard.documents, sentence, "right"))


def test_a_batch_depends_on_seed_rank_and_step_alone(shard):
    same = Sampler(shard, RECIPE, "nsp", 1).batch(7), Sampler(shard, RECIPE, "nsp", 1).batch(7)
    for name in ("ids", "types", "mask", "masked_positions", "labels", "pairs"):
        torch.testing.assert_close(getattr(same[0], name), getattr(same[1], name))
    for other in (
        Sampler(shard, RECIPE, "nsp", 2).batch(7, 64),
        Sampler(shard, RECIPE, "nsp", 1, rank=1).batch(7, 64),
        Sampler(shard, RECIPE, "nsp", 1).batch(8, 64),
    ):
        assert not torch.equal(other.ids, Sampler(shard, RECIPE, "nsp", 1).batch(7, 64).ids)


def test_a_repeated_text_begins_twice_at_no_fixed_distance(shard):
    recipe = replace(RECIPE, single_share=1.0, repeated_share=1.0)
    parts = []
    for row, types, pair in rows_of(Sampler(shard, recipe, "sop", 3).batch(0, 64)):
        text, nothing = segments(row, types)
        again = text.index(text[0], 1)
        assert pair == -100
        assert not nothing
        assert text[:again] == text[again : 2 * again]
        assert len(text) // 4 <= again <= len(text) // 2
        whole = text[again:]
        assert whole == list(range(whole[0], whole[0] + len(whole)))
        parts.append(again / len(text))
    assert min(parts) < 0.35 < 0.4 < max(parts)


def test_fifteen_percent_are_hidden_eighty_ten_ten(shard):
    sampler = Sampler(shard, RECIPE, "nsp", 1)
    hidden = positions = masked = kept = 0
    for step in range(30):
        batch = sampler.batch(step)
        assert len(batch.masked_positions) % 16 == 0
        assert batch.masked_positions.unique().numel() == batch.masked_positions.numel()
        assert (batch.labels >= 5).all()
        positions += batch.tokens
        hidden += len(batch.masked_positions)
        seen = batch.ids.reshape(-1)[batch.masked_positions]
        masked += int((seen == MASK).sum())
        kept += int((seen == batch.labels).sum())
    assert hidden / positions == pytest.approx(0.15, abs=0.004)
    assert masked / hidden == pytest.approx(0.8, abs=0.015)
    assert kept / hidden == pytest.approx(0.1, abs=0.012)


def test_next_sentence_labels_tell_the_truth(shard):
    seen = {0: 0, 1: 0, -100: 0}
    batch = Sampler(shard, RECIPE, "nsp", 3).batch(0, 64)
    for row, types, label in rows_of(batch):
        first, second = segments(row, types)
        seen[label] += 1
        if label == 0:
            assert second[0] == first[-1] + 1
        elif label == 1:
            assert document_of(shard, first[0]) != document_of(shard, second[0])
        else:
            assert not second
        for segment in filter(None, (first, second)):
            assert segment == list(range(segment[0], segment[0] + len(segment)))
    assert min(seen.values()) > 5


def test_sentence_order_pairs_are_whole_sentences_of_one_document(shard):
    starts, seen = set((shard.sentences + 5).tolist()), {0: 0, 1: 0}
    batch = Sampler(shard, RECIPE, "sop", 3).batch(0, 64)
    for row, types, label in rows_of(batch):
        if label == -100:
            continue
        first, second = segments(row, types)
        seen[label] += 1
        early, late = (first, second) if label == 0 else (second, first)
        assert late[0] == early[-1] + 1
        assert {early[0], late[0], late[-1] + 1} <= starts
        assert document_of(shard, early[0]) == document_of(shard, late[-1])
    assert min(seen.values()) > 5


@pytest.mark.parametrize(("opening_share", "low", "high"), [(0.0, 0.0, 0.4), (1.0, 1.0, 1.0)])
def test_long_segments_and_beginnings_are_drawn_when_they_are_asked_for(
    shard, opening_share, low, high
):
    changes = {"single_share": 0.0, "shortest_segment": 12, "opening_share": opening_share}
    sampler = Sampler(shard, replace(RECIPE, **changes), "sop", 4)
    starts, opening = shard.sentences[shard.documents[:-1]] + 5, []
    for row, types, label in rows_of(sampler.batch(0, 64)):
        if label == -100:
            continue
        first, second = segments(row, types)
        assert min(len(first), len(second)) >= 12
        opening.append(min(first[0], second[0]) in starts)
    assert len(opening) > 40
    assert low <= np.mean(opening) <= high


@pytest.mark.parametrize(("single_share", "expected"), [(0.0, 1.0), (0.5, 0.5), (1.0, 0.0)])
def test_sentence_order_finds_a_pair_where_few_places_hold_one(shard, single_share, expected):
    recipe = replace(RECIPE, single_share=single_share)
    pairs = Sampler(shard, recipe, "sop", 5).batch(0, 20).pairs
    assert (pairs != -100).double().mean().item() == pytest.approx(expected, abs=0.1)


def test_a_corpus_without_two_whole_sentences_gives_single_texts(shard):
    pairs = Sampler(shard, replace(RECIPE, single_share=0.0), "sop", 5).batch(0, 10).pairs
    assert (pairs == -100).all()


def test_the_mask_covers_exactly_the_text(shard):
    for task in ("nsp", "sop"):
        batch = Sampler(shard, RECIPE, task, 4).batch(1)
        assert torch.equal(batch.mask.bool(), original(batch) != PAD)
        assert (batch.ids[:, 0] == CLS).all()
        lengths = batch.mask.sum(1)
        last = original(batch)[torch.arange(len(lengths)), lengths - 1]
        assert (last == SEP).all()


def test_one_document_makes_no_random_pair(shard):
    alone = Shard(shard.ids[:60], shard.sentences[:5], np.array([0, 4]), shard.words[:4])
    with pytest.raises(Refusal, match="two documents"):
        Sampler(alone, RECIPE, "nsp", 0).batch(0, 64)
