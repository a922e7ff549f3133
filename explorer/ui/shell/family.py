"""Header of the columns: drawings of the models, and the choice of their sizes."""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from urllib.parse import quote

import gradio as gr

from explorer.analysis.digits import counted, repeated
from explorer.context import context
from explorer.links.page_state import PageState
from explorer.models.choice.family import (
    CLOSED,
    ONLY,
    PRESETS,
    all_specs,
    column,
    family_specs,
    has_own_name,
    is_exact,
    known_columns,
    page_columns,
    sizes_of,
    teacher_of,
)
from explorer.models.specs import MODEL_KEYS, ModelSpec, label_of
from explorer.ui.kit import strings as kit_strings
from explorer.views.markup import Attribute, Markup, el, listed, model_name, note

TITLE = "How are the three related?"
TITLE_OWN = "How is each of these models built?"
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
"""Width of the small drawing's boxes and gaps, in pixels; layers from which boxes are narrower."""
DRAWING_NARROW, COMPARED = (3, 1), (4, 1)
"""Box and gap for many layers, and for sizes side by side, where length grows with the layers."""
NAMES = ":is(h3.model-name, :is(h3, th, legend, figcaption, .head) > .model-name):not(.plain > *)"
HEADS = f"{NAMES}::after"
"""Selector of the names that have a drawing: heads of columns, rows and pictures, not sentences."""
CAPTION = (
    f"{NAMES}{{display:inline-grid;grid-template-columns:auto 1fr;align-items:center;}}"
    "h3.model-name:not(.plain > *){display:flex!important;flex-wrap:wrap;}"
    f"{NAMES}::before{{content:var(--what);order:2;grid-column:1/-1;flex:0 0 100%;"
    "color:var(--ink-soft);"
    "font:400 13px/1.35 system-ui,sans-serif;white-space:normal;}"
)
"""Style of the model's name below the name of a column."""


def family_html(start: PageState) -> Markup:
    """Return the rows of every size of every model; only those in use are visible.

    A column with a name of its own begins with the row of its model. For another model the browser
    copies one of the rows without a column.
    """
    used = sizes_of(start.family)
    rows = [
        row(spec, hidden=used.get(key) != size)
        for key in MODEL_KEYS
        for size, spec in column(key).items()
    ]
    own = [spec for spec in family_specs(start.family) if has_own_name(spec.key)]
    rows += [row(replace(spec, size=used[spec.key])) for spec in own]
    has_own = any(map(has_own_name, page_columns()))
    if has_own:
        rows += [
            row(replace(spec, key="", size=name, kind_key=spec.architecture_key), hidden=True)
            for name, spec in all_specs().items()
        ]
    drawing = el("div", text_in(), *rows)
    title = TITLE_OWN if has_own else TITLE
    return el("details", el("summary", title), el("div", drawing, class_="fm-body"), class_="fm")


def badge_of(family: str) -> str:
    """Return the key of a family's badge: its preset, ``only`` for exact columns, or empty."""
    return family if family in PRESETS else ONLY if is_exact(family) else ""


def text_in() -> Markup:
    """Return the drawing of a text above the models: its tokens, one of them masked."""
    pieces = [el("i", class_="fm-gap" if gap else "fm-piece") for gap in (0, 0, 0, 1, 0)]
    return el(
        "div",
        el("span", TEXT),
        el("span", el("b", class_="fm-from"), *pieces, class_="fm-strip", aria_hidden="true"),
        el("span", TEXT_SAYS, class_="fm-says"),
        class_="fm-text",
    )


def row(spec: ModelSpec, *, hidden: bool = False) -> Markup:
    """Return a model's name, its layers below those of its teacher, and a sentence."""
    return el(
        "div",
        model_name(spec.key, spec.label),
        el("span", INTO, *layers(spec), *OUT, class_="fm-strip", aria_hidden="true"),
        el("span", built(spec), class_="fm-says"),
        class_="fm-row",
        data_model=spec.key,
        data_size=spec.size,
        hidden=hidden,
    )


