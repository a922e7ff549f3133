"""A visitor's session without the second copy of the page that Gradio keeps in each.

Gradio writes down what every component shows, for deep links of its own: 412 KB and the work of
describing the whole page for every session, and every request of a program is a session. This
page's links are its own (``page_state``), and nothing here reads that copy. Nor does a session need
a list of its own of the page's parts and events (24 KB): it keeps what became different for it.
"""

from collections import ChainMap
from types import SimpleNamespace
from typing import Any

from gradio import state_holder

from explorer import limits

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
