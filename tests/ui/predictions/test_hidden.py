"""Did it find my word? Held against the network's own softmax and the tokenizer's own pieces."""

import json

import pytest
import torch

from explorer.library.spans import words_found
from explorer.links.codec import from_params, to_params
from explorer.links.page_state import PageState, hidden_words
from explorer.ui.predictions import strings
from explorer.ui.predictions import tab as predictions
from explorer.ui.shell.tabs import values_of

BEFORE, AFTER = "the cat sat on the ", "."
TEXT = f"{BEFORE}[MASK]{AFTER}"


def softmax_at_the_gap(loaded):
    """Plain torch: the whole distribution at the only mask."""
    tokenizer, network = loaded.tokenizer, loaded.network
    inputs = tokenizer(TEXT.replace("[MASK]", tokenizer.mask_token), return_tensors="pt")
    inputs.pop("token_type_ids", None)
    with torch.no_grad():
        out = network(**inputs)
    scores = out.logits if hasattr(out, "logits") else out.prediction_logits
    at = int((inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[0, 0])
    return scores[0, at].double().softmax(-1)


def pieces_of(loaded, word):
    """The pieces that the tokenizer makes of the word where it stood."""
    with_it = loaded.tokenizer(BEFORE + word + AFTER)["input_ids"]
    without = loaded.tokenizer(BEFORE.strip())["input_ids"]
    return with_it[len(without) - 1 : -2]


@pytest.mark.parametrize("word", ["mat", "Dog", "THE", "photosynthesis", "Café"])
def test_a_hidden_word_has_its_probability_and_rank_where_it_is_one_piece(tiny_family, word):
    state = PageState(text=TEXT, hidden=word)
    found = words_found(tiny_family.runs(TEXT), state.ask, hidden_words(state))
    for key in tiny_family.specs:
        loaded, mine = tiny_family.loaded(key), found[key][0]
        ids = pieces_of(loaded, word)
        unknown = loaded.tokenizer.unk_token_id in ids
        assert mine.is_unknown == unknown
        if unknown or len(ids) > 1:
            assert mine.rank == 0
            assert unknown or mine.n_pieces == len(ids)
            continue
        p = softmax_at_the_gap(loaded)
        assert mine.probability == pytest.approx(float(p[ids[0]]), rel=1e-4)
        likelier = int((p > p[ids[0]] * (1 + 1e-5)).sum())
        assert likelier < mine.rank <= 1 + int((p > p[ids[0]] * (1 - 1e-5)).sum())


def test_the_picture_marks_the_row_of_the_word(tiny_family):
    first = tiny_family.run("bert", TEXT)
    answer = predictions._predictions_of(first).words[0][0]
    _, picture = values_of(predictions, PageState(text=TEXT, hidden=answer))
    data = json.loads(picture)
    assert data["masks"][0]["hidden"] == answer
    column = data["models"]["bert"]["masks"][0]
    assert column["yours"]["row"] == 0
    assert column["yours"]["rank"] == 1
    assert column["yours"]["p"] == column["p"][0]
    assert (
        "yours" not in json.loads(values_of(predictions, PageState(text=TEXT))[1])["models"]["bert"]
    )


def test_of_two_gaps_only_the_one_that_was_clicked_has_a_word(tiny_family):
    state = PageState(text="the [MASK] sat on the [MASK].", hidden="|mat")
    data = json.loads(values_of(predictions, state)[1])
    for model in data["models"].values():
        assert "yours" not in model["masks"][0]
        assert "yours" in model["masks"][1]


@pytest.mark.parametrize("hidden", ["a|b|c", "[MASK]", "x\ny", "x" * 20_001])
def test_words_that_fit_no_mask_are_left_out(hidden):
    state, repaired = from_params({"text": TEXT, "hidden": hidden})
    assert state.hidden == ""
    assert repaired == ("hidden",)


def test_a_link_carries_the_hidden_words():
    state = PageState(text=TEXT, hidden="mat")
    assert from_params(to_params(state)) == (state, ())
    assert from_params({"text": TEXT, "hidden": ""}) == (PageState(text=TEXT), ())


def test_a_word_of_several_pieces_gets_no_number():
    assert "{p}" not in strings.CANVAS["yours_pieces"] + strings.CANVAS["yours_unknown"]
