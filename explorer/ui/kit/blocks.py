"""Gradio's page, which answers a question that does not fit it in a sentence of ours."""

from copy import copy
from inspect import signature
from math import isfinite
from typing import Any

import gradio as gr
from gradio.utils import LRUCache

from explorer.doors.waiting import WaitingRoom
from explorer.ui.kit import words as texts
from explorer.ui.kit.sessions import MOST_SESSIONS

NEVER = 2**62


class Letterboxes(LRUCache[str, Any]):
    """What is on its way to each session; those that are written to are the last to be thrown away.

    Gradio throws away the oldest of 2,000, whoever waits at it: then the task that gives out its
    turns fails, and nobody is answered any more until the page is started again.

    Args:
        most: How many are kept.
        unread: What else is kept of each session, and goes with its box.
    """

    def __init__(self, most: int, unread: dict[str, Any]) -> None:
        super().__init__(most)
        self._unread = unread

    def __getitem__(self, session: str) -> Any:  # noqa: ANN401 - a queue of messages
        self.move_to_end(session)
        return super().__getitem__(session)

    def popitem(self, last: bool = True) -> tuple[str, Any]:
        """Throw a box away, and what else is kept for it."""
        session, box = super().popitem(last)
        self._unread.pop(session, None)
        return session, box


class Page(gr.Blocks):
    """As it is, but for what it says of values that none of its controls offers."""

    def queue(self, **named: Any) -> "Page":  # noqa: ANN401
        """Set up the waiting room: no record of its events is kept, but every letterbox in use.

        Gradio sums up its last 10,000 events after every one, with pandas, for a page that is shut.
        """
        super().queue(**named)
        ours = WaitingRoom(True, self.max_threads, 1, None, self, **named)
        ours.ANALYTICS_MAX_EVENTS, ours.ANAYLTICS_CACHE_FREQUENCY = 1, NEVER
        unread = ours.pending_event_ids_session
        ours.pending_messages_per_session = Letterboxes(MOST_SESSIONS, unread)
        self._queue = ours
        return self

    async def preprocess_data(  # type: ignore[override]
        self,
        block_fn: Any,  # noqa: ANN401 - a function of Gradio's
        values: list[Any],
        *rest: Any,  # noqa: ANN401
        **named: Any,  # noqa: ANN401
    ) -> list[Any]:
        """The values of an event's inputs.

        Raises:
            Error: they are none, in one sentence; Gradio's own is written for programmers.
        """
        try:
            if block_fn.fn is None:
                raise LookupError("the browser alone answers this event")
            whole = [*values, *left_out(block_fn, len(values))]
            asked = await super().preprocess_data(block_fn, whole, *rest, **named)
            return [
                checked(part, value) for part, value in zip(block_fn.inputs, asked, strict=True)
            ]
        except BadNumber as error:
            raise gr.Error(str(error), print_exception=False) from error
        except Exception as error:
            raise gr.Error(texts.NOT_OFFERED, print_exception=False) from error

    async def postprocess_data(
        self,
        block_fn: Any,  # noqa: ANN401 - a function of Gradio's
        predictions: Any,  # noqa: ANN401
        state: Any,  # noqa: ANN401 - a session
    ) -> list[Any]:
        """The values of an event's outputs; an output without one stays as it is.

        Gradio hands each value to a thread, and builds a component anew for each that has none:
        two fifths of the page's own work for a Compare.
        """
        given = by_output(block_fn.outputs, predictions)
        if not given or not block_fn.postprocess:
            return await super().postprocess_data(block_fn, predictions, state)
        markup = {
            part: part.postprocess(value)
            for part, value in given.items()
            if isinstance(part, gr.HTML) and isinstance(value, str)
        }
        others = [part for part in given if part not in markup]
        if others:
            fewer, values = copy(block_fn), [given[part] for part in others]
            fewer.outputs = others
            written = values if len(values) > 1 else values[0]
            found = await super().postprocess_data(fewer, written, state)
            markup |= zip(others, found, strict=True)
        return [markup.get(part, gr.skip()) for part in block_fn.outputs]


def by_output(outputs: list[Any], predictions: Any) -> dict[Any, Any]:  # noqa: ANN401
    """What a handler has returned for each output; empty where Gradio has to say what is wrong."""
    if isinstance(predictions, dict) and predictions and set(predictions) <= set(outputs):
        return predictions
    values = [predictions] if len(outputs) == 1 else predictions
    if not isinstance(values, list | tuple) or len(values) != len(outputs):
        return {}
    return dict(zip(outputs, values, strict=True))


class BadNumber(ValueError):
    """A field of numbers holds none."""


def checked(part: Any, value: Any) -> Any:  # noqa: ANN401 - a component of Gradio's, and its value
    """The value of a control, which Gradio has looked at but for what is left empty.

    A field of numbers that is left empty stands for what it showed at first.

    Raises:
        BadNumber: a number is none. ValueError: nothing is chosen where something always is.
    """
    if isinstance(part, gr.Number | gr.Slider):
        value = part.value if value is None else value
        if value is not None and not isfinite(value):
            raise BadNumber(texts.NO_NUMBER.format(label=part.label))
    if isinstance(part, gr.Textbox) and value is None:
        return ""
    if isinstance(part, gr.Radio | gr.Dropdown) and value is None and part.value is not None:
        raise ValueError(f"nothing is chosen at {part.label}")
    return value


def left_out(block_fn: Any, given: int) -> list[Any]:  # noqa: ANN401 - a function of Gradio's
    """The defaults of the arguments that a program has not given, as its description says them."""
    if block_fn.api_visibility != "public":
        return []
    arguments = list(signature(block_fn.fn).parameters.values())[given:]
    return [one.default for one in arguments if one.default is not one.empty]
