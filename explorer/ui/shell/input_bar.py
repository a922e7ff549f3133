"""What the reader sets: the text, its masked words, the family, the device and the precision."""

import json
from dataclasses import dataclass
from functools import cache

import gradio as gr

from explorer.assets import DATA
from explorer.page_state import DTYPES, PageState
from explorer.ui.kit import words as texts
from explorer.ui.kit.canvas import Canvas
from explorer.views.markup import script_json

EXAMPLES = DATA / "examples.json"
COMPARE_JS = (
    "(text, family, device, dtype) =>"
    " { window.explorer.tell('compare', {text, family, device, dtype}); }"
)


@dataclass(frozen=True, slots=True, eq=False)
class InputBar:
    """The components of the input bar, in reading order."""

    text: gr.Textbox
    compare: gr.Button
    message: gr.HTML
    """Why there is no answer: in sight of what was typed, however long that is."""
    words: Canvas
    family: gr.Radio
    device: gr.Dropdown
    dtype: gr.Dropdown

    @property
    def chosen(self) -> list[gr.components.Component]:
        """The inputs that make a PageState: text, family, device, dtype."""
        return [self.text, self.family, self.device, self.dtype]


def build_input_bar(start: PageState) -> InputBar:
    """One text box, its words as buttons, the examples, and the machine's settings."""
    with gr.Column(elem_id="input-bar"):
        with gr.Row(elem_id="text-row", equal_height=False):
            text = gr.Textbox(
                start.text,
                label=texts.TEXT_LABEL,
                placeholder=texts.TEXT_PLACEHOLDER,
                lines=2,
                max_lines=8,
                elem_id="text",
                scale=9,
                max_length=1_100_000,
            )
            compare = gr.Button(texts.COMPARE, variant="primary", elem_id="compare", scale=1)
        message = gr.HTML("", elem_id="message")
        words = Canvas("page/words", words_canvas(start.text), elem_id="words")
        with gr.Accordion(texts.SETTINGS, open=False, elem_id="settings"), gr.Row():
            family = gr.Radio(texts.FAMILIES, value=start.family, label=texts.FAMILY_LABEL)
            device = gr.Dropdown(
                device_choices(start.device), value=start.device, label=texts.DEVICE_LABEL
            )
            dtype = gr.Dropdown(list(DTYPES), value=start.dtype, label=texts.DTYPE_LABEL)
    return InputBar(text, compare, message, words, family, device, dtype)


def wire_input_bar(bar: InputBar) -> None:
    """Tell the browser's state what was chosen; it asks for the view."""
    gr.on(
        [bar.compare.click, bar.text.submit, bar.family.input, bar.device.input, bar.dtype.input],
        None,
        bar.chosen,
        js=COMPARE_JS,
        api_visibility="private",
    )


def device_choices(*found: str) -> list[tuple[str, str]]:
    """The devices offered; ``auto`` stays, a Compare may ask for it before the page knows more."""
    return [(texts.AUTO_DEVICE, "auto"), *((name, name) for name in found if name != "auto")]


def words_canvas(text: str) -> str:
    """The word strip's data: the text to begin with, what the strip says, the example chips."""
    return script_json(
        {
            "text": text,
            "examples": examples(),
            "hint": texts.WORDS_LABEL,
            "keys": texts.KEYS,
            "cut": texts.WORDS_CUT,
            "try": texts.EXAMPLES_LABEL,
            "recent": texts.RECENT_LABEL,
        }
    )


@cache
def examples() -> list[dict[str, str]]:
    """The example chips: label, text and what each shows."""
    if not EXAMPLES.exists():
        return []
    return json.loads(EXAMPLES.read_text("utf-8"))["examples"]
