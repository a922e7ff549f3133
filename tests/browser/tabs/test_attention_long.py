"""The matrices of a long text in a real Chromium: in their frame, enlarged by gestures, in the link."""

from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.browser.walked import walk

pytestmark = pytest.mark.browser
SENTENCE = (
    "The old man sat on the bench near the river and looked at the water while his dog ran . "
)
TEXT = " ".join((SENTENCE * 11).split()[:200])
PATH = f"/?v=1&tab=attention&text={quote(TEXT)}&model=bert&layer=1&head=1"
CUT = """all => all.filter(one => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight + 1)
  .map(one => [one.scrollWidth, one.clientWidth])"""
FINGERS = [{"x": 180, "y": 0, "id": 1}, {"x": 220, "y": 0, "id": 2}]


def opened(page):
    # The first page of a fresh server loads the models before it shows any tab.
    expect(page.locator(".aw-panels canvas")).to_have_count(3, timeout=180_000)
    return page


def sizes(page):
    return page.locator(".aw-zoom button:last-child")


def pointed_at(canvas):
    """Hover over a place of the matrix, in the middle about, and return its coordinates."""
    box = canvas.bounding_box()
    right, down = 0.6 * box["width"], 0.6 * box["height"]
    canvas.hover(position={"x": right, "y": down})
    box = canvas.bounding_box()
    return box["x"] + right, box["y"] + down


def test_a_long_text_is_in_its_frame_and_enlarged_by_gestures_which_the_link_keeps(visit):
    page = opened(visit(PATH))
    assert page.locator(".aw-matrix").evaluate_all(CUT) == []
    expect(sizes(page)).to_have_text(["1×"] * 3)
    canvas = page.locator(".aw-matrix canvas").first
    x, y = pointed_at(canvas)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -240)
    page.keyboard.up("Control")
    expect(sizes(page)).to_have_text(["1.7×"] * 3)
    assert page.evaluate("visualViewport.scale") == 1, "the page is as it was"
    page.wait_for_url("**/*look=zoom%3A202.170.*")
    before = page.url
    page.mouse.down()
    page.mouse.move(x - 80, y - 80, steps=4)
    page.mouse.up()
    page.wait_for_function("before => location.href !== before", arg=before)
    page.reload(wait_until="domcontentloaded")
    opened(page)
    expect(sizes(page)).to_have_text(["1.7×"] * 3)
    page.locator(".aw-matrix canvas").first.dblclick()
    expect(sizes(page)).to_have_text(["1×"] * 3)
    page.keyboard.press("+")
    expect(sizes(page)).to_have_text(["1.5×"] * 3)
    page.get_by_role("button", name="Show the whole matrix (0)").nth(1).click()
    expect(sizes(page)).to_have_text(["1×"] * 3)
    page.wait_for_function("() => !location.href.includes('zoom')")
    walk(page, f"/?v=1&tab=attention&text={quote('The old man [MASK].')}")
    expect(page.locator(".aw-zoom").first).to_be_hidden()  # a short text has nothing to enlarge


def test_two_fingers_enlarge_the_matrix_and_not_the_page(page_at):
    page = opened(page_at(PATH, width=390, height=844, has_touch=True))
    assert page.locator(".aw-matrix").evaluate_all(CUT) == []
    canvas = page.locator(".aw-matrix canvas").first
    _, y = pointed_at(canvas)
    touch = page.context.new_cdp_session(page)

    def fingers(kind, *xs):
        places = [{**one, "x": x, "y": y} for one, x in zip(FINGERS, xs, strict=False)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})

    fingers("touchStart", 180, 220)
    for apart in (30, 40, 50, 60):
        fingers("touchMove", 200 - apart, 200 + apart)
    fingers("touchEnd")
    expect(sizes(page)).to_have_text(["3×"] * 3)
    assert page.evaluate("visualViewport.scale") == 1
    assert page.locator(".aw-matrix").evaluate_all(CUT) == []
