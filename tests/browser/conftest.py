"""One server and one Chromium for the session; every page is guarded and leaves a picture if it fails."""

import logging
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from gradio_client import Client

from tests import needs
from tests.waiting import until

logger = logging.getLogger(__name__)
ROOT = Path(__file__).parents[2]
SHOTS = ROOT / "shots"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
]
START_SECONDS = 180
WAIT_MS = 90_000
"""Patient on purpose: a busy machine is slow, a broken page never comes."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as reply:
            return reply.status == 200
    except (urllib.error.URLError, OSError):
        return False


@contextmanager
def served(log, *flags, **environment):
    """The address of ``python app.py`` with these flags, once its models are loaded."""
    port = free_port()
    command = [sys.executable, "app.py", "--port", str(port), *flags]
    environment = os.environ | {"GRADIO_ANALYTICS_ENABLED": "False"} | environment
    with log.open("w") as out:
        server = subprocess.Popen(
            command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT, env=environment
        )
    url, deadline = f"http://127.0.0.1:{port}", time.monotonic() + START_SECONDS
    try:
        while not answers(url):
            if server.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"app.py did not come up:\n{log.read_text()[-3000:]}")
            time.sleep(0.2)
        # The first page of a session should not have to wait for the models to load.
        Client(url, verbose=False).predict("a [MASK]", "mini", 1, api_name="/predict")
        yield url
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()


@pytest.fixture(scope="session")
def app_url(tmp_path_factory):
    """``python app.py`` on the bundled weights; a module may serve its own instead."""
    log = tmp_path_factory.mktemp("server") / "app.log"
    with served(log, "--family", "mini", HF_HUB_OFFLINE="1") as url:
        yield url


@pytest.fixture(scope="session")
def chromium():
    """A headless Chromium: the system's where there is one, else Playwright's own."""
    from playwright.sync_api import sync_playwright

    path = needs.chromium()
    if path is None:
        pytest.skip(needs.NO_CHROMIUM)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


LEAVING = re.compile("signal is aborted|BodyStreamBuffer was aborted|Connection errored out")
"""What Gradio's browser code logs of a page that is left before it is answered."""


TOASTS = """new MutationObserver(changes => {
  for (const {addedNodes} of changes) for (const node of addedNodes) {
    const toast = node.nodeType === 1 && (node.matches('.toast-body') ? node : node.querySelector('.toast-body'));
    if (toast) setTimeout(() => console.error(`toast: ${toast.innerText.replace(/\\s+/g, ' ')}`), 0);
  }
}).observe(document, {childList: true, subtree: true});"""
"""A toast is logged, so that one that is gone before the test ends is heard of too."""
HUNG = ("on", "once", "route", "add_init_script", "expose_function", "expose_binding")
"""How a test hangs something on a page that stays there."""
SIDEWAYS = """() => {
  const {scrollWidth, clientWidth} = document.documentElement;
  return scrollWidth > clientWidth ? `${scrollWidth} px wide in a window of ${clientWidth}` : null;
}"""


class Guard:
    """What a page must never do unless its test says so.

    Call another host, raise an error, log one or a warning, fail a request, show a toast, or be wider than its window.
    """

    def __init__(self, home: str, page) -> None:
        self.home = home
        self.known = [home, "data:", "blob:", "about:"]
        self.problems: list[str] = []
        self.pages: list[Any] = []
        self.is_changed = False
        """Whether the test has hung something on the page that only its end takes off."""
        self.page(page)
        for name in HUNG:
            setattr(page, name, self._noted(getattr(page, name)))
        page.guard = self

    def _noted(self, hang):
        """Hang something on the page, and note it."""

        def noted(*values, **options):
            self.is_changed = True
            return hang(*values, **options)

        return noted

    def request(self, request) -> None:
        if not request.url.startswith(tuple(self.known)):
            self.problems.append(f"third-party request: {request.url}")

    def expect(self, told: str) -> None:
        """Wait for a problem that says this, which the test has brought about, and forget it."""

        def has_come():
            self.pages[-1].wait_for_timeout(20)  # meanwhile Playwright tells what it has heard
            return any(told in one for one in self.problems)

        until(has_come, 30, lambda: f"nothing said {told!r}: {self.problems}")
        self.problems[:] = [one for one in self.problems if told not in one]

    def failed(self, request) -> None:
        if request.failure != "net::ERR_ABORTED":  # a page that is left aborts what it waits for
            self.problems.append(f"request failed: {request.url}: {request.failure}")

    def sideways(self, page) -> None:
        """Note a page that scrolls sideways at the width it has now."""
        if (
            not page.is_closed()
            and page.url.startswith(self.home)
            and (told := page.evaluate(SIDEWAYS))
        ):
            self.problems.append(f"scrolls sideways: {told}")

    def console(self, message) -> None:
        script = message.location["url"]
        is_ours = "/js/" in script and not script.endswith("plotly.min.js")
        if message.type == "error" or (message.type == "warning" and is_ours):
            self.problems.append(f"console {message.type}: {message.text}")

    def error(self, error) -> None:
        self.problems.append(f"page error: {error.error}")

    def page(self, page) -> None:
        self.pages.append(page)
        page.on("domcontentloaded", self.left)

    def left(self, _page) -> None:
        """Another document begins: what was logged of leaving the one before is forgotten."""
        self.problems[:] = [one for one in self.problems if not LEAVING.search(one)]

    @property
    def heard(self):
        """What is listened to: no routes, with which Chromium keeps no cache."""
        return {
            "request": self.request,
            "requestfailed": self.failed,
            "console": self.console,
            "weberror": self.error,
            "page": self.page,
        }

    def watch(self, context) -> None:
        for event, listener in self.heard.items():
            context.on(event, listener)

    def leave(self, context) -> None:
        for event, listener in self.heard.items():
            context.remove_listener(event, listener)
        for name in HUNG:
            delattr(self.pages[0], name)
        for page in self.pages:
            page.remove_listener("domcontentloaded", self.left)


