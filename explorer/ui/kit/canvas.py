"""Pictures drawn in the browser from data sent once: ``assets/js/<kind>.js`` draws a ``Canvas``."""

from typing import Any

import gradio as gr


class Canvas(gr.HTML):
    """A picture whose value is a JSON string; a new value redraws it, an empty one clears it."""

    def __init__(self, kind: str, value: str = "", **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(
            value,
            html_template=f'<div class="canvas" data-kind="{kind}"></div>',
            js_on_load=f"window.explorer.mount('{kind}', element, props, watch, trigger)",
            **kwargs,
        )

    def api_info(self) -> dict[str, Any]:
        """A canvas carries a string of JSON."""
        return {"type": "string"}
