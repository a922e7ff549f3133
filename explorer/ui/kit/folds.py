"""Folds: what lies deeper, titled by the question it answers and computed only when opened."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import gradio as gr

from explorer.links.page_state import FOLDS
from explorer.ui.kit.errors import plain_errors


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """An open-on-demand section and the hidden button that refreshes it for a new text."""

    section: gr.Accordion
    refresh: gr.Button

    def on_open(
        self,
        show: Callable,
        inputs: Sequence[gr.components.Component],
        outputs: Sequence[gr.components.Component],
        **kwargs: Any,  # noqa: ANN401
    ) -> gr.events.Dependency:
        """Compute when opened, and again when the text changes while it is open."""
        usual = {"show_progress": "minimal", "concurrency_id": "infer"}
        return gr.on(
            [self.section.expand, self.refresh.click],
            plain_errors(show),
            list(inputs),
            list(outputs),
            api_visibility="private",
            trigger_mode="always_last",
            **(usual | kwargs),
        )


@contextmanager
def fold(tab: str, name: str, question: str) -> Iterator[Fold]:
    """A closed section titled by its question; build the components inside the ``with``.

    A link opens it by its name, so it must be in the table of folds.
    """
    if name not in FOLDS[tab]:
        raise KeyError(f"{tab} has no fold {name}: add it to FOLDS")
    with gr.Accordion(
        question, open=False, elem_id=f"fold-{tab}-{name}", elem_classes="fold"
    ) as section:
        refresh = gr.Button("Refresh", visible="hidden", elem_classes="fold-refresh")
        yield Fold(section, refresh)
