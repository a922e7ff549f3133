"""The counts of docs/architecture.md: the calls of a Compare are made, and the page gets few runs."""

import json
import re
import sys
import threading

from explorer.inference import runs
from explorer.inference.local import LocalBackend
from explorer.links.page_state import PageState
from explorer.ui.kit.canvas import Canvas
from explorer.ui.shell.page import build_page
from tests import journey

DOCUMENT = (journey.ROOT / "docs" / "architecture.md").read_text("utf-8")
NEW_TEXT = "The [MASK] of a Compare is long."


def test_every_call_of_a_compare_is_made(tiny_family, monkeypatch):
    page, called = build_page(PageState()), set()
    on_view = next(f for f in page.fns.values() if getattr(f.fn, "__name__", "") == "on_view")
    params = {"text": NEW_TEXT, "family": "mini", "device": "cpu", "dtype": "float32"}

    def note(frame, event, _):
        if event == "call":
            path = frame.f_code.co_filename.removeprefix(f"{journey.ROOT}/")
            called.add(f"{path}:{frame.f_code.co_qualname}")

    threading.setprofile(note)
    sys.setprofile(note)
    monkeypatch.setattr(runs, "_LOCAL", LocalBackend())  # whose workers start now
    try:
        question = json.dumps({"params": params, "number": 1, "keep": []})
        answer = on_view.fn(question, lambda *_, **__: None)
        for part, value in answer.items():
            if isinstance(part, Canvas) and value:
                part.postprocess(value)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    assert [call for call in journey.HANDLED if call not in called] == []


def test_the_calls_outside_the_handler_are_there():
    for call in (*journey.BROWSER, *journey.BEFORE):
        path, _, name = call.partition(":")
        source = (journey.ROOT / path).read_text("utf-8")
        assert re.search(rf"\b{name.rpartition('.')[2]}\b", source), call


def test_the_document_has_today_s_counts():
    files = {call.partition(":")[0] for call in journey.COMPARE}
    calls = f"{len(journey.COMPARE)} calls in {len(files)} files"
    assert calls in " ".join(DOCUMENT.split())
    assert f"in {len(journey.fetches())} places" in " ".join(DOCUMENT.split())
