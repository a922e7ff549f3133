"""Public endpoints and tools, in one table; every other event of the page is private.

Each row names a public function, whose signature and docstring describe the endpoint for programs,
for language models (``as_tool``) and for readers: ``python -m explorer.ui.shell.api`` writes
``docs/api.md``. A row adds only what differs for programs: limits, and how a request is run.
"""

import functools
import inspect
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import gradio as gr

from explorer import limits
from explorer.lists.ui.served import listed
from explorer.models.choice.family import PRESETS, all_specs
from explorer.models.specs import MODEL_KEYS
from explorer.refusal import Refusal
from explorer.scheduling.budget import BUDGET
from explorer.ui.depth.served import MAX_VECTORS, SECONDS, few_texts, few_vectors
from explorer.ui.kit import strings
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.running import MEASURED_FOR_PROGRAMS, OF_PROGRAMS, address_of_asker
from explorer.ui.kit.validation import (
    MAX_WORDS,
    at_most_masks,
    at_most_words,
    check_argument_types,
)
from explorer.ui.latency.served import timed
from explorer.ui.shell.endpoints import Endpoint, Tool

CHOICES: dict[str, Any] = {
    "family": Literal[tuple(PRESETS)],
    "model": Literal[tuple(MODEL_KEYS)],
    "models": list[Literal[tuple(all_specs())]],  # type: ignore[misc]
}
"""Types of arguments of which a client is told the choices."""
DOCUMENT = Path(__file__).parents[3] / "docs" / "api.md"
BEGIN, END = "<!-- endpoints: python -m explorer.ui.shell.api -->\n", "<!-- end of endpoints -->\n"
"""Markers in the document between which the endpoints are written."""
MASKED = "The cat sat on the [MASK]."


def as_tool(row: Endpoint, endpoint: Callable[..., dict]) -> Callable[..., str]:
    """Return an endpoint under its tool's name, which answers with JSON text.

    Its signature has the endpoint's arguments with their choices, required ones first.
    """
    tool = row.tool
    assert tool is not None

    @functools.wraps(endpoint)
    def call(*values: Any, **named: Any) -> str:  # noqa: ANN401
        given = signature.bind(*values, **named).arguments
        return json.dumps(endpoint(**given), ensure_ascii=False, allow_nan=False)

    arguments = [_argument(a, tool) for a in inspect.signature(endpoint).parameters.values()]
    arguments.sort(key=lambda argument: argument.default is not argument.empty)
    signature = inspect.Signature(arguments, return_annotation=str)
    call.__signature__ = signature  # type: ignore[attr-defined]
    call.__annotations__ = {a.name: a.annotation for a in arguments} | {"return": str}
    call.__name__ = call.__qualname__ = tool.name
    notes = (f"    {name}: {note}" for name, note in row.description.arguments.items())
    call.__doc__ = "\n".join((row.description.summary, "", "Args:", *notes))  # read line by line
    return call


def no_tool(endpoint: Callable) -> Callable:
    """Mark an endpoint as no MCP tool, so that Gradio does not list it as one."""
    endpoint._mcp_type = "endpoint"  # type: ignore[attr-defined]
    return endpoint


def _argument(argument: inspect.Parameter, tool: Tool) -> inspect.Parameter:
    default = argument.empty if argument.name in tool.required else argument.default
    kind = CHOICES.get(argument.name, argument.annotation)
    return argument.replace(default=default, annotation=kind)


