"""The browser's modules: kept for ever under their contents' name, each picture in its place."""

import re
from pathlib import Path
from posixpath import normpath

import pytest
from plotly.offline import get_plotlyjs
from starlette.applications import Starlette
from starlette.testclient import TestClient

from explorer.ui.shell import scripts

ROOT = Path(__file__).parents[3]
EXPORTED = r"^export (?:async function |function |const |\{)(\w+(?:, \w+)*)"
KIND = re.compile(r'Canvas\(\s*"([^"]+)"')


@pytest.fixture
def browser():
    return TestClient(Starlette(routes=[scripts.scripts_route()]))


def test_every_module_is_sent_as_it_is_and_kept_for_ever(browser):
    for path in scripts.SCRIPTS.rglob("*.js"):
        reply = browser.get("/" + scripts.address(path.relative_to(scripts.SCRIPTS).as_posix()))
        assert reply.content == path.read_bytes()
        assert reply.headers["content-type"].startswith("text/javascript")
        assert "immutable" in reply.headers["cache-control"]


@pytest.mark.parametrize(
    "path", ["js/0123456789abcdef/gradio.js", "js/{}/nothing.js", "js/{}/..%2f..%2fclaims.json"]
)
def test_an_old_page_and_a_strange_path_get_nothing(browser, path):
    assert browser.get("/" + path.format(scripts.version())).status_code == 404


def test_another_content_has_another_address(monkeypatch):
    before = scripts.address("gradio.js")
    changed = scripts.modules() | {"kit/dom.js": b"export const make = 1;"}
    monkeypatch.setattr(scripts, "modules", lambda: changed)
    monkeypatch.setattr(scripts, "version", scripts.version.__wrapped__)
    assert scripts.address("gradio.js") != before


def test_every_canvas_names_a_module_that_draws_and_has_rows():
    sources = [p.read_text("utf-8") for p in (ROOT / "explorer").rglob("*.py")]
    kinds = {kind for source in sources for kind in KIND.findall(source)}
    assert len(kinds) > 20
    for kind in kinds:
        exported = re.findall(EXPORTED, scripts.modules()[f"{kind}.js"].decode(), re.M)
        assert {"show", "table"} <= set(", ".join(exported).split(", ")), kind


def test_the_library_and_the_looks_of_charts_are_sent_compressed_under_the_same_name(browser):
    library = browser.get("/" + scripts.address(scripts.LIBRARY))
    assert library.text == get_plotlyjs()
    assert library.headers["content-encoding"] == "gzip"
    assert "immutable" in library.headers["cache-control"]
    looks = browser.get("/" + scripts.address(scripts.LOOKS)).json()
    assert looks["light"]["layout"]["font"] != looks["dark"]["layout"]["font"]
    assert browser.get(f"/js/0123456789abcdef/{scripts.LIBRARY}").status_code == 404


def test_every_import_names_a_module_and_the_first_are_preloaded_with_all_theirs():
    found = {}
    for path, content in scripts.modules().items():
        names = re.findall(r"from '(.+)';", content.decode())
        found[path] = {normpath(Path(path).parent / name) for name in names}
        assert found[path] <= set(scripts.modules()), path
    preloaded = set(scripts.closure(scripts.FIRST))
    assert set(scripts.FIRST) <= preloaded
    assert all(found[path] <= preloaded for path in preloaded)
    assert scripts.head_html().count('rel="modulepreload"') == len(preloaded)
