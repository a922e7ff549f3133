"""Parts of a tab: one in sight at a time, chosen in a row of buttons and named by links."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

import gradio as gr
from gradio.context import get_blocks_context

from explorer.links.page_state import PARTS
from explorer.views.markup import Markup, el


def parts_row(tab: str, names: Mapping[str, str], label: str) -> Markup:
    """The row of buttons: the first part is in sight until another is chosen.

    A link opens a part as it opens a fold, so the button has a fold's id.
    """
    buttons = [
        el(
            "button",
            names[name],
            type="button",
            role="tab",
            id=f"fold-{tab}-{name}",
            class_="part-tab",
            aria_selected=str(not place).lower(),
            aria_controls=f"part-{tab}-{name}",
            tabindex=-1 if place else 0,
        )
        for place, name in enumerate(PARTS[tab])
    ]
    return el("div", *buttons, class_="parts", role="tablist", aria_label=label)


def part(tab: str, name: str) -> gr.Column:
    """Where one part's components go; the style sheet shows the chosen one."""
    return gr.Column(elem_id=f"part-{tab}-{name}", elem_classes="part")


INPUT_BAR = "input-bar"


@contextmanager
def asks(name: str) -> Iterator[Any]:
    """Yield the column of a part's own boxes, in the input bar while the part is in sight.

    Such a part does not read the page's text. While the column is invisible, the page's box stays.
    """
    page: Any = get_blocks_context()
    bar = next((one for one in page.blocks.values() if one.elem_id == INPUT_BAR), None)
    parent = bar.parent if bar else None
    with (
        bar or nullcontext(),  # a tab that is built alone has no input bar
        gr.Column(visible=False, elem_id=f"asks-{name}", elem_classes="asks") as column,
    ):
        yield column
    if bar:
        bar.parent = parent  # entered a second time, it takes the tab for its parent
