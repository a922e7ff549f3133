"""Gradio's Blocks with checked requests."""

from copy import copy
from inspect import signature
from math import isfinite
from typing import Any

import gradio as gr
from gradio.context import LocalContext
from gradio.exceptions import InvalidPathError
from pydantic import ValidationError

from explorer.analysis.digits import enumerated
from explorer.links.page_state import PageState
from explorer.middleware.sessions import MAX_SESSIONS, MessageQueues
from explorer.middleware.waiting_room import WaitingRoom
from explorer.refusal import Refusal
from explorer.ui.kit import strings
from explorer.ui.kit.errors import answered
from explorer.ui.kit.validation import whole_characters

NEVER = 2**62


class Page(gr.Blocks):
    """Gradio's Blocks that check an event's values, and refuse bad ones in one plain sentence."""

    def __init__(self, **named: Any) -> None:  # noqa: ANN401 - Gradio's
        super().__init__(**named)
        self.opens_on = PageState()
        """State that the page opens on; its endpoints run on the same device."""
        self.folds: list[Any] = []
        """Folds of the page, in the order in which they are built."""

    def queue(self, **named: Any) -> "Page":  # noqa: ANN401
        """Set up the waiting room and the message queues, without Gradio's event analytics.

        After each event Gradio would summarise the last 10,000 with pandas, for a disabled page.
        """
        super().queue(**named)
        room = WaitingRoom(True, self.max_threads, 1, None, self, **named)
        room.ANALYTICS_MAX_EVENTS, room.ANAYLTICS_CACHE_FREQUENCY = 1, NEVER
        unread = room.pending_event_ids_session
        room.pending_messages_per_session = MessageQueues(MAX_SESSIONS, unread)
        self._queue = room
        return self

    async def preprocess_data(  # type: ignore[override]
        self,
        block_fn: Any,  # noqa: ANN401 - a function of Gradio's
        values: list[Any],
        *rest: Any,  # noqa: ANN401
        **named: Any,  # noqa: ANN401
    ) -> list[Any]:
        """Return the checked values of an event's inputs.

        Raises:
            Refusal: a value is invalid; the message replaces Gradio's, which is for programmers.
        """
        if block_fn.fn is None:  # the browser alone answers this event
            raise Refusal(strings.NOT_OFFERED)
        arguments = arguments_of(block_fn, [whole_characters(value) for value in values])
        for part, value in zip(block_fn.inputs, arguments, strict=True):
            check_kind(part, value)
        try:
            inputs = await super().preprocess_data(block_fn, arguments, *rest, **named)
        except CHECKS as error:
            raise Refusal(strings.NOT_OFFERED) from error
        return [checked(part, value) for part, value in zip(block_fn.inputs, inputs, strict=True)]

    async def process_api(self, *arguments: Any, **named: Any) -> dict[str, Any]:  # noqa: ANN401
        """Process one event; errors outside our handlers are logged with the request's id too.

        Raises:
            Answered: the event failed or was refused; the message is one sentence.
        """
        LocalContext.request.set(named.get("request"))
        try:
            return await super().process_api(*arguments, **named)
        except Exception as error:
            raise answered(error, as_html=False) from error

    async def postprocess_data(
        self,
        block_fn: Any,  # noqa: ANN401 - a function of Gradio's
        predictions: Any,  # noqa: ANN401
        state: Any,  # noqa: ANN401 - a session
    ) -> list[Any]:
        """Return the values of an event's outputs; an output without a value stays unchanged.

        HTML is handled here, because Gradio passes each value to a thread and rebuilds a component
        for each output without one: two fifths of the page's own work for a Compare.
        """
        by_part = by_output(block_fn.outputs, predictions)
        if not by_part or not block_fn.postprocess:
            return await super().postprocess_data(block_fn, predictions, state)
        results = {
            part: part.postprocess(value)
            for part, value in by_part.items()
            if isinstance(part, gr.HTML) and isinstance(value, str)
        }
        others = [part for part in by_part if part not in results]
        if others:
            partial_fn, values = copy(block_fn), [by_part[part] for part in others]
            partial_fn.outputs = others
            predicted = values if len(values) > 1 else values[0]
            rest = await super().postprocess_data(partial_fn, predicted, state)
            results |= zip(others, rest, strict=True)
        return [results.get(part, gr.skip()) for part in block_fn.outputs]

    def handle_streaming_diffs(
        self,
        block_fn: Any,  # noqa: ANN401 - a function of Gradio's
        data: list[Any],
        *rest: Any,  # noqa: ANN401
        **named: Any,  # noqa: ANN401
    ) -> list[Any]:
        """Return a step of a stream; the message that ends a page's stream changes nothing.

        Gradio repeats the last values in it, which doubles the bytes of a picture. The browser has
        drawn them by then: it takes messages in order, and changes in place only what steps hold.
        """
        values = super().handle_streaming_diffs(block_fn, data, *rest, **named)
        is_end_of_page = named["final"] and block_fn.api_visibility == "private"
        return [gr.skip() for _ in values] if is_end_of_page else values


