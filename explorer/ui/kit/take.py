"""The small menu below every picture: the picture, its rows, and how to compute them again."""

from explorer.assets import ASSETS
from explorer.ui.kit import words as texts
from explorer.views.markup import Markup, el
from explorer.views.numbers import Numbers

RECIPES = ASSETS / "python"
"""``<kind>.py`` computes a picture's numbers with plain transformers."""

PICTURES = ("svg", "png")


def has_recipe(kind: str) -> bool:
    """Whether a picture's numbers can be computed again by a few lines of Python."""
    return (RECIPES / f"{kind}.py").exists()


def takeable(kind: str, drawn: Markup, numbers: Numbers, is_picture: bool = True) -> Markup:
    """What Python drew, its numbers, and the menu that saves both; a table is no picture."""
    menu = take_menu(kind, is_picture)
    return el("div", drawn, menu, class_="drawn", data_kind=kind, data_numbers=numbers.json)


def take_menu(kind: str, is_picture: bool = True) -> Markup | None:
    """The menu of one kind of picture; the page's own parts are no pictures and have none."""
    if kind.startswith("page/"):
        return None
    left_out = {*(() if is_picture else PICTURES), *(() if has_recipe(kind) else ("py",))}
    offered = {ending: name for ending, name in texts.TAKE.items() if ending not in left_out}
    buttons = [
        el("button", name, type="button", data_take=ending) for ending, name in offered.items()
    ]
    status = el("span", role="status", data_failed=texts.NOT_TAKEN)
    return el(
        "details",
        el("summary", texts.SAVE),
        el("div", *buttons, status, class_="take-list", role="group", aria_label=texts.SAVE),
        class_="take",
    )
