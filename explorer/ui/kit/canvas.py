"""Pictures drawn in the browser from data sent once: ``assets/js/<kind>.js`` draws a ``Canvas``."""

from collections.abc import Callable
from itertools import count
from typing import Any

import gradio as gr

from explorer.ui.kit import words as texts
from explorer.views.markup import el

_SERIAL = count(1)


class Canvas(gr.HTML):
    """A picture whose value is a JSON object; a new value redraws it, an empty one clears it.

    ``kind`` is the module's path below ``assets/js``; where it cannot be had, a sentence says so.
    ``asks`` answers the picture's questions: one JSON value in, one out.
    """

    def __init__(
        self,
        kind: str,
        value: str = "",
        asks: Callable[[dict], str] | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        server = f"question => server.{asks.__name__}(question)" if asks else "null"
        super().__init__(
            value,
            html_template=el("div", class_="canvas", data_kind=kind, data_failed=texts.NO_PICTURE),
            js_on_load=f"window.explorer.mount('{kind}', element, props, watch, trigger, {server})",
            server_functions=[asks] if asks else None,
            **kwargs,
        )

    def postprocess(self, value: str | None) -> str | None:
        """The same answer twice is two answers: the browser only hears of a value that changed."""
        if not value:
            return value
        return f'{{"serial":{next(_SERIAL)},{value[1:]}'

    def api_info(self) -> dict[str, Any]:
        """A canvas carries a string of JSON."""
        return {"type": "string"}
