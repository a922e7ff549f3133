"""What an event writes: the same as Gradio's own way, without building what is left out."""

import json
from contextvars import copy_context

import gradio as gr
import httpx
import pytest
from gradio.utils import get_function_with_locals
from starlette.middleware import Middleware

from benchmarks.served import served
from explorer.links.page_state import PageState
from explorer.middleware.concurrency import StreamTracker
from explorer.refusal import Refusal
from explorer.ui.kit.blocks import Page, checked
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.validation import page_family
from explorer.ui.shell.page import build_page
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


PICTURES = ("a cat", "the dogs", "elephants")


def draw(_value):
    for picture in PICTURES:
        yield [picture, gr.Button(visible=picture != PICTURES[-1])]


def streamed(kind, visibility="private"):
    """Return the messages of a stream of three pictures from a page of this kind."""
    with kind(analytics_enabled=False) as page:
        box, stop = gr.Textbox(), gr.Button()
        box.submit(draw, [box], [box, stop], api_name="draw", api_visibility=visibility)
    page.queue()
    options = {"middleware": [Middleware(StreamTracker)]} if kind is Page else {}
    with served(page, app_kwargs=options) as url, httpx.Client(base_url=url, timeout=300) as http:
        question = {"data": ["a"], "fn_index": 0, "session_hash": "s"}
        http.post("/gradio_api/queue/join", json=question).raise_for_status()
        lines = http.get("/gradio_api/queue/data", params={"session_hash": "s"}).text.splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


def test_a_page_is_queued_and_launched_in_one_line_as_gradios_are():
    with Page(analytics_enabled=False) as page:
        assert page.queue() is page


@pytest.mark.processes
def test_the_last_picture_of_a_stream_is_sent_once():
    """Gradio alone sends it twice: as the last step, and as the end."""
    bare, own = streamed(gr.Blocks), streamed(Page)
    assert [str(messages).count(PICTURES[-1]) for messages in (bare, own)] == [2, 1]
    steps = [[m for m in messages if m["msg"] == "process_generating"] for messages in (bare, own)]
    values = [[step["output"]["data"] for step in one] for one in steps]
    assert values[0] == values[1], "every step is as Gradio sends it"
    assert values[1][-1][1] == [["replace", ["visible"], False]], "the last one hides the button"
    (end,) = (m for m in own if m["msg"] == "process_completed")
    assert end["success"]
    assert end["output"]["data"] == [LEFT, LEFT]


@pytest.mark.processes
def test_a_programs_stream_ends_on_its_last_values():
    (end,) = (m for m in streamed(Page, "public") if m["msg"] == "process_completed")
    assert end["output"]["data"][0] == PICTURES[-1]


@pytest.mark.long
def test_two_pages_of_one_process_each_keep_the_state_that_they_open_on():
    dtypes = ("float32", "bfloat16")
    pages = [build_page(PageState(dtype=dtype)) for dtype in dtypes]
    asked = [
        # Gradio sets the page for the rest of a request: here for its own context only.
        copy_context().run(
            get_function_with_locals(page_family, page, None, True, None, None), "mini"
        )
        for page in pages
    ]
    assert tuple(family.dtype for family in asked) == dtypes


@pytest.mark.long
@pytest.mark.parametrize(
    ("part", "given"),
    [
        (lambda: gr.Number(3), 3),
        (lambda: gr.Slider(0, 9, 4), 4),
        (lambda: gr.Textbox("x"), ""),
        (lambda: gr.Radio(["a", "b"], value=None), None),
        (lambda: gr.Radio(["a", "b"], value="a"), Refusal),
        (lambda: gr.Dropdown(["a", "b"], value="a"), Refusal),
    ],
)
def test_an_empty_control_has_its_default_or_is_refused(part, given):
    with gr.Blocks():
        control = part()
    if given is Refusal:
        with pytest.raises(Refusal, match="does not offer"):
            checked(control, None)
    else:
        assert checked(control, None) == given
