"""Gradio's page, which answers a question that does not fit it in a sentence of ours."""

from typing import Any

import gradio as gr

from explorer.ui.kit import words as texts

NEVER = 2**62


class Page(gr.Blocks):
    """As it is, but for what it says of values that none of its controls offers."""

    def queue(self, *arguments: Any, **named: Any) -> "Page":  # noqa: ANN401
        """Set up the line, which keeps no record of its events.

        Gradio sums up its last 10,000 events after every one, with pandas, for a page that is shut.
        """
        super().queue(*arguments, **named)
        self._queue.ANALYTICS_MAX_EVENTS, self._queue.ANAYLTICS_CACHE_FREQUENCY = 1, NEVER
        return self

    async def preprocess_data(self, block_fn: Any, *rest: Any, **named: Any) -> list[Any]:  # noqa: ANN401
        """The values of an event's inputs.

        Raises:
            Error: they are none, in one sentence; Gradio's own is written for programmers.
        """
        try:
            if block_fn.fn is None:
                raise LookupError("the browser alone answers this event")
            return await super().preprocess_data(block_fn, *rest, **named)
        except Exception as error:
            raise gr.Error(texts.NOT_OFFERED, print_exception=False) from error
