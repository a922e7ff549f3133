"""Save menu below every picture: the image, its data, and Python code to recompute them."""

import re

from explorer.analysis.records import Records
from explorer.assets import ASSETS
from explorer.ui.kit import strings
from explorer.views.markup import Markup, el, script_json

RECIPES = ASSETS / "python"
"""Folder of the recipes: ``<kind>.py`` computes a picture's numbers with plain transformers."""

AROUND = {"finds": "head.py", "prints": "print.py", "draws": "figure.py", "writes": "write.py"}
"""Code put around each recipe: paths of the bundled models, output of its rows and its figure."""
SHARED = (
    "spelling.py",
    "averaged.py",
    "heads.py",
    "likelihoods.py",
    "spans.py",
    "path.py",
    "models.py",
)
"""Code put before each recipe that uses one of its names; a file may use those after it."""
DEFINED = re.compile(r"^(?:def )?(\w+)(?= = |\()", re.MULTILINE)
"""Names of the functions and constants that a file defines."""
OF_ROWS: dict[str, tuple[str, ...]] = {
    "texts/rows": tuple(f"texts/{kind}" for kind in ("masked", "plain", "pairs", "labelled"))
}
"""Pictures of several kinds of rows, of which the browser says the one whose code computes them."""
PICTURES = ("svg", "png")
LINES = ("py", "ipynb")


def has_recipe(kind: str) -> bool:
    """Return whether there is Python code that recomputes a picture's numbers."""
    return (RECIPES / f"{kind}.py").exists()


def recipe_parts(kind: str) -> dict[str, str]:
    """Return the code that computes a picture's numbers, and by name the code around it."""
    lines = (RECIPES / f"{kind}.py").read_text("utf-8")
    for name in SHARED:
        code = _code(name)
        if any(re.search(rf"(?<![.\w]){word}\b", lines) for word in DEFINED.findall(code)):
            lines = f"{code}\n\n{lines}"
    return {"computes": lines, **{part: _code(name) for part, name in AROUND.items()}}


def _code(name: str) -> str:
    """Return the code of a file in the folder of the recipes, without its docstring of one line."""
    return (RECIPES / name).read_text("utf-8").partition("\n")[2]


def with_save_menu(kind: str, drawn: Markup, records: Records, is_picture: bool = True) -> Markup:
    """Return markup drawn in Python with its numbers and the menu that saves both.

    For a table ``is_picture`` is false: the menu then has no image formats.
    """
    menu = save_menu(kind, is_picture, may_chart=False)
    return el(
        "div",
        drawn,
        menu,
        class_="drawn",
        data_kind=kind,
        data_numbers=script_json(records.document()),
    )


def save_menu(kind: str, is_picture: bool = True, may_chart: bool = True) -> Markup | None:
    """Return the menu of one kind of picture; None for parts of the page itself.

    The style sheet shows the Plotly choice only where a chart is drawn.
    """
    if kind.startswith("page/"):
        return None
    hidden = {
        *(() if is_picture else PICTURES),
        *(() if may_chart else ("plotly",)),
        *(() if any(map(has_recipe, OF_ROWS.get(kind, (kind,)))) else LINES),
    }
    choices = {ending: name for ending, name in strings.TAKE.items() if ending not in hidden}
    buttons = [
        el("button", name, type="button", data_take=ending) for ending, name in choices.items()
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
    """Return the options of a saved image: width, theme and caption."""
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
