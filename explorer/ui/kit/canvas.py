"""Pictures drawn in the browser from JSON data: ``assets/js/<kind>.js`` draws a ``Canvas``."""

import functools
import inspect
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any

import gradio as gr

from explorer.ui.kit import strings
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.export import save_menu
from explorer.ui.kit.validation import whole_characters, with_whole_characters
from explorer.views.markup import el, join

_SERIAL = count(1)


class Canvas(gr.HTML):
    """Picture whose value is a JSON object; a new value redraws it, an empty one clears it.

    ``kind`` is the module's path below ``assets/js``, unless another ``module`` draws it; if it
    fails to load, a sentence says so. ``asks`` handles the picture's own requests: one JSON value
    in, one out. ``saves`` is false if another picture's menu has its numbers.
    """

    def __init__(
        self,
        kind: str,
        value: str = "",
        asks: Callable[[dict], str] | None = None,
        saves: bool = True,
        module: str | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        self.kind = kind
        server = f"question => server.{asks.__name__}(question)" if asks else "null"
        super().__init__(
            value,
            html_template=join(
                el(
                    "div",
                    class_="canvas",
                    data_kind=kind,
                    data_module=module,
                    data_failed=strings.NO_PICTURE,
                ),
                save_menu(kind) if saves else None,
            ),
            js_on_load=f"window.explorer.mount('{kind}', element, props, watch, trigger, {server})",
            server_functions=[plain_errors(with_whole_characters(asks))] if asks else None,
            **kwargs,
        )

    def postprocess(self, value: str | None) -> str | None:
        """Return the value with a serial number: the browser is only notified of changed values."""
        if not value:
            return value
        return f'{{"serial":{next(_SERIAL)},{value[1:]}'

    def on_question(
        self,
        answer: Callable,
        inputs: Sequence[gr.components.Component],
        outputs: Sequence[gr.components.Component],
        **kwargs: Any,  # noqa: ANN401
    ) -> gr.events.Dependency:
        """Handle the picture's requests: ``answer`` is called with the request and the inputs.

        The script reads the request when it is sent, because Gradio would send an event that waits
        for an earlier one with the earlier one's data.
        """
        script = f"(_, ...inputs) => [window.explorer.question('{self.kind}'), ...inputs]"
        return self.select(
            with_question(answer),
            [self, *inputs],
            list(outputs),
            js=script,
            **({"api_visibility": "private", "concurrency_id": "infer"} | kwargs),
        )

    def api_info(self) -> dict[str, Any]:
        """Return the type of the value for Gradio's API: a string of JSON."""
        return {"type": "string"}


class Chart(Canvas):
    """Canvas of Plotly figures and their numbers, drawn by the module that uses Plotly."""

    def __init__(self, kind: str, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(kind, module="kit/figure", **kwargs)


def with_question(answer: Callable) -> Callable:
    """Wrap a handler to parse its first argument, a request as JSON."""
    if inspect.isgeneratorfunction(answer):

        @functools.wraps(answer)
        def stream(question: str, *inputs: Any) -> Iterator[Any]:  # noqa: ANN401
            yield from answer(read_question(question), *inputs)

        return plain_errors(stream)

    @functools.wraps(answer)
    def call(question: str, *inputs: Any) -> Any:  # noqa: ANN401
        return answer(read_question(question), *inputs)

    return plain_errors(call)


def read_question(asked: str) -> dict[str, Any]:
    """Return a parsed request; an empty dict if it is not a JSON object."""
    try:
        question = json.loads(asked)
    except (TypeError, ValueError, RecursionError):
        return {}
    return whole_characters(question) if isinstance(question, dict) else {}
