"""HTML that several tabs' pictures share: a picture's place, and controls that need a script."""

from collections.abc import Sequence

from explorer.views.markup import Markup, el


def canvas(kind: str, *drawn: "Markup | str | None") -> Markup:
    """Build the place of a picture, with the room of the menu below it."""
    room = el("div", "\u00a0", class_="take", aria_hidden="true")
    return el("div", el("div", *drawn, class_="canvas", data_kind=kind), room)


def controls(*children: "Markup | None", class_: str) -> Markup:
    """Build a row of controls as the page will have them; without scripts it is not there."""
    return el("div", *children, class_=f"{class_} needs-script", inert=True)


def menu(label: str, value: str) -> Markup:
    """Build a menu that shows what is chosen, as ``picker`` of kit/choice.js."""
    return el("label", el("span", label), el("select", el("option", value)), class_="aw-choice")


def buttons(label: str, names: Sequence[str], chosen: int) -> Markup:
    """Build a row of buttons of which one is pressed, as ``choice`` of kit/choice.js."""
    return el("div", el("span", label), el("div", *_row(names, chosen)), class_="aw-choice")


def switch(names: Sequence[str], chosen: int) -> Markup:
    """Build a switch of which one side is pressed, as ``switcher`` of kit/choice.js."""
    return el("div", *_row(names, chosen), class_="pm-switch")


def _row(names: Sequence[str], chosen: int) -> list[Markup]:
    return [
        el("button", name, type="button", aria_pressed=str(i == chosen).lower())
        for i, name in enumerate(names)
    ]
