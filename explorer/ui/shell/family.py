"""The header of the columns: each model's sizes, drawn and chosen."""

from collections.abc import Callable
from urllib.parse import quote

import gradio as gr

from explorer.analysis.digits import counted, repeated
from explorer.links.page_state import PageState
from explorer.models.choice.family import column, sizes_of, teacher_of
from explorer.models.specs import MODEL_KEYS, ModelSpec, label_of
from explorer.ui.kit import strings as kit_strings
from explorer.views.markup import Attribute, Markup, el, listed, model_name

TITLE = "How are the three related?"
TEXT = "Your text"
TEXT_SAYS = "is tokenized for each model, which then predicts the masked word."
AGAIN = "↻"
OWN = "{layers}, each with its own weights"
BEGUN = "{own}, initialised from {layers} of {teacher}"
SHARED = "one layer, applied {times}"
NARROW = "{e}-dimensional embeddings, projected to {h}"
NO_SEGMENTS = "no segment embeddings"
NO_POOLER = "no pooler"
INTO = el("b", class_="fm-into")
OUT = (el("b", class_="fm-to"), el("i", class_="fm-word"))
BOX, GAP, MANY = 10, 2, 16
"""The small drawing's boxes and what is between them, in pixels; how many need narrower ones."""
DRAWING_NARROW, COMPARED = (3, 1), (4, 1)
"""Box and gap of many layers, and of sizes beside each other: twice the layers, twice as long."""
HEADS = (
    ":is(h3.model-name, :is(h3, th, legend, figcaption, .head) > .model-name)"
    ":not(.plain > *)::after"
)
"""Where a name has its drawing: at the head of a column, a row or a picture, not in a sentence."""


def family_html(start: PageState) -> Markup:
    """Every size of every model, those in use in sight."""
    used = sizes_of(start.family)
    drawn = [
        row(spec, hidden=used.get(key) != size)
        for key in MODEL_KEYS
        for size, spec in column(key).items()
    ]
    drawing = el("div", text_in(), *drawn)
    return el("details", el("summary", TITLE), el("div", drawing, class_="fm-body"), class_="fm")


def text_in() -> Markup:
    """The text above the models that read it: its pieces, one of them a gap."""
    pieces = [el("i", class_="fm-gap" if gap else "fm-piece") for gap in (0, 0, 0, 1, 0)]
    return el(
        "div",
        el("span", TEXT),
        el("span", el("b", class_="fm-from"), *pieces, class_="fm-strip", aria_hidden="true"),
        el("span", TEXT_SAYS, class_="fm-says"),
        class_="fm-text",
    )


def row(spec: ModelSpec, *, hidden: bool = False) -> Markup:
    """A model's name, its layers below those of its teacher, and a sentence."""
    return el(
        "div",
        model_name(spec.key, spec.label),
        el("span", INTO, *layers(spec), *OUT, class_="fm-strip", aria_hidden="true"),
        el("span", sentence(spec), class_="fm-says"),
        class_="fm-row",
        data_model=spec.key,
        data_size=spec.size,
        hidden=hidden,
    )


def layers(spec: ModelSpec) -> list[Markup]:
    """One box for each layer: stored, applied again, or left out where the teacher has one."""
    return [_layer(number, spec.architecture.n_stored_layers) for number in numbers(spec)]


def numbers(spec: ModelSpec) -> list[int | None]:
    """A model's layers by the places of its teacher's, counted from 0; None for one left out."""
    shape, teacher = spec.architecture, teacher_of(spec)
    if teacher is None:
        return list(range(shape.n_layers))
    begun = {layer: number for number, layer in enumerate(spec.initialised_from)}
    return [begun.get(layer) for layer in range(teacher.architecture.n_layers)]


def _layer(number: int | None, n_stored: int) -> Markup:
    if number is None:
        return el("i", class_="fm-out")
    if number >= n_stored:
        return el("i", AGAIN, class_="fm-again")
    return el("i", str(number + 1), class_="fm-own")


def glyph_rules() -> str:
    """Each model's layers as a small drawing behind its name, as style rules.

    A mask in the model's colour: it follows the theme, and no name is longer for a screen reader.
    """
    rules = [f'{HEADS}{{content:"";mask:var(--layers) 0/100% no-repeat;}}']
    usual = sizes_of(PageState().family)
    for key in MODEL_KEYS:
        name = f'[data-model="{key}"]'
        # As often as it takes to outweigh the classes that Gradio writes before each rule. What a
        # visitor adds later has no drawing.
        rules.append(f"{f'[data-{key}]' * 4} {name}{{--layers:none;--layers-width:0;}}")
        for size, spec in column(key).items():
            place = f'[data-{key}="{size}"]' * 4 + f" {name}"
            places = f"{name},{place}" if usual.get(key) == size else place
            rules.append(f"{places}{{{_drawn(*glyph(spec))}}}")
            # A row of one size has that size's drawing, whatever the page shows.
            own = f'[data-size="{size}"]' * 6 + name
            rules.append(f"{own}{{{_drawn(*glyph(spec, COMPARED))}}}")
    return "".join(rules)


