"""Browser fixtures: a server and a Chromium a session; guarded pages, what a failure leaves."""

from typing import Any

import pytest

from tests import needs
from tests.browser import evidence, prompt
from tests.browser.server import served
from tests.browser.viewport import resize
from tests.browser.walked import walk
from tests.waiting import until

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
]
WAIT_MS = 180_000
"""Long on purpose: a busy machine is slow, and a broken page fails at any limit."""


@pytest.fixture(scope="session")
def app_url(tmp_path_factory):
    """Yield the URL of ``python app.py`` with the bundled weights; a module may override it."""
    log = tmp_path_factory.mktemp("server") / "app.log"
    with served(log, "--family", "mini", HF_HUB_OFFLINE="1") as url:
        yield url


@pytest.fixture(scope="session")
def chromium():
    """Yield a headless Chromium: the system's if there is one, else Playwright's own."""
    from playwright.sync_api import sync_playwright

    path = needs.chromium()
    if path is None:
        pytest.skip(needs.NO_CHROMIUM)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        for name in ("new_context", "new_page"):
            setattr(browser, name, patient(getattr(browser, name)))
        yield browser
        browser.close()


def patient(make):
    """Return a maker whose contexts and pages are recorded and wait as long as the other tests'."""

    def patiently(**options):
        made = make(**options)
        made.set_default_timeout(WAIT_MS)
        evidence.record(getattr(made, "context", made))
        return made

    return patiently


TOASTS = """new MutationObserver(changes => {
  for (const {addedNodes} of changes) for (const node of addedNodes) {
    const toast = node.nodeType === 1 && (node.matches('.toast-body') ? node : node.querySelector('.toast-body'));
    if (toast) setTimeout(() => console.error(`toast: ${toast.innerText.replace(/\\s+/g, ' ')}`), 0);
  }
}).observe(document, {childList: true, subtree: true});"""
"""Script that logs every toast, to catch those that disappear before the test ends."""
HUNG = ("once", "route", "add_init_script", "expose_function", "expose_binding")
"""Methods of a page that attach something to it for good."""
SIDEWAYS = """() => {
  const {scrollWidth, clientWidth} = document.documentElement;
  return scrollWidth > clientWidth ? `${scrollWidth} px wide in a window of ${clientWidth}` : null;
}"""


class Guard:
    """Checks for behaviour that a page must never show unless its test expects it.

    Requests to other hosts, uncaught errors, console errors and warnings, failed requests, toasts,
    and a document wider than its window.
    """

    def __init__(self, home: str, page) -> None:
        self.home = home
        self.known = [home, "data:", "blob:", "about:"]
        self.problems: list[str] = []
        self.pages: list[Any] = []
        self.is_changed = False
        """The test has attached something that only closing the page removes."""
        self.listeners: list[tuple[str, Any]] = []
        self.page(page)
        for name in HUNG:
            setattr(page, name, self._noted(getattr(page, name)))
        page.on = self._listening(page.on)
        page.guard = self

    def _listening(self, listen):
        """Wrap ``page.on`` to record its listeners, which are removed at the end."""

        def listening(event, listener):
            self.listeners.append((event, listener))
            return listen(event, listener)

        return listening

    def _noted(self, hang):
        """Wrap a method of the page to record its use."""

        def noted(*values, **options):
            self.is_changed = True
            return hang(*values, **options)

        return noted

    def request(self, request) -> None:
        if not request.url.startswith(tuple(self.known)):
            self.problems.append(f"third-party request: {request.url}")

    def expect(self, told: str) -> int:
        """Wait for an expected problem with this text; drop it and return how often it came."""

        def has_come():
            self.pages[-1].wait_for_timeout(20)  # lets Playwright dispatch its events
            return any(told in problem for problem in self.problems)

        until(has_come, WAIT_MS / 1000, lambda: f"nothing said {told!r}: {self.problems}")
        before = len(self.problems)
        self.problems[:] = [problem for problem in self.problems if told not in problem]
        return before - len(self.problems)

    def failed(self, request) -> None:
        if request.failure != "net::ERR_ABORTED":  # leaving a page aborts its pending requests
            self.problems.append(f"request failed: {request.url}: {request.failure}")

    def sideways(self, page) -> None:
        """Record a page that scrolls horizontally at its current width."""
        if (
            not page.is_closed()
            and page.url.startswith(self.home)
            and (overflow := page.evaluate(SIDEWAYS))
        ):
            self.problems.append(f"scrolls sideways: {overflow}")

    def console(self, message) -> None:
        script = message.location["url"]
        is_ours = "/js/" in script and not script.endswith("plotly.min.js")
        if message.type == "error" or (message.type == "warning" and is_ours):
            self.problems.append(f"console {message.type}: {message.text}")

    def error(self, error) -> None:
        self.problems.append(f"page error: {error.error}")

    def page(self, page) -> None:
        self.pages.append(page)

    @property
    def heard(self):
        """The listeners by event; no routes, because they disable Chromium's cache."""
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
        page = self.pages[0]
        for event, listener in self.heard.items():
            context.remove_listener(event, listener)
        for event, listener in self.listeners:
            page.remove_listener(event, listener)
        for name in ("on", *HUNG):
            delattr(page, name)


