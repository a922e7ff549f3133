"""Every failure reaches the reader as one plain sentence, and the app keeps serving."""

import functools
import inspect
import logging
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import gradio as gr

from explorer.ui.kit import words as texts
from explorer.views.markup import escape_message

logger = logging.getLogger(__name__)


def sentence_of(error: Exception) -> str:
    """One sentence for the reader; what was not foreseen is logged under a short id."""
    if isinstance(error, ValueError):
        return str(error)
    if "memory" in str(error).lower() or isinstance(error, MemoryError):
        return texts.OUT_OF_MEMORY
    mark = uuid.uuid4().hex[:6]
    logger.error("failure %s", mark, exc_info=error)
    return texts.UNEXPECTED.format(mark=mark)


def plain_errors(handler: Callable) -> Callable:
    """A handler whose failures are shown as one sentence instead of a bare error badge."""
    if inspect.isgeneratorfunction(handler):

        @functools.wraps(handler)
        def stream(*args: Any, **kwargs: Any) -> Iterator[Any]:  # noqa: ANN401
            try:
                yield from handler(*args, **kwargs)
            except gr.Error:
                raise
            except Exception as error:
                raise gr.Error(escape_message(sentence_of(error)), duration=10) from error

        return stream

    @functools.wraps(handler)
    def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        try:
            return handler(*args, **kwargs)
        except gr.Error:
            raise
        except Exception as error:
            raise gr.Error(escape_message(sentence_of(error)), duration=10) from error

    return call