def layers(spec: ModelSpec) -> list[Markup]:
    """Return a box for each layer: stored, shared, or omitted where only the teacher has one."""
    return [_layer(number, spec.architecture.n_stored_layers) for number in numbers(spec)]


def numbers(spec: ModelSpec) -> list[int | None]:
    """Return a model's layer indices (from 0) by its teacher's layers; None for an omitted one."""
    shape, teacher = spec.architecture, teacher_of(spec)
    if teacher is None:
        return list(range(shape.n_layers))
    initialised = {layer: number for number, layer in enumerate(spec.initialised_from)}
    return [initialised.get(layer) for layer in range(teacher.architecture.n_layers)]


def _layer(number: int | None, n_stored: int) -> Markup:
    if number is None:
        return el("i", class_="fm-out")
    if number >= n_stored:
        return el("i", AGAIN, class_="fm-again")
    return el("i", str(number + 1), class_="fm-own")


def glyph_rules() -> str:
    """Return the style rules that draw each model's layers after its name.

    The drawing is a CSS mask in the model's colour: it follows the theme, and screen readers
    do not read it.
    """
    rules = [f'{HEADS}{{content:"";mask:var(--layers) 0/100% no-repeat;}}']
    default = sizes_of(PageState().family)
    # Each drawing is written once, for all columns that can hold its model.
    drawn: dict[str, tuple[str, list[str]]] = {}
    compared: dict[str, tuple[str, list[str]]] = {}
    for key in known_columns():
        name = f'[data-model="{key}"]'
        # Repeated to outweigh the classes with which Gradio prefixes each rule. A model that a
        # visitor adds later has no drawing.
        rules.append(f"{f'[data-column-{key}]' * 4} {name}{{--layers:none;--layers-width:0;}}")
        for size, spec in column(key).items():
            selector = f'[data-column-{key}="{size}"]' * 4 + f" {name}"
            selectors = f"{name},{selector}" if default.get(key) == size else selector
            drawn.setdefault(spec.name, (_drawn(*glyph(spec)), []))[1].append(selectors)
            # A row of one size has that size's drawing, whichever sizes the page shows.
            row_selector = f'[data-size="{size}"]' * 6 + name
            row_drawing = _drawn(*glyph(spec, COMPARED))
            compared.setdefault(spec.name, (row_drawing, []))[1].append(row_selector)
    both = (*drawn.values(), *compared.values())
    rules += [f"{','.join(selectors)}{{{drawing}}}" for drawing, selectors in both]
    return "".join(rules) + captions()


def captions() -> str:
    """Return the style rules that say below a column's own name which model it holds."""
    rules = []
    for key in filter(has_own_name, page_columns()):
        for size, spec in column(key).items():
            selector = f'[data-column-{key}="{size}"]' * 4 + f' [data-model="{key}"]'
            rules.append(f"{selector}{{--what:{json.dumps(what_is(spec))};}}")
    return "".join([*rules, CAPTION] if rules else [])


def what_is(spec: ModelSpec) -> str:
    """Return which model a column holds: ``BERT-large, 24 layers``."""
    name = f"{spec.model_label}: {spec.kind.label}" if spec.is_own else spec.model_label
    return f"{name}, {counted(spec.architecture.n_layers, 'layer')}"


def built(spec: ModelSpec) -> str:
    """Return how a model is built; in a column with a name of its own also which model it is."""
    return f"{what_is(spec)}: {sentence(spec)}" if spec.column_label else sentence(spec)


def drawings_of(specs: Iterable[ModelSpec]) -> str:
    """Return the rules of ``glyph_rules`` for the models of one page, whose sizes stay the same."""
    drawn = [f'[data-model="{spec.key}"]{{{_drawn(*glyph(spec))}}}' for spec in specs]
    rules = f'{HEADS}{{content:"";mask:var(--layers) 0/100% no-repeat;}}{"".join(drawn)}'
    return rules + captions()


