"""Error handling: every failure reaches the reader as one sentence, and the app keeps serving.

Every handler also waits here until torch and transformers are imported.
"""

import functools
import inspect
import logging
from collections.abc import Callable, Iterator
from typing import Any

import gradio as gr
from gradio.context import LocalContext
from starlette.requests import Request

from explorer.inference.lazy_imports import wait_for_imports
from explorer.middleware.access_log import name_of
from explorer.refusal import Refusal, is_of_memory
from explorer.scheduling.cancel import Cancelled
from explorer.timing.memory import is_short
from explorer.ui.kit import strings
from explorer.views.markup import escape_message

logger = logging.getLogger(__name__)


class Answered(gr.Error):
    """Error with the sentence for the reader; Gradio passes it on and prints no traceback."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, duration=10, print_exception=False)


def sentence_of(error: BaseException) -> str:
    """Return the sentence for the reader: a refusal's own, else one for the kind of failure.

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
    """Return the id of the current request, which its log line has too."""
    request = LocalContext.request.get(None)
    # An event's request is Gradio's, which holds Starlette's; a picture's is Starlette's itself.
    inner = request if isinstance(request, Request) else getattr(request, "request", None)
    return name_of(getattr(inner, "scope", {}))


def payload(error: BaseException | None, _show: bool) -> dict[str, Any]:
    """Return a failure in Gradio's message format, as one sentence even outside our handlers."""
    known = answered(error or Cancelled(""), as_html=False)
    return {name: getattr(known, name) for name in ("duration", "visible", "title")} | {
        "error": known.message
    }


def answered(error: BaseException, as_html: bool) -> Answered:
    """Return an error as Answered; an Answered error is returned as it is, not logged twice."""
    if isinstance(error, Answered):
        return error
    sentence = sentence_of(error)
    return Answered(escape_message(sentence) if as_html else sentence)


def plain_errors(handler: Callable, as_html: bool = True) -> Callable:
    """Wrap a handler to wait for the imports, and to turn its failures into one sentence.

    The sentence is escaped for the page, which shows it as HTML, and plain text for programs.
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
    """Tell the reader in the event's progress display that the models are still loading."""
    gr.Progress()(0.0, desc=strings.STARTING)
