"""Draw the preview picture of shared links: ``python deploy/preview.py`` writes assets/preview.png.

Needs Chromium and Playwright (tests/requirements.txt). The picture has no model's answer, only
shapes, so that new weights never make it untrue.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from explorer.models.specs import BASE  # noqa: E402
from explorer.ui.first.preview import HEIGHT, PICTURE, WIDTH  # noqa: E402
from explorer.ui.kit.strings import TAGLINE, TITLE  # noqa: E402
from explorer.views.markup import Markup, el, join  # noqa: E402
from explorer.views.theme import colour_rules  # noqa: E402

STYLE = """
body { margin: 0; padding: 60px 72px; width: 1056px; height: 510px; background: #fff; color: #111;
  font: 30px/1.35 system-ui, sans-serif; display: flex; flex-direction: column; }
h1 { font-size: 68px; line-height: 1; margin: 0 0 18px; letter-spacing: -1px; }
p { margin: 0; color: #444; }
main { display: flex; gap: 48px; flex: 1; align-items: flex-end; }
section { flex: 1; }
.stack { height: 230px; display: flex; flex-direction: column; justify-content: flex-end;
  gap: 4px; }
.stack i { height: 15px; border-radius: 3px; background: var(--fill); }
.stack i.again { background: none; box-shadow: inset 0 0 0 2px var(--fill); opacity: .55; }
b { color: var(--ink); display: block; margin-top: 14px; }
small { font-size: 22px; color: #444; }
"""


def column(key: str) -> Markup:
    """Return a model's column: a full bar for each stored layer, an outline for a repeated one."""
    spec = BASE[key]
    stored, applied = spec.architecture.n_stored_layers, spec.architecture.n_layers
    bars = [el("i", class_="again") for _ in range(applied - stored)]
    bars += [el("i", Markup("")) for _ in range(stored)]
    caption = f"{stored} layers" if stored == applied else f"1 layer, applied {applied} times"
    colours = f"--fill: var(--{key}-fill); --ink: var(--{key})"
    return el(
        "section",
        el("div", *bars, class_="stack"),
        el("b", spec.label),
        el("small", caption),
        style=colours,
    )


def card() -> str:
    """Return the whole picture as a page."""
    columns = el("main", *(column(key) for key in ("bert", "distilbert", "albert")))
    style = Markup(f"<style>{colour_rules()}{STYLE}</style>")
    return join(style, el("h1", TITLE), el("p", TAGLINE), columns)


def main() -> None:
    """Render the page in Chromium and save the screenshot."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.set_content(card())
        page.screenshot(path=str(ROOT / "assets" / PICTURE))
        browser.close()


if __name__ == "__main__":
    main()
