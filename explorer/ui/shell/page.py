"""The whole page: header, input bar, tabs, link and status."""

import os
from pathlib import Path
from typing import Any

import gradio as gr
from starlette.middleware import Middleware
from starlette.routing import Route

from explorer import limits
from explorer.assets import ASSETS
from explorer.context import configure, context
from explorer.links.page_state import PageState
from explorer.middleware.concurrency import ConcurrencyLimiter, StreamTracker
from explorer.middleware.gradio_patches import patch_gradio
from explorer.middleware.headers import (
    configured_url,
    path_of,
)
from explorer.middleware.health import add_probe, health_route
from explorer.middleware.page_cache import PageCache
from explorer.middleware.request_filter import RequestFilter
from explorer.middleware.routes import Routes
from explorer.middleware.sessions import MAX_SESSIONS, LeanSession
from explorer.middleware.validation import REFUSALS
from explorer.timing.memory import is_short
from explorer.ui.attention.served import frame_route
from explorer.ui.first.preview import Preview, picture_route
from explorer.ui.first.scripts import FIRST_SHEET, PAPER
from explorer.ui.first.sent import settings_route
from explorer.ui.kit import strings
from explorer.ui.kit.blocks import Page
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.errors import payload
from explorer.ui.kit.folds import wire_forms
from explorer.ui.kit.running import stop_for_those_who_leave
from explorer.ui.predictions.opening import show_opening
from explorer.ui.shell.api import ENDPOINTS, register_endpoints
from explorer.ui.shell.family import badge_of, family_html, glyph_rules
from explorer.ui.shell.input_bar import build_input_bar, wire_input_bar
from explorer.ui.shell.lessons import lessons_route
from explorer.ui.shell.routes import (
    card_route,
    cite_route,
    glossary_route,
    meanings_html,
    provenance_route,
    qr_route,
    recipe_route,
    refusals_route,
    scripts_route,
    standalone_route,
    tour_html,
)
from explorer.ui.shell.tabs import TABS, group_rules, question_of, width_rules
from explorer.ui.shell.view import Wiring, build_status, view_config, wire, wire_opening, wire_put
from explorer.views.markup import Markup, el, script_json
from explorer.views.theme import colour_rules


def build_page(start: PageState, tools: bool = False) -> gr.Blocks:
    """Build the explorer as a Gradio page that opens on ``start`` or on a link's state.

    ``tools`` adds endpoints for MCP clients.
    """
    with Page(title=strings.TITLE, analytics_enabled=False, fill_width=True) as page:
        page.opens_on = start
        gr.HTML(header_html(start), elem_id="masthead")
        bar = build_input_bar(start)
        state = gr.State(None)
        with gr.Tabs(elem_id="tabs", overflow_behavior="wrap") as tabs:
            outputs = {}
            for tab in TABS:
                with gr.Tab(tab.LABEL, id=tab.ID, elem_id=f"tab-{tab.ID}"):
                    gr.HTML(el("h2", question_of(tab)), elem_classes="question")
                    outputs[tab.ID] = tab.build(state)
        show_opening(start, outputs["predictions"])
        gr.HTML(family_html(start), elem_id="family")
        gr.HTML(tour_html(), elem_id="tour")
        status = build_status()
        gr.HTML(meanings_html(), elem_id="meanings")
        view = Canvas("page/view", script_json(view_config()), elem_id="link")
        wire(Wiring(start, view, bar.message, state, status, outputs))
        wire_input_bar(bar)
        wire_opening(page, start, bar)
        wire_put(bar, tabs)
        wire_forms(page.folds)
        register_endpoints(tools)
        add_probe()
    page.queue(default_concurrency_limit=limits.LIGHT.maximum)
    return page


def header_html(start: PageState) -> Markup:
    """Return the header: title, badge of the models in use, tour button and theme switch."""
    current = badge_of(start.family)
    badge = [
        el("span", label, data_family=family, hidden=family != current)
        for family, label in strings.BADGES.items()
    ]
    theme_switch = {"title": strings.THEME_SWITCH, "aria_label": strings.THEME_SWITCH}
    return el(
        "header",
        el("a", strings.SKIP, href="#tabs", class_="skip"),
        el("h1", strings.TITLE),
        el("p", strings.TAGLINE_OWN if context().columns else strings.TAGLINE),
        el(
            "button",
            *badge,
            type="button",
            class_="chip badge-chip",
            popovertarget="settings",
            title=strings.BADGE_OPENS,
        ),
        el("button", strings.TOUR["name"], type="button", class_="chip", id="tour-start"),
        el("button", "◐", type="button", class_="chip", id="theme-switch", **theme_switch),
        el("p", strings.LITTLE_MEMORY, class_="message failure", role="alert")
        if is_short()
        else "",
    )


def launch_options(public: str = "") -> dict[str, Any]:
    """Return the options of ``launch`` except host and port: style, scripts, routes, middleware.

    Args:
        public: The public URL of the page; empty if it is not configured.

    Raises:
        Refusal: ``public`` is not a valid URL.
    """
    address = configured_url(public)
    configure(public_url=address)
    stop_for_those_who_leave()
    patch_gradio(LeanSession, payload)
    routes = own_routes()
    return {
        # Else Gradio aborts the start if its own request takes over three seconds, as it does when
        # visitors send requests while torch is still being imported.
        "_frontend": False,
        # Handlers get a thread pool of their own: files and pages must not wait for long ones.
        "max_threads": limits.RUNNING.maximum,
        "root_path": path_of(os.getenv("GRADIO_ROOT_PATH")) or path_of(address),
        "theme": theme(),
        "css": colour_rules() + glyph_rules() + group_rules() + width_rules(),
        "css_paths": style_sheets(),
        "app_kwargs": {
            "routes": routes,
            "exception_handlers": REFUSALS,
            "middleware": [
                Middleware(RequestFilter, routes=Routes(routes, ENDPOINTS)),
                Middleware(ConcurrencyLimiter),
                Middleware(StreamTracker),
                Middleware(Preview),
                Middleware(PageCache),
            ],
        },
        "footer_links": ["api"],
        # Gradio reads this text to screen readers after an event, and has no English for it.
        "i18n": gr.I18n(en={"common.complete": strings.COMPLETE}),
        "run_history": False,
        "state_session_capacity": MAX_SESSIONS,
        "show_error": False,
        "ssr_mode": False,
        "quiet": False,
    }


def own_routes() -> list[Route]:
    """Return the page's own routes, besides Gradio's."""
    return [
        scripts_route(),
        settings_route(),
        health_route(),
        frame_route(),
        card_route(),
        glossary_route(),
        refusals_route(),
        picture_route(),
        provenance_route(),
        cite_route(),
        lessons_route(),
        recipe_route(),
        qr_route(),
        standalone_route(),
    ]


def style_sheets() -> list[Path]:
    """Return the style sheets, page.css first, without those that Gradio does not read."""
    sheets = set((ASSETS / "css").glob("*.css")) - {PAPER, FIRST_SHEET}
    return sorted(sheets, key=lambda path: (path.stem != "page", path.stem))


def theme() -> gr.themes.Base:
    """Return the theme of Gradio's controls; all else is styled in ``assets/css/page.css``."""
    return gr.themes.Base(
        primary_hue="slate",
        neutral_hue="slate",
        font=["system-ui", "sans-serif"],
        font_mono=["ui-monospace", "monospace"],
    )
