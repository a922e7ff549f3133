"""Sessions of visitors and their message queues, both smaller than Gradio's."""

from collections import ChainMap
from types import SimpleNamespace
from typing import Any

from gradio import state_holder
from gradio.utils import LRUCache

from explorer import limits

MAX_SESSIONS = limits.SESSIONS.maximum
"""Most sessions whose state is kept; the least recently used are dropped."""


class LeanSession(state_holder.SessionState):
    """Session state that holds only the visitor's values and shares the page's config."""

    config_values = property(lambda _self: {}, lambda _self, _value: None)

    def __init__(self, blocks: Any) -> None:  # noqa: ANN401 - Gradio's Blocks
        # An empty ``blocks`` keeps Gradio from copying every component's config into the session.
        super().__init__(SimpleNamespace(default_config=blocks.default_config, blocks={}))  # type: ignore[arg-type]
        shared = blocks.default_config
        self.blocks_config.blocks = ChainMap({}, shared.blocks)  # type: ignore[assignment]
        self.blocks_config.fns = shared.fns
        self.blocks_config.config_for_block = lambda *_: {}  # type: ignore[method-assign,assignment]

    def _update_config(self, key: int) -> None:
        """Do nothing: the session has no config of its own."""

    def _update_value_in_config(self, key: int, value: Any) -> None:  # noqa: ANN401
        """Do nothing: the session has no config of its own."""


class MessageQueues(LRUCache[str, Any]):
    """Message queues of the sessions, as an LRU cache that also counts reads as use.

    Gradio drops the oldest of 2,000, even one in use: then its task that processes events fails,
    and no request is served until the page is restarted.

    Args:
        maximum: Most message queues kept.
        unread: Pending event ids by session, dropped together with the message queue.
    """

    def __init__(self, maximum: int, unread: dict[str, Any]) -> None:
        super().__init__(maximum)
        self._unread = unread

    def __getitem__(self, session: str) -> Any:  # noqa: ANN401 - a queue of messages
        self.move_to_end(session)
        return super().__getitem__(session)

    def popitem(self, last: bool = True) -> tuple[str, Any]:
        """Remove and return a message queue, and drop the session's pending event ids."""
        session, box = super().popitem(last)
        self._unread.pop(session, None)
        return session, box