PERMISSIONS = ["clipboard-read", "clipboard-write"]
N_KEPT = 2
AS_EMULATED = dict.fromkeys(
    ("media", "color_scheme", "reduced_motion", "forced_colors", "contrast"), "null"
)
QUIET_PLACE = evidence.EMPTY_PLACES[-1]
"""Path of a tiny response from the page's own server."""


def told_toasts(context):
    """Return a new page that logs its toasts."""
    page = context.new_page()
    page.add_init_script(TOASTS)
    return page


class Visitor:
    """A browser tab that tests reuse in turn, reset so that each is a first visit.

    The tab's process keeps its compiled code, which halves the time to open a page.
    """

    def __init__(self, chromium, comes_again: bool, **options) -> None:
        self.browser, self._comes_again, self._options = chromium, comes_again, options
        self.context = self.page = None

    def come(self, is_new: bool):
        """Return the context and its only page, empty; ``is_new`` asks for one without a cache."""
        if self.context is None:
            self.context = self.browser.new_context(permissions=PERMISSIONS, **self._options)
            self.context.on("close", self._is_gone)
        else:
            evidence.begin(self.context)
        if self.page and is_new:
            self.page.close()
        if self.page is None or self.page.is_closed():
            self.page = told_toasts(self.context)
        return self.context, self.page

    def _is_gone(self, _context) -> None:
        self.context = self.page = None

    def leave(self, guard, is_sound: bool) -> None:
        """Reset the context: no listeners, no interception, at most one empty page."""
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

    def stay(self, guard, is_sound: bool) -> None:
        """Leave the page as it is for the journey's next step, unless it is not sound."""
        if self.context is None:
            return
        guard.leave(self.context)
        self.context.unroute_all()
        for page in self.context.pages:
            if page is not self.page or not is_sound or guard.is_changed:
                page.close()

    def end(self, home) -> None:
        """Empty the page at the end of a journey."""
        if self.context is not None and self.page and not self.page.is_closed():
            self._empty(self.page, home)

    def _empty(self, page, home) -> None:
        from playwright.sync_api import Error

        try:
            page.goto(f"{home}{QUIET_PLACE}")
        except Error:  # the test has stopped its server
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
    """Return the reusable tabs: for a test's first and second page, and for journeys."""
    return [Visitor(chromium, True) for _ in range(N_KEPT + 1)]


def emptied(page, origin) -> None:
    """Clear the page's storage in the browser, but keep its compiled code."""
    everything = {"origin": origin, "storageTypes": "cookies,local_storage,indexeddb"}
    session = page.context.new_cdp_session(page)
    session.send("Storage.clearDataForOrigin", everything)
    session.detach()