def _drawn(drawing: str, width: int) -> str:
    return f"--layers:url('data:image/svg+xml,{quote(drawing)}');--layers-width:{width}px;"


def glyph(spec: ModelSpec, boxes_of: tuple[int, int] | None = None) -> tuple[str, int]:
    """Return the small drawing as SVG, and its width in pixels; boxes are narrower from 16 layers.

    Full boxes are stored layers, pale ones layers that share weights, dotted ones layers that only
    the teacher has.
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
    """Return a sentence on how the model's architecture differs, from its config."""
    shape, teacher = spec.architecture, teacher_of(spec)
    layers = counted(shape.n_layers, "layer")
    parts = [OWN.format(layers=layers)]
    if shape.shares_layers:
        parts = [SHARED.format(times=repeated(shape.n_layers))]
    elif teacher is not None:
        s = "s" if len(spec.initialised_from) > 1 else ""
        sources = f"layer{s} {listed([str(layer + 1) for layer in spec.initialised_from])}"
        parts = [BEGUN.format(own=layers, teacher=teacher.label, layers=sources)]
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
"""Script that closes the settings, which would cover the reason why a model was refused."""


def build_columns(start: PageState) -> dict[str, gr.Dropdown]:
    """Build a dropdown for each column; which models are on disk is looked up after page load."""
    used = sizes_of(start.family)
    with gr.Column(elem_classes="columns-of"):
        columns = {
            key: gr.Dropdown(
                column_choices(key, lambda spec: not spec.repo),
                value=used.get(key, CLOSED),
                label=label_of(key),
                info=kit_strings.TYPE_ANY if may_type() else None,
                allow_custom_value=may_type(),
            )
            for key in page_columns()
        }
        gr.HTML(note(kit_strings.OWN_MODEL))
    return columns


def may_type() -> bool:
    """Return whether a visitor may type the name of a repository."""
    return context().any_model


def on_typed(
    key: str,
    typed: str,
    progress: gr.Progress = gr.Progress(),  # noqa: B008
) -> gr.Dropdown:
    """Return the column's dropdown with the typed model selected, downloaded if it is new.

    Raises:
        Refusal: the model cannot be used in this column; the message is one sentence.
    """
    from explorer.models.choice.own import typed_model
    from explorer.models.hub import is_on_disk

    if typed == CLOSED:
        return gr.Dropdown(value=CLOSED)
    size = typed_model(key, str(typed), lambda sentence, done: progress(done, desc=sentence))
    return gr.Dropdown(choices=column_choices(key, is_on_disk), value=size)


def column_choices(key: str, is_here: Callable[[ModelSpec], bool]) -> list[tuple[str, str]]:
    """Return a column's choices: each size with its memory and its download, and no model."""
    choices = [(said(spec, is_here(spec)), size) for size, spec in column(key).items()]
    return [*choices, (kit_strings.COLUMN_CLOSED, CLOSED)]


def said(spec: ModelSpec, is_here: bool) -> str:
    """Return the label of a size: ``BERT-large, 1.3 GB to download, 2.2 GB running``."""
    from explorer.models.choice.memory import gigabytes, running_bytes, weight_bytes

    weights = weight_bytes(spec)
    return (kit_strings.COLUMN_HERE if is_here else kit_strings.COLUMN_AWAY).format(
        label=spec.model_label,
        weights=gigabytes(weights),
        running=gigabytes(weights + running_bytes(spec)),
    )


def offer_columns() -> list[gr.Dropdown]:
    """Return the dropdowns updated with the models that are on disk by now."""
    from explorer.models.hub import is_on_disk

    return [gr.Dropdown(choices=column_choices(key, is_on_disk)) for key in page_columns()]
