import json
import unicodedata
from collections import Counter

import numpy as np
import pytest
import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from transformers import AutoTokenizer

from explorer.assets import ASSETS
from explorer.refusal import Refusal
from training.text.vocabulary import (
    ALBERT_SPECIALS,
    albert_tokenizer,
    bert_tokenizer,
    cut_wordpieces,
    kept_unigrams,
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


def test_letters_digits_and_signs_never_share_a_piece():
    text = ["Don't (1990s) say 1990s, 50% of (cafés) or x2 \u201cnow\u201d; e.g. (1990)."] * 40
    for piece, _ in train_unigrams(text, 90)[5:]:
        kinds = {unicodedata.category(character)[0] for character in piece.removeprefix("▁")}
        assert len(kinds - {"M"}) <= 1, piece


def test_words_that_begin_no_longer_word_are_pieces():
    """The fault of the trainer that was used before: *they* was *the* and *y*."""
    sentences = ["They then saw the river, the town and the sea.", "They, then, came to the town."]
    sentences += ["The sea, the town. The river then, they said; so said they.", "Then they came."]
    pieces = {piece for piece, _ in train_unigrams([" ".join(sentences)] * 50, 60)}
    assert {"▁they", "▁then", "▁the"} <= pieces


def test_mixed_pieces_go_and_single_characters_stay():
    pieces = [(special, 0.0) for special in ALBERT_SPECIALS]
    pieces += [("▁the", -1.0), ("x", -9.0), ("▁(19", -2.0), ("n't", -2.5), ("▁town", -3.0)]
    pieces += [("é", -9.5), (").", -4.0), ("ing", -5.0), ("▁", -1.5)]
    kept = kept_unigrams(pieces, len(ALBERT_SPECIALS) + 6)
    assert kept[: len(ALBERT_SPECIALS)] == pieces[: len(ALBERT_SPECIALS)]
    rest = [piece for piece, _ in kept[len(ALBERT_SPECIALS) :]]
    assert rest == ["▁the", "▁", "▁town", ").", "x", "é"]


def reference(pieces):
    """SentencePiece's own model over the same pieces."""
    proto = sentencepiece_model_pb2.ModelProto()
    kinds = {"<unk>": 2} | dict.fromkeys(set(ALBERT_SPECIALS) - {"<unk>"}, 3)
    for piece, score in pieces:
        proto.pieces.add(piece=piece, score=score, type=kinds.get(piece, 1))
    proto.trainer_spec.unk_id = 1
    proto.normalizer_spec.name = "identity"
    proto.normalizer_spec.escape_whitespaces = True
    return sentencepiece.SentencePieceProcessor(model_proto=proto.SerializeToString())


def test_texts_are_parted_as_sentencepiece_parts_them():
    """The shipped pieces, on sentences of our own."""
    model = json.loads((ASSETS / "models/mini-albert/tokenizer.json").read_text())["model"]
    pieces = [(piece, score) for piece, score in model["vocab"]]
    tokenizer, own = albert_tokenizer(pieces), reference(pieces)
    probe = json.loads((ASSETS / "data/probe.json").read_text())["sentences"]
    texts = (ASSETS / "data/plain_sentences.txt").read_text().splitlines()
    texts += [one["text"].replace("[MASK]", one["accepted"][0]) for one in probe]
    normalise = tokenizer.backend_tokenizer.normalizer.normalize_str
    for text in texts:
        assert tokenizer(text)["input_ids"][1:-1] == own.encode(normalise(text)), text


def test_the_shipped_pieces_keep_frequent_words_whole():
    """Words that our own sentences use more than twice."""
    tokenizer = AutoTokenizer.from_pretrained(ASSETS / "models/mini-albert", local_files_only=True)
    text = (ASSETS / "data/plain_sentences.txt").read_text().lower()
    words = Counter("".join(c if c.isalpha() else " " for c in text).split())
    frequent = [word for word, times in words.items() if times > 2]
    whole = [word for word in frequent if len(tokenizer.tokenize(word)) == 1]
    assert len(frequent) > 60
    assert len(whole) >= 0.95 * len(frequent), set(frequent) - set(whole)


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
    with pytest.raises(Refusal, match=r"400 different characters: too many for .* 300 pieces"):
        train_unigrams(many, 300)
