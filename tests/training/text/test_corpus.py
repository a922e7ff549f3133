import lzma

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from explorer.refusal import Refusal
from training.text.corpus import Shard, held_out, read_documents, split_sentences, tokenise


def test_documents_are_divided_by_blank_lines_plain_or_packed(tmp_path):
    text = "One line.\nAnother line.\n\n\nSecond document.\n"
    (tmp_path / "c.txt").write_text(text)
    with lzma.open(tmp_path / "c.txt.xz", "wt") as file:
        file.write(text)
    expected = ["One line.\nAnother line.", "Second document."]
    assert list(read_documents(str(tmp_path / "c.txt"))) == expected
    assert list(read_documents(str(tmp_path / "c.txt.xz"))) == expected


def test_a_missing_corpus_is_named(tmp_path):
    with pytest.raises(Refusal, match=r"no corpus at .*nowhere\.txt"):
        list(read_documents(str(tmp_path / "nowhere.txt")))


def test_sentences_end_at_a_full_stop_before_a_capital():
    document = (
        'He met Mr. Smith in St. Ives. It rained! "Why?" she asked. J. R. Long wrote 3.5 pages.\n'
        "New line"
    )
    assert split_sentences(document) == [
        "He met Mr. Smith in St. Ives.",
        "It rained!",
        '"Why?" she asked.',
        "J. R. Long wrote 3.5 pages.",
        "New line",
    ]


def test_about_one_document_in_a_hundred_is_held_out():
    share = sum(held_out(f"document number {i}") for i in range(20_000)) / 20_000
    assert 0.008 < share < 0.012


def test_the_same_documents_are_held_out_everywhere():
    chosen = [i for i in range(1000) if held_out(f"document number {i}")]
    assert chosen == [93, 145, 257, 267, 321, 365, 439, 629, 757, 817, 880]


@pytest.fixture
def words():
    vocabulary = {"[UNK]": 0, "a": 1, "b": 2, "c": 3, ".": 4}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer


def test_a_shard_that_was_cut_off_is_not_there(words, tmp_path, monkeypatch):
    def killed(file, **_):
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez", killed)
    with pytest.raises(KeyboardInterrupt):
        tokenise(["a b."], words).save(tmp_path / "s.npz")
    assert not (tmp_path / "s.npz").exists()


def test_a_shard_knows_where_sentences_and_documents_start(words, tmp_path):
    shard = tokenise(["a b. A c", "c"], words)
    shard.save(tmp_path / "s.npz")
    again = Shard.load(tmp_path / "s.npz")
    for one in (shard, again):
        np.testing.assert_array_equal(one.ids, [1, 2, 4, 0, 3, 3])
        np.testing.assert_array_equal(one.sentences, [0, 3, 5, 6])
        np.testing.assert_array_equal(one.documents, [0, 2, 3])
        np.testing.assert_array_equal(one.words, [2, 2, 1])