def by_output(outputs: list[Any], predictions: Any) -> dict[Any, Any]:  # noqa: ANN401
    """Return a handler's result by output; empty if it is malformed, for Gradio to report."""
    if isinstance(predictions, dict) and predictions and set(predictions) <= set(outputs):
        return predictions
    values = [predictions] if len(outputs) == 1 else predictions
    if not isinstance(values, list | tuple) or len(values) != len(outputs):
        return {}
    return dict(zip(outputs, values, strict=True))


CHECKS = (gr.Error, InvalidPathError, ValidationError)
"""Errors of Gradio's own checks of a value: choices and bounds, files, data models."""
KINDS: dict[Any, type | tuple[type, ...]] = {
    gr.HTML: str,
    gr.Textbox: str,
    gr.Checkbox: bool,
    gr.Number: (int, float),
    gr.Slider: (int, float),
    gr.Radio: (str, int, float),
    gr.Dropdown: (str, int, float),
}
"""Types that the browser sends for each control; Gradio accepts any and fails on wrong ones."""


def check_kind(part: Any, value: Any) -> None:  # noqa: ANN401 - a component of Gradio's
    """Refuse a value of a type that the browser never sends for this control.

    Raises:
        Refusal: the type is wrong, or a number is not finite.
    """
    for control, kind in KINDS.items():
        if isinstance(part, control) and value is not None:
            is_number = kind == (int, float)
            if not isinstance(value, kind) or (is_number and isinstance(value, bool)):
                raise Refusal(strings.NOT_OFFERED)
            if isinstance(value, float) and not isfinite(value):
                raise Refusal(strings.NO_NUMBER.format(label=part.label))


def checked(part: Any, value: Any) -> Any:  # noqa: ANN401 - a component of Gradio's, and its value
    """Return the value of a control, with a default for an empty one, which Gradio does not check.

    An empty number field gets its initial value, an empty text box the empty string.

    Raises:
        Refusal: nothing is chosen in a control that always has a choice.
    """
    if isinstance(part, gr.Number | gr.Slider) and value is None:
        return part.value
    if isinstance(part, gr.Textbox) and value is None:
        return ""
    if isinstance(part, gr.Radio | gr.Dropdown) and value is None and part.value is not None:
        raise Refusal(strings.NOT_OFFERED)
    return value


def arguments_of(block_fn: Any, given: list[Any]) -> list[Any]:  # noqa: ANN401 - Gradio's function
    """Return a program's arguments, completed by the endpoint's defaults.

    Raises:
        Refusal: a program gave too many, or none for a parameter without a default; or a page
            sent another number of values than its event has inputs.
    """
    n_inputs, name = len(block_fn.inputs), f"/{block_fn.api_name}"
    if block_fn.api_visibility != "public":
        if len(given) != n_inputs:
            raise Refusal(strings.NOT_OFFERED)
        return given
    if len(given) > n_inputs:
        raise Refusal(strings.TOO_MANY_ARGUMENTS.format(name=name, n=n_inputs, given=len(given)))
    absent = list(signature(block_fn.fn).parameters.values())[len(given) : n_inputs]
    missing = [f"“{param.name}”" for param in absent if param.default is param.empty]
    if missing:
        raise Refusal(strings.MISSING_ARGUMENTS.format(name=name, missing=enumerated(missing)))
    return [*given, *(param.default for param in absent)]
