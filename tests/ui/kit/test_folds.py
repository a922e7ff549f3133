"""Folds: what opens them computes for the page's state, and nothing before there is one."""

from types import SimpleNamespace

import gradio as gr
import pytest

from explorer.links.page_state import PageState
from explorer.ui.kit.folds import fold

STATE = PageState(text="a text")


@pytest.fixture
def section():
    """A fold with a state and a control of its own, and its page."""
    with gr.Blocks() as page:
        state = gr.State(None)
        with fold("depth", "moves", "How?") as opened:
            box, said = gr.Textbox(), gr.HTML()
    return SimpleNamespace(page=page, fold=opened, state=state, box=box, said=said)


def handler_of(section, **options):
    def show(state=None, typed=""):
        return f"{state.text if state else 'nothing'} {typed}"

    with section.page:
        inputs = options.pop("inputs", [section.state, section.box])
        section.fold.on_open(show, inputs, [section.said], **options)
    (event,) = section.page.fns.values()
    return event


def test_before_the_page_has_a_state_nothing_changes(section):
    event = handler_of(section)
    assert event.fn(None, "x") == gr.skip()
    assert event.fn(STATE, "x") == "a text x"


@pytest.mark.parametrize("options", [{"needs_state": False}, {"inputs": []}])
def test_a_fold_that_needs_no_state_is_computed_without_one(section, options):
    assert handler_of(section, **options).fn(None) == "nothing "


def test_opening_a_new_text_and_the_folds_own_controls_are_one_event(section):
    event = handler_of(section, also=[section.box.submit])
    triggers = {(section.page.blocks[block], name) for block, name in event.targets}
    assert triggers == {
        (section.fold.section, "expand"),
        (section.fold.refresh, "click"),
        (section.box, "submit"),
    }
    assert event.trigger_mode == "always_last"
