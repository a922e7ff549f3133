"""Pictures drawn in the browser from data sent once: ``assets/js/<kind>.js`` draws a ``Canvas``."""

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
    """A picture whose value is a JSON object; a new value redraws it, an empty one clears it.

    ``kind`` is the module's path below ``assets/js``, unless another ``module`` draws it; where it
    cannot be had, a sentence says so. ``asks`` answers the picture's questions: one JSON value in,
    one out. ``saves`` is false where another picture's menu has its numbers.
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
        """The same answer twice is two answers: the browser only hears of a value that changed."""
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
        """Answer what the picture asks: ``answer`` is given the question, then the inputs.

        The question is read when it is sent: an event that waits for the one before it is sent by
        Gradio with that one's data.
        """
        asked = f"(_, ...inputs) => [window.explorer.question('{self.kind}'), ...inputs]"
        return self.select(
            with_question(answer),
            [self, *inputs],
            list(outputs),
            js=asked,
            **({"api_visibility": "private", "concurrency_id": "infer"} | kwargs),
        )

    def api_info(self) -> dict[str, Any]:
        """A canvas carries a string of JSON."""
        return {"type": "string"}


class Chart(Canvas):
    """Plotly figures and their numbers, drawn by the one module that knows Plotly."""

    def __init__(self, kind: str, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(kind, module="kit/figure", **kwargs)


def with_question(answer: Callable) -> Callable:
    """The handler of an event whose first value is a question as JSON."""
    if inspect.isgeneratorfunction(answer):

        @functools.wraps(answer)
        def stream(asked: str, *inputs: Any) -> Iterator[Any]:  # noqa: ANN401
            yield from answer(read_question(asked), *inputs)

        return plain_errors(stream)

    @functools.wraps(answer)
    def call(asked: str, *inputs: Any) -> Any:  # noqa: ANN401
        return answer(read_question(asked), *inputs)

    return plain_errors(call)


def read_question(asked: str) -> dict[str, Any]:
    """The question, or nothing asked where it is no JSON object."""
    try:
        question = json.loads(asked)
    except (TypeError, ValueError, RecursionError):
        return {}
    return whole_characters(question) if isinstance(question, dict) else {}
