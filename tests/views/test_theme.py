"""Every model has a colour that can be read on both pages, told from the style sheet itself."""

import re
from pathlib import Path

import pytest

from explorer.lists.views.charts import SHADE
from explorer.models.specs import KINDS, MORE_KINDS
from explorer.views.theme import COLOURS, PAGES, chart_template, colour_rules

CSS = Path(__file__).parents[2] / "assets" / "css"
PAPERS = re.findall(r"--(?:paper|panel): (#[0-9a-f]{6})", (CSS / "page.css").read_text("utf-8"))
LIGHT, DARK = PAPERS[:2], PAPERS[2:]


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first, second):
    """WCAG 2.2, relative luminance."""
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def test_every_model_has_a_colour_and_nothing_else_has():
    assert list(COLOURS) == [*KINDS, *MORE_KINDS]


@pytest.mark.parametrize("key", COLOURS)
def test_names_and_bars_stand_out_from_both_pages(key):
    colour = COLOURS[key]
    assert len(LIGHT) == len(DARK) == 2
    assert min(contrast(colour.ink, paper) for paper in LIGHT) >= 4.5
    assert min(contrast(colour.ink_dark, paper) for paper in DARK) >= 4.5
    assert min(contrast(colour.fill, paper) for paper in PAPERS) >= 3


def test_the_style_sheets_name_no_model_colour_of_their_own():
    rules = colour_rules()
    for key in COLOURS:
        assert f"--column-{key}:" in rules
        assert f"--column-{key}-fill:" in rules
    values = {v for c in COLOURS.values() for v in (c.fill, c.ink, c.ink_dark)}
    sheets = "".join(path.read_text("utf-8").lower() for path in CSS.rglob("*.css"))
    assert not [value for value in values if value in sheets]


def test_a_sign_alone_is_set_apart_from_the_sentence_around_it():
    from explorer.views.markup import word

    assert "“.”" in word(".")
    assert "“" not in word("paris")


def test_no_sentence_says_darker_where_the_dark_theme_is_brighter():
    from pathlib import Path

    words = Path(__file__).parents[2].glob("explorer/**/ui/**/*strings.py")
    assert [p.name for p in words if "darker" in p.read_text("utf-8").lower()] == []


SOURCES = Path(__file__).parents[2]
COMPOSED = ("pq-to_", "cl-claim", "cl-live", "cl-source")
"""Beginnings of names that are put together where they are used: `pq-{name}`, `cl-${name}`."""
GRADIOS = {"block", "button", "dark", "divider", "form", "gradio-container", "html-container"}
GRADIOS |= {
    "footer",
    "lg",
    "toast-wrap",
    "icon",
    "input-container",
    "label-wrap",
    "main",
    "open",
    "progress-bar",
    "prose",
    "row",
}
GRADIOS |= {
    "contain",
    "progress-level",
    "progress-text",
    "secondary-wrap",
    "selected",
    "slider_input_container",
    "status-tracker",
    "tab-container",
    "tab-wrapper",
    "textpoint",
    "wrap",
}
"""What Gradio calls its own parts."""


def test_every_class_that_a_style_sheet_names_is_built_somewhere():
    code = [
        path.read_text("utf-8")
        for suffix in ("py", "js")
        for folder in ("explorer", "assets/js")
        for path in (SOURCES / folder).rglob(f"*.{suffix}")
    ]
    built = GRADIOS | set(re.findall(r"[\w-]+", "\n".join(code)))
    for sheet in CSS.glob("*.css"):
        rules = re.sub(r"/\*.*?\*/", "", sheet.read_text("utf-8"), flags=re.DOTALL)
        named = set(
            re.findall(r"\.([a-z][\w-]*)", " ".join(re.findall(r"([^{}]+)\{", rules)), re.I)
        )
        idle = {name for name in named - built if not name.startswith(COMPOSED)}
        assert not idle, f"{sheet.name} styles what nothing builds"


@pytest.mark.long
@pytest.mark.parametrize("theme", PAGES)
@pytest.mark.parametrize("key", COLOURS)
@pytest.mark.parametrize("share", [0, 0.25, 0.5, 0.75, 1])
def test_counts_are_read_in_every_shade_of_a_confusion_matrix(theme, key, share):
    page, fill = PAGES[theme], COLOURS[key].fill
    parts = [
        round(int(above, 16) * SHADE * share + int(below, 16) * (1 - SHADE * share))
        for above, below in ((fill[i : i + 2], page.paper[i : i + 2]) for i in (1, 3, 5))
    ]
    ink = chart_template(theme).data.heatmap[0].textfont.color
    assert contrast(ink, "#" + "".join(f"{part:02x}" for part in parts)) >= 4.5
