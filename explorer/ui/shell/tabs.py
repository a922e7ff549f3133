"""The tabs in the order they are shown, and what a tab is."""

from typing import Protocol

import gradio as gr

from explorer.links.page_state import PageState
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
    """A module that is one tab of the page."""

    ID: str
    """Its name in links and in the page's markup."""
    LABEL: str
    QUESTION: str
    """What it answers, as one question."""
    READS: tuple[str, ...]
    """The fields of the state that its headline depends on; another's change leaves it as it is."""

    def build(self, state: gr.State) -> list[gr.components.Component]:
        """Its components; those returned are written by ``show``."""

    def show(self, state: PageState) -> list[object]:
        """The values of the components that ``build`` returned, for one state."""


TABS: tuple[Tab, ...] = (
    predictions,
    attention,
    layer,
    depth,
    distillation,
    tasks,
    parameters,
    latency,
    claims,
)


def group_rules() -> str:
    """The groups' names over the row of tabs, as style rules: Gradio's row holds tabs alone.

    They are read from the page and not aloud: a tab's name stays its own.
    """
    rules = []
    for group, tabs in strings.GROUPS.items():
        first, last = (f"#tab-{tab}-button" for tab in (tabs[0], tabs[-1]))
        rules.append(f'#tabs {first}::before{{content:"{group}"/"";}}')
        rules.append(f"#tabs {last}{{margin-inline-end:var(--between-groups);}}")
    return "".join(rules)


def width_rules() -> str:
    """Reserve the width of each tab's bold name, so that no tab moves when another is chosen."""
    return "".join(
        f'#tabs #tab-{tab.ID}-button::after{{content:"{tab.LABEL}"/"";}}' for tab in TABS
    )
