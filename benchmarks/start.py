"""The page as a process: its start-up time, and the tracebacks in its log."""

import os
import re
import shutil
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from benchmarks.served import free_port
from explorer.analysis.latency.ratio import paired_ratio
from explorer.assets import ROOT
from explorer.refusal import Refusal, Sentence

if TYPE_CHECKING:
    from playwright.sync_api import Browser

EAGER = (
    "import torch, gradio, transformers; "
    "from transformers import AutoTokenizer, BertForPreTraining, DistilBertForMaskedLM, "
    "AlbertForPreTraining; import explorer.ui.shell.page"
)
PATIENCE_S = 300
_BEGINS = re.compile(r"^(  \+ Exception Group )?Traceback \(most recent call last\):")
_CHAINS = re.compile(r"^(  \| )?(The above exception was the direct cause|During handling of the)")
_MARK = re.compile(r"\bfailure ([0-9a-f]{8})\b")
_ERROR = re.compile(r"^(?:  \| )?([^\s|+].*)")
"""The error of a traceback: its first line without indentation."""


def start_report(times: int) -> str:
    """Time server starts against eager imports, interleaved, and return one line."""
    rounds = np.array([(seconds_until_up(), eager_seconds()) for _ in range(times)])
    ratio = paired_ratio(rounds[:, 0], rounds[:, 1])
    up, eager = np.median(rounds, axis=0)
    return (
        f"server up after {up:.1f} s, eager imports take {eager:.1f} s: ratio {ratio.ratio:.2f} "
        f"(goal 0.50, {times} starts of each in turn)\n"
    )


def eager_seconds() -> float:
    """Return the wall seconds of a process that imports everything before it could serve."""
    before = time.perf_counter()
    subprocess.run([sys.executable, "-c", EAGER], cwd=ROOT, check=True, env=environment())
    return time.perf_counter() - before


def seconds_until_up() -> float:
    """Return the wall seconds from process start to the page's first response."""
    before = time.perf_counter()
    with app() as (url, _):
        wait_for(url)
        return time.perf_counter() - before


@contextmanager
def app(log: IO[str] | int = subprocess.DEVNULL, folder: Path = ROOT) -> Iterator[tuple[str, int]]:
    """Run ``python app.py`` of a checkout on a free port; yield its URL and process id."""
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "app.py", "--port", str(port), "--family", "mini"],
        cwd=folder,
        env=environment(),
        stdout=log,
        stderr=log,
    )
    try:
        yield f"http://127.0.0.1:{port}", server.pid
    finally:
        server.terminate()
        server.wait(20)


def environment() -> dict[str, str]:
    """Return the variables of a process that asks nobody for anything."""
    return os.environ | {"GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_OFFLINE": "1"}


@dataclass(frozen=True, slots=True)
class Traceback:
    """A logged failure, its causes included."""

    mark: str
    """Id of the request in the log line before it; empty without one."""
    last: str
    """Last line: the error itself."""


def tracebacks(log: str) -> list[Traceback]:
    """Return every traceback of a log; chained causes count as one."""
    lines, reports, chained = log.splitlines(), list[Traceback](), False
    for number, line in enumerate(lines):
        if _CHAINS.match(line):
            chained = True
        if not _BEGINS.match(line):
            continue
        last = next((error[1] for text in lines[number + 1 :] if (error := _ERROR.match(text))), "")
        if chained and reports:
            reports[-1] = Traceback(reports[-1].mark, last)
        else:
            mark = _MARK.search(lines[number - 1] if number else "")
            reports.append(Traceback(mark[1] if mark else "", last))
        chained = False
    return reports


def wait_for(url: str) -> None:
    """Wait until a page answers.

    Raises:
        Refusal: It does not answer in time.
    """
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(url, timeout=10) as reply:
                reply.read()
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.02)
    raise Refusal(Sentence("page-not-up", f"The page did not come up within {PATIENCE_S} seconds."))


@contextmanager
def chromium() -> Iterator["Browser"]:
    """Launch the system's Chromium, or Playwright's own."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        names = ("chromium-headless-shell", "chromium")
        path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


def first_paint_report() -> str:
    """Time first paint, first result and first live result in Chromium after server start."""
    with app() as (url, _), chromium() as browser:
        wait_for(url)
        page = browser.new_page()
        before = time.perf_counter()
        page.goto(url, wait_until="commit")
        page.wait_for_selector("#masthead h1", timeout=1e3 * PATIENCE_S)
        shell = time.perf_counter() - before
        page.wait_for_selector('[data-kind="predictions/gaps"] > *', timeout=1e3 * PATIENCE_S)
        result = time.perf_counter() - before
        page.wait_for_selector("#status .status", timeout=1e3 * PATIENCE_S)
        live = time.perf_counter() - before
    return (
        f"first paint {shell:.1f} s after the server is up (goal 2.5), the opening example "
        f"{result:.1f} s, computed anew {live:.1f} s\n"
    )


OPENED = (
    ("a tab without a chart", "#tab-parameters-button", "#tab-parameters .pm-row"),
    ("the first chart", "#fold-parameters-embedding .label-wrap", "#fold-parameters-embedding"),
    ("a later chart", "#fold-parameters-memory .label-wrap", "#fold-parameters-memory"),
)
"""(name, element to press, region of the picture), pressed one after the other."""
LOOKED_AT_MS = 1500
"""Pause between two presses, long enough for the last picture to be drawn."""


def charts_report(pages: int = 5) -> str:
    """Time a page's first chart, which fetches Plotly, and a later one."""
    seconds: list[list[float]] = [[] for _ in OPENED]
    with app() as (url, _), chromium() as browser:
        wait_for(url)
        for number in range(pages + 1):  # the first page warms the server's cache
            page = browser.new_page()
            page.goto(url)
            page.wait_for_selector("#status .status", timeout=1e3 * PATIENCE_S)
            for (_, pressed, place), times in zip(OPENED, seconds, strict=True):
                page.wait_for_timeout(LOOKED_AT_MS)
                before = time.perf_counter()
                page.click(pressed)
                selector = place if "row" in place else f"{place} .fg .main-svg"
                page.wait_for_selector(selector, timeout=1e3 * PATIENCE_S)
                if number:
                    times.append(time.perf_counter() - before)
            page.close()
    medians = [statistics.median(times) for times in seconds]
    parts = [
        f"{name} {times:.2f} s, {times / medians[0]:.1f} times"
        for (name, *_), times in zip(OPENED, medians, strict=True)
    ]
    return f"opened in a browser ({pages} pages): {'; '.join(parts)}; goals 1.5 s and 0.3 s\n"
