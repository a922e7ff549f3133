"""What a failing browser test leaves: pictures, console output and Playwright's trace of each context."""

import os
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
SHOTS = ROOT / "shots"
PICTURE_MS = 15_000
EMPTY_PLACES = ("about:blank", "/gradio_api/app_id")
"""Where a page is that no test uses now."""
SNAPSHOTS = "SNAPSHOTS" in os.environ
"""Add the page's elements at every action to the traces: ``SNAPSHOTS=1 python -m tests PATH``."""


def record(context) -> None:
    """Record a context from now on: its console in ``context.told``, its actions in a trace."""
    context.told = []
    context.on("console", lambda said: context.told.append(f"{said.type}: {said.text}"))
    context.on("weberror", lambda error: context.told.append(f"page error: {error.error}"))
    context.on("requestfailed", lambda asked: context.told.append(f"failed: {asked.url}"))
    context.tracing.start(sources=True, snapshots=SNAPSHOTS)


def begin(context) -> None:
    """Forget what the tests before left in a context that is used again."""
    context.told.clear()
    context.tracing.stop_chunk()
    context.tracing.start_chunk()


def is_used(context) -> bool:
    """Whether one of the pages of a context shows something: a tab that waits for its next visitor is empty."""
    return any(not page.url.endswith(EMPTY_PLACES) for page in context.pages)


def keep(browser, test: str) -> Path:
    """Write what every open context in use shows, said and did; return the folder."""
    folder = SHOTS / re.sub(r"[^A-Za-z0-9_.-]+", "-", test.removeprefix("tests/browser/"))[-120:]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    contexts = browser.contexts
    for number, context in enumerate([*filter(is_used, contexts)] or contexts):
        for nth, page in enumerate(context.pages):
            _picture(page, folder / f"page-{number}-{nth}.png")
        (folder / f"console-{number}.txt").write_text("\n".join(context.told), "utf-8")
        context.tracing.stop_chunk(path=folder / f"trace-{number}.zip")
        context.tracing.start_chunk()
    return folder.relative_to(ROOT)


def _picture(page, path: Path) -> None:
    """Take a picture; where the page gives none, write the reason in its place."""
    from playwright.sync_api import Error

    try:
        page.screenshot(path=path, full_page=True, timeout=PICTURE_MS)
    except Error as error:
        path.with_suffix(".txt").write_text(str(error), "utf-8")
