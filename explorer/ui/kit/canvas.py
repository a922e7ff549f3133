"""Pictures drawn in the browser from data sent once: ``assets/js/<kind>.js`` draws a ``Canvas``."""

from typing import Any

import gradio as gr

from explorer.ui.kit import words as texts
from explorer.views.markup import el


class Canvas(gr.HTML):
    """A picture whose value is a JSON string; a new value redraws it, an empty one clears it.

    ``kind`` is the module's path below ``assets/js``; where it cannot be had, a sentence says so.
    """

    def __init__(self, kind: str, value: str = "", **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(
            value,
            html_template=el("div", class_="canvas", data_kind=kind, data_failed=texts.NO_PICTURE),
            js_on_load=f"window.explorer.mount('{kind}', element, props, watch, trigger)",
            **kwargs,
        )

    def api_info(self) -> dict[str, Any]:
        """A canvas carries a string of JSON."""
        return {"type": "string"}
