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

from explorer.inference.lazy_imports import wait_for_imports
from explorer.inference.scheduling.cancel import Cancelled
from explorer.refusal import Refusal, is_of_memory
from explorer.serving.middleware.access_log import name_of
from explorer.timing.memory import is_short
from explorer.ui.kit import strings
from explorer.views.markup import escape_message

logger = logging.getLogger(__name__)


class Answered(gr.Error):
    """Carry the sentence that whoever asked reads; Gradio passes it on and prints nothing."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, duration=10, print_exception=False)


def sentence_of(error: BaseException) -> str:
    """Say one sentence to the reader: a refusal's own, else what kind of failure it is.

    A failure is logged with its traceback under the id of the request; its text is not shown.
    """
    if isinstance(error, Refusal):
        return str(error)
    if isinstance(error, Cancelled):
        return strings.LEFT
    mark = request_name()
    if is_of_memory(error):
        logger.warning("out of memory %s: %s", mark, type(error).__name__)
        return strings.SHORT_OF_MEMORY if is_short() else strings.OUT_OF_MEMORY
    logger.error("failure %s", mark, exc_info=error)
    return strings.UNEXPECTED.format(mark=mark)


def request_name() -> str:
    """The name of the request that is being answered, which stands in its log line too."""
    asked = LocalContext.request.get(None)
    return name_of(getattr(getattr(asked, "request", None), "scope", {}))


def payload(error: BaseException | None, _show: bool) -> dict[str, Any]:
    """A failure as Gradio sends it: also one that came between our own handlers is a sentence."""
    known = answered(error or Cancelled(""), as_html=False)
    return {name: getattr(known, name) for name in ("duration", "visible", "title")} | {
        "error": known.message
    }


def say_every_failure() -> None:
    """From now on no failure reaches anybody without a word."""
    queueing.error_payload = payload  # type: ignore[assignment]


def answered(error: BaseException, as_html: bool) -> Answered:
    """Make an error what Gradio takes to whoever asked; its sentence is worked out only once."""
    if isinstance(error, Answered):
        return error
    sentence = sentence_of(error)
    return Answered(escape_message(sentence) if as_html else sentence)


def plain_errors(handler: Callable, as_html: bool = True) -> Callable:
    """A handler that waits for the gate, and whose failures are one sentence, not a bare badge.

    The page shows the sentence as HTML; a program that calls an endpoint reads it as it is.
    """
    if inspect.isgeneratorfunction(handler):

        @functools.wraps(handler)
        def stream(*args: Any, **kwargs: Any) -> Iterator[Any]:  # noqa: ANN401
            try:
                wait_for_imports(say_starting)
                yield from handler(*args, **kwargs)
            except Exception as error:
                raise answered(error, as_html) from error

        return stream

    @functools.wraps(handler)
    def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        try:
            wait_for_imports(say_starting)
            return handler(*args, **kwargs)
        except Exception as error:
            raise answered(error, as_html) from error

    return call


def say_starting() -> None:
    """Tell the reader why nothing comes yet, where the event that waits shows its progress."""
    gr.Progress()(0.0, desc=strings.STARTING)
