"""The page, as a table of contents: header, input bar, tabs, link and status."""

from pathlib import Path
from typing import Any

import gradio as gr
from starlette.middleware import Middleware

from explorer.assets import ASSETS
from explorer.doors.door import Door
from explorer.doors.policy import refuse_credentials
from explorer.page_state import PageState
from explorer.ui.kit import words as texts
from explorer.ui.kit.blocks import Page
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.running import stop_for_those_who_leave
from explorer.ui.kit.sessions import MOST_SESSIONS, keep_sessions_lean
from explorer.ui.predictions.opening import show_opening
from explorer.ui.shell.api import register_endpoints
from explorer.ui.shell.documents import (
    CARD,
    card_route,
    gallery_html,
    glossary_route,
    meanings_html,
)
from explorer.ui.shell.family import TAKE_OVER_JS, family_html
from explorer.ui.shell.input_bar import build_input_bar, wire_input_bar
from explorer.ui.shell.opening import wire_opening, wire_put, wire_tabs
from explorer.ui.shell.preview import Preview, picture_route
from explorer.ui.shell.programs import register_tools
from explorer.ui.shell.scripts import head_html, scripts_route
from explorer.ui.shell.standalone import standalone_route
from explorer.ui.shell.tabs import TABS
from explorer.ui.shell.take import provenance_route, qr_route, recipe_route
from explorer.ui.shell.view import Wiring, view_config, wire
from explorer.views.markup import el, script_json
from explorer.views.theme import colour_rules


def build_page(start: PageState, tools: bool = False) -> gr.Blocks:
    """The whole explorer as a Gradio page that opens on ``start`` or on the link it is given.

    ``tools`` gives programs that speak MCP their own endpoints besides.
    """
    with Page(title=texts.TITLE, analytics_enabled=False, fill_width=True) as page:
        gr.HTML(header_html(), elem_id="masthead")
        bar = build_input_bar(start)
        gr.HTML(family_html(start), elem_id="family", js_on_load=TAKE_OVER_JS)
        state = gr.State(None)
        with gr.Tabs(elem_id="tabs", overflow_behavior="wrap") as tabs:
            items, outputs = {}, {}
            for tab in TABS:
                with gr.Tab(tab.LABEL, id=tab.ID, elem_id=f"tab-{tab.ID}") as items[tab.ID]:
                    gr.HTML(el("h2", tab.QUESTION), elem_classes="question")
                    outputs[tab.ID] = tab.build(state)
        show_opening(start, outputs["predictions"])
        gr.HTML(gallery_html(), elem_id="gallery")
        status = gr.HTML("", elem_id="status")
        gr.HTML(meanings_html(), elem_id="meanings")
        view = Canvas("page/view", script_json(view_config()), elem_id="link")
        wire(Wiring(start, view, bar.message, state, status, outputs))
        wire_input_bar(bar)
        wire_opening(page, start, bar, tabs)
        wire_put(bar, tabs)
        wire_tabs(items)
        register_endpoints()
        if tools:
            register_tools()
    page.queue(default_concurrency_limit=4)
    return page


def header_html() -> str:
    """The title, what the page is for, and the theme switch."""
    card = el("a", texts.MINIATURES_CARD, href=CARD, target="_blank")
    miniatures = (texts.MINIATURES, "(", card, ")", texts.PUBLISHED)
    return el(
        "header",
        el("a", texts.SKIP, href="#tabs", class_="skip"),
        el("div", el("h1", texts.TITLE), el("p", texts.TAGLINE), el("p", *miniatures)),
        el("button", texts.THEME_SWITCH, type="button", id="theme-switch"),
    )


def launch_options() -> dict[str, Any]:
    """What ``launch`` needs besides the address: look, scripts, and no more doors than needed."""
    keep_sessions_lean()
    stop_for_those_who_leave()
    refuse_credentials()
    return {
        # Else Gradio gives up a start that takes three seconds to answer its own question, as one
        # does that visitors ask while torch is still being imported.
        "_frontend": False,
        "theme": theme(),
        "css": colour_rules(),
        "css_paths": style_sheets(),
        "head": head_html(),
        "app_kwargs": {
            "routes": [
                scripts_route(),
                card_route(),
                glossary_route(),
                picture_route(),
                provenance_route(),
                recipe_route(),
                qr_route(),
                standalone_route(),
            ],
            "middleware": [Middleware(Door), Middleware(Preview)],
        },
        "footer_links": ["api"],
        "run_history": False,
        "state_session_capacity": MOST_SESSIONS,
        "show_error": False,
        "ssr_mode": False,
        "quiet": False,
    }


def style_sheets() -> list[Path]:
    """The page's own rules first, then each subject's."""
    return sorted((ASSETS / "css").glob("*.css"), key=lambda path: (path.stem != "page", path.stem))


def theme() -> gr.themes.Base:
    """Gradio's own controls in the page's colours; the rest is ``assets/css/page.css``."""
    return gr.themes.Base(
        primary_hue="slate",
        neutral_hue="slate",
        font=["system-ui", "sans-serif"],
        font_mono=["ui-monospace", "monospace"],
    )
