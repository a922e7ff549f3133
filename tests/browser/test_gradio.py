"""What the page assumes of Gradio; a test that fails here says which work-around may go."""

import itertools
import threading

import gradio as gr
import pytest
from playwright.sync_api import expect

from explorer.assets import ASSETS
from tests.browser.frames import ASKED, FRAMES

pytestmark = pytest.mark.browser
LOAD = "element.querySelector('button').onclick = () => { element.n = (element.n || 0) + 1; trigger('select', {n: element.n}); };"
COUNT = "watch('value', () => { element.dataset.heard = Number(element.dataset.heard || 0) + 1; });"
END = "\n})();\n"
STREAM = (
    "window.explorer = {};" + (ASSETS / "js/early.js").read_text("utf-8").partition(END)[0] + END
)
"""The first block of early.js: without it Gradio sometimes loses an event, and the test fails."""
assert "/queue/join" in STREAM


CALLS = itertools.count(1)
GO_ON = threading.Event()
"""Set while Gradio may answer."""


def slow_echo(event: gr.EventData):
    GO_ON.wait(600)
    return f"call {next(CALLS)} says {event.n}"


@pytest.fixture(autouse=True)
def _answers():
    GO_ON.set()
    yield
    GO_ON.set()


def bare_page():
    """Gradio alone: nothing of the explorer is on it but STREAM."""
    with gr.Blocks(analytics_enabled=False) as page:
        asks = gr.HTML("", html_template="<button>Ask</button>", js_on_load=LOAD, elem_id="asks")
        said = gr.Textbox("", label="said", elem_id="said")
        asks.select(slow_echo, None, said, trigger_mode="always_last")
        hears = gr.HTML("", html_template="<p>${value}</p>", js_on_load=COUNT, elem_id="hears")
        gr.Button("Say").click(lambda: "the same", None, hears)
        with gr.Accordion("A fold", open=False, elem_id="fold-of-one", elem_classes="fold"):
            gr.Markdown("inside")
        with gr.Tabs(elem_id="tabs"):
            for name in ("One", "Two"):
                with gr.Tab(name, elem_id=f"tab-{name}"):
                    gr.Markdown(name)
    return page


@pytest.fixture(scope="module")
def gradio_url():
    page = bare_page()
    _, url, _ = page.launch(prevent_thread_lock=True, quiet=True, ssr_mode=False)
    yield url
    page.close(verbose=False)


@pytest.fixture
def gradio_page(chromium, gradio_url):
    """Open the page anew: after two presses at once Gradio may keep an event stream open for the next."""
    context = chromium.new_context()
    tab = context.new_page()
    tab.add_init_script(STREAM)
    tab.add_init_script(FRAMES)
    tab.goto(gradio_url, wait_until="domcontentloaded")
    tab.get_by_role("button", name="Ask").wait_for()
    yield tab
    context.close()


def test_an_event_that_waits_for_the_one_before_it_is_sent_with_that_ones_data(gradio_page):
    ask = gradio_page.get_by_role("button", name="Ask")
    GO_ON.clear()
    with gradio_page.expect_request("**/queue/join*"):
        ask.click()
    ask.click()
    GO_ON.set()
    said = gradio_page.locator("#said textarea, #said input")
    expect(said, "Canvas.on_question may read the event itself").to_have_value("call 2 says 1")


def test_a_value_that_is_the_same_again_is_not_heard_of(gradio_page):
    say, hears = gradio_page.get_by_role("button", name="Say"), gradio_page.locator("#hears")
    heard = gradio_page.locator("#hears [data-heard], #hears[data-heard]").first
    say.click()
    expect(hears).to_contain_text("the same")
    expect(heard).to_have_attribute("data-heard", "1")
    with gradio_page.expect_response("**/queue/join*"):
        say.click()
    said = gradio_page.locator("#said textarea, #said input")
    before = said.input_value()
    gradio_page.get_by_role("button", name="Ask").click()
    expect(said).not_to_have_value(before)
    assert heard.get_attribute("data-heard") == "1", "Canvas.postprocess needs no serial number"


def test_the_marks_by_which_the_page_knows_folds_and_tabs_are_there(gradio_page):
    fold = gradio_page.locator("#fold-of-one.fold")
    header = fold.locator("button.label-wrap")
    expect(header).to_have_count(1)
    assert "open" not in header.get_attribute("class").split()
    header.click()
    expect(fold.locator("button.label-wrap.open")).to_have_count(1)
    panel = gradio_page.locator("#tabs #tab-One")
    assert panel.get_attribute("role") == "tabpanel"


def test_the_seconds_of_the_first_loading_are_counted_on_when_it_is_gone(gradio_page):
    asked = gradio_page.evaluate(ASKED)
    assert any("performance.now()" in source for source in asked), "early.js may pass on all frames"


def test_a_page_says_that_it_is_lost_before_it_is_left(gradio_page):
    gradio_page.route("**/left", lambda route: route.fulfill(status=204))
    GO_ON.clear()
    with gradio_page.expect_response("**/queue/data*"):
        gradio_page.get_by_role("button", name="Ask").click()
    gradio_page.evaluate("() => { location.href = '/left'; }")
    lost = gradio_page.locator(".toast-body")
    expect(lost, "early.js may let Gradio hear beforeunload").to_contain_text("was lost")
