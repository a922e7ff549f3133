"""Every picture on a page without a server: shown, cleared, shown again twice at once, repainted."""

import json

import pytest

from explorer.assets import ASSETS
from tests.js.page_values import page_values

pytestmark = pytest.mark.browser
HOME = "http://pictures.test/"
CANVAS = "<div><div class='canvas' data-kind='{kind}' data-failed='failed'></div></div>"
PAGE = """<!doctype html><style>{css}</style><body>{canvases}<script>
window.explorer = {{waiting: [], told: []}};</script>"""
MOUNT = """async values => {
  await import('/gradio.js');
  window.canvases = [...document.querySelectorAll('.canvas')];
  window.all = {};
  for (const canvas of canvases) {
    const kind = canvas.dataset.kind, props = {value: JSON.stringify(values[kind])};
    const watch = (_, update) => { all[kind] = {props, update, value: props.value}; };
    await explorer.mount(kind, canvas.parentElement, props, watch, () => {}, () => Promise.reject());
  }
}"""
EMPTY = "() => canvases.filter(c => !c.childElementCount).map(c => c.dataset.kind)"
FAILED = "() => canvases.filter(c => c.textContent === 'failed').map(c => c.dataset.kind)"
CLEAR = "() => { for (const one of Object.values(all)) { one.props.value = ''; one.update(); } }"
AGAIN = """() => {
  for (const one of Object.values(all)) { one.props.value = one.value; one.update(); one.update(); }
}"""
THEME = "() => document.body.classList.toggle('dark')"


@pytest.fixture
def page(tiny_family, monkeypatch, chromium):
    values = page_values(monkeypatch)
    css = "\n".join(path.read_text("utf-8") for path in (ASSETS / "css").glob("*.css"))
    canvases = "".join(CANVAS.format(kind=kind) for kind in values)

    def answer(route):
        path = ASSETS / "js" / route.request.url.removeprefix(HOME)
        if path.suffix == ".js":
            route.fulfill(path=path, content_type="text/javascript")
        else:
            route.fulfill(body=PAGE.format(css=css, canvases=canvases), content_type="text/html")

    page = chromium.new_page()
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.route("**/*", answer)
    page.goto(HOME)
    page.evaluate(MOUNT, values)
    yield page
    page.close()


def shown(page):
    page.wait_for_function(f"() => ({EMPTY})().length === 0")
    return json.loads(page.evaluate("JSON.stringify(canvases.map(c => c.innerText.length))"))


def test_every_picture_is_there_again_after_it_was_cleared_and_drawn_twice_at_once(page):
    first = shown(page)
    for _ in range(2):
        page.evaluate(THEME)
    assert shown(page) == first
    page.evaluate(CLEAR)
    assert len(page.evaluate(EMPTY)) == len(first)
    page.evaluate(AGAIN)
    assert shown(page) == first
    assert page.evaluate(FAILED) == []
    assert page.errors == []
