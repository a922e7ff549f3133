"""Main event of the page: a link's parameters in, the visible tab out."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

import gradio as gr

from explorer.context import context
from explorer.inference.runs import Runs, device_of, devices, get_runs
from explorer.links.codec import (
    LINK_LONGEST,
    LINK_TEXT_LIMIT,
    MOVED,
    PACKED,
    TEXTS,
    default_params,
    from_page,
    to_params,
)
from explorer.links.page_state import PageState
from explorer.links.tabs import shown_by
from explorer.models.choice.family import CLOSED, PRESETS, column, known_columns, sizes_of
from explorer.models.tokens import BadText
from explorer.refusal import Refusal
from explorer.ui.kit import strings
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.errors import plain_errors, sentence_of
from explorer.ui.kit.running import COMPARE
from explorer.ui.kit.validation import link_in
from explorer.ui.shell.family import offer_columns
from explorer.ui.shell.input_bar import InputBar, device_choices
from explorer.ui.shell.status import status_html
from explorer.ui.shell.tabs import TABS
from explorer.views.markup import Markup, el, refusal_message, script_json

OPENED_JS = "() => { window.explorer.tell('opened'); }"
LOST_JS = "() => { window.explorer.tell('lost'); }"
PUT_JS = (
    "() => {{ const {{preset, sizes, tab}} = window.explorer.placed();"
    " const left = {{__type__: 'update'}};"
    " return [preset === undefined ? left : preset,"
    " ...{keys}.map(key => sizes ? sizes[key] ?? '{closed}' : left),"
    " tab ? {{...left, selected: tab}} : left]; }}"
)


def wire_opening(page: gr.Blocks, start: PageState, bar: InputBar) -> None:
    """Tell the browser that the page is up; offer the machine's devices once torch is imported."""

    def offer_machine() -> list[gr.Dropdown]:
        device = gr.Dropdown(choices=device_choices(*devices()), value=device_of(start.ask))
        return [device, *offer_columns()]

    private: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
    page.load(None, None, None, js=OPENED_JS, **private)
    page.load(plain_errors(offer_machine), None, [bar.device, *bar.columns.values()], **private)


def wire_put(bar: InputBar, tabs: gr.Tabs) -> None:
    """Let the browser's state change Gradio's own controls: the models, the tab."""
    put = gr.Button("Put", visible="hidden", elem_id="put")
    set_here = [bar.family, *bar.columns.values(), tabs]
    js = PUT_JS.format(keys=json.dumps([*bar.columns]), closed=CLOSED)
    put.click(None, None, set_here, js=js, api_visibility="private")


TAB_BY_ID = {tab.ID: tab for tab in TABS}
Outputs = dict[Any, Any]
DRAWN_FROM = {
    "depth": ("other", "first", "second"),
    "latency": ("timed",),
    "tasks": ("sentiment", "question", "passage", "labels", "label", "span"),
}
"""State fields whose result a tab draws only on request; the browser's Back requests it again."""


@dataclass(frozen=True, slots=True)
class ViewRequest:
    """Request of the browser for a view."""

    state: PageState
    repaired: tuple[str, ...] = ()
    """Fields with invalid values that were reset."""
    number: int = 0
    """Number of the request, repeated in the response."""
    keep: tuple[str, ...] = ()
    """Tabs that show this text already and stay unchanged."""


@dataclass(frozen=True, slots=True, eq=False)
class Wiring:
    """Components that the event updates."""

    start: PageState
    view: Canvas
    message: gr.HTML
    state: gr.State
    status: gr.HTML
    outputs: dict[str, list]
    """Components of each tab's headline, by tab."""

    @property
    def results(self) -> list:
        """The list of all updated components."""
        tabs = [component for group in self.outputs.values() for component in group]
        return [self.view, self.message, self.state, self.status, *tabs]


def view(wiring: Wiring, request: ViewRequest, progress: gr.Progress) -> Outputs:
    """Run the three models and draw the tab; a bad text leaves the page unchanged."""
    repaired = [name for name in request.repaired if name != PACKED]
    if repaired:
        gr.Warning(strings.REPAIRED.format(fields=", ".join(repaired)))
    if PACKED in request.repaired:
        gr.Warning(strings.UNREADABLE)
    state = replace(request.state, device=device_of(request.state.ask))
    text_runs, refusal = run_models(state, progress)
    tab_outputs: Outputs = {}
    if not refusal or "text" not in TAB_BY_ID[state.tab].READS:
        tab_outputs, failure = draw_tab(wiring, state, text_runs)
        refusal = refusal or failure
    request, is_drawn = replace(request, state=state), bool(tab_outputs)
    message = refusal or ("" if text_runs.found else way_back(state))
    outputs = {wiring.message: message, wiring.view: view_canvas(request, not refusal, is_drawn)}
    if tab_outputs:
        tab_outputs |= {wiring.status: status_html(state, text_runs.found)}
        tab_outputs |= cleared(wiring, (*request.keep, state.tab))
    return outputs | tab_outputs | ({} if refusal else {wiring.state: state})


def wire(wiring: Wiring) -> None:
    """Connect the view canvas's request event to its handler; tell the browser if it fails."""

    def on_view(question: dict, progress: gr.Progress = gr.Progress()) -> Outputs:  # noqa: B008
        return view(wiring, view_request(question, wiring.start), progress)

    asked = wiring.view.on_question(
        on_view,
        [],
        wiring.results,
        trigger_mode="always_last",
        show_progress="minimal",
        show_progress_on=wiring.message,
        **COMPARE,
    )
    asked.failure(None, js=LOST_JS, api_visibility="private")


