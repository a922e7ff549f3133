"""What a failing test leaves shows the page, its console and every action."""

import json
from zipfile import ZipFile

import pytest
from PIL import Image

from tests.browser import evidence

pytestmark = pytest.mark.browser


def test_a_failure_leaves_pictures_console_output_and_traces(chromium, tmp_path, monkeypatch):
    monkeypatch.setattr(evidence, "ROOT", tmp_path)
    monkeypatch.setattr(evidence, "SHOTS", tmp_path / "shots")
    waiting = chromium.new_context()
    waiting.new_page()
    context = chromium.new_context(viewport={"width": 300, "height": 200})
    page = context.new_page()
    page.goto("data:text/html,<h1>This page fails</h1>")
    page.evaluate("console.warn('before the failure')")
    folder = evidence.keep(chromium, "tests/browser/tabs/test_x.py::test_y[a b]")
    context.close()
    waiting.close()
    assert str(folder) == "shots/tabs-test_x.py-test_y-a-b-"
    left = tmp_path / folder
    names = {path.name for path in left.iterdir()}
    assert names == {"page-0-0.png", "console-0.txt", "trace-0.zip"}, "of the page in use alone"
    assert Image.open(left / "page-0-0.png").size == (300, 200)
    assert (left / "console-0.txt").read_text("utf-8") == "warning: before the failure"
    with ZipFile(left / "trace-0.zip") as trace:
        done = map(json.loads, trace.read("trace.trace").splitlines())
        assert "goto" in {event.get("method") for event in done}
        assert any(name.endswith(".py") for name in trace.namelist()), "with the test's own lines"
