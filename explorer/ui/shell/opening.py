"""What the browser is told once the page is up, and how it sets Gradio's own controls."""

from typing import Any

import gradio as gr

from explorer.page_state import PageState
from explorer.runs import device_of, devices
from explorer.ui.kit.errors import plain_errors
from explorer.ui.shell.input_bar import InputBar, device_choices

OPENED_JS = "() => { window.explorer.tell('opened'); }"
PUT_JS = (
    "() => { const {family, tab} = window.explorer.placed(), left = {__type__: 'update'};"
    " return [family ?? left, tab ? {...left, selected: tab} : left]; }"
)


def wire_opening(page: gr.Blocks, start: PageState, bar: InputBar) -> None:
    """Say that the page is up, and offer the devices when torch is there to be asked."""

    def offer_devices() -> gr.Dropdown:
        return gr.Dropdown(choices=device_choices(*devices()), value=device_of(start))

    private: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
    page.load(None, None, None, js=OPENED_JS, **private)
    page.load(plain_errors(offer_devices), None, [bar.device], **private)


def wire_put(bar: InputBar, tabs: gr.Tabs) -> None:
    """Let the browser's state change Gradio's own controls: the family, the tab."""
    put = gr.Button("Put", visible="hidden", elem_id="put")
    put.click(None, None, [bar.family, tabs], js=PUT_JS, api_visibility="private")
