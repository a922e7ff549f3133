"""Input bar: the text, its masked words, the family, the device and the precision."""

from dataclasses import dataclass
from functools import partial
from typing import Any, TypedDict, cast

import gradio as gr

from explorer.assets import examples
from explorer.inference.ask import DTYPES
from explorer.links.page_state import PageState
from explorer.models.choice.family import PRESETS
from explorer.ui.kit import strings
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.folds import INPUT_BAR
from explorer.ui.kit.running import OF_HUB
from explorer.ui.shell.family import (
    CHANGED_JS,
    REFUSED_JS,
    build_columns,
    may_type,
    on_typed,
)
from explorer.ui.shell.routes import CARD
from explorer.views.markup import Markup, el, join, note, script_json

IN_THE_ROW = 8
"""Number of examples in the row; the others are under “More”."""
COMPARE_JS = (
    "(text, family, device, dtype) =>"
    " { window.explorer.tell('compare', {text, family, device, dtype}); }"
)


@dataclass(frozen=True, slots=True, eq=False)
class InputBar:
    """The components of the input bar, in reading order."""

    text: gr.Textbox
    words: Canvas
    compare: gr.Button
    message: gr.HTML
    """Reason why there is no answer; near the text box, so that it stays in view."""
    family: gr.Radio
    columns: dict[str, gr.Dropdown]
    """The size in each column, by model key."""
    device: gr.Dropdown
    dtype: gr.Dropdown

    @property
    def chosen(self) -> list[gr.components.Component]:
        """The inputs that make a PageState: text, family, device, dtype."""
        return [self.text, self.family, self.device, self.dtype]


class BoxData(TypedDict):
    """Text of the box, and the strings of its buttons."""

    text: str
    hint: str
    cut: str
    mask: str
    unmask: str
    fill: str
    edit: str
    recent: str
    first: str
    second: str
    remove: str


def box_data(text: str) -> BoxData:
    """Return the data of the box's words for the browser."""
    return cast(BoxData, {"text": text, **strings.BOX})


def build_input_bar(start: PageState) -> InputBar:
    """Build the text box with clickable words, the examples, and the settings behind the badge."""
    with gr.Column(elem_id=INPUT_BAR):
        with gr.Row(elem_id="text-row", equal_height=False):
            text = gr.Textbox(
                start.text,
                label=strings.TEXT_LABEL,
                placeholder=strings.TEXT_PLACEHOLDER,
                lines=1,  # so that Enter compares and Shift+Enter ends the line
                max_lines=8,
                elem_id="text",
                max_length=1_100_000,
            )
            words = Canvas("page/words", script_json(box_data(start.text)), elem_id="words")
            compare = gr.Button(strings.COMPARE, variant="primary", elem_id="compare")
        message = gr.HTML("", elem_id="message")
        gr.HTML(examples_html(), elem_id="examples")
    family, columns, device, dtype = build_settings(start)
    return InputBar(text, words, compare, message, family, columns, device, dtype)


def build_settings(
    start: PageState,
) -> tuple[gr.Radio, dict[str, gr.Dropdown], gr.Dropdown, gr.Dropdown]:
    """Build the settings that the badge opens: models, device and precision."""
    with gr.Column(elem_id="settings"):
        preset = start.family if start.family in PRESETS else None
        family = gr.Radio(strings.FAMILIES, value=preset, label=strings.FAMILY_LABEL)
        columns = build_columns(start)
        gr.HTML(miniatures_note())
        with gr.Row():
            device = gr.Dropdown(
                device_choices(start.device), value=start.device, label=strings.DEVICE_LABEL
            )
            dtype = gr.Dropdown(list(DTYPES), value=start.dtype, label=strings.DTYPE_LABEL)
    return family, columns, device, dtype


def miniatures_note() -> Markup:
    """Return the note on the bundled models, with the link to their card."""
    card = el("a", strings.MINIATURES_CARD, href=CARD, target="_blank")
    return note(strings.MINIATURES, "(", card, ")", strings.PUBLISHED)


def wire_input_bar(bar: InputBar) -> None:
    """Connect the controls to the browser's state, which then requests the view."""
    gr.on(
        [bar.compare.click, bar.text.submit, bar.family.input, bar.device.input, bar.dtype.input],
        None,
        bar.chosen,
        js=COMPARE_JS,
        api_visibility="private",
    )
    for key, size in bar.columns.items():
        chosen = [bar.text, size, bar.device, bar.dtype]
        notify: dict[str, Any] = {"js": CHANGED_JS.format(key=key), "api_visibility": "private"}
        if not may_type():
            size.input(None, chosen, **notify)
            continue
        handler = plain_errors(partial(on_typed, key))
        event = size.input(handler, [size], [size], **OF_HUB)
        event.success(None, chosen, **notify)
        event.failure(None, js=REFUSED_JS, api_visibility="private")


def device_choices(*devices: str) -> list[tuple[str, str]]:
    """Return the choices of devices; ``auto`` is always one, for requests before they are known."""
    return [(strings.AUTO_DEVICE, "auto"), *((name, name) for name in devices if name != "auto")]


def examples_html() -> Markup:
    """Return a row of examples, the rest under “More”, and the button for a second sentence.

    The row is one stop of the tab key (roving tabindex): the arrow keys move within it.
    """
    first, others = examples()[:IN_THE_ROW], examples()[IN_THE_ROW:]
    chips = [_chip(example, stop=not place) for place, example in enumerate(first)]
    more = el(
        "button", strings.MORE_EXAMPLES, type="button", class_="chip", popovertarget="more-examples"
    )
    rest = [_chip(example, stop=not place) for place, example in enumerate(others)]
    add = el("button", strings.ADD_SENTENCE, type="button", class_="chip", id="add-sentence")
    row = {"class_": "chips", "role": "group", "aria_label": strings.EXAMPLES_LABEL}
    tries = el(
        "div",
        el("span", strings.EXAMPLES_LABEL, class_="lead"),
        el("div", *chips, data_rove=True, **row),
        more,
        el("div", el("div", *rest, data_rove=True, **row), id="more-examples", popover="auto"),
        add,
        class_="tries",
    )
    return join(tries, el("p", class_="hint shows", role="status"))


def _chip(example: dict[str, Any], *, stop: bool) -> Markup:
    """Return the button of an example, with its text and the tab and fold that it opens."""
    data = {f"data_{name}": example.get(name) for name in ("text", "tab", "fold")}
    return el(
        "button",
        example["label"],
        type="button",
        class_="chip",
        title=example["shows"],
        tabindex=None if stop else -1,
        **data,
    )
