"""Tabs of the page in display order, and the interface of a tab."""

from typing import Protocol

import gradio as gr

from explorer.context import context
from explorer.inference.runs import Runs, get_runs
from explorer.links.page_state import PageState
from explorer.lists.ui import tab as texts
from explorer.ui.attention import tab as attention
from explorer.ui.claims import tab as claims
from explorer.ui.depth import tab as depth
from explorer.ui.distillation import tab as distillation
from explorer.ui.kit import strings
from explorer.ui.latency import tab as latency
from explorer.ui.layer import tab as layer
from explorer.ui.parameters import tab as parameters
from explorer.ui.predictions import tab as predictions
from explorer.ui.tasks import tab as tasks


class Tab(Protocol):
    """Interface of a module that is one tab of the page."""

    ID: str
    """Name of the tab in links and in the page's markup."""
    LABEL: str
    QUESTION: str
    """Question that the tab answers."""
    READS: tuple[str, ...]
    """Fields of the state that the headline depends on; it is redrawn only if one changes."""

    def build(self, state: gr.State) -> list[gr.components.Component]:
        """Build the tab's components and return those that ``show`` updates."""

    def show(self, state: PageState, text_runs: Runs) -> list[object]:
        """Return the values of the components that ``build`` returned, for a state and its runs."""


TABS: tuple[Tab, ...] = (
    predictions,
    attention,
    layer,
    depth,
    distillation,
    texts,
    tasks,
    parameters,
    latency,
    claims,
)


def values_of(tab: Tab, state: PageState) -> list[object]:
    """Return the values of a tab's headline; models run only if it depends on the text.

    Raises:
        BadText: a model cannot run the text.
    """
    return tab.show(state, get_runs(state.ask) if "text" in tab.READS else Runs())


def question_of(tab: Tab) -> str:
    """Return the question of a tab; of a page with columns of its own, the one about those."""
    return getattr(tab, "QUESTION_OWN", tab.QUESTION) if context().columns else tab.QUESTION


def group_rules() -> str:
    """Return style rules that show the groups' names above the tabs: Gradio's row holds only tabs.

    Screen readers do not read them, so that each tab keeps its own accessible name.
    """
    rules = []
    for group, tabs in strings.GROUPS.items():
        first, last = (f"#tab-{tab}-button" for tab in (tabs[0], tabs[-1]))
        rules.append(f'#tabs {first}::before{{content:"{group}"/"";}}')
        rules.append(f"#tabs {last}{{margin-inline-end:var(--between-groups);}}")
    return "".join(rules)


def width_rules() -> str:
    """Return style rules that reserve the width of bold labels, so that no tab moves on a click."""
    return "".join(
        f'#tabs #tab-{tab.ID}-button::after{{content:"{tab.LABEL}"/"";}}' for tab in TABS
    )
