"""What an event writes: the same as Gradio's own way, without building what is left out."""

import json

import gradio as gr
import pytest

from explorer.ui.kit.blocks import Page
from explorer.ui.kit.canvas import Canvas
from tests.waiting import in_its_own_loop

LEFT = {"__type__": "update"}


class Built(gr.Textbox):
    """A text box that counts how often it is built."""

    times = 0

    def __init__(self, *given, **named):
        type(self).times += 1
        super().__init__(*given, **named)


@pytest.fixture
def page():
    with Page() as built:
        built.parts = [Canvas("page/view"), gr.HTML(), Built("a"), gr.Number(1), gr.State(0)]
        built.button = gr.Button()
        built.button.click(lambda: None, [], built.parts)
        built.button.click(lambda: None, [], built.parts[2])
        built.button.click(lambda: None, [], built.parts[1], postprocess=False)
    return built


def written(page, predictions, event=0, own=False):
    way = gr.Blocks.postprocess_data if own else Page.postprocess_data
    return in_its_own_loop(way(page, page.fns[event], predictions, None))


def test_what_a_handler_leaves_out_is_neither_written_nor_built(page):
    canvas, html, text, *_ = page.parts
    Built.times = 0
    told, said, *rest = written(page, {canvas: '{"a":1}', html: "<p>b</p>"})
    assert json.loads(told).keys() == {"serial", "a"}
    assert [said, *rest] == ["<p>b</p>", LEFT, LEFT, LEFT]
    assert Built.times == 0
    assert written(page, {text: "c"}) == [LEFT, LEFT, "c", LEFT, LEFT]


@pytest.mark.parametrize(
    "values",
    [
        lambda: ["", "<b>x</b>", "y", 2, 3],
        lambda: [None, gr.skip(), gr.Textbox(label="z"), gr.update(value=4), 5],
        lambda: [gr.HTML(visible=False), "", gr.skip(), None, 0],
        gr.skip,
    ],
)
def test_every_value_is_what_gradio_makes_of_it(page, values):
    assert written(page, values()) == written(page, values(), own=True)


def test_one_output_takes_one_value(page):
    for value in (lambda: "x", lambda: gr.update(value="y"), lambda: None):
        assert written(page, value(), event=1) == written(page, value(), event=1, own=True)
    assert written(page, "<i>", event=2) == ["<i>"]


@pytest.mark.parametrize("wrong", [["too few"], {"no": "part"}])
def test_a_handler_that_returns_something_else_is_told_so_by_gradio(page, wrong):
    with pytest.raises(ValueError, match="output"):
        written(page, wrong)
    with pytest.raises(ValueError, match="output"):
        written(page, {page.button: 1})
