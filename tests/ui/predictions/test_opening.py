"""The opening example is what the bundled models say, and is shown for nothing else."""

import json
import math
from dataclasses import replace
from types import SimpleNamespace

import gradio as gr
import pytest

from explorer.page_state import PageState
from explorer.ui.predictions.opening import OPENING, compute_opening
from explorer.ui.shell import view as compare
from explorer.ui.shell.page import build_page


def assert_alike(recorded, computed):
    if isinstance(recorded, dict):
        assert recorded.keys() == computed.keys()
        for key in recorded:
            assert_alike(recorded[key], computed[key])
    elif isinstance(recorded, list):
        assert len(recorded) == len(computed)
        for one, other in zip(recorded, computed, strict=True):
            assert_alike(one, other)
    elif isinstance(recorded, float):
        assert math.isclose(recorded, computed, rel_tol=1e-3, abs_tol=1e-6)
    else:
        assert recorded == computed


def test_the_recorded_example_is_what_the_bundled_models_say():
    finding, picture = json.loads(OPENING.read_text("utf-8"))
    now_finding, now_picture = compute_opening()
    again = "run: python -m explorer.ui.predictions.opening"
    assert finding == now_finding, again
    assert_alike(json.loads(picture), json.loads(now_picture))


def shows_the_example(start):
    finding = json.loads(OPENING.read_text("utf-8"))[0]
    components = build_page(start).get_config_file()["components"]
    return any(c["props"].get("value") == finding for c in components)


def test_the_default_page_is_served_with_the_example_in_it():
    assert shows_the_example(PageState())


@pytest.mark.parametrize(
    "change", [{"family": "base"}, {"text": "a [MASK]"}, {"dtype": "bfloat16"}]
)
def test_any_other_start_is_not(change):
    assert not shows_the_example(replace(PageState(), **change))


def headline(page):
    recorded = json.loads(OPENING.read_text("utf-8"))
    return [next(b for b in page.blocks.values() if getattr(b, "value", "") == v) for v in recorded]


def handlers_of(page):
    return {getattr(f.fn, "__name__", ""): f.fn for f in page.fns.values()}


def asked(handlers, text, visitor):
    """A Compare in a browser tab whose opening view is not there yet."""
    return handlers["on_compare"](
        text, "mini", "cpu", "float32", None, "predictions", visitor, _quiet
    )


def _quiet(*_, **__):
    """A progress bar that nobody sees."""


@pytest.mark.parametrize(("text", "is_overtaken"), [("a [MASK]", True), ("", False)])
def test_an_opening_gives_way_to_a_compare_that_found_something(monkeypatch, text, is_overtaken):
    page = build_page(PageState())
    handlers, opened = handlers_of(page), compare.opened
    visitor = SimpleNamespace(query_params={"tab": "parameters"}, session_hash="tab")

    def slow_opening(wiring, state, progress):
        outputs = opened(wiring, state, progress)
        found = asked(handlers, text, visitor)
        assert (wiring.state in found) == is_overtaken
        if is_overtaken:
            assert found[wiring.state].tab == "parameters"
        return outputs

    monkeypatch.setattr(compare, "opened", slow_opening)
    written = handlers["on_open"](visitor, _quiet)
    assert any(isinstance(value, PageState) for value in written.values()) != is_overtaken


def test_an_opening_gives_way_to_a_compare_that_is_still_computing(monkeypatch):
    handlers, compared = handlers_of(build_page(PageState())), compare.compare
    visitor = SimpleNamespace(query_params={}, session_hash="tab")
    written = []

    def slow_compare(*args):
        monkeypatch.setattr(compare, "compare", compared)
        written.extend(handlers["on_open"](visitor, _quiet).values())
        return compared(*args)

    monkeypatch.setattr(compare, "compare", slow_compare)
    asked(handlers, "a [MASK]", visitor)
    assert written
    assert not any(isinstance(value, PageState) for value in written)


def test_a_refusal_after_an_answer_does_not_let_the_opening_in():
    handlers = handlers_of(build_page(PageState()))
    visitor = SimpleNamespace(query_params={}, session_hash="tab")
    asked(handlers, "a [MASK]", visitor)
    asked(handlers, "", visitor)
    written = handlers["on_open"](visitor, _quiet).values()
    assert not any(isinstance(value, PageState) for value in written)


def test_an_opening_leaves_the_message_to_whoever_asked_meanwhile(monkeypatch):
    page = build_page(PageState())
    on_open = handlers_of(page)["on_open"]
    message = next(b for b in page.blocks.values() if getattr(b, "elem_id", "") == "message")
    visitor = SimpleNamespace(query_params={}, session_hash="tab")
    assert message not in on_open(visitor, None)
    visitor.query_params["text"] = "漢" * 600
    refused = on_open(visitor, None)
    assert "tokens" in refused[message]
    finding, picture = headline(page)
    assert refused[finding] == refused[picture] == "", "another text's answer"


def test_a_tab_that_does_not_exist_is_never_drawn():
    on_behind = handlers_of(build_page(PageState()))["on_behind"]
    assert on_behind(PageState(), {}, SimpleNamespace(_data={"tab": "nowhere"})) == gr.skip()
