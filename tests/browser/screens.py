"""Each tab as it opens, on a desk and on a phone: ``python -m tests.browser.screens`` draws them anew.

They lie in ``docs/screens``; a test says that each shows its headline and the beginning of its picture.
"""

import shutil
from io import BytesIO

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from benchmarks.start import app, wait_for
from explorer.assets import ROOT
from explorer.links.page_state import TABS
from tests.browser.conftest import FLAGS

SCREENS = ROOT / "docs" / "screens"
SIZES = {1440: 900, 390: 844}
PICTURE = ":is(.canvas > *, table, .card, svg, canvas, .columns > *)"
"""What a tab shows below its headline."""


def opened(page: Page, url: str, tab: str) -> None:
    """The tab on the text that the page opens with, at the top, drawn."""
    page.goto(f"{url}/?tab={tab}&__theme=light", wait_until="domcontentloaded")
    drawn(page, tab)


def drawn(page: Page, tab: str) -> None:
    """The tab has its headline and its picture, and is at the top."""
    page.locator("#status .status").wait_for(timeout=120_000)
    page.locator(f"#tab-{tab} .finding").first.wait_for()
    page.locator(f"#tab-{tab} {PICTURE}:visible").first.wait_for()
    page.evaluate("scrollTo(0, 0)")


def write(page: Page, name: str) -> None:
    """What is on the screen, in few colours (64 mixed the models' own): they are part of the repository."""
    page.wait_for_timeout(1500)
    picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(SCREENS / f"{name}.png", optimize=True)


def main() -> None:
    """Every tab at every size."""
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
