"""The browser's modules: kept for ever under their contents' name, each picture in its place."""

import re
from pathlib import Path
from posixpath import normpath

import pytest
from plotly.offline import get_plotlyjs
from starlette.applications import Starlette
from starlette.testclient import TestClient

from explorer.ui.first import scripts
from explorer.ui.shell import routes

ROOT = Path(__file__).parents[3]
EXPORTED = r"^export (?:async function |function |const |\{)(\w+(?:, \w+)*)"
KIND = re.compile(r'Canvas\(\s*"([^"]+)"')


@pytest.fixture
def browser():
    return TestClient(Starlette(routes=[routes.scripts_route()]))


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
    library = browser.get("/" + scripts.address(routes.LIBRARY))
    assert library.text == get_plotlyjs()
    assert library.headers["content-encoding"] == "gzip"
    assert "immutable" in library.headers["cache-control"]
    looks = browser.get("/" + scripts.address(routes.LOOKS)).json()
    assert looks["light"]["layout"]["font"] != looks["dark"]["layout"]["font"]
    assert browser.get(f"/js/0123456789abcdef/{routes.LIBRARY}").status_code == 404


def test_every_import_names_a_module_and_none_goes_in_a_circle():
    found = {}
    for path, content in scripts.modules().items():
        names = re.findall(r"from '(.+)';|^import '(.+)';", content.decode(), re.M)
        found[path] = {normpath(Path(path).parent / (one or other)) for one, other in names}
        assert found[path] <= set(scripts.modules()), path
        assert found[path] == set(scripts.imports_of(path)), path
    while free := [path for path, names in found.items() if not names & set(found)]:
        for path in free:
            del found[path]
    assert not found, "a pack calls a module's imports before the module"


def unpacked(browser, path):
    reply = browser.get("/" + scripts.address(path))
    assert "immutable" in reply.headers["cache-control"]
    return reply.text


@pytest.mark.long
def test_the_first_answer_needs_one_pack_and_every_other_module_has_its_own(browser):
    first = unpacked(browser, scripts.FIRST_PACK)
    assert re.findall(r"^own\['(.+?)'\] \?\?=", first, re.M) == scripts.in_order(
        scripts.closure(scripts.FIRST)
    )
    for path in sorted(scripts.later()):
        there = re.findall(r"^own\['(.+?)'\] \?\?=", unpacked(browser, f"pack/{path}"), re.M)
        assert there[-1] == path
        assert {*there, *scripts.closure(scripts.FIRST)} >= set(scripts.closure((path,)))
    assert browser.get("/" + scripts.address("pack/gradio.js")).status_code == 404
    assert browser.get("/" + scripts.address("pack/nothing.js")).status_code == 404


def test_a_packed_module_exports_what_its_source_does():
    for path, source in scripts.modules().items():
        code = source.decode()
        names = re.findall(r"^export (?:async )?(?:function|const|class) (\w+)", code, re.M)
        names += re.split(r",\s*", ", ".join(re.findall(r"^export \{(.+)\} from", code, re.M)))
        returned = re.findall(r"\nreturn \{(.*)\};\n\}\)\(\);\n$", scripts.wrapped(path))
        exported = [name.partition(":")[0] for name in re.split(r",\s*", returned[0])]
        assert sorted(exported) == sorted(filter(None, names)) or not any(names), path
