"""Windows of a passage: together they hold all of it, whatever the version of tokenizers."""

import pytest
from transformers import AutoTokenizer

from explorer.models.task_heads.windows import windows
from explorer.models.tokens import trim_span

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
