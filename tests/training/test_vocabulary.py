import numpy as np
import pytest
from tokenizers import pre_tokenizers

from explorer.training.vocabulary import (
    ONE_SCRIPT,
    albert_tokenizer,
    bert_tokenizer,
    cut_wordpieces,
    load_pieces,
    train_unigrams,
    train_wordpieces,
    unigram_frequencies,
)

TEXTS = ["The cat sat on the mat.", "The cat's mat, 1994!", "A dog sat."] * 30
FULL = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "!", ",", ".", "'", "a", "b"]
FULL += ["##a", "##b", "北", "##北", "zebra", "the", "cat", "sat", "dog", "mat", "quagga"]


def test_the_cut_keeps_specials_single_characters_and_what_is_used_most():
    kept = cut_wordpieces(TEXTS, FULL, 17)
    assert kept[:5] == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    assert {"!", ",", ".", "'", "a", "b", "##a", "##b", "北"} <= set(kept)
    assert {"the", "cat", "sat"} <= set(kept)
    assert not {"zebra", "quagga", "##北", "[unused0]"} & set(kept)
    assert kept == [piece for piece in FULL if piece in kept]


@pytest.fixture(scope="module")
def unigrams(toy_corpus):
    return train_unigrams(toy_corpus.read_text().splitlines(), 300)


def test_unigrams_are_lower_case_after_the_specials(unigrams):
    assert [piece for piece, _ in unigrams[:5]] == ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]
    assert all(piece == piece.lower() for piece, _ in unigrams[5:])


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("▁world.", ["▁world", "."]),
        ("▁don't", ["▁don", "'", "t"]),
        ("▁1990s", ["▁1990", "s"]),
        ("▁(café)", ["▁(", "café", ")"]),
    ],
)
def test_letters_digits_and_signs_are_parted_before_pieces_are_learned(word, parts):
    found = pre_tokenizers.Split(ONE_SCRIPT, "isolated").pre_tokenize_str(word)
    assert [part for part, _ in found] == parts


def test_a_mask_takes_the_space_before_it_and_none_follows(unigrams):
    tokenizer = albert_tokenizer(unigrams)
    ids = tokenizer("the cat  [MASK].")["input_ids"]
    assert tokenizer.convert_ids_to_tokens(ids)[-3:] == ["[MASK]", ".", "[SEP]"]
    plain = tokenizer.convert_ids_to_tokens(tokenizer("the cat sat.")["input_ids"])
    assert plain[-2:] == [".", "[SEP]"]


def test_pieces_come_back_from_disk_in_order(tmp_path):
    bert_tokenizer(FULL).backend_tokenizer.save(str(tmp_path / "t.json"))
    assert load_pieces(tmp_path / "t.json") == FULL


def test_frequencies_are_a_distribution_with_every_piece_in_it():
    found = unigram_frequencies(np.array([1, 1, 1, 2], dtype=np.uint16), 4)
    np.testing.assert_allclose(np.exp(found), np.array([1, 4, 2, 1]) / 8)


def test_a_corpus_with_more_characters_than_pieces_is_refused_in_one_sentence():
    many = ["".join(map(chr, range(0x4E00, 0x4E00 + 400)))]
    assert len(train_wordpieces(many, 300)) <= 300
    with pytest.raises(ValueError, match=r"400 different characters: too many for .* 300 pieces"):
        train_unigrams(many, 300)
