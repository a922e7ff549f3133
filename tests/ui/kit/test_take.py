"""The menu below every picture: there for each by the contract, and for the page's own parts not."""

import re
from pathlib import Path

import pytest

from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.take import RECIPES, has_recipe, take_menu
from explorer.ui.shell.scripts import modules

ROOT = Path(__file__).parents[3]
PICTURES = sorted(
    path.removesuffix(".js")
    for path, source in modules().items()
    if re.search(r"^export (async )?(function|const) table\b", source.decode(), re.MULTILINE)
)


@pytest.mark.parametrize("kind", PICTURES)
def test_every_picture_has_the_menu_and_a_part_of_the_page_has_none(kind):
    offered = re.findall(r'data-take="(\w+)"', Canvas(kind).html_template)
    expected = ["svg", "png", "csv", "json", *(["py"] if has_recipe(kind) else [])]
    assert offered == ([] if kind.startswith("page/") else expected)


def test_every_recipe_is_of_a_picture():
    recipes = {p.relative_to(RECIPES).with_suffix("").as_posix() for p in RECIPES.rglob("*.py")}
    sources = [path.read_text("utf-8") for path in (ROOT / "explorer/ui").rglob("*.py")]
    drawn = {kind for source in sources for kind in re.findall(r'takeable\(\s*"([^"]+)"', source)}
    assert len(drawn) >= 13
    assert recipes <= set(PICTURES) | drawn
    assert len(recipes) >= 13
    assert take_menu("page/view") is None
