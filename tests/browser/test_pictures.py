"""Every picture on a page without a server: shown, cleared, shown again twice at once, repainted."""

import gzip
import json

import pytest

from explorer.assets import ASSETS
from explorer.ui.shell.routes import LIBRARY, LOOKS, charting
from tests.js.page_values import page_values
from tests.ui.kit.test_canvas import CHARTS

pytestmark = pytest.mark.browser
HOME = "http://pictures.test/"
CANVAS = "<div><div class='canvas' data-kind='{kind}' data-module='{module}' data-failed='failed'></div></div>"
PAGE = """<!doctype html><style>{css}</style><body><div id='text'><textarea></textarea></div>{canvases}<script>
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
LENGTHS = """() => {
  const letters = node => node.textContent.replace(/\\s/g, '').length;
  return JSON.stringify(canvases.map(c => [...c.querySelectorAll('.fg:not(.dc .fg), .dc')].reduce(
    (sum, chart) => sum - letters(chart), letters(c))));
}"""
"""Letters of each picture; those inside a chart come when Plotly is there."""
IDLE = """async () => {
  const once = () => new Promise(done => requestIdleCallback(() => requestAnimationFrame(() => setTimeout(done))));
  for (let n = 0; n < 3; n += 1) await once();
}"""
"""The page has had nothing to do three times."""
THEME = "() => document.body.classList.toggle('dark')"


@pytest.fixture
def page(tiny_family, monkeypatch, chromium):
    values = page_values(monkeypatch)
    css = "\n".join(path.read_text("utf-8") for path in (ASSETS / "css").glob("*.css"))
    drawn_by = {kind: "kit/figure" if kind in CHARTS else kind for kind in values}
    canvases = "".join(CANVAS.format(kind=kind, module=drawn_by[kind]) for kind in values)

    def answer(route):
        path = ASSETS / "js" / route.request.url.removeprefix(HOME)
        if path.name in (LIBRARY, LOOKS):
            route.fulfill(body=gzip.decompress(charting(path.name)))
        elif path.suffix == ".js":
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
    before, now = None, json.loads(page.evaluate(LENGTHS))
    while now != before:  # what is drawn when the page has nothing else to do comes later
        page.evaluate(IDLE)
        before, now = now, json.loads(page.evaluate(LENGTHS))
    return now


def test_every_picture_is_there_again_after_it_was_cleared_and_drawn_twice_at_once(page):
    first = shown(page)
    page.evaluate(CLEAR)
    assert len(page.evaluate(EMPTY)) == len(first)
    page.evaluate(AGAIN)
    for _ in range(2):
        page.evaluate(THEME)
    assert shown(page) == first
    assert page.evaluate(FAILED) == []
    assert page.errors == []
