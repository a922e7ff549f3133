"""The two events of the page: Compare runs the text, a tab switch shows what is already there."""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import gradio as gr

from explorer.models.tokens import BadText, plain_text
from explorer.page_state import LINK_TEXT_LIMIT, PageState, from_params
from explorer.runs import device_of, devices, get_runs
from explorer.ui import texts
from explorer.ui.canvas import Canvas
from explorer.ui.errors import sentence_of
from explorer.ui.input_bar import InputBar, words_value
from explorer.ui.status import status_html
from explorer.ui.tabs import TABS
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
        """Every component that showing a tab may write."""
        return [self.message, self.state, self.shown, self.link, *self.outputs[tab]]


def wire(page: gr.Blocks, wiring: Wiring) -> None:
    """Connect Compare, the page's opening and the tab switch."""
    bar = wiring.bar

    def on_compare(  # noqa: PLR0913 - the four controls, the state, who asks, the progress bar
        text: str, family: str, device: str, dtype: str, state: PageState | None,
        request: gr.Request,
        progress: gr.Progress = gr.Progress(),  # noqa: B008 - Gradio finds it by its default
    ) -> Outputs:  # fmt: skip
        wiring.asked.add(str(request.session_hash))
        chosen = replace(
            state or wiring.start, text=plain_text(text), family=family, device=device, dtype=dtype
        )
        return compare(wiring, chosen, progress)

    def on_open(request: gr.Request, progress: gr.Progress = gr.Progress()) -> Outputs:  # noqa: B008
        state, repaired = from_params(dict(request.query_params), wiring.start)
        if repaired:
            gr.Warning(texts.REPAIRED.format(fields=", ".join(repaired)))
        outputs = opened(wiring, state, progress)
        if request.session_hash in wiring.asked:
            return {wiring.bar.device: outputs[wiring.bar.device]}
        return outputs | {wiring.link: link_value(outputs[wiring.state], repaired)}

    def on_tab(tab: str, state: PageState | None, shown: dict) -> Outputs:
        return switch_tab(wiring, state, shown, tab)

    def on_leave(request: gr.Request) -> None:
        wiring.asked.discard(str(request.session_hash))

    results = wiring.results
    shared = {"concurrency_id": "infer", "concurrency_limit": 4, "api_visibility": "private",
              "show_progress": "full", "show_progress_on": wiring.message}  # fmt: skip
    triggers = [bar.compare.click, bar.text.submit,
                bar.family.input, bar.device.input, bar.dtype.input]  # fmt: skip
    gr.on(triggers, on_compare, [*bar.chosen, wiring.state], results,
          trigger_mode="always_last", **shared)  # fmt: skip
    page.unload(on_leave)
    page.load(on_open, None, [*results, wiring.tabs, *bar.chosen], **shared)
    for tab, item in wiring.tab_items.items():
        item.select(partial(on_tab, tab), [wiring.state, wiring.shown], wiring.tab_results(tab),
                    **shared)  # fmt: skip


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
    outputs.setdefault(wiring.state, state)
    if not outputs[wiring.message]:  # there may be an answer to something asked meanwhile
        del outputs[wiring.message]
    bar = wiring.bar
    controls = {bar.text: "text", bar.family: "family", bar.dtype: "dtype"}
    return outputs | {
        wiring.tabs: gr.Tabs(selected=state.tab),
        bar.device: gr.Dropdown(choices=list(devices()), value=state.device),
    } | {  # what no link changed may have been typed in by now
        control: getattr(state, name) for control, name in controls.items()
        if getattr(state, name) != getattr(wiring.start, name)
    }  # fmt: skip


def switch_tab(wiring: Wiring, state: PageState | None, shown: dict, tab: str) -> Outputs:
    """Draw a tab from the runs already there; one that is up to date is left alone."""
    if state is None:
        return {wiring.message: gr.skip()}
    state = replace(state, tab=tab)
    changed = {wiring.state: state, wiring.link: link_value(state)}
    if shown.get(tab) == state:
        return changed
    return draw_tab(wiring, state) | changed | {wiring.shown: {**shown, tab: state}}


def draw_tab(wiring: Wiring, state: PageState) -> Outputs:
    """The open tab's headline, and the link that reopens it."""
    values = TAB_BY_ID[state.tab].show(state)
    drawn = dict(zip(wiring.outputs[state.tab], values, strict=True))
    return drawn | {wiring.link: link_value(state)}


def link_value(state: PageState, repaired: tuple[str, ...] = ()) -> str:
    """What the address bar must say; view state that the browser keeps is left alone."""
    params = state.to_params()
    cut = len(state.text) > LINK_TEXT_LIMIT
    return script_json({
        "params": {name: params.get(name) for name in ("text", "family", "tab", *repaired)},
        "note": texts.LINK_CUT.format(limit=LINK_TEXT_LIMIT) if cut else "",
        "label": texts.LINK_LABEL, "copy": texts.COPY_LINK, "copied": texts.COPIED,
    })  # fmt: skip
