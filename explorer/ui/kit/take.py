"""The small menu below every picture: the picture, its rows, and how to compute them again."""

from explorer.assets import ASSETS
from explorer.ui.kit import words as texts
from explorer.views.markup import Markup, el

RECIPES = ASSETS / "python"
"""``<kind>.py`` computes a picture's numbers with plain transformers."""


def has_recipe(kind: str) -> bool:
    """Whether a picture's numbers can be computed again by a few lines of Python."""
    return (RECIPES / f"{kind}.py").exists()


def take_menu(kind: str) -> Markup | None:
    """The menu of one kind of picture; the page's own parts are no pictures and have none."""
    if kind.startswith("page/"):
        return None
    offered = {ending: name for ending, name in texts.TAKE.items() if ending != "py"}
    if has_recipe(kind):
        offered |= {"py": texts.TAKE["py"]}
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