def _drawn(drawing: str, width: int) -> str:
    return f"--layers:url('data:image/svg+xml,{quote(drawing)}');--layers-width:{width}px;"


def glyph(spec: ModelSpec, boxes_of: tuple[int, int] | None = None) -> tuple[str, int]:
    """The small drawing as SVG, and its width in pixels: narrower boxes from 16 layers on.

    Full boxes: stored layers; pale ones: the same again; dotted ones: the teacher's alone.
    """
    stored, places = spec.architecture.n_stored_layers, numbers(spec)
    box, gap = boxes_of or ((BOX, GAP) if len(places) < MANY else DRAWING_NARROW)
    boxes = [
        el("rect", x=place * (box + gap) + 0.5, **_box(number, stored, box))
        for place, number in enumerate(places)
    ]
    width = len(places) * (box + gap) - gap
    size: dict[str, Attribute] = {
        "xmlns": "http://www.w3.org/2000/svg",
        "width": width,
        "height": BOX,
    }
    return str(el("svg", *boxes, **size)), width


def _box(number: int | None, n_stored: int, width: int) -> dict[str, Attribute]:
    frame: dict[str, Attribute] = {
        "y": 0.5,
        "width": width - 1,
        "height": BOX - 1,
        "rx": 2 if width > COMPARED[0] else 1,
        "stroke": "#000",
    }
    if number is None:
        return frame | {"fill": "none", "stroke-dasharray": "1.5 1.5"}
    return frame | {"fill-opacity": 1 if number < n_stored else 0.2}


def sentence(spec: ModelSpec) -> str:
    """What sets the model apart, as its shape says."""
    shape, teacher = spec.architecture, teacher_of(spec)
    layers = counted(shape.n_layers, "layer")
    parts = [OWN.format(layers=layers)]
    if shape.shares_layers:
        parts = [SHARED.format(times=repeated(shape.n_layers))]
    elif teacher is not None:
        s = "s" if len(spec.initialised_from) > 1 else ""
        begun = f"layer{s} {listed([str(layer + 1) for layer in spec.initialised_from])}"
        parts = [BEGUN.format(own=layers, teacher=teacher.label, layers=begun)]
    if shape.d_embedding < shape.d_model:
        parts.append(NARROW.format(e=shape.d_embedding, h=shape.d_model))
    if not shape.n_segments:
        parts.append(NO_SEGMENTS)
    if not shape.has_pooler:
        parts.append(NO_POOLER)
    return "; ".join(parts) + "."


CHANGED_JS = (
    "(text, size, device, dtype) =>"
    " {{ window.explorer.tell('column', {{key: '{key}', size, text, device, dtype}}); }}"
)
REFUSED_JS = "() => { document.getElementById('settings').hidePopover(); }"
"""Why a model was refused stands on the page, which the open list covers."""


def build_columns(start: PageState) -> dict[str, gr.Dropdown]:
    """A list for each column; what lies on this machine is known once the page is up."""
    used = sizes_of(start.family)
    with gr.Column(elem_classes="columns-of"):
        return {
            key: gr.Dropdown(
                column_choices(key, lambda spec: not spec.repo),
                value=used.get(key),
                label=label_of(key),
                info=kit_strings.TYPE_ANY if may_type() else None,
                allow_custom_value=may_type(),
            )
            for key in MODEL_KEYS
        }


def may_type() -> bool:
    """Whether a visitor may type the name of a repository."""
    from explorer.models.choice.own import ANY

    return ANY[-1]


def on_typed(
    key: str,
    typed: str,
    progress: gr.Progress = gr.Progress(),  # noqa: B008
) -> gr.Dropdown:
    """The column's list with what was typed in it, downloaded if it is new.

    Raises:
        Refusal: it cannot stand there, in one sentence.
    """
    from explorer.models.choice.own import typed_model
    from explorer.models.hub import is_on_disk

    size = typed_model(key, str(typed), lambda said, done: progress(done, desc=said))
    return gr.Dropdown(choices=column_choices(key, is_on_disk), value=size)


def column_choices(key: str, is_here: Callable[[ModelSpec], bool]) -> list[tuple[str, str]]:
    """The sizes of a column, each with its bytes and whether it has to be downloaded."""
    return [(said(spec, is_here(spec)), size) for size, spec in column(key).items()]


def said(spec: ModelSpec, is_here: bool) -> str:
    """A size in one line: ``BERT-large, 1.3 GB to download, 2.2 GB running``."""
    from explorer.models.choice.memory import gigabytes, running_bytes, weight_bytes

    weights = weight_bytes(spec)
    return (kit_strings.COLUMN_HERE if is_here else kit_strings.COLUMN_AWAY).format(
        label=spec.label,
        weights=gigabytes(weights),
        running=gigabytes(weights + running_bytes(spec)),
    )


def offer_columns() -> list[gr.Dropdown]:
    """The lists anew, with what is on this machine by now."""
    from explorer.models.hub import is_on_disk

    return [gr.Dropdown(choices=column_choices(key, is_on_disk)) for key in MODEL_KEYS]
