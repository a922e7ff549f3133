"""The two events of the page: Compare runs the text, a tab switch shows what is already there."""

import hashlib
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import gradio as gr

from explorer.models.tokens import BadText, plain_text
from explorer.page_state import LINK_TEXT_LIMIT, PageState, from_params
from explorer.runs import device_of, devices, get_runs
from explorer.ui.kit import words as texts
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.errors import sentence_of
from explorer.ui.shell.input_bar import InputBar, device_choices, words_value
from explorer.ui.shell.status import status_html
from explorer.ui.shell.tabs import TABS
from explorer.views.markup import el, script_json

TAB_BY_ID = {tab.ID: tab for tab in TABS}
Outputs = dict[Any, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Wiring:
    """The components that the page's events read and write."""

    start: PageState
    bar: InputBar
    message: gr.HTML
    state: gr.State
    open_tab: gr.State
    """The tab that the reader looks at; only opening and switching write it."""
    shown: gr.State
    """Which state each tab shows, so that a tab that is up to date is not sent again."""
    tabs: gr.Tabs
    tab_items: dict[str, gr.Tab]
    outputs: dict[str, list]
    status: gr.HTML
    link: Canvas
    asked: set[str] = field(default_factory=set)
    """Browser tabs that have pressed Compare: an opening view that ends later comes too late."""

    @property
    def results(self) -> list:
        """Every component that Compare may write."""
        tabs = [component for group in self.outputs.values() for component in group]
        return [self.message, self.state, self.shown, self.status, self.link, self.bar.words, *tabs]

    def tab_results(self, tab: str) -> list:
        """Every component that showing a tab may write: never the state, which a Compare owns."""
        return [self.message, self.open_tab, self.shown, self.link, *self.outputs[tab]]


def wire(page: gr.Blocks, wiring: Wiring) -> None:
    """Connect Compare, the page's opening and the tab switch."""
    bar = wiring.bar

    def on_compare(  # noqa: PLR0913 - four controls, state, open tab, who asks, the progress bar
        text: str, family: str, device: str, dtype: str, state: PageState | None, tab: str,
        request: gr.Request,
        progress: gr.Progress = gr.Progress(),  # noqa: B008 - Gradio finds it by its default
    ) -> Outputs:  # fmt: skip
        before = state or from_params(dict(request.query_params), wiring.start)[0]
        chosen = replace(
            before, text=plain_text(text), family=family, device=device, dtype=dtype,
            tab=tab if state else before.tab,
        )  # fmt: skip
        return compared(wiring, chosen, str(request.session_hash), progress)

    def on_open(request: gr.Request, progress: gr.Progress = gr.Progress()) -> Outputs:  # noqa: B008
        state, repaired = from_params(dict(request.query_params), wiring.start)
        if repaired:
            gr.Warning(texts.REPAIRED.format(fields=", ".join(repaired)))
        outputs = opened(wiring, state, progress)
        if request.session_hash in wiring.asked:
            return {wiring.bar.device: outputs[wiring.bar.device]}
        return outputs | {wiring.link: link_value(outputs[wiring.state], "opening", repaired)}

    def on_leave(request: gr.Request) -> None:
        wiring.asked.discard(str(request.session_hash))

    shared = {"concurrency_id": "infer", "concurrency_limit": 4, "api_visibility": "private",
              "show_progress": "full", "show_progress_on": wiring.message}  # fmt: skip
    triggers = [bar.compare.click, bar.text.submit,
                bar.family.input, bar.device.input, bar.dtype.input]  # fmt: skip
    gr.on(triggers, on_compare, [*bar.chosen, wiring.state, wiring.open_tab], wiring.results,
          trigger_mode="always_last", **shared)  # fmt: skip
    page.unload(on_leave)
    page.load(on_open, None, [*wiring.results, wiring.open_tab, wiring.tabs, *bar.chosen], **shared)
    wire_tabs(wiring, shared)


def wire_tabs(wiring: Wiring, shared: dict[str, Any]) -> None:
    """Connect the tab switch, and the browser's word that a tab fell behind a Compare."""

    def on_tab(tab: str, state: PageState | None, shown: dict) -> Outputs:
        return switch_tab(wiring, state, shown, tab)

    def on_behind(state: PageState | None, shown: dict, event: gr.EventData) -> Outputs:
        tab = str(event._data.get("tab"))
        return switch_tab(wiring, state, shown, tab) if tab in TAB_BY_ID else gr.skip()

    wiring.link.select(on_behind, [wiring.state, wiring.shown], [*wiring.results, wiring.open_tab],
                       **shared)  # fmt: skip
    for tab, item in wiring.tab_items.items():
        item.select(partial(on_tab, tab), [wiring.state, wiring.shown], wiring.tab_results(tab),
                    **shared)  # fmt: skip


def compared(wiring: Wiring, state: PageState, session: str, progress: gr.Progress) -> Outputs:
    """Compare for a browser tab; from its press on, unless refused, an opening view is too late."""
    first = session not in wiring.asked
    wiring.asked.add(session)
    outputs = compare(wiring, state, progress)
    if first and wiring.state not in outputs:
        wiring.asked.discard(session)
    return outputs


def compare(wiring: Wiring, state: PageState, progress: gr.Progress) -> Outputs:
    """Run the three models and draw the open tab; a bad text leaves everything as it was."""
    try:
        runs, _ = get_runs(state, lambda sentence, done: progress(done, desc=sentence))
        drawn = draw_tab(wiring, state)
    except Exception as error:
        kind = "message" if isinstance(error, BadText) else "message failure"
        return {wiring.message: el("p", sentence_of(error), class_=kind, role="alert")}
    return (
        cleared(wiring)
        | drawn
        | {
            wiring.message: "",
            wiring.state: state,
            wiring.link: link_value(state, "compare"),
            wiring.shown: {state.tab: state},
            wiring.status: status_html(state, runs),
            wiring.bar.words: words_value(state.text),
        }
    )


def cleared(wiring: Wiring) -> Outputs:
    """Empty pictures for every tab: none may show an older text than the input bar.

    Gradio builds a component anew for each output that is skipped, which costs more than a value.
    """
    pictures = (component for group in wiring.outputs.values() for component in group)
    return {picture: "" for picture in pictures if isinstance(picture, gr.HTML)}


def opened(wiring: Wiring, state: PageState, progress: gr.Progress) -> Outputs:
    """The page as a link asks for it: controls set, tab chosen, text already run."""
    tab = state.tab if state.tab in TAB_BY_ID else TABS[0].ID
    state = replace(state, tab=tab, device=device_of(state))
    outputs = compare(wiring, state, progress)
    if wiring.state not in outputs:  # refused: no other text's picture in its place
        outputs = cleared(wiring) | outputs | {wiring.state: state}
    if not outputs[wiring.message]:  # there may be an answer to something asked meanwhile
        del outputs[wiring.message]
    bar = wiring.bar
    controls = {bar.text: "text", bar.family: "family", bar.dtype: "dtype"}
    return outputs | {
        wiring.tabs: gr.Tabs(selected=state.tab),
        wiring.open_tab: state.tab,
        bar.device: gr.Dropdown(choices=device_choices(*devices()), value=state.device),
    } | {  # what no link changed may have been typed in by now
        control: getattr(state, name) for control, name in controls.items()
        if getattr(state, name) != getattr(wiring.start, name)
    }  # fmt: skip


def switch_tab(wiring: Wiring, state: PageState | None, shown: dict, tab: str) -> Outputs:
    """Draw a tab from the runs already there; one that is up to date is left alone."""
    if state is None:
        return {wiring.open_tab: tab}
    state = replace(state, tab=tab)
    changed = {wiring.open_tab: tab, wiring.link: link_value(state, "tab")}
    if shown.get(tab) == state:
        return changed
    return draw_tab(wiring, state) | changed | {wiring.shown: {**shown, tab: state}}


def draw_tab(wiring: Wiring, state: PageState) -> Outputs:
    """The open tab's headline."""
    values = TAB_BY_ID[state.tab].show(state)
    return dict(zip(wiring.outputs[state.tab], values, strict=True))


def link_value(state: PageState, event: str, repaired: tuple[str, ...] = ()) -> str:
    """What the address bar must say; view state that the browser keeps is left alone.

    Args:
        state: what is shown now.
        event: ``opening``, ``compare`` or ``tab``. Events run side by side: from this and from
            ``run`` the browser sees when a tab was drawn for an older text, or not at all.
        repaired: fields of the link that had to be repaired.
    """
    params = state.to_params()
    named = ("tab",) if event == "tab" else ("text", "family", "tab", *repaired)
    cut = len(state.text) > LINK_TEXT_LIMIT
    run = repr((state.text, state.family, state.device, state.dtype))
    return script_json({
        "params": {name: params.get(name) for name in named},
        "event": event, "tab": state.tab, "run": hashlib.sha256(run.encode()).hexdigest()[:16],
        "note": texts.LINK_CUT.format(limit=LINK_TEXT_LIMIT) if cut else "",
        "label": texts.LINK_LABEL, "copy": texts.COPY_LINK, "copied": texts.COPIED,
    })  # fmt: skip
