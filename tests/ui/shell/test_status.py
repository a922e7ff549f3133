"""The status line, and what it says of half precision."""

import re
from dataclasses import replace

from explorer.analysis.precision import PrecisionDifference
from explorer.inference import runs
from explorer.links.page_state import PageState
from explorer.models.hub import ModelUnavailable
from explorer.ui.shell import status

STATE = PageState(text="The capital of [MASK] is [MASK].", dtype="bfloat16")


def said(state):
    return str(status.status_html(state, runs.get_runs(state.ask)[0]))


def test_float32_says_nothing_of_precision():
    html = said(replace(STATE, dtype="float32"))
    assert "against float32" not in html
    assert "cpu, float32" in html


def test_half_precision_says_of_every_model_what_is_printed_otherwise():
    html = said(STATE)
    assert len(re.findall(r"printed probabilities that differ: \d+ of 20,", html)) == 3
    assert (
        html.index("bfloat16 against float32") < html.index("mini-BERT: ") < html.index("cpu, bf")
    )
    unmasked = said(replace(STATE, text="The cat sat."))
    assert unmasked.count("attention weights differ by up to 0.0") == 3
    assert "probabilities" not in unmasked


def test_other_first_words_are_named_three_at_the_most(monkeypatch):
    words = tuple((mask, f"a{mask}", f"b{mask}") for mask in range(1, 6))
    found = PrecisionDifference(50, 9, 0.2, words, 0.1, 7)
    monkeypatch.setattr(status, "precision_difference", lambda *_: found)
    html = said(STATE)
    assert html.count("Top prediction at mask") == 9
    assert (
        "Top prediction at mask 3: “a3” (float32: “b3”). Masks with other top predictions besides: 2."
        in html
    )


def test_what_cannot_be_had_in_float32_is_not_compared(monkeypatch):
    found, _ = runs.get_runs(STATE.ask)
    bert = found["bert"].spec
    monkeypatch.setattr(
        status, "get_runs", lambda _: ({}, {"bert": ModelUnavailable(bert, "1 GB is free")})
    )
    html = str(status.status_html(STATE, found))
    assert (
        "Not compared with float32: mini-BERT (mini-bert) is not available: 1 GB is free." in html
    )

    def full(_):
        raise MemoryError

    monkeypatch.setattr(status, "get_runs", full)
    assert "Not compared with float32: " in str(status.status_html(STATE, found))
