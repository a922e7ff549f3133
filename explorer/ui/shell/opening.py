"""What the browser is told once the page is up, and how it sets Gradio's own controls."""

import json
from typing import Any

import gradio as gr

from explorer.inference.runs import device_of, devices
from explorer.links.page_state import PageState
from explorer.ui.kit.errors import plain_errors
from explorer.ui.shell.family.columns import offer_columns
from explorer.ui.shell.input_bar import InputBar, device_choices

OPENED_JS = "() => { window.explorer.tell('opened'); }"
PUT_JS = (
    "() => {{ const {{preset, sizes, tab}} = window.explorer.placed();"
    " const left = {{__type__: 'update'}};"
    " return [preset === undefined ? left : preset, ...{keys}.map(key => sizes?.[key] ?? left),"
    " tab ? {{...left, selected: tab}} : left]; }}"
)


def wire_opening(page: gr.Blocks, start: PageState, bar: InputBar) -> None:
    """Say that the page is up, and offer what the machine has when torch is there to be asked."""

    def offer_machine() -> list[gr.Dropdown]:
        device = gr.Dropdown(choices=device_choices(*devices()), value=device_of(start))
        return [device, *offer_columns()]

    private: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
    page.load(None, None, None, js=OPENED_JS, **private)
    page.load(plain_errors(offer_machine), None, [bar.device, *bar.columns.values()], **private)


def wire_put(bar: InputBar, tabs: gr.Tabs) -> None:
    """Let the browser's state change Gradio's own controls: the models, the tab."""
    put = gr.Button("Put", visible="hidden", elem_id="put")
    set_here = [bar.family, *bar.columns.values(), tabs]
    js = PUT_JS.format(keys=json.dumps([*bar.columns]))
    put.click(None, None, set_here, js=js, api_visibility="private")
