"""Windows of a passage: together they hold all of it, whatever the version of tokenizers."""

import pytest
from transformers import AutoTokenizer

from explorer.models.task_heads.windows import window_of, windows
from explorer.models.tokens import BadText, trim_span
from tests.tiny_roberta import save_roberta

PASSAGE = " ".join(f"the cat {n} was good, not bad." for n in range(60))


@pytest.mark.parametrize("name", ["mini-bert", "mini-distilbert", "mini-albert"])
@pytest.mark.parametrize(("size", "stride"), [(40, 8), (64, 16), (64, 0), (512, 128), (4096, 32)])
def test_every_token_of_a_passage_is_read(tiny_family, name, size, stride):
    tokenizer = AutoTokenizer.from_pretrained(tiny_family.path / name)
    whole = tokenizer("who was good?", PASSAGE, return_offsets_mapping=True)
    sides = whole.sequence_ids(0)
    wanted = [
        (token, trim_span(PASSAGE, *span))
        for token, span, side in zip(
            whole["input_ids"], whole["offset_mapping"], sides, strict=True
        )
        if side == 1
    ]
    parts, read = windows(tokenizer, "who was good?", PASSAGE, size, stride), []
    for number, part in enumerate(parts):
        inside = [(token, span) for token, span in zip(part.ids, part.spans, strict=True) if span]
        assert part.first == max(0, len(read) - (stride if number else 0))
        assert inside[: len(read) - part.first] == read[part.first :]
        read += inside[len(read) - part.first :]
        assert len(part.ids) == size or part is parts[-1]
        assert len(part.ids) <= size
        around = [token for token, side in zip(whole["input_ids"], sides, strict=True) if side != 1]
        assert [t for t, span in zip(part.ids, part.spans, strict=True) if not span] == around
        question = tokenizer("who was good?")["input_ids"]
        assert part.segments == tuple(int(i >= len(question)) for i in range(len(part.ids)))
    assert read == wanted


def test_a_passage_without_a_token_is_one_window_without_a_place(tiny_family):
    tokenizer = AutoTokenizer.from_pretrained(tiny_family.path / "mini-bert")
    (part,) = windows(tokenizer, "who?", "\u200b", 40, 8)
    assert not any(part.spans)


def test_a_window_is_no_longer_than_the_positions():
    assert window_of({"window": 384, "stride": 128}, 512) == (384, 128)
    assert window_of({"window": 384, "stride": 128}, 256) == (256, 85)


def test_the_longest_question_leaves_room_whatever_stands_between_it_and_the_passage(tmp_path):
    """RoBERTa writes two separators between question and passage, BERT one."""
    save_roberta(tmp_path / "roberta")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "roberta")
    question = "the" + " cat" * 19
    taken = len(tokenizer(question)["input_ids"])
    for size in (taken + 13, taken + 12, taken + 11):
        around = tokenizer(question, PASSAGE).sequence_ids().count(1)
        room = size - (len(tokenizer(question, PASSAGE)["input_ids"]) - around)
        if room > 10:
            parts = windows(tokenizer, question, PASSAGE, size, 10)
            assert all(len(part.ids) <= size for part in parts)
        else:
            with pytest.raises(BadText, match=f"has {taken} tokens; {taken - 11 + room} fit"):
                windows(tokenizer, question, PASSAGE, size, 10)
