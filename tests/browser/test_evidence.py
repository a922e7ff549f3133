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
    context = chromium.new_context(viewport={"width": 300, "height": 200})
    page = context.new_page()
    page.set_content("<h1>This page fails</h1>")
    page.evaluate("console.warn('before the failure')")
    folder = evidence.keep(chromium, "tests/browser/tabs/test_x.py::test_y[a b]")
    number = chromium.contexts.index(context)
    context.close()
    assert str(folder) == "shots/tabs-test_x.py-test_y-a-b-"
    left = tmp_path / folder
    assert Image.open(left / f"page-{number}-0.png").size == (300, 200)
    assert (left / f"console-{number}.txt").read_text("utf-8") == "warning: before the failure"
    with ZipFile(left / f"trace-{number}.zip") as trace:
        done = map(json.loads, trace.read("trace.trace").splitlines())
        assert "setContent" in {event.get("method") for event in done}
        assert any(name.endswith(".py") for name in trace.namelist()), "with the test's own lines"
