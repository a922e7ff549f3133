"""The small menu below every picture: the picture, its rows, and how to compute them again."""

from explorer.assets import ASSETS
from explorer.ui.kit import strings
from explorer.views.markup import Markup, el
from explorer.views.numbers import Numbers

RECIPES = ASSETS / "python"
"""``<kind>.py`` computes a picture's numbers with plain transformers."""

AROUND = {"finds": "head.py", "prints": "print.py", "draws": "figure.py", "writes": "write.py"}
"""What is put around the lines of each: where the bundled models are; its rows and its figure."""
SPELLING = RECIPES / "spelling.py"
"""What is put in front of those that write pieces as the page does."""
PICTURES = ("svg", "png")
LINES = ("py", "ipynb")


def has_recipe(kind: str) -> bool:
    """Whether a picture's numbers can be computed again by a few lines of Python."""
    return (RECIPES / f"{kind}.py").exists()


def recipe_parts(kind: str) -> dict[str, str]:
    """The lines that compute a picture's numbers, and by name those that are put around them."""
    lines = (RECIPES / f"{kind}.py").read_text("utf-8")
    if "spelled(" in lines:
        lines = f"{SPELLING.read_text('utf-8').partition(chr(10))[2]}\n\n{lines}"
    around = {
        part: (RECIPES / name).read_text("utf-8").partition("\n")[2]
        for part, name in AROUND.items()
    }
    return {"computes": lines, **around}


def with_save_menu(kind: str, drawn: Markup, numbers: Numbers, is_picture: bool = True) -> Markup:
    """What Python drew, its numbers, and the menu that saves both; a table is no picture."""
    menu = save_menu(kind, is_picture, may_chart=False)
    return el("div", drawn, menu, class_="drawn", data_kind=kind, data_numbers=numbers.json)


def save_menu(kind: str, is_picture: bool = True, may_chart: bool = True) -> Markup | None:
    """The menu of one kind of picture; the page's own parts are no pictures and have none.

    A chart's figure is offered where the style sheet sees that one is drawn.
    """
    if kind.startswith("page/"):
        return None
    left_out = {
        *(() if is_picture else PICTURES),
        *(() if may_chart else ("plotly",)),
        *(() if has_recipe(kind) else LINES),
    }
    offered = {ending: name for ending, name in strings.TAKE.items() if ending not in left_out}
    buttons = [
        el("button", name, type="button", data_take=ending) for ending, name in offered.items()
    ]
    look = el("div", *_looks(), class_="take-look") if is_picture else None
    status = el("span", role="status", data_failed=strings.NOT_TAKEN)
    return el(
        "details",
        el("summary", strings.SAVE),
        el(
            "div", *buttons, look, status, class_="take-list", role="group", aria_label=strings.SAVE
        ),
        class_="take",
    )


def _looks() -> list[Markup]:
    """What a saved image may have otherwise than the page: its width, its theme, no caption."""
    choices = [
        el(
            "label",
            strings.LOOK[name],
            el(
                "select",
                *(el("option", strings.LOOK.get(v, v), value=v) for v in values),
                name=name,
            ),
        )
        for name, values in strings.LOOKS.items()
    ]
    box = el("input", type="checkbox", name="caption", checked=True)
    return [*choices, el("label", strings.LOOK["caption"], box)]
