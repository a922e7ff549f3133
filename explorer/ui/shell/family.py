"""The drawing of the family: what is shared, left out, applied again; the doors to the tabs."""

from collections.abc import Mapping

from explorer.models.specs import FAMILIES, ModelSpec, family_specs
from explorer.page_state import PageState
from explorer.ui.shell import family_words as texts
from explorer.ui.shell.tabs import TABS
from explorer.views.markup import Markup, el, listed, model_name

TAKE_OVER_JS = "window.explorer.tell('family', element)"
INTO = el("b", class_="fm-into")
OUT = (el("b", class_="fm-to"), el("i", class_="fm-word"))
LABELS = {tab.ID: (tab.LABEL, tab.QUESTION) for tab in TABS}


def family_html(start: PageState) -> Markup:
    """Every family's drawing, the one in use in sight, above a path of four steps."""
    drawings = [
        el(
            "div",
            text_in(),
            *rows(family_specs(family)),
            data_family=family,
            hidden=family != start.family,
        )
        for family in FAMILIES
    ]
    body = el("div", *drawings, path(), class_="fm-body")
    return el("details", el("summary", texts.TITLE), body, class_="fm", open=True)


def text_in() -> Markup:
    """The text above the models that read it: its pieces, one of them a gap."""
    pieces = [el("i", class_="fm-gap" if gap else "fm-piece") for gap in (0, 0, 0, 1, 0)]
    return el(
        "div",
        el("span", texts.TEXT),
        el("span", el("b", class_="fm-from"), *pieces, class_="fm-strip", aria_hidden="true"),
        el("span", texts.TEXT_SAYS, class_="fm-says"),
        class_="fm-text",
    )


def rows(specs: tuple[ModelSpec, ...]) -> list[Markup]:
    """One row for each model: its name, its layers below those of its teacher, and a sentence."""
    by_key = {spec.key: spec for spec in specs}
    return [
        el(
            "div",
            model_name(spec.key, spec.label),
            el("span", INTO, *layers(spec, by_key), *OUT, class_="fm-strip", aria_hidden="true"),
            el("span", sentence(spec, by_key), class_="fm-says"),
            class_="fm-row",
            data_model=spec.key,
        )
        for spec in specs
    ]


def layers(spec: ModelSpec, by_key: Mapping[str, ModelSpec]) -> list[Markup]:
    """One box for each layer: stored, applied again, or left out where the teacher has one."""
    shape, teacher = spec.architecture, by_key.get(spec.kind.teacher)
    numbers: list[int | None] = list(range(shape.n_layers))
    if teacher is not None and spec.initialised_from:
        begun = {layer: number for number, layer in enumerate(spec.initialised_from)}
        numbers = [begun.get(layer) for layer in range(teacher.architecture.n_layers)]
    return [_layer(number, shape.n_stored_layers) for number in numbers]


def _layer(number: int | None, n_stored: int) -> Markup:
    if number is None:
        return el("i", class_="fm-out")
    if number >= n_stored:
        return el("i", texts.AGAIN, class_="fm-again")
    return el("i", str(number + 1), class_="fm-own")


def sentence(spec: ModelSpec, by_key: Mapping[str, ModelSpec]) -> str:
    """What sets the model apart, as its shape says."""
    shape, teacher = spec.architecture, by_key.get(spec.kind.teacher)
    parts = [texts.OWN.format(n=shape.n_layers)]
    if shape.shares_layers:
        parts = [texts.SHARED.format(n=shape.n_layers)]
    elif teacher is not None and spec.initialised_from:
        begun = listed([str(layer + 1) for layer in spec.initialised_from])
        parts = [texts.BEGUN.format(n=shape.n_layers, teacher=teacher.label, layers=begun)]
    if shape.d_embedding < shape.d_model:
        parts.append(texts.NARROW.format(e=shape.d_embedding, h=shape.d_model))
    if not shape.n_segments:
        parts.append(texts.NO_SEGMENTS)
    if not shape.has_pooler:
        parts.append(texts.NO_POOLER)
    return "; ".join(parts) + "."


def path() -> Markup:
    """Predict, look inside, use, cost: each step with the doors to its tabs."""
    steps = [
        el("li", el("strong", title), f" {says} ", *map(door, doors))
        for title, says, doors in texts.STEPS
    ]
    return el("ol", *steps, class_="fm-path")


def door(tab: str) -> Markup:
    """A button that opens a tab; what the tab answers is its title."""
    label, question = LABELS[tab]
    return el("button", label, type="button", class_="chip door", data_tab=tab, title=question)
