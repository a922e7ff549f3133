"""Sweep of the heads: it ends with the text whose heads it switches off."""

import threading

import pytest

from explorer.links.page_state import PageState
from explorer.models.hub import ModelUnavailable
from explorer.ui.attention import folds, strings
from explorer.ui.kit import jobs
from explorer.ui.kit.jobs import handler


def test_without_a_mask_a_sweep_has_no_heads_to_switch(tiny_family):
    state = PageState(text="the cat sat on the mat.")
    *_, (said, switches, stop) = handler(folds.SWEEP)(state)
    assert (strings.NO_MASK in said, switches, stop.visible) == (True, "", False)
    said, changed = folds.show_changes({"off": {"bert": [[0, 0]]}}, state)
    assert (strings.NO_MASK in said, changed) == (True, "")


def test_without_a_model_neither_is_said_to_lack_a_mask(no_files):
    state = PageState(text="the [MASK] sat.")
    said, _ = folds.show_changes({"off": {}}, state)
    assert (strings.NO_MASK in said, "its bundled files are missing" in said) == (False, True)
    with pytest.raises(ModelUnavailable, match="its bundled files are missing"):
        list(handler(folds.SWEEP)(state))


def test_bertviz_says_why_a_model_is_not_there(no_files):
    said, frame = folds.show_view(PageState(text="the cat."), "bert", "head")
    assert ("mini-BERT" in said, frame) == (True, "")


def test_a_new_text_ends_the_sweep_of_the_one_before(tiny_family, monkeypatch):
    go_on = threading.Event()

    def held(run, state):
        for layer in range(2):
            if layer:
                assert go_on.wait(300)
            yield run.mask_logits[None].repeat(run.spec.architecture.n_heads, 0)

    monkeypatch.setattr(folds, "swept_layers", held)
    monkeypatch.setattr(jobs, "owner_of", lambda _request: "me")
    sweep = handler(folds.SWEEP)(PageState(text="the [MASK] sat."))
    next(sweep)
    *_, stop = folds.show_switches(PageState(text="a dog [MASK]."))
    assert stop.visible is False
    go_on.set()
    assert list(sweep) == [], "nothing of it is drawn over the next text's heads"
