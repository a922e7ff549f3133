"""The page as a process: how soon it is there, and what its log says of failures."""

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
from typing import IO, TYPE_CHECKING

import numpy as np

from benchmarks.served import free_port
from explorer.analysis.latency.ratio import paired_ratio
from explorer.assets import ROOT
from explorer.refusal import Refusal

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
"""A traceback's own lines are indented; the first that is not is the error itself."""


def start_report(times: int) -> str:
    """Server up against eager imports, in turn, as one line."""
    rounds = np.array([(seconds_until_up(), eager_seconds()) for _ in range(times)])
    ratio = paired_ratio(rounds[:, 0], rounds[:, 1])
    up, eager = np.median(rounds, axis=0)
    return (
        f"server up after {up:.1f} s, eager imports take {eager:.1f} s: ratio {ratio.ratio:.2f} "
        f"(goal 0.50, {times} starts of each in turn)\n"
    )


def eager_seconds() -> float:
    """Wall seconds of a process that imports everything before it could serve."""
    before = time.perf_counter()
    subprocess.run([sys.executable, "-c", EAGER], cwd=ROOT, check=True, env=_environment())
    return time.perf_counter() - before


def seconds_until_up() -> float:
    """Wall seconds from process start to the page's first answer."""
    before = time.perf_counter()
    with app() as (url, _):
        wait_for(url)
        return time.perf_counter() - before


@contextmanager
def app(log: IO[str] | int = subprocess.DEVNULL) -> Iterator[tuple[str, int]]:
    """``python app.py`` on a free port: its address, and the number of its process."""
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "app.py", "--port", str(port), "--family", "mini"],
        cwd=ROOT,
        env=_environment(),
        stdout=log,
        stderr=log,
    )
    try:
        yield f"http://127.0.0.1:{port}", server.pid
    finally:
        server.terminate()
        server.wait(20)


def _environment() -> dict[str, str]:
    return os.environ | {"GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_OFFLINE": "1"}


@dataclass(frozen=True, slots=True)
class Traceback:
    """One report of a failure, its causes included."""

    mark: str
    """The id of the request that it was logged under; empty where there is none."""
    last: str
    """Its last line: the error itself."""


def tracebacks(log: str) -> list[Traceback]:
    """Find every traceback of a log, one for an error with all its causes."""
    lines, found, chained = log.splitlines(), list[Traceback](), False
    for number, line in enumerate(lines):
        if _CHAINS.match(line):
            chained = True
        if not _BEGINS.match(line):
            continue
        last = next((error[1] for one in lines[number + 1 :] if (error := _ERROR.match(one))), "")
        if chained and found:
            found[-1] = Traceback(found[-1].mark, last)
        else:
            mark = _MARK.search(lines[number - 1] if number else "")
            found.append(Traceback(mark[1] if mark else "", last))
        chained = False
    return found


def wait_for(url: str) -> None:
    """Return when a page answers.

    Raises:
        Refusal: it does not.
    """
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(url, timeout=10) as reply:
                reply.read()
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.02)
    raise Refusal(f"The page did not come up within {PATIENCE_S} seconds.")


@contextmanager
def chromium() -> Iterator["Browser"]:
    """The system's Chromium, or Playwright's own."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        names = ("chromium-headless-shell", "chromium")
        found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


def first_paint_report() -> str:
    """First paint, first result and first live result in Chromium after the server is up."""
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
"""What is pressed one after the other, and where the picture then stands."""
LOOKED_AT_MS = 1500
"""Between two presses: nobody opens the next before the last is drawn."""


def charts_report(pages: int = 5) -> str:
    """How long the first chart of a page takes, which fetches Plotly, and how long a later one."""
    seconds: list[list[float]] = [[] for _ in OPENED]
    with app() as (url, _), chromium() as browser:
        wait_for(url)
        for number in range(pages + 1):  # of the first the server knows nothing yet
            page = browser.new_page()
            page.goto(url)
            page.wait_for_selector("#status .status", timeout=1e3 * PATIENCE_S)
            for (_, pressed, place), found in zip(OPENED, seconds, strict=True):
                page.wait_for_timeout(LOOKED_AT_MS)
                before = time.perf_counter()
                page.click(pressed)
                drawn = place if "row" in place else f"{place} .fg .main-svg"
                page.wait_for_selector(drawn, timeout=1e3 * PATIENCE_S)
                if number:
                    found.append(time.perf_counter() - before)
            page.close()
    medians = [statistics.median(found) for found in seconds]
    said = [
        f"{name} {found:.2f} s, {found / medians[0]:.1f} times"
        for (name, *_), found in zip(OPENED, medians, strict=True)
    ]
    return f"opened in a browser ({pages} pages): {'; '.join(said)}; goals 1.5 s and 0.3 s\n"
