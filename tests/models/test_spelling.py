"""Pieces as readers see them, held against the tokenizers' own decoding."""

import pytest

from explorer.models.tokens import BYTE_LEVEL, SENTENCEPIECE, WORDPIECE, spelling_of


@pytest.mark.parametrize(
    ("spelling", "piece", "text", "word"),
    [
        (WORDPIECE, "##ing", "ing", "…ing"),
        (WORDPIECE, "a", "a", "a"),
        (WORDPIECE, "##", "##", "##"),
        (WORDPIECE, "é", "é", "é"),
        (SENTENCEPIECE, "▁the", "the", "the"),
        (SENTENCEPIECE, "ing", "ing", "…ing"),
        (SENTENCEPIECE, ",", ",", ","),
        (SENTENCEPIECE, "s)", "s)", "…s)"),
        (SENTENCEPIECE, "▁", "▁", "␣"),
        (BYTE_LEVEL, "Ġthe", "the", "the"),
        (BYTE_LEVEL, "ing", "ing", "…ing"),
        (BYTE_LEVEL, "ĠcafÃ©", "café", "café"),
        (BYTE_LEVEL, "<mask>", "<mask>", "<mask>"),
    ],
)
def test_a_piece_is_written_as_a_reader_would(spelling, piece, text, word):
    assert spelling.text(piece) == text
    assert spelling.word(piece) == word


@pytest.mark.parametrize("text", ["naïve café", "日本語 text", "a – b", "tab\tand\nline", "🙂"])
def test_bytes_are_read_as_the_tokenizer_reads_them(text):
    from tokenizers import decoders, pre_tokenizers

    pieces = [p for p, _ in pre_tokenizers.ByteLevel(add_prefix_space=True).pre_tokenize_str(text)]
    decoder = decoders.ByteLevel()
    for piece in pieces:
        assert BYTE_LEVEL.text(piece) == (decoder.decode([piece]).strip() or piece)


def test_a_vocabulary_is_known_by_its_marks():
    assert spelling_of(("[CLS]", "a", "##b")) is WORDPIECE
    assert spelling_of(("[CLS]", "a", "▁b")) is SENTENCEPIECE
    assert spelling_of(("<s>", "a", "Ġb")) is BYTE_LEVEL
