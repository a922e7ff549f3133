"""The fold on what training changed: its charts, its choices, and why there are none."""

import base64
import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

import explorer
from explorer.links.page_state import PageState
from explorer.serving.start import parse_flags
from explorer.ui.depth import changed
from explorer.ui.kit.jobs import handler
from tests.markup import every, plain

TEXTS = "The cat sat on the mat and it was good.\n\nHe was not here.\nA dog was in the park."
PAIR = "only,before=mini-bert,after=trained"


@pytest.fixture
def state(tiny_family, own_models, tmp_path):
    """The page of the tiny BERT before and after a turn of its matrices."""
    folder = tmp_path / "trained"
    network = AutoModelForMaskedLM.from_pretrained(tiny_family.path / "mini-bert")
    random = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for weight in network.parameters():
            if weight.ndim == 2:
                weight += 0.2 * weight.std() * torch.randn(weight.shape, generator=random)
    network.save_pretrained(folder)
    AutoTokenizer.from_pretrained(tiny_family.path / "mini-bert").save_pretrained(folder)
    given = ("before=mini-bert", f"after={folder}", "small=mini-distilbert")
    parse_flags([part for one in given for part in ("--model", one)])
    return PageState(family=f"{PAIR},small=mini-distilbert", model="before")


def numbers(values):
    """Return a trace's values, which Plotly writes as a list or as packed bytes."""
    if isinstance(values, list):
        return values
    return np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"]).tolist()


def shown(state, texts=TEXTS, *, head=False):
    message, charts, below, _ = list(handler(changed.CHANGED)(state, texts, head))[-1]
    return message, charts and json.loads(charts), below


def test_four_charts_show_what_the_library_finds_each_with_its_control(state):
    message, charts, below = shown(state)
    family = explorer.load(PAIR)
    found = explorer.changed(family, rows=[line for line in TEXTS.splitlines() if line])
    weights, states, heads, masks = (figure["data"] for figure in charts["figures"])
    assert [trace["name"] for trace in weights][-1] == "shuffled"
    query = [change.distance for change in found.weights if change.matrix == "query"]
    assert numbers(weights[0]["y"]) == pytest.approx(query)
    for traces, value, control in (
        (states, found.cka, found.shuffled_cka),
        (heads, found.heads.js.mean(1), found.heads.control.mean(1)),
        (masks, found.masks.kl, found.masks.one_earlier),
    ):
        assert [numbers(trace["y"]) for trace in traces] == [
            pytest.approx(value.tolist()),
            pytest.approx(control.tolist()),
        ]
    first, *others = found.sentences()
    assert plain(message).endswith(first)
    assert all(sentence in plain(below) for sentence in others)
    assert charts["numbers"]["columns"] == list(found.COLUMNS)


@pytest.mark.long
def test_only_columns_of_one_shape_are_a_choice(state):
    message, _, _ = shown(state)
    options = [option.text() for option in every(message, "option")]
    assert options == ["before", "after"] * 2
    other_way = replace(state, teacher="after", student="before")
    assert plain(shown(other_way)[0]).count("From after to before") == 1


@pytest.mark.long
def test_the_head_of_the_model_before_reads_the_states_after(state):
    own_head, read_before = (shown(state, head=head) for head in (False, True))
    said = "The states of after are read with the masked-LM head of before."
    assert said not in plain(own_head[2])
    assert said in plain(read_before[2])
    kl = [one[1]["figures"][3]["data"][0]["y"] for one in (own_head, read_before)]
    assert kl[0] != kl[1]


@pytest.mark.long
def test_what_cannot_be_compared_is_said(state, monkeypatch):
    alone = replace(state, family="only,after=trained,small=mini-distilbert")
    assert "No two of the models shown have one shape" in plain(shown(alone)[0])
    for masked in ("A [MASK] sat.", "A [cat|dog] sat.", "A <mask> sat."):
        assert plain(shown(state, masked)[0]).endswith("words are masked at random.")
    assert plain(shown(state, "A cat.")[0]).endswith(
        "too few tokens to compare states: at least 10."
    )
    monkeypatch.setattr(changed, "MAX_ROWS", 2)
    assert plain(shown(state)[0]).startswith("At most 2 texts")


def test_the_bundled_family_says_how_to_start_the_page():
    assert "--model before=FOLDER" in plain(shown(PageState())[0])
