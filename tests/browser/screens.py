"""Screenshots of each opening tab, on desktop and phone: ``python -m tests.browser.screens``.

Stored in ``docs/screens``. ``tabs/test_first_screen.py`` checks that each tab shows its headline and
the beginning of its picture, without the files.
"""

import shutil
from io import BytesIO

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from benchmarks.start import app, wait_for
from explorer.assets import ROOT
from explorer.links.tabs import TABS
from tests.browser.conftest import FLAGS

SCREENS = ROOT / "docs" / "screens"
SIZES = {1440: 900, 390: 844}
PICTURE = ":is(.canvas > *, table, .card, svg, canvas, .columns > *)"
"""Selector of a tab's content below its headline."""


def opened(page: Page, url: str, tab: str) -> None:
    """Open the tab with the page's opening text, and wait until it is drawn."""
    page.goto(f"{url}/?tab={tab}&__theme=light", wait_until="domcontentloaded")
    drawn(page, tab)


def drawn(page: Page, tab: str) -> None:
    """Wait for the tab's headline and picture, and scroll to the top."""
    page.locator("#status .status").wait_for(timeout=120_000)
    page.locator(f"#tab-{tab} .finding").first.wait_for()
    page.locator(f"#tab-{tab} {PICTURE}:visible").first.wait_for()
    page.evaluate("scrollTo(0, 0)")


def write(page: Page, name: str) -> None:
    """Save a screenshot in 256 colours, since it is committed (64 merged the models' colours)."""
    page.wait_for_timeout(1500)
    picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(SCREENS / f"{name}.png", optimize=True)


def main() -> None:
    """Capture every tab at every size."""
    SCREENS.mkdir(parents=True, exist_ok=True)
    with app() as (url, _), sync_playwright() as playwright:
        wait_for(url)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for width, height in SIZES.items():
            page = browser.new_page(viewport={"width": width, "height": height})
            for tab in TABS:
                opened(page, url, tab)
                write(page, f"{tab}-{width}")
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
