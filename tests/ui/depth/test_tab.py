"""The depth tab on random models: what it reads, what that costs, and what it refuses."""

import json

import pytest

from explorer.library.deeper import LENS_MASKS
from explorer.links.page_state import PageState
from explorer.refusal import Refusal
from explorer.ui.depth import tab
from explorer.ui.shell.tabs import values_of
from tests.endpoints import depth, predict

STATE = PageState(text="the [MASK] sat on the [MASK].")


@pytest.fixture
def passes(tiny_family):
    """Which encoders ran, in order, since the text was compared."""
    tiny_family.runs(STATE.text)
    ran, handles = [], []
    for key in tiny_family.specs:
        encoder = tiny_family.loaded(key).network.base_model
        note = lambda *_, key=key: ran.append(key)  # noqa: E731
        handles.append(encoder.register_forward_hook(note))
    yield ran
    for handle in handles:
        handle.remove()


def test_the_lens_of_a_compared_text_runs_no_encoder_and_the_dial_one_pass(passes):
    data = json.loads(values_of(tab, STATE)[1])
    assert passes == []
    assert [m["key"] for m in data["models"]] == ["bert", "distilbert", "albert"]
    assert [bool(m["flops"]) for m in data["models"]] == [False, False, True]
    asked = {"params": data["run"], "want": "dial", "model": "albert", "mask": 1}
    dial = json.loads(tab.read_deeper(asked))
    assert passes == ["albert"]
    albert = data["models"][2]["masks"][1]
    assert len(dial["kl"]) == len(data["models"][2]["flops"]) == 12
    assert dial["top"][5] == albert["top"][6], "after the usual depth it is the answer"
    for times in range(6):
        shares = [p for _, p in dial["top"][times]]
        assert shares == pytest.approx([p for _, p in albert["top"][times + 1]], abs=1e-5)


def test_without_a_mask_there_is_a_button_and_the_words_are_read_when_asked_for(tiny_family):
    data = json.loads(values_of(tab, PageState(text="the cat sat."))[1])
    assert data["masks"] == []
    found = json.loads(tab.read_deeper({"params": data["run"], "want": "words"}))
    assert found["words"] == ["the", "cat", "sat", "."]
    assert [len(m["rank"]) for m in found["models"]] == [7, 4, 7]


def test_of_very_many_masks_the_first_ones_are_read(tiny_family):
    data = json.loads(values_of(tab, PageState(text="[MASK] " * 30))[1])
    assert (len(data["masks"]), data["n_masks"]) == (LENS_MASKS, 30)
    assert {len(m["masks"]) for m in data["models"]} == {LENS_MASKS}


def test_a_family_without_its_files_gives_cards(no_files):
    cards, picture = values_of(tab, STATE)
    assert cards.count("its bundled files are missing") == 3
    assert picture == ""


@pytest.mark.parametrize("key", ["bert", "distilbert", "albert"])
def test_the_endpoints_last_layer_is_what_predict_says(tiny_family, key):
    found = depth(STATE.text, "mini", key)
    answers = {m["model"]: m for m in predict(STATE.text, "mini", 5)["models"]}[key]
    assert found["tokens"] == answers["tokens"]
    for mask, answer in zip(found["masks"], answers["masks"], strict=True):
        assert mask["position"] == answer["position"]
        last = mask["layers"][-1]
        assert [p["id"] for p in last["predictions"]] == [p["id"] for p in answer["predictions"]]
        assert [p["probability"] for p in last["predictions"]] == pytest.approx(
            [p["probability"] for p in answer["predictions"]], abs=1e-5
        )
        assert (last["rank_of_final"], last["kl_to_final"]) == (1, 0)
        ranks = [layer["rank_of_final"] for layer in mask["layers"]]
        assert set(ranks[mask["decided_at"] :]) == {1}
        assert mask["decided_at"] == 0 or ranks[mask["decided_at"] - 1] > 1


@pytest.mark.parametrize(
    ("asked", "refusal"),
    [
        (("the cat",), "no .MASK."),
        (("the [MASK]", "huge"), "no such family"),
        (("the [MASK]", "mini", "roberta"), "bert, distilbert and albert"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(tiny_family, asked, refusal):
    with pytest.raises(Refusal, match=refusal):
        depth(*asked)


def test_the_endpoint_refuses_more_masks_than_it_reads_before_the_head_runs(
    tiny_family, monkeypatch
):
    from explorer.library import depth as library

    monkeypatch.setattr(library, "lens_of", lambda *_: pytest.fail("the head ran"))
    with pytest.raises(Refusal, match="The text has 21 masks; at most 20 can be read"):
        depth("[MASK] " * 21, "mini", "bert")
