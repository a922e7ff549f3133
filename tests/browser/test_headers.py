"""What the headers allow is what the page needs: every tab, an embedded view, a file of one's own."""

import json
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from playwright.sync_api import expect

from explorer.analysis.latency.report import FORMAT
from explorer.limits import QUESTIONS
from explorer.ui.kit.strings import LINK
from explorer.ui.latency import strings

pytestmark = pytest.mark.browser
SAYS = "([id, text]) => getComputedStyle(document.getElementById(id), '::before').content.includes(text)"
"""Script: whether an empty tab says a sentence."""


def drawn(place, tab):
    return place.locator(f"#tab-{tab} .finding, #tab-{tab} .lt-paradox, #tab-{tab} .canvas").first


def test_a_view_is_shown_in_a_page_of_another_site(app_url, chromium, tmp_path):
    view = f"{app_url}/?v=1&tab=attention&embed=1"
    (tmp_path / "index.html").write_text(f'<iframe src="{view}" width="900" height="640"></iframe>')
    handler = partial(SimpleHTTPRequestHandler, directory=tmp_path)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as elsewhere:
        Thread(target=elsewhere.serve_forever, daemon=True).start()
        page = chromium.new_page()
        page.goto(f"http://localhost:{elsewhere.server_port}/")
        expect(drawn(page.frame_locator("iframe"), "attention")).to_be_visible()
        page.close()
        elsewhere.shutdown()


def test_who_comes_when_too_many_wait_reads_our_sentence(page_at):
    page = page_at("/")
    expect(page.locator(".status")).to_contain_text("mini-albert")
    busy = {"detail": QUESTIONS.sentence(n=64)}
    page.route("**/queue/join*", lambda route: route.fulfill(status=429, json=busy))
    page.locator("#text textarea").fill("The dog [MASK] at the moon.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text(busy["detail"])).to_be_visible()
    depth = page.get_by_role("tab", name="Depth")
    depth.click()
    page.wait_for_function(SAYS, arg=["tab-depth", LINK["unanswered"]])
    page.unroute("**/queue/join*")
    depth.click()
    expect(page.locator("#tab-depth .dp-strip").first).to_be_visible()
    page.locator("#text textarea").press("Control+Enter")
    expect(page.locator("#status")).to_contain_text("9 tokens")
    page.guard.expect("429")
    page.guard.expect(busy["detail"])


def test_a_saved_measurement_is_read_without_an_upload(page_at, tmp_path):
    numbers = {"median_ms": 12.0, "gflops": 3.0, "weights_bytes": 1000}
    document = {
        "format": FORMAT,
        "protocol": {"batch_size": 1, "sequence_length": 32, "threads": 1},
        "models": [{"model": "bert", "name": "mini-bert", "device": "cpu", **numbers}],
        "ratios": [],
    }
    path = tmp_path / "latency.json"
    page, asked = page_at("/?v=1&tab=latency"), []
    expect(page.locator(".status")).to_contain_text("mini-albert")
    page.locator("#fold-latency-advanced button.label-wrap").click()
    page.on("request", lambda request: asked.append(request.url))
    button = page.get_by_role("button", name=strings.RECORDED_BUTTON)
    for processor in ("a machine elsewhere", "another machine"):
        path.write_text(json.dumps(document | {"machine": {"processor": processor}}))
        with page.expect_file_chooser() as chooser:
            button.click()
        chooser.value.set_files(path)
        expect(page.get_by_text(f"Recorded on {processor}")).to_be_visible()
    assert not any("/upload" in url for url in asked)