def view_request(question: dict[str, Any], start: PageState) -> ViewRequest:
    """Return the parsed request of the browser; a malformed one becomes the start state."""
    try:
        params = link_in(question)
        number, keep = int(question["number"]), tuple(map(str, question["keep"]))
    except (Refusal, ValueError, TypeError, KeyError, OverflowError):
        return ViewRequest(start)
    return ViewRequest(*from_page(params, start), number, keep)


def run_models(state: PageState, progress: gr.Progress) -> tuple[Runs, Markup | str]:
    """Return the runs of a text, or a message why there are none."""
    try:
        return get_runs(state.ask, lambda sentence, done: progress(done, desc=sentence)), ""
    except Exception as error:
        return Runs(), refused(error)


def draw_tab(wiring: Wiring, state: PageState, text_runs: Runs) -> tuple[Outputs, Markup | str]:
    """Return the values of the tab's headline, or a message why it cannot be drawn."""
    try:
        values = TAB_BY_ID[state.tab].show(state, text_runs)
    except Exception as error:
        return {}, refused(error)
    return dict(zip(wiring.outputs[state.tab], values, strict=True)), ""


def refused(error: Exception) -> Markup:
    """Return the message of an error; all but bad texts are styled as failures."""
    return refusal_message(sentence_of(error), "" if isinstance(error, BadText) else "failure")


def way_back(state: PageState) -> Markup | str:
    """Return a button to the bundled family when no model of another one could be loaded."""
    bundled = PageState().family
    if state.family == bundled:
        return ""
    back = el("button", strings.WAY_BACK, type="button", class_="chip", data_family=bundled)
    return el("p", strings.NO_FAMILY, " ", back, class_="message", role="alert")


def cleared(wiring: Wiring, kept: Sequence[str]) -> Outputs:
    """Return empty values for the other tabs, since none may show an older text than the input bar.

    Gradio rebuilds a component for each skipped output, which costs more than an empty value.
    """
    others = [group for tab, group in wiring.outputs.items() if tab not in kept]
    return {part: "" for group in others for part in group if isinstance(part, gr.HTML)}


def view_canvas(request: ViewRequest, accepted: bool, drawn: bool) -> str:
    """Return the response for the browser as JSON: the link's parameters and the view's status.

    Args:
        request: The request, as it was parsed.
        accepted: True if the models ran; only then the link is updated.
        drawn: True if the tab was drawn.
    """
    state = request.state
    answer: ViewAnswer = {
        "number": request.number,
        "repaired": list(request.repaired),
        "accepted": accepted,
        "drawn": drawn,
        "params": {k: v for k, v in to_params(state).items() if k != "text"},
        "sizes": sizes_of(state.family),
        "machine": {"device": state.device, "dtype": state.dtype},
        "text": state.text,
    }
    data: ViewData = {"answer": answer}
    return script_json(data)


def build_status() -> gr.HTML:
    """Build the line naming the shown text while another is typed, and return the status line."""
    back = el("button", strings.STANDING_BACK, type="button", class_="chip")
    gr.HTML(el("p", el("span"), back, role="status", hidden=True), elem_id="standing")
    return gr.HTML("", elem_id="status")


class ViewAnswer(TypedDict):
    """Fields of the link of an answered question, and whether it was accepted and drawn."""

    number: int
    repaired: list[str]
    accepted: bool
    drawn: bool
    params: dict[str, str]
    sizes: dict[str, str]
    machine: dict[str, str]
    text: str


class ViewData(TypedDict):
    """Answer to a question of the page."""

    answer: ViewAnswer


class ViewConfig(TypedDict):
    """Constants of the page.

    ``limit`` is the number of characters of each text in a link, ``longest`` that of all fields of
    a link as they are encoded, and ``packed`` the field that holds ``texts_of`` a link that is
    longer. ``shown_by`` has the tabs that show a field, or a name in it (``look.unit``), and
    ``drawn_from`` what a tab's picture shows besides the fields that it reads.
    """

    defaults: dict[str, str]
    moved: Mapping[str, Mapping[str, Mapping[str, str]]]
    presets: dict[str, dict[str, str]]
    columns: dict[str, list[str]]
    own_columns: list[str]
    closed: str
    reads: dict[str, list[str]]
    shown_by: Mapping[str, Sequence[str]]
    limit: int
    longest: int
    packed: str
    texts_of: Sequence[str]
    drawn_from: Mapping[str, Sequence[str]]
    home: str
    texts: Mapping[str, str]


def view_config() -> ViewConfig:
    """Return the page's constants for the browser, so that its code repeats none of them."""
    return {
        "defaults": default_params(),
        "moved": MOVED,
        "presets": {name: sizes_of(name) for name in PRESETS},
        "columns": {key: list(column(key)) for key in known_columns()},
        "own_columns": list(context().columns),
        "closed": CLOSED,
        "reads": {tab.ID: list(tab.READS) for tab in TABS},
        "shown_by": shown_by(),
        "limit": LINK_TEXT_LIMIT,
        "longest": LINK_LONGEST,
        "packed": PACKED,
        "texts_of": TEXTS,
        "drawn_from": DRAWN_FROM,
        "home": home(),
        "texts": strings.LINK,
    }


def home() -> str:
    """Return the URL of the Space's own page; empty outside a Space."""
    space = os.getenv("SPACE_ID", "")
    return f"https://huggingface.co/spaces/{space}" if space else ""
