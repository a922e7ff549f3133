"""Gradio's Blocks with checked questions and lean sessions."""

from collections import ChainMap
from copy import copy
from inspect import signature
from math import isfinite
from types import SimpleNamespace
from typing import Any

import gradio as gr
from gradio import state_holder
from gradio.context import LocalContext
from gradio.exceptions import InvalidPathError
from gradio.utils import LRUCache
from pydantic import ValidationError

from explorer import limits
from explorer.refusal import Refusal
from explorer.serving.middleware.waiting_room import WaitingRoom
from explorer.ui.kit import strings
from explorer.ui.kit.errors import answered
from explorer.ui.kit.validation import whole_characters

MOST_SESSIONS = limits.SESSIONS.most
"""What a visitor chose is kept for this many, those used last."""


class LeanSession(state_holder.SessionState):
    """The visitor's own values, and nothing about the page that all share."""

    config_values = property(lambda _self: {}, lambda _self, _value: None)

    def __init__(self, blocks: Any) -> None:  # noqa: ANN401 - Gradio's Blocks
        # No component is named, so none is described; how each behaves is shared as before.
        super().__init__(SimpleNamespace(default_config=blocks.default_config, blocks={}))  # type: ignore[arg-type]
        shared = blocks.default_config
        self.blocks_config.blocks = ChainMap({}, shared.blocks)  # type: ignore[assignment]
        self.blocks_config.fns = shared.fns
        self.blocks_config.config_for_block = lambda *_: {}  # type: ignore[method-assign,assignment]

    def _update_config(self, key: int) -> None:
        """Nothing to write down."""

    def _update_value_in_config(self, key: int, value: Any) -> None:  # noqa: ANN401
        """Nothing to write down."""


def keep_sessions_lean() -> None:
    """From now on every new session is a lean one."""
    state_holder.SessionState = LeanSession  # type: ignore[misc]


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
            Refusal: they are none, in one sentence; Gradio's own is written for programmers.
        """
        if block_fn.fn is None:  # the browser alone answers this event
            raise Refusal(strings.NOT_OFFERED)
        whole = arguments_of(block_fn, [whole_characters(value) for value in values])
        for part, value in zip(block_fn.inputs, whole, strict=True):
            check_kind(part, value)
        try:
            asked = await super().preprocess_data(block_fn, whole, *rest, **named)
        except CHECKS as error:
            raise Refusal(strings.NOT_OFFERED) from error
        return [checked(part, value) for part, value in zip(block_fn.inputs, asked, strict=True)]

    async def process_api(self, *given: Any, **named: Any) -> dict[str, Any]:  # noqa: ANN401
        """Answer one event; whatever fails between our handlers is logged with the request's id.

        Raises:
            Answered: it failed or was refused, in one sentence.
        """
        LocalContext.request.set(named.get("request"))
        try:
            return await super().process_api(*given, **named)
        except Exception as error:
            raise answered(error, as_html=False) from error

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


CHECKS = (gr.Error, InvalidPathError, ValidationError)
"""What Gradio's own checks of a value raise: of choices and bounds, of files, of data models."""
KINDS: dict[Any, type | tuple[type, ...]] = {
    gr.HTML: str,
    gr.Textbox: str,
    gr.Checkbox: bool,
    gr.Number: (int, float),
    gr.Slider: (int, float),
    gr.Radio: (str, int, float),
    gr.Dropdown: (str, int, float),
}
"""What the browser sends of a control; Gradio takes anything, and fails at what it cannot use."""


def check_kind(part: Any, value: Any) -> None:  # noqa: ANN401 - a component of Gradio's
    """Refuse a value of a kind that the browser never sends of this control.

    Raises:
        Refusal: it is of another kind.
    """
    for control, kind in KINDS.items():
        if isinstance(part, control) and value is not None:
            is_number = kind == (int, float)
            if not isinstance(value, kind) or (is_number and isinstance(value, bool)):
                raise Refusal(strings.NOT_OFFERED)
            if isinstance(value, float) and not isfinite(value):
                raise Refusal(strings.NO_NUMBER.format(label=part.label))


def checked(part: Any, value: Any) -> Any:  # noqa: ANN401 - a component of Gradio's, and its value
    """The value of a control, which Gradio has looked at but for what is left empty.

    A field of numbers that is left empty stands for what it showed at first.

    Raises:
        Refusal: nothing is chosen where something always is.
    """
    if isinstance(part, gr.Number | gr.Slider) and value is None:
        return part.value
    if isinstance(part, gr.Textbox) and value is None:
        return ""
    if isinstance(part, gr.Radio | gr.Dropdown) and value is None and part.value is not None:
        raise Refusal(strings.NOT_OFFERED)
    return value


def arguments_of(block_fn: Any, given: list[Any]) -> list[Any]:  # noqa: ANN401 - Gradio's function
    """Complete the arguments that a program has given by the defaults that its description says.

    Raises:
        Refusal: there are too many, or one without a default is missing; of a page, not as many
            as it has controls for.
    """
    takes, name = len(block_fn.inputs), f"/{block_fn.api_name}"
    if block_fn.api_visibility != "public":
        if len(given) != takes:
            raise Refusal(strings.NOT_OFFERED)
        return given
    if len(given) > takes:
        raise Refusal(strings.TOO_MANY_ARGUMENTS.format(name=name, n=takes, given=len(given)))
    left = list(signature(block_fn.fn).parameters.values())[len(given) : takes]
    missing = [f"“{one.name}”" for one in left if one.default is one.empty]
    if missing:
        raise Refusal(strings.MISSING_ARGUMENTS.format(name=name, missing=" and ".join(missing)))
    return [*given, *(one.default for one in left)]
