"""The link as it leaves the page: clean, short enough, as a QR code, and in a frame of another page."""

import io
import random
import string
import threading
from html import escape
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
import zxingcpp
from PIL import Image
from playwright.sync_api import expect

from explorer.links.codec import from_params
from explorer.ui.kit import strings
from tests.browser.clipboard import copied
from tests.browser.modules import MODULE
from tests.browser.viewport import resize
from tests.browser.walked import walk

pytestmark = pytest.mark.browser


@pytest.fixture
def host():
    """A page of another origin, whose body the test writes."""

    class Host(BaseHTTPRequestHandler):
        body = ""

        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(Host.body.encode())

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Host)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Host.url = f"http://127.0.0.1:{server.server_port}/"
    yield Host
    server.shutdown()
    server.server_close()


def field_of(page):
    expect(page.locator("#link button").first).to_be_visible()
    expect(page.locator(".status")).to_contain_text("mini-albert")
    return page.locator("#link input")


def test_what_is_not_the_links_own_stays_out_of_it(page_at, app_url):
    page = page_at("/?text=A+[MASK].&tab=depth&__sign=secret&utm_source=x&embed=0")
    expect(field_of(page)).to_have_value(f"{app_url}/?v=1&family=mini&text=A+%5BMASK%5D.&tab=depth")
    assert (
        copied(page, page.get_by_text("Copy link", exact=True))
        == f"{app_url}/?v=1&family=mini&text=A+%5BMASK%5D.&tab=depth"
    )
    assert "__sign" not in page.url


@pytest.fixture
def guest(page_at, host):
    """A page that goes to the host, whose frame is the explorer's."""
    page = page_at(None)
    page.guard.known.append(host.url)
    yield page
    # In a frame Gradio tells its own host, which is another one here.
    page.guard.problems[:] = [one for one in page.guard.problems if "huggingface.co" not in one]


def test_in_a_frame_of_another_origin_the_view_is_kept_and_no_token_is_copied(app_url, guest, host):
    view = {"text": "A cat sat on the [MASK].", "tab": "attention", "model": "distilbert"}
    view |= {"v": "1", "family": "mini", "layer": "1", "head": "2"}
    foreign = {"__theme": "dark", "__sign": "secret"}
    host.body = (
        f'<iframe src="{escape(f"{app_url}/?{urlencode(view | foreign)}")}" width="1200" height="900" '
        'allow="clipboard-write"></iframe>'
    )
    page = guest
    page.goto(host.url)
    frame = page.frame_locator("iframe")
    link = field_of(frame)
    expect(frame.get_by_role("tab", name="Attention", exact=True)).to_have_attribute(
        "aria-selected", "true"
    )
    expect(frame.locator("#text textarea")).to_have_value(view["text"])
    assert dict(parse_qsl(urlsplit(link.input_value()).query)) == view
    page.frames[1].evaluate(NOTED)
    frame.get_by_text("Copy link", exact=True).click()
    is_said(page.frames[1], "copied")
    assert page.evaluate("navigator.clipboard.readText()") == link.input_value()
    assert "__sign" not in page.frames[1].url


LONG = (
    "The ship sailed across the ocean and the captain, who had never seen such weather, slept. "
    * 23
    + "Then it came to [MASK]."
)


def packed_link(page):
    page.wait_for_function(
        "() => /[?&]z=(?!none)/.test(document.querySelector('#link input')?.value ?? '')"
    )
    return page.locator("#link input").input_value()


def test_a_long_text_is_in_the_link_whole_and_so_is_its_mask(visit, page_at, app_url):
    page = visit("/")
    field_of(page)
    page.locator("#text textarea").fill(LONG)
    page.keyboard.press("Control+Enter")
    link = packed_link(page)
    assert len(link) <= 2000
    state, repaired = from_params(dict(parse_qsl(urlsplit(link).query)))
    assert (state.text, repaired) == (LONG, ())
    assert copied(page, page.get_by_text("Copy link", exact=True)) == link
    other = page_at(link.removeprefix(app_url))
    expect(other.locator("#text textarea")).to_have_value(LONG)
    assert packed_link(other).split("&__theme")[0] == link
    assert "__theme" in other.url
    assert "z=" in other.url
    first = [one.locator(".pr-row").first.inner_text() for one in (page, other)]
    assert first[0] == first[1]


def test_texts_that_no_link_can_hold_are_refused_and_a_reload_keeps_them(visit):
    page = visit("/?tab=tasks&fold=question")
    field_of(page)
    passage = "".join(random.Random(1).choices(string.ascii_letters + " ", k=3000)) + "."
    page.evaluate("passage => window.explorer.tell('choose', {passage})", passage)
    page.wait_for_function("location.search.includes('z=none')")
    said = page.locator("#link [role=status]")
    expect(said).to_contain_text("too long for a link")
    expect(page.locator("#link button")).to_have_text(["Save this tab"])
    page.reload()
    expect(page.get_by_role("textbox", name="Passage")).to_have_value(passage)
    expect(said).to_contain_text("too long for a link")


