"""What a link sets in the page's own controls; the browser asks for the view itself."""

from typing import Any

import gradio as gr

from explorer.page_state import PageState, from_params
from explorer.runs import device_of, devices
from explorer.ui.kit.errors import plain_errors
from explorer.ui.shell.input_bar import InputBar, device_choices

OPENED_JS = "() => { window.explorer.tell('opened'); }"
PUT_JS = (
    "() => { const {family, tab} = window.explorer.placed(), left = {__type__: 'update'};"
    " return [family ?? left, tab ? {...left, selected: tab} : left]; }"
)
RESTORED_JS = "() => { window.explorer.tell('restored'); }"


def wire_opening(page: gr.Blocks, start: PageState, bar: InputBar, tabs: gr.Tabs) -> None:
    """Set text, family and tab at once; the devices when torch is there to be asked."""
    controls = {bar.text: "text", bar.family: "family"}

    def restore(request: gr.Request) -> dict[Any, Any]:
        state, _ = from_params(dict(request.query_params), start)
        # What no link changed may have been typed in by now.
        changed = {c: getattr(state, n) for c, n in controls.items()}
        kept = {c: v for c, v in changed.items() if v != getattr(start, controls[c])}
        return kept | {tabs: gr.Tabs(selected=state.tab)}

    def offer_devices() -> gr.Dropdown:
        return gr.Dropdown(choices=device_choices(*devices()), value=device_of(start))

    private: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
    page.load(None, None, None, js=OPENED_JS, **private)
    restored = page.load(restore, None, [*controls, tabs], **private)
    restored.then(None, None, None, js=RESTORED_JS, **private)
    page.load(plain_errors(offer_devices), None, [bar.device], **private)


def wire_put(bar: InputBar, tabs: gr.Tabs) -> None:
    """Let the browser's state change Gradio's own controls: the family, the tab."""
    put = gr.Button("Put", visible="hidden", elem_id="put")
    put.click(None, None, [bar.family, tabs], js=PUT_JS, api_visibility="private")


def wire_tabs(items: dict[str, gr.Tab]) -> None:
    """Tell the browser's state which tab was chosen."""
    for tab, item in items.items():
        tell = f"() => {{ window.explorer.tell('tab', '{tab}'); }}"
        item.select(None, None, None, js=tell, api_visibility="private")
