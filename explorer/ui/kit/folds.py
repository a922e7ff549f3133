"""Sections below a tab's headline: folds, of which many can be open, and parts, of which one is."""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import gradio as gr
from gradio.context import Context, get_blocks_context

from explorer.links.page_state import PageState
from explorer.links.tabs import FOLDS, PARTS
from explorer.ui.kit.blocks import Page
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.jobs import Job, handler, stop_button
from explorer.views.markup import Markup, el, script_json


def parts_row(tab: str, names: Mapping[str, str], label: str) -> Markup:
    """Return the row of a tab's part buttons; the first part is visible until another is chosen.

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
    """Return the column of one part's components; the style sheet shows the chosen part."""
    return gr.Column(elem_id=f"part-{tab}-{name}", elem_classes="part")


INPUT_BAR = "input-bar"


@contextmanager
def asks(name: str) -> Iterator[Any]:
    """Yield the column of a part's own inputs, which is in the input bar while the part is visible.

    Such a part does not read the page's text. While the column is hidden, the page's text box is
    shown.
    """
    page: Any = get_blocks_context()
    bar = next((block for block in page.blocks.values() if block.elem_id == INPUT_BAR), None)
    parent = bar.parent if bar else None
    with (
        bar or nullcontext(),  # a tab built on its own has no input bar
        gr.Column(visible=False, elem_id=f"asks-{name}", elem_classes="asks") as column,
    ):
        yield column
    if bar:
        bar.parent = parent  # entering it a second time has set the tab as its parent


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """Section opened on demand, and the hidden button that refreshes it for a new text."""

    section: gr.Accordion
    refresh: gr.Button
    form: dict[gr.components.Component, dict[str, Any]] = field(default_factory=dict)
    """Controls whose values are in the link, and how the browser reads them from there."""

    def keep(self, prefix: str, **controls: gr.components.Component) -> "Fold":
        """Keep the controls' values in the link, and set them from it when a fold opens.

        A control that is set so computes by its ``change`` event.
        """
        self.form.update({c: _described(f"{prefix}.{n}", c) for n, c in controls.items()})
        return self

    def keep_texts(self, **boxes: gr.Textbox) -> "Fold":
        """Keep whole texts in the link, each in the field of the box's name; else as ``keep``."""
        self.form.update({box: _described(n, box) | {"field": n} for n, box in boxes.items()})
        return self

    def setting(self, controls: Sequence[gr.components.Component], values: str) -> str:
        """Return the script of a button that sets controls to ``values``, also in the link.

        Args:
            controls: The event's inputs and outputs.
            values: JavaScript of their new values, which may use the old ones as ``values``.
        """
        form = f"{{controls: {self.controls(controls)}, values: chosen}}"
        return (
            f"(...values) => {{ const chosen = {values}; "
            f"window.explorer.tell('form', {form}); return chosen; }}"
        )

    def controls(self, inputs: Sequence[gr.components.Component]) -> str:
        """Return how the browser reads these controls from a link, as JSON; null for others."""
        return script_json([self.form.get(control) for control in inputs])

    def on_open(
        self,
        show: Callable,
        inputs: Sequence[gr.components.Component],
        outputs: Sequence[gr.components.Component],
        also: Sequence[Callable] = (),
        needs_state: bool = True,
        **kwargs: Any,  # noqa: ANN401
    ) -> gr.events.Dependency:
        """Call ``show`` when the fold opens, and again when the text changes while it is open.

        Args:
            show: Handler of the inputs' values.
            inputs: Components that it reads.
            outputs: Components that it writes.
            also: Further triggers, such as changes of the fold's own controls.
            needs_state: False if it is called with None before the page has a state.
            kwargs: Event options besides a fold's own.
        """
        is_of_text = bool(inputs) and isinstance(inputs[0], gr.State) and needs_state
        defaults = {"show_progress": "minimal", "concurrency_id": "infer"}
        if any("most" in self.form.get(control, {}) for control in inputs):
            filled = f"window.explorer.filled({self.controls(inputs)}, values)"
            defaults["js"] = f"(...values) => {filled}"
        return gr.on(
            [self.section.expand, self.refresh.click, *also],
            plain_errors(with_state(show) if is_of_text else show),
            list(inputs),
            list(outputs),
            api_visibility="private",
            trigger_mode="always_last",
            **(defaults | kwargs),
        )

    def on_choice(self, choice: gr.Radio, box: gr.Textbox, nothing: str) -> gr.events.Dependency:
        """Put what is chosen into a kept box, as if typed; the choice ``nothing`` empties it."""
        word = f"values[0] === {script_json(nothing)} ? '' : values[0] ?? ''"
        into_box = self.setting([box], f"[{word}]")
        return choice.input(None, [choice], [box], js=into_box, api_visibility="private")

    def after(
        self,
        event: gr.events.Dependency,
        show: Callable,
        inputs: Sequence[gr.components.Component],
        outputs: Sequence[gr.components.Component],
    ) -> None:
        """Call ``show`` when an event that runs in the browser is done."""
        event.then(
            plain_errors(with_state(show)),
            list(inputs),
            list(outputs),
            show_progress="minimal",
            concurrency_id="infer",
            api_visibility="private",
        )

    def on_open_job(
        self,
        job: Job,
        inputs: Sequence[gr.components.Component],
        outputs: Sequence[gr.components.Component],
        stop: gr.Button,
        **options: Any,  # noqa: ANN401
    ) -> None:
        """Start a job when the fold opens, and again when the text changes while it is open."""
        self.on_open(handler(job), inputs, [*outputs, stop], **job.options | options)
        stop_button(stop, job)