@pytest.fixture(scope="module")
def traveller(visitors, app_url):
    """Yield the tab whose page the steps of one file share."""
    visitors[-1].end(app_url)
    yield visitors[-1]
    visitors[-1].end(app_url)


@pytest.fixture
def visit(traveller, app_url, request):
    """Return a function that shows a link in the file's one page: ``visit("/?tab=depth", width=390)``.

    The first step opens the page; the others go from link to link in it, as Back and Forward do.
    What a step leaves, the next one finds: storage, history and the list of recent texts. A step
    that needs its own has ``page_at``.
    """
    guards = []

    def visit(link="/", width=1440, height=900, theme="light", media=None):
        context, page = (traveller.context, traveller.page) if guards else traveller.come(False)
        if not guards:
            guards.append(Guard(app_url, page))
            guards[0].watch(context)
        page.set_default_timeout(WAIT_MS)
        page.emulate_media(**AS_EMULATED | (media or {}))
        if page.url.startswith(app_url) and QUIET_PLACE not in page.url:
            page.evaluate(FRESH, theme)
            resize(page, width, height)
            walk(page, link)
        else:
            page.set_viewport_size({"width": width, "height": height})
            emptied(page, app_url)
            goes(page, f"{app_url}{link}", theme)
            page.locator("#status .status").wait_for()
        page.mouse.move(0, 0)
        return page

    yield visit
    for guard in guards:
        for page in traveller.context.pages if traveller.context else ():
            guard.sideways(page)
        is_sound = not guard.problems and not getattr(request.node, "left", None)
        if guard.problems:
            _keep(request.node, traveller.browser)
        traveller.stay(guard, is_sound)
        assert not guard.problems, "\n".join(guard.problems)


FRESH = """theme => {
  document.activeElement?.blur();
  document.querySelectorAll(':popover-open').forEach(open => open.hidePopover());
  scrollTo(0, 0);
  if (document.body.classList.contains('dark') !== (theme === 'dark')) document.querySelector('#theme-switch').click();
}"""


def goes(page, url, theme) -> None:
    """Open an address in one of the themes."""
    page.goto(f"{url}{'&' if '?' in url else '?'}__theme={theme}", wait_until="domcontentloaded")


@pytest.fixture
def page_at(chromium, visitors, app_url, request):
    """Return a function that opens a guarded page: ``page_at("/?tab=attention", width=390)``.

    At the end of the test every page is checked: no third-party request, no console error, no
    uncaught exception. A test that expects one empties ``page.guard.problems``. Each page is
    another visitor's: the first two use the reusable tabs, further ones and those with options
    their own. ``media`` is what the page emulates. With path None the page stays empty, in a new
    process without a memory cache, so that every script can be intercepted.
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
            goes(page, f"{app_url}{path}", theme)
        return page

    yield page_at
    for page, guard, _ in opened:
        guard.sideways(page)
    problems = [problem for _, guard, _ in opened for problem in guard.problems]
    is_sound = not problems and not getattr(request.node, "left", None)
    if problems:
        _keep(request.node, chromium)
    for _, guard, visitor in opened:
        visitor.leave(guard, is_sound)
    assert not problems, "\n".join(problems)


def _keep(item, browser) -> None:
    """Write what a failing test leaves, once; ``item.left`` is the folder."""
    if not getattr(item, "left", None):
        item.left = evidence.keep(browser, item.nodeid)


@pytest.fixture(scope="session", autouse=True)
def _patient_expectations():
    from playwright.sync_api import expect

    expect.set_options(timeout=WAIT_MS)
    prompt.expectations()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Name the folder with what a failing test leaves in the last line of its report."""
    report = (yield).get_result()
    browser = getattr(item, "funcargs", {}).get("chromium")
    if not report.failed or browser is None:
        return
    if call.when == "call":
        _keep(item, browser)
    if left := getattr(item, "left", None):
        report.sections.append(("pictures, console output and traces", str(left)))
