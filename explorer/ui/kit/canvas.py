"""Canvas: a picture that the browser draws from JSON, and the menu below it that saves it."""

import functools
import inspect
import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any

import gradio as gr

from explorer.analysis.records import Records
from explorer.assets import ASSETS
from explorer.inference.runs import device_of
from explorer.links.page_state import PageState
from explorer.ui.kit import strings
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.validation import whole_characters, with_whole_characters
from explorer.views.markup import Markup, el, join, script_json

RECIPES = ASSETS / "python"
"""Folder of the recipes: ``<kind>.py`` computes a picture's numbers with plain transformers."""
AROUND = {"finds": "head.py", "prints": "print.py", "draws": "figure.py", "writes": "write.py"}
"""Code put around each recipe: paths of the bundled models, output of its rows and its figure."""
SHARED = (
    "classifier.py",
    "spelling.py",
    "averaged.py",
    "heads.py",
    "likelihoods.py",
    "spans.py",
    "path.py",
    "models.py",
    "word.py",
)
"""Code put before each recipe that uses one of its names; a file may use those after it."""
DEFINED = re.compile(r"^(?:def )?(\w+)(?= = |\()", re.MULTILINE)
"""Names of the functions and constants that a file defines."""
OF_ROWS: dict[str, tuple[str, ...]] = {
    "texts/rows": tuple(
        f"texts/{kind}"
        for kind in ("masked", "plain", "pairs", "labelled", "multilabel", "scored", "tagged")
    )
}
"""Pictures of several kinds of rows, of which the browser says the one whose code computes them."""
PICTURES = ("svg", "png")
LINES = ("py", "ipynb")
_SERIAL = count(1)


def has_recipe(kind: str) -> bool:
    """Return whether there is Python code that recomputes a picture's numbers."""
    return (RECIPES / f"{kind}.py").exists()


def recipe_parts(kind: str) -> dict[str, str]:
    """Return the code that computes a picture's numbers, and by name the code around it."""
    lines = (RECIPES / f"{kind}.py").read_text("utf-8")
    for name in SHARED:
        code = _code(name)
        if any(re.search(rf"(?<![.\w]){word}\b", lines) for word in DEFINED.findall(code)):
            lines = f"{code}\n\n{lines}"
    return {"computes": lines, **{part: _code(name) for part, name in AROUND.items()}}


def _code(name: str) -> str:
    """Return the code of a file in the folder of the recipes, without its docstring of one line."""
    return (RECIPES / name).read_text("utf-8").partition("\n")[2]


def with_save_menu(kind: str, drawn: Markup, records: Records, is_picture: bool = True) -> Markup:
    """Return markup drawn in Python with its numbers and the menu that saves both.

    For a table ``is_picture`` is false: the menu then has no image formats.
    """
    menu = save_menu(kind, is_picture, may_chart=False)
    return el(
        "div",
        drawn,
        menu,
        class_="drawn",
        data_kind=kind,
        data_numbers=script_json(records.document()),
    )


def save_menu(kind: str, is_picture: bool = True, may_chart: bool = True) -> Markup | None:
    """Return the menu of one kind of picture; None for parts of the page itself.

    The style sheet shows the Plotly choice only where a chart is drawn.
    """
    if kind.startswith("page/"):
        return None
    hidden = {
        *(() if is_picture else PICTURES),
        *(() if may_chart else ("plotly",)),
        *(() if any(map(has_recipe, OF_ROWS.get(kind, (kind,)))) else LINES),
    }
    choices = {ending: name for ending, name in strings.TAKE.items() if ending not in hidden}
    buttons = [
        el("button", name, type="button", data_take=ending) for ending, name in choices.items()
    ]
    look = el("div", *_looks(), class_="take-look") if is_picture else None
    status = el("span", role="status", data_failed=strings.NOT_TAKEN)
    return el(
        "details",
        el("summary", strings.SAVE),
        el(
            "div", *buttons, look, status, class_="take-list", role="group", aria_label=strings.SAVE
        ),
        class_="take",
    )


