"""Every failure reaches the reader as one plain sentence, and the app keeps serving.

Every handler also waits here until the libraries are there, so that the first ones do not fail.
"""

import functools
import inspect
import logging
from collections.abc import Callable, Iterator
from typing import Any

import gradio as gr
from gradio import queueing
from gradio.context import LocalContext

from explorer.doors.log import name_of
from explorer.gate import wait_for_gate
from explorer.timing.room import is_short
from explorer.timing.stop import Stopped
from explorer.ui.kit import words as texts
from explorer.views.markup import escape_message

logger = logging.getLogger(__name__)
NO_ROOM = ("memory", "can't start new thread")
"""What torch and Python say where there is too little memory."""


def sentence_of(error: BaseException) -> str:
    """One sentence for the reader; what was not foreseen is logged under its request's name."""
    if isinstance(error, ValueError):
        return str(error)
    if isinstance(error, Stopped):
        return texts.LEFT
    if isinstance(error, MemoryError) or any(sign in str(error).lower() for sign in NO_ROOM):
        return texts.SHORT_OF_MEMORY if is_short() else texts.OUT_OF_MEMORY
    mark = request_name()
    logger.error("failure %s", mark, exc_info=error)
    return texts.UNEXPECTED.format(mark=mark)


def request_name() -> str:
    """The name of the request that is being answered, which stands in its log line too."""
    asked = LocalContext.request.get(None)
    return name_of(getattr(getattr(asked, "request", None), "scope", {}))


def payload(error: BaseException | None, _show: bool) -> dict[str, Any]:
    """A failure as Gradio sends it: also one that came between our own handlers is a sentence."""
    known = error if isinstance(error, gr.Error) else refusal(error or Stopped(""), as_html=False)
    return {name: getattr(known, name) for name in ("duration", "visible", "title")} | {
        "error": known.message
    }


def say_every_failure() -> None:
    """From now on no failure reaches anybody without a word."""
    queueing.error_payload = payload  # type: ignore[assignment]


def refusal(error: BaseException, as_html: bool) -> gr.Error:
    """A failure as Gradio takes it to whoever asked."""
    sentence = sentence_of(error)
    shown = escape_message(sentence) if as_html else sentence
    return gr.Error(shown, duration=10, print_exception=False)


def plain_errors(handler: Callable, as_html: bool = True) -> Callable:
    """A handler that waits for the gate, and whose failures are one sentence, not a bare badge.

    The page shows the sentence as HTML; a program that calls an endpoint reads it as it is.
    """
    if inspect.isgeneratorfunction(handler):

        @functools.wraps(handler)
        def stream(*args: Any, **kwargs: Any) -> Iterator[Any]:  # noqa: ANN401
            try:
                wait_for_gate(say_starting)
                yield from handler(*args, **kwargs)
            except gr.Error as known:
                known.print_exception = False
                raise
            except Exception as error:
                raise refusal(error, as_html) from error

        return stream

    @functools.wraps(handler)
    def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        try:
            wait_for_gate(say_starting)
            return handler(*args, **kwargs)
        except gr.Error as known:
            known.print_exception = False
            raise
        except Exception as error:
            raise refusal(error, as_html) from error

    return call


def say_starting() -> None:
    """Tell the reader why nothing comes yet, where the event that waits shows its progress."""
    gr.Progress()(0.0, desc=texts.STARTING)