PERMISSIONS = ["clipboard-read", "clipboard-write"]
N_KEPT = 2
AS_EMULATED = dict.fromkeys(
    ("media", "color_scheme", "reduced_motion", "forced_colors", "contrast"), "null"
)
QUIET_PLACE = "/gradio_api/app_id"
"""A few letters from the page's own server."""


def told_toasts(context):
    """A new page, which logs its toasts."""
    page = context.new_page()
    page.add_init_script(TOASTS)
    return page


class Visitor:
    """A browser's tab that many tests have one after the other, each as a visitor who was never here.

    The process of a tab keeps what it compiled: a page opens in it in half the time.
    """

    def __init__(self, chromium, comes_again: bool, **options) -> None:
        self._chromium, self._comes_again, self._options = chromium, comes_again, options
        self.context = self.page = None

    def come(self, is_new: bool):
        """The context and its only page, which shows nothing, and is new where nothing may be known to its process."""
        if self.context is None:
            self.context = self._chromium.new_context(permissions=PERMISSIONS, **self._options)
            self.context.on("close", self._is_gone)
            self.context.set_default_timeout(WAIT_MS)
        if self.page and is_new:
            self.page.close()
        if self.page is None or self.page.is_closed():
            self.page = told_toasts(self.context)
        return self.context, self.page

    def _is_gone(self, _context) -> None:
        self.context = self.page = None

    def leave(self, guard, is_sound: bool) -> None:
        """The context as it was: nobody listens, nothing is intercepted, no page is open but an empty one."""
        if self.context is None:
            return
        guard.leave(self.context)
        if not self._comes_again:
            self.context.close()
            return
        self.context.unroute_all()
        for page in self.context.pages:
            if page is self.page and is_sound and not guard.is_changed:
                self._empty(page, guard.home)
            else:
                page.close()

    def _empty(self, page, home) -> None:
        from playwright.sync_api import Error

        try:
            page.goto(f"{home}{QUIET_PLACE}")
        except Error:  # the test has ended its server
            page.close()
            return
        page.evaluate("sessionStorage.clear()")
        page.mouse.move(0, 0)
        page.emulate_media(**AS_EMULATED)
        session = self.context.new_cdp_session(page)
        session.send("Page.resetNavigationHistory")
        session.detach()


@pytest.fixture(scope="session")
def visitors(chromium):
    """Most tests' first and second page."""
    return [Visitor(chromium, True) for _ in range(N_KEPT)]


def emptied(page, origin) -> None:
    """What the page keeps in the browser is gone, and the code that is compiled stays."""
    everything = {"origin": origin, "storageTypes": "cookies,local_storage,indexeddb"}
    session = page.context.new_cdp_session(page)
    session.send("Storage.clearDataForOrigin", everything)
    session.detach()


@pytest.fixture
def page_at(chromium, visitors, app_url, request):
    """``page_at("/?tab=attention", width=390, theme="dark")`` opens a guarded page.

    When the test ends every page opened is checked: no third-party request, no console error, no
    uncaught exception. A test that expects one empties ``page.guard.problems``. Each page is another
    visitor's: the first two have kept tabs, emptied, further ones and those with options their
    own. ``media`` is what it emulates. Where the path is None it stays empty, and every script is
    asked for: what a process has in its memory Chromium lets nobody intercept.
    """
    opened = []

    def page_at(path="/", width=1440, height=900, theme="light", media=None, **options):
        is_kept = len(opened) < N_KEPT and not options
        visitor = visitors[len(opened)] if is_kept else Visitor(chromium, False, **options)
        context, page = visitor.come(is_new=path is None)
        guard = Guard(app_url, page)
        opened.append((page, guard, visitor))
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(**(media or {}))
        emptied(page, app_url)
        guard.watch(context)
        if path is not None:
            page.goto(
                f"{app_url}{path}{'&' if '?' in path else '?'}__theme={theme}",
                wait_until="domcontentloaded",
            )
        return page

    yield page_at
    is_sound = not getattr(request.node, "failed_call", False)
    for page, guard, _ in opened:
        guard.sideways(page)
    problems = [problem for _, guard, _ in opened for problem in guard.problems]
    for number, (page, guard, visitor) in enumerate(opened):
        if problems or not is_sound:
            _picture(page, f"{request.node.name}-{number}")
        visitor.leave(guard, is_sound and not problems)
    assert not problems, "\n".join(problems)


def _picture(page, name: str) -> None:
    from playwright.sync_api import Error

    SHOTS.mkdir(exist_ok=True)
    path = SHOTS / f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', name)[:120]}.png"
    try:
        page.screenshot(path=path, full_page=True, timeout=15_000)
        logger.warning("picture of the failure: %s", path)
    except Error as error:
        logger.warning("no picture could be taken: %s", error)


@pytest.fixture(scope="session", autouse=True)
def _patient_expectations():
    from playwright.sync_api import expect

    expect.set_options(timeout=WAIT_MS)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Tell ``page_at`` whether the test itself failed, so that it takes a picture."""
    outcome = yield
    if call.when == "call":
        item.failed_call = outcome.get_result().failed
