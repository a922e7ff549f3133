"""``python -m benchmarks start``: the first second of a visit, beside an empty page of Gradio's."""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus

import numpy as np

from benchmarks import start
from benchmarks.served import free_port
from explorer.analysis.latency.ratio import paired_ratio
from explorer.assets import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

EMPTY = """
import sys
import gradio as gr
with gr.Blocks(analytics_enabled=False) as page:
    gr.Button("Button")
page.launch(server_port=int(sys.argv[1]), ssr_mode=False, quiet=True)
"""
READABLE = """(() => {
  const there = node => Boolean(node && node.getClientRects().length && node.offsetHeight);
  const look = () => {
    const ours = there(document.querySelector('explorer-first'))
      || there(document.querySelector('[data-kind="predictions/gaps"] > *'));
    const button = [...document.querySelectorAll('gradio-app button')].some(there);
    if (EXPECTED) requestAnimationFrame(() => { window.readable = performance.now(); });
    else requestAnimationFrame(look);
  };
  look();
})();"""
"""Script that notes the first frame after the answer, or the empty page's button, is there."""
OURS, THEIRS = READABLE.replace("EXPECTED", "ours"), READABLE.replace("EXPECTED", "button")
LATENCY_MS, BITS_PER_S, SLOWER = 150, 1.6e6, 4
PATIENCE_MS = 120_000
BOX = (300, 79)
"""A place within the text box, in CSS pixels."""
SIZE = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}


@dataclass(frozen=True, slots=True)
class Goal:
    """Measurements, and the most that each may take of what the empty page takes."""

    name: str
    most: float


COLD = Goal("answer readable, cold", 0.6)
WARM = Goal("answer readable, everything cached", 0.6)
PRESSED = Goal("another text compared at once, answered", 1.3)
THROTTLED = Goal("answer readable, phone (4 x CPU, 1.6 Mbit/s, 150 ms)", 0.5)


def add_command(commands: Any) -> None:  # noqa: ANN401 - argparse's own type is private
    """Declare the command and its flags."""
    parser = commands.add_parser("start", help=__doc__)
    parser.set_defaults(run=run)
    parser.add_argument("--starts", type=int, default=0, help="process starts to time")
    parser.add_argument("--browser", action="store_true", help="open the page in Chromium")
    parser.add_argument("--loads", type=int, default=20, help="of each page, in turn")


def run(chosen: argparse.Namespace) -> int:
    """Print what was asked for; return 1 if a goal is missed."""
    if chosen.starts:
        sys.stdout.write(start.start_report(chosen.starts))
    if not chosen.browser:
        return 0
    with start.app() as (ours, _), empty_page() as theirs, start.chromium() as browser:
        for url in (ours, theirs):
            start.wait_for(url)
        _settle(browser, ours)
        seconds, traffic = measured(browser, ours, theirs, chosen.loads)
    for name, (n, size) in traffic.items():
        sys.stdout.write(f"{name}, cold: {n} requests, {size / 1e3:,.0f} kB\n")
    met = [_report(goal, np.array(rows)) for goal, rows in seconds.items()]
    return 0 if all(met) else 1