def wire_forms(folds: Sequence[Fold]) -> None:
    """Connect the kept controls of all folds with the link, by one event in each direction.

    A fold that opens sets all of them, so that none holds another link's value when one is told;
    the present values are sent along because a reader may be typing when a fold is refreshed.
    """
    form = {control: described for fold in folds for control, described in fold.form.items()}
    controls: list[Any] = [*form]
    described = script_json([*form.values()])
    texts = [control for control in controls if isinstance(control, gr.Textbox)]
    # What is pasted into a text box is no input event of Gradio.
    pasted = [event for box in texts for event in (box.blur, box.submit)]
    gr.on(
        [control.input for control in controls] + pasted,
        None,
        controls,
        None,
        js=f"(...values) => window.explorer.tell('form', {{controls: {described}, values}})",
        api_visibility="private",
    )
    gr.on(
        [
            event
            for fold in folds
            if fold.form
            for event in (fold.section.expand, fold.refresh.click)
        ],
        None,
        controls,
        controls,
        js=f"(...values) => window.explorer.form({described}, values)",
        trigger_mode="always_last",
        api_visibility="private",
    )


def with_state(show: Callable) -> Callable:
    """Wrap a handler to change nothing before the page has a state; a job asks for it itself."""
    if inspect.isgeneratorfunction(show):
        return show

    @functools.wraps(show)
    def call(state: PageState | None, *rest: Any) -> Any:  # noqa: ANN401 - the outputs' values
        return gr.skip() if state is None else show(state, *rest)

    return call


def _described(name: str, control: gr.components.Component) -> dict[str, Any]:
    """Return a control's name in the link, its usual value and the values that it can show."""
    part: Any = control
    described = {"name": name, "usual": part.value}
    if isinstance(control, gr.Radio | gr.Dropdown):
        return described | {"among": [value for _, value in part.choices]}
    if isinstance(control, gr.Slider | gr.Number):
        return described | {"low": part.minimum, "high": part.maximum}
    if isinstance(control, gr.Textbox):
        return described | {"usual": part.value or "", "most": part.max_length}
    return described


@contextmanager
def fold(tab: str, name: str, question: str) -> Iterator[Fold]:
    """Yield a closed section with a question as its title; build its components in the ``with``.

    A link opens the fold by its name, so the name must be in ``FOLDS``.
    """
    if name not in FOLDS[tab]:
        raise KeyError(f"{tab} has no fold {name}: add it to FOLDS")
    with gr.Accordion(
        question, open=False, elem_id=f"fold-{tab}-{name}", elem_classes="fold"
    ) as section:
        refresh = gr.Button("Refresh", visible="hidden", elem_classes="fold-refresh")
        built = Fold(section, refresh)
        if isinstance(Context.root_block, Page):
            Context.root_block.folds.append(built)
        yield built
