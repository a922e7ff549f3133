"""The menu below every picture: there for each by the contract, and for the page's own parts not."""

import re
from pathlib import Path

from explorer.ui.first.scripts import modules
from explorer.ui.kit.canvas import OF_ROWS, RECIPES, Canvas, has_recipe, save_menu, strings

ROOT = Path(__file__).parents[3]
SOURCES = [path.read_text("utf-8") for path in (ROOT / "explorer").rglob("ui/**/*.py")]
CHARTS = {kind for source in SOURCES for kind in re.findall(r'\bChart\(\s*"([^"]+)"', source)}
ROWS = r"^export (?:(?:async )?(?:function|const) table\b|\{.*\btable\b)"
PICTURES = sorted(
    CHARTS
    | {
        path.removesuffix(".js")
        for path, source in modules().items()
        if re.search(ROWS, source.decode(), re.MULTILINE)
    }
    - {"kit/figure"}
)


NO_LINES = {
    # timed
    "latency/measure",
    "latency/samples",
    "latency/times",
    "latency/ratios",
    "latency/claim",
    "latency/sweep",
    "latency/faster",
    "latency/limits",
    "latency/recorded",
    "latency/choose",
    "layer/recurrent",
    # over all bundled sentences: what layer/contexts does once
    "layer/held_out",
    # printed elsewhere, or measured when the weights were made
    "claims/shares",
    "claims/ledger",
    "claims/checks",
    "claims/results",
    "claims/benchmarks",
    "claims/retention",
    "tasks/objectives",
    "tasks/printed",
    # learned on the page; rounded to bytes for a viewer of others; a form
    "distillation/live",
    "attention/bertviz",
    "parameters/build",
    # the texts/* lines compute the rows; what is drawn of them is counted from those
    "texts/charts",
    # of trainings on the page
    "texts/tuning",
    # a form
    "texts/ask",
    # counted from shapes alone
    "parameters/tensors",
}
"""What plain transformers cannot compute again."""


def test_every_picture_has_the_menu_and_a_part_of_the_page_has_none():
    found, wanted = {}, {}
    for kind in PICTURES:
        found[kind] = re.findall(r'data-take="(\w+)"', Canvas(kind).html_template)
        lines = ["py", "ipynb"] if any(map(has_recipe, OF_ROWS.get(kind, (kind,)))) else []
        expected = ["svg", "png", "csv", "json", "plotly", *lines]
        wanted[kind] = [] if kind.startswith("page/") else expected
    assert found == wanted
    assert "data-take" not in Canvas(PICTURES[0], saves=False).html_template


def drawn_by_python():
    """The kinds of markup that hold numbers, by their names in the source."""
    return {
        kind for source in SOURCES for kind in re.findall(r'with_save_menu\(\s*"([^"]+)"', source)
    }


def test_every_recipe_is_of_a_picture_and_what_has_none_is_known():
    recipes = {p.relative_to(RECIPES).with_suffix("").as_posix() for p in RECIPES.glob("*/*.py")}
    every = {kind for kind in PICTURES if not kind.startswith("page/")} | drawn_by_python()
    every = {of for kind in every for of in OF_ROWS.get(kind, (kind,))}
    assert recipes <= every
    assert every - recipes == NO_LINES
    assert save_menu("page/view") is None


def test_a_menu_without_lines_says_nothing_of_python():
    said = {kind: re.sub(r'data-\w+="[^"]*"', "", save_menu(kind)) for kind in NO_LINES}
    assert [kind for kind, words in said.items() if "ython" in words] == []


def test_the_menu_is_a_group_by_its_name():
    assert f'role="group" aria-label="{strings.SAVE}"' in str(save_menu("predictions/gaps"))
