"""Gradio's page, which answers a question that does not fit it in a sentence of ours."""

from typing import Any

import gradio as gr
from gradio.utils import LRUCache

from explorer.ui.kit import words as texts
from explorer.ui.kit.sessions import MOST_SESSIONS

NEVER = 2**62


class Letterboxes(LRUCache[str, Any]):
    """What is on its way to each session; those that are written to are the last to be thrown away.

    Gradio throws away the oldest of 2,000, whoever waits at it: then the task that gives out its
    turns fails, and nobody is answered any more until the page is started again.
    """

    def __getitem__(self, session: str) -> Any:  # noqa: ANN401 - a queue of messages
        self.move_to_end(session)
        return super().__getitem__(session)


class Page(gr.Blocks):
    """As it is, but for what it says of values that none of its controls offers."""

    def queue(self, *arguments: Any, **named: Any) -> "Page":  # noqa: ANN401
        """Set up the line: no record of its events is kept, but every letterbox in use.

        Gradio sums up its last 10,000 events after every one, with pandas, for a page that is shut.
        """
        super().queue(*arguments, **named)
        self._queue.ANALYTICS_MAX_EVENTS, self._queue.ANAYLTICS_CACHE_FREQUENCY = 1, NEVER
        self._queue.pending_messages_per_session = Letterboxes(MOST_SESSIONS)
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