def test_what_was_asked_in_tasks_is_in_the_link(visit, page_at, app_url):
    page = visit("/?tab=tasks&fold=sentiment")
    field_of(page)
    asked = {"sentiment": "The soup was hardly warm.", "question": "Who came?"}
    asked["passage"] = "Anna came & sang. Ben slept."
    boxes = {"sentiment": "Text to classify", "question": "Question", "passage": "Passage"}

    def box(page, name):
        return page.locator("#input-bar").get_by_role("textbox", name=boxes[name])

    box(page, "sentiment").fill(asked["sentiment"])
    page.keyboard.press("Enter")
    page.wait_for_function("location.search.includes('sentiment=')")
    page.locator("#fold-tasks-question").click()
    box(page, "passage").fill(asked["passage"])
    box(page, "question").fill(asked["question"])
    page.keyboard.press("Enter")
    page.wait_for_function("location.search.includes('passage=')")
    link = page.locator("#link input").input_value()
    fields = {"v": "1", "family": "mini", "tab": "tasks", "fold": "question"} | asked
    assert dict(parse_qsl(urlsplit(link).query)) == fields
    other = page_at(link.removeprefix(app_url))
    for name in ("passage", "question"):
        expect(box(other, name)).to_have_value(asked[name])
    answers = [one.locator("#tab-tasks .finding:visible").inner_text() for one in (page, other)]
    assert answers[0] == answers[1]
    other.locator("#fold-tasks-sentiment").click()
    expect(box(other, "sentiment")).to_have_value(asked["sentiment"])


def test_the_link_is_read_back_by_a_camera_and_copied_as_it_is_said(visit):
    page = visit("/?tab=depth")
    the_link_and_the_lines_for_another_page_are_copied_as_they_are_said(page)
    walk(page, f"/?{CAMERA}")
    the_qr_code_reads_back_as_the_link(page)
    a_clipboard_that_refuses_says_what_to_press(page)


NOTED = """() => {
  const link = document.querySelector('#link');
  window.sayings = [];
  new MutationObserver(() => window.sayings.push(link.querySelector('[role=status]')?.textContent))
    .observe(link, {childList: true, characterData: true, subtree: true});
}"""
"""Notes what is said beside the link: it stands there for four seconds only."""


def is_said(frame, key):
    frame.wait_for_function("text => window.sayings.includes(text)", arg=strings.LINK[key])


def the_link_and_the_lines_for_another_page_are_copied_as_they_are_said(page):
    link = field_of(page).input_value()
    page.evaluate(NOTED)
    page.get_by_role("button", name="Copy link", exact=True).click()
    is_said(page, "copied")
    assert page.evaluate("navigator.clipboard.readText()") == link
    assert link == page.url.replace("__theme=light&", "")
    page.get_by_role("button", name=strings.LINK["embed"], exact=True).click()
    is_said(page, "embed_copied")
    assert page.evaluate("navigator.clipboard.readText()").startswith("<iframe")


def a_clipboard_that_refuses_says_what_to_press(page):
    page.evaluate(
        "() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no'));"
        " document.execCommand = () => false; }"
    )
    page.evaluate(NOTED)
    page.get_by_text("Copy link", exact=True).click()
    is_said(page, "press")
    selected = page.evaluate(
        "() => { const f = document.querySelector('#link input');"
        " return f.value.slice(f.selectionStart, f.selectionEnd); }"
    )
    assert selected == page.locator("#link input").input_value()


CAMERA = "text=Voil%C3%A0+%5BMASK%5D+%26+caf%C3%A9.&tab=attention&layer=2&head=3&model=bert"


def the_qr_code_reads_back_as_the_link(page):
    link = field_of(page).input_value()
    page.locator("#link .qr summary").click()
    picture = page.locator("#link .qr img")
    picture.evaluate("img => img.decode()")  # loaded is not yet drawn
    found = zxingcpp.read_barcodes(Image.open(io.BytesIO(picture.screenshot())))
    assert [code.text for code in found] == [link]


FRAMES = [
    ("tab=depth", ".dp-strip", 640),
    ("tab=latency&fold=choose", "#fold-latency-choose .canvas > *", 390),
]
LINES = (
    f"async query => {{ const {{frameFor}} = await {MODULE}('page/link.js');"
    """
  const link = new URL(document.querySelector('#link input').value);
  link.search = `v=1&family=mini&${query}`;
  return frameFor(link.href, 'Explorer');
}"""
)
"""The lines that the page offers for a view."""


def test_a_frame_of_another_page_shows_the_picture_whole(app_url, guest, host):
    """Several views, one after the other, on a page of another origin."""
    guest.goto(f"{app_url}/")
    expect(guest.locator("#link button").first).to_be_visible()
    lines = {query: guest.evaluate(LINES, query) for query, *_ in FRAMES}
    for query, shown, width in FRAMES:
        resize(guest, width + 16, 900)
        host.body = f"<!doctype html><body style='margin:8px'>{lines[query]}</body>"
        guest.goto(f"{host.url}?own=1")
        is_whole(guest.frame_locator("iframe"), shown)
        guest.frames[1].wait_for_function(FITS)
        assert guest.url == f"{host.url}?own=1"


FITS = """() => {
  const d = document.documentElement, {bottom} = document.querySelector('.full-view').getBoundingClientRect();
  return d.scrollHeight <= d.clientHeight + 1 && d.scrollWidth <= d.clientWidth && innerHeight > 200
    && bottom <= innerHeight && innerHeight - bottom < 60;
}"""


def is_whole(frame, shown):
    expect(frame.locator(shown).first).to_be_visible()
    expect(frame.locator(".status")).to_contain_text("mini-albert")
    expect(frame.get_by_text("Open the full view")).to_be_visible()
    for hidden in ("#masthead header", "#text", "footer", "#family details", ".take", "[role=tab]"):
        expect(frame.locator(hidden).first).to_be_hidden()
    for other in frame.locator("#tab-latency > * button:not(#fold-latency-choose *)").all():
        expect(other).to_be_hidden()
    for table in frame.locator(".table:visible").all():
        assert table.evaluate("t => t.scrollWidth <= t.clientWidth"), "it scrolls by itself"
    assert "embed" not in frame.locator(".full-view").get_attribute("href")