TABLE = (
    Endpoint("predict", tool=Tool("predict_masked_words")),
    Endpoint("attention", tool=Tool("attention_of_head", required=("model", "layer", "head"))),
    Endpoint("ablate", (at_most_words(MAX_WORDS, unless="heads"),), is_long=True),
    Endpoint("layer"),
    Endpoint("contexts", (at_most_masks(20, strings.TOO_MANY_IN_SIX_WAYS),), is_long=True),
    Endpoint("depth", (at_most_masks(20, strings.TOO_MANY_BY_LAYER),), is_long=True),
    # The docstring's example compares two words, which is quick and shows less.
    Endpoint("similarity", (few_texts("texts"), SECONDS), called_with={}, is_long=True),
    Endpoint(
        "vectors", notes={"pooling": strings.POOLING.format(limit=MAX_VECTORS)}, run=few_vectors
    ),
    Endpoint("changed", (few_texts("rows"),), is_long=True),
    Endpoint("patch", is_long=True),
    Endpoint("parameters", tool=Tool("count_parameters")),
    Endpoint(
        "distillation",
        (at_most_masks(20, strings.TOO_MANY_AT_ONCE),),
        tool=Tool("soft_probabilities"),
    ),
    Endpoint("pair"),
    Endpoint("classify"),
    Endpoint("entities"),
    Endpoint("sentiment", is_long=True),
    Endpoint("question", is_long=True),
    Endpoint("score", (at_most_words(MAX_WORDS),), is_long=True),
    Endpoint("attribute", (at_most_words(MAX_WORDS),), is_long=True),
    # A program sends rows where Python also opens files; its time is limited, and it waits.
    Endpoint(
        "texts",
        notes={"rows": strings.ROWS.format(limit=limits.TEXTS.maximum)},
        run=listed,
        called_with={"rows": [{"text": MASKED, "answer": "mat"}]},
        is_long=True,
    ),
    # A measurement waits for those before it, and excludes all other work.
    Endpoint("latency", run=timed, is_long=True),
)
ENDPOINTS: dict[str, Callable[..., dict]] = {row.name: row.answer for row in TABLE}
"""Endpoints by name."""
LONG = tuple(row.name for row in TABLE if row.is_long)


def register_endpoints(tools: bool = False) -> None:
    """Register endpoints, and tools if asked; call inside the page's Blocks."""
    for row in TABLE:
        # Requests that wait for a measurement must not block the slots of the short ones.
        queue = MEASURED_FOR_PROGRAMS if row.run is timed else OF_PROGRAMS
        checked = check_argument_types(within_budget(row.answer) if row.is_long else row.answer)
        gr.api(no_tool(plain_errors(checked, as_html=False)), api_name=row.name, **queue)
        if tools and row.tool is not None:
            tool = plain_errors(as_tool(row, checked), as_html=False)
            gr.api(tool, api_name=row.tool.name, **OF_PROGRAMS)


def within_budget(endpoint: Callable[..., dict]) -> Callable[..., dict]:
    """Wrap an endpoint to refuse requests of an address whose processor budget is spent."""

    @functools.wraps(endpoint)
    def call(*values: Any, **named: Any) -> dict:  # noqa: ANN401
        if BUDGET.exhausted(address := address_of_asker()):
            shared = BUDGET.others_charged(address)
            raise Refusal((limits.PROCESSOR if shared else limits.PROCESSOR_ALONE).sentence())
        return endpoint(*values, **named)

    return call


def with_endpoints(document: str) -> str:
    """Return a document with the description of every endpoint between its two markers."""
    before, _, rest = document.partition(BEGIN)
    sections = "\n".join("\n".join(section(row)) + "\n" for row in TABLE)
    return before + BEGIN + sections + END + rest.partition(END)[2]


def section(row: Endpoint) -> Iterator[str]:
    """Yield the lines of Markdown on one endpoint: summary, arguments, answer and an example."""
    description = row.description
    yield f"### `/{row.name}`\n\n{_code(description.summary)}\n"
    for argument in inspect.signature(row.answer).parameters.values():
        required = argument.default is argument.empty
        default = "" if required else f" (`{json.dumps(argument.default)}`)"
        yield f"- `{argument.name}`{default}: {_code(description.arguments[argument.name])}"
    yield f"\nReturns: {_code(description.json)}\n"
    yield f"Example: `{json.dumps(row.example)}`"


def _code(text: str) -> str:
    return text.replace("``", "`")


if __name__ == "__main__":
    DOCUMENT.write_text(with_endpoints(DOCUMENT.read_text("utf-8")), "utf-8")