@contextmanager
def empty_page() -> Iterator[str]:
    """Serve a page with one button; yield its URL."""
    port = free_port()
    environment = os.environ | {"GRADIO_ANALYTICS_ENABLED": "False"}
    server = subprocess.Popen(
        [sys.executable, "-c", EMPTY, str(port)],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(20)


def _settle(browser: "Browser", url: str) -> None:
    """Open the page once, so that the models are loaded and nothing is read from the disk."""
    page = browser.new_page()
    page.goto(url)
    page.wait_for_selector("#status .status", timeout=PATIENCE_MS)
    page.close()


def measured(
    browser: "Browser", ours: str, theirs: str, loads: int
) -> tuple[dict[Goal, list[tuple[float, float]]], dict[str, tuple[int, float]]]:
    """Return seconds of our page and of the empty one by goal, and each page's traffic."""
    seconds: dict[Goal, list[tuple[float, float]]] = {
        goal: [] for goal in (COLD, WARM, PRESSED, THROTTLED)
    }
    traffic: dict[str, tuple[int, float]] = {}
    for number in range(loads):
        (cold, warm, traffic["this page"]), (their_cold, their_warm, traffic["the empty page"]) = (
            visits(browser, url, script) for url, script in ((ours, OURS), (theirs, THEIRS))
        )
        seconds[COLD].append((cold, their_cold))
        seconds[WARM].append((warm, their_warm))
        seconds[PRESSED].append((seconds_pressed(browser, ours, number), their_cold))
        phones = (on_phone(browser, url, s) for url, s in ((ours, OURS), (theirs, THEIRS)))
        seconds[THROTTLED].append((next(phones), next(phones)))
    return seconds, traffic


@contextmanager
def visitor(browser: "Browser", script: str, size: Any) -> Iterator["BrowserContext"]:  # noqa: ANN401
    """Yield a new browser profile whose pages note when they are readable."""
    context = browser.new_context(viewport=size)
    context.add_init_script(script)
    try:
        yield context
    finally:
        context.close()


def visits(browser: "Browser", url: str, script: str) -> tuple[float, float, tuple[int, float]]:
    """Open a page in a new profile and again; return both times, and the first one's traffic."""
    with visitor(browser, script, SIZE) as context:
        page = context.new_page()
        sizes: list[float] = []
        network = context.new_cdp_session(page)
        network.send("Network.enable")
        network.on("Network.loadingFinished", lambda e: sizes.append(e["encodedDataLength"]))
        cold = _opened(page, url)
        page.wait_for_selector("gradio-app button", timeout=PATIENCE_MS)
        page.wait_for_timeout(3000)  # the rest of the page, so that the second visit has it
        traffic = len(sizes), sum(sizes)
        return cold, _opened(page, url), traffic


def on_phone(browser: "Browser", url: str, script: str) -> float:
    """Return the seconds until a page is readable on a slow phone."""
    with visitor(browser, script, PHONE) as context:
        page = context.new_page()
        phone, bytes_per_s = context.new_cdp_session(page), BITS_PER_S / 8
        conditions = {"offline": False, "latency": LATENCY_MS}
        speed = {"downloadThroughput": bytes_per_s, "uploadThroughput": bytes_per_s}
        phone.send("Network.enable")
        phone.send("Network.emulateNetworkConditions", conditions | speed)
        phone.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        return _opened(page, url)


def _opened(page: "Page", url: str) -> float:
    page.goto(url, wait_until="commit")
    page.wait_for_function("window.readable", timeout=PATIENCE_MS)
    return float(page.evaluate("window.readable")) / 1e3


def seconds_pressed(browser: "Browser", url: str, number: int) -> float:
    """Type another text as soon as the page is readable, and wait until it is answered."""
    text = f"The [MASK] number {number} sank near Iceland at {time.monotonic():.3f}."
    with visitor(browser, OURS, SIZE) as context:
        page = context.new_page()
        page.goto(url, wait_until="commit")
        page.wait_for_function("window.readable", timeout=PATIENCE_MS)
        before = page.evaluate("performance.timeOrigin")
        page.mouse.click(*BOX)
        page.keyboard.press("Control+a")
        page.keyboard.insert_text(text)
        page.keyboard.press("Enter")
        asked = quote_plus(text.split()[-1])
        page.wait_for_function(
            f"location.search.includes({asked!r}) && window.readable", timeout=PATIENCE_MS
        )
        # When it was readable, by the page's own clock: asked later, a busy page answers later.
        done = page.evaluate("performance.timeOrigin + window.readable")
        return (float(done) - float(before)) / 1e3


def _report(goal: Goal, rows: np.ndarray) -> bool:
    """Print one goal's times; return whether it is met."""
    ratio = paired_ratio(rows[:, 0], rows[:, 1])
    ours, theirs = np.median(rows, axis=0)
    sys.stdout.write(
        f"{goal.name}: {ours:.2f} s, the empty page's button {theirs:.2f} s: "
        f"ratio {ratio.ratio:.2f} [{ratio.low:.2f}, {ratio.high:.2f}], "
        f"goal {goal.most:.1f} ({len(rows)} loads of each in turn)\n"
    )
    return bool(ratio.ratio <= goal.most)