def _looks() -> list[Markup]:
    """Return the options of a saved image: width, theme and caption."""
    choices = [
        el(
            "label",
            strings.LOOK[name],
            el(
                "select",
                *(el("option", strings.LOOK.get(v, v), value=v) for v in values),
                name=name,
            ),
        )
        for name, values in strings.LOOKS.items()
    ]
    box = el("input", type="checkbox", name="caption", checked=True)
    return [*choices, el("label", strings.LOOK["caption"], box)]


class Canvas(gr.HTML):
    """Picture whose value is a JSON object; a new value redraws it, an empty one clears it.

    ``kind`` is the module's path below ``assets/js``, unless another ``module`` draws it; if it
    fails to load, a sentence says so. ``asks`` handles the picture's own requests: one JSON value
    in, one out. ``saves`` is false if another picture's menu has its numbers.
    """

    def __init__(
        self,
        kind: str,
        value: str = "",
        asks: Callable[[dict], str] | None = None,
        saves: bool = True,
        module: str | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        self.kind = kind
        server = f"question => server.{asks.__name__}(question)" if asks else "null"
        super().__init__(
            value,
            html_template=join(
                el(
                    "div",
                    class_="canvas",
                    data_kind=kind,
                    data_module=module,
                    data_failed=strings.NO_PICTURE,
                ),
                save_menu(kind) if saves else None,
            ),
            js_on_load=f"window.explorer.mount('{kind}', element, props, watch, trigger, {server})",
            server_functions=[plain_errors(with_whole_characters(asks))] if asks else None,
            **kwargs,
        )

    def postprocess(self, value: str | None) -> str | None:
        """Return the value with a serial number: the browser is only notified of changed values."""
        if not value:
            return value
        rest = value[1:].lstrip()
        return f'{{"serial":{next(_SERIAL)}{"" if rest.startswith("}") else ","}{rest}'

    def on_question(
        self,
        answer: Callable,
        inputs: Sequence[gr.components.Component],
        outputs: Sequence[gr.components.Component],
        **kwargs: Any,  # noqa: ANN401
    ) -> gr.events.Dependency:
        """Handle the picture's requests: ``answer`` is called with the request and the inputs.

        The script reads the request when it is sent, because Gradio would send an event that waits
        for an earlier one with the earlier one's data.
        """
        script = f"(_, ...inputs) => [window.explorer.question('{self.kind}'), ...inputs]"
        return self.select(
            with_question(answer),
            [self, *inputs],
            list(outputs),
            js=script,
            **({"api_visibility": "private", "concurrency_id": "infer"} | kwargs),
        )

    def api_info(self) -> dict[str, Any]:
        """Return the type of the value for Gradio's API: a string of JSON."""
        return {"type": "string"}


class Chart(Canvas):
    """Canvas of Plotly figures and their numbers, drawn by the module that uses Plotly."""

    def __init__(self, kind: str, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(kind, module="kit/figure", **kwargs)


def with_question(answer: Callable) -> Callable:
    """Wrap a handler to parse its first argument, a request as JSON."""
    if inspect.isgeneratorfunction(answer):

        @functools.wraps(answer)
        def stream(question: str, *inputs: Any) -> Iterator[Any]:  # noqa: ANN401
            yield from answer(read_question(question), *inputs)

        return plain_errors(stream)

    @functools.wraps(answer)
    def call(question: str, *inputs: Any) -> Any:  # noqa: ANN401
        return answer(read_question(question), *inputs)

    return plain_errors(call)


def read_question(text: str) -> dict[str, Any]:
    """Return a parsed request; an empty dict if it is not a JSON object."""
    try:
        question = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return {}
    return whole_characters(question) if isinstance(question, dict) else {}


def ran_with(state: PageState) -> dict[str, str]:
    """Return the models, device and precision that a page runs with, by their names in files."""
    return {"family": state.family, "device": device_of(state.ask), "dtype": state.dtype}
