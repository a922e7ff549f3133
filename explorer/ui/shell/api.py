"""Public endpoints and tools, in one table; every other event of the page is private.

The signature and docstring of an endpoint are its description for client programs, for language
models (``as_tool``) and for readers: ``python -m explorer.ui.shell.api`` writes ``docs/api.md``.
"""

import functools
import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import gradio as gr

from explorer import limits
from explorer.library.command import described
from explorer.lists.ui.endpoint import texts
from explorer.models.choice.family import PRESETS, all_specs
from explorer.models.specs import MODEL_KEYS
from explorer.refusal import Refusal
from explorer.scheduling.budget import BUDGET
from explorer.ui.attention.endpoint import ablate, attention
from explorer.ui.depth.endpoint import changed, depth, patch, similarity, vectors
from explorer.ui.distillation.endpoint import distillation
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.running import MEASURED_FOR_PROGRAMS, OF_PROGRAMS, address_of_asker
from explorer.ui.kit.validation import check_argument_types
from explorer.ui.latency.endpoint import latency
from explorer.ui.layer.endpoint import contexts, layer
from explorer.ui.parameters.endpoint import parameters
from explorer.ui.predictions.endpoint import attribute, predict, score
from explorer.ui.tasks.endpoint import classify, entities, pair, question, sentiment

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


@dataclass(frozen=True, slots=True)
class Tool:
    """Tool for MCP clients, made of an endpoint: it answers with JSON text and has typed choices.

    Gradio can offer endpoints as tools itself, but formats results as Python reprs, cuts
    descriptions at the end of a line and has no choices. ``/latency`` is no tool because it would
    block all others.
    """

    name: str
    required: tuple[str, ...] = ()
    """Arguments without a default, besides the endpoint's own."""


def register_tool(tool: Tool, endpoint: Callable[..., dict]) -> None:
    """Register an endpoint as a tool; call inside the page's Blocks, after its endpoint."""
    gr.api(plain_errors(as_tool(tool, endpoint), as_html=False), api_name=tool.name, **OF_PROGRAMS)


def as_tool(tool: Tool, endpoint: Callable[..., dict]) -> Callable[..., str]:
    """Return an endpoint under its tool's name, which answers with JSON text.

    Its signature has the endpoint's arguments with their choices, required ones first.
    """

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
    description = described(endpoint)
    notes = (f"    {name}: {note}" for name, note in description.arguments.items())
    call.__doc__ = "\n".join((description.summary, "", "Args:", *notes))  # Gradio reads one line
    return call


def no_tool(endpoint: Callable) -> Callable:
    """Mark an endpoint as no MCP tool, so that Gradio does not list it as one."""
    endpoint._mcp_type = "endpoint"  # type: ignore[attr-defined]
    return endpoint


def _argument(argument: inspect.Parameter, tool: Tool) -> inspect.Parameter:
    default = argument.empty if argument.name in tool.required else argument.default
    kind = CHOICES.get(argument.name, argument.annotation)
    return argument.replace(default=default, annotation=kind)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Typed function that programs call by its name; it returns one JSON object."""

    answer: Callable[..., dict]
    example: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of a request that is answered; the fuzzer varies them."""
    is_long: bool = False
    """True if it takes many forward passes, for which programs have a budget."""
    tool: Tool | None = None
    """Tool that a language model's client is offered, if any."""

    @property
    def name(self) -> str:
        """Name under which clients call it."""
        return self.answer.__name__

    def values(self) -> list[Any]:
        """Return the example's arguments in their order, defaults included."""
        bound = inspect.signature(self.answer).bind(**self.example)
        bound.apply_defaults()
        return list(bound.args)


TABLE = (
    Endpoint(predict, {"text": MASKED, "top_k": 3}, tool=Tool("predict_masked_words")),
    Endpoint(
        attention,
        {"text": "The cat sat.", "model": "bert", "layer": 0, "head": 0},
        tool=Tool("attention_of_head", required=("model", "layer", "head")),
    ),
    Endpoint(ablate, {"text": MASKED, "heads": {"bert": [[0, 1]]}}, is_long=True),
    Endpoint(layer, {"text": MASKED, "layer": 1}),
    Endpoint(contexts, {"text": MASKED}, is_long=True),
    Endpoint(depth, {"text": MASKED}, is_long=True),
    Endpoint(similarity, is_long=True),
    Endpoint(vectors, {"text": "The cat sat."}),
    Endpoint(
        changed,
        {
            "family": "before=mini-bert,after=mini-bert",
            "rows": ["The cat sat on the mat.", "He was not here."],
        },
        is_long=True,
    ),
    Endpoint(patch, {"text": MASKED, "second": "The dog sat on the [MASK]."}, is_long=True),
    Endpoint(
        parameters, {"models": ["bert-base-uncased", "mini-albert"]}, tool=Tool("count_parameters")
    ),
    Endpoint(distillation, {"text": MASKED, "temperature": 4.0}, tool=Tool("soft_probabilities")),
    Endpoint(pair, {"first": "It rains.", "second": "We stay in."}),
    Endpoint(classify, {"text": "A good film."}),
    Endpoint(entities, {"text": "Anna Berg lives in Paris."}),
    Endpoint(sentiment, {"text": "A good film."}, is_long=True),
    Endpoint(
        question, {"question": "Who sat?", "passage": "The cat sat on the mat."}, is_long=True
    ),
    Endpoint(score, {"text": "The cat sat."}, is_long=True),
    Endpoint(attribute, {"text": MASKED, "target": "mat"}, is_long=True),
    Endpoint(texts, {"rows": [{"text": MASKED, "answer": "mat"}]}, is_long=True),
    Endpoint(latency, {"sequence_length": 8, "repeats": 1}, is_long=True),
)
ENDPOINTS: dict[str, Callable[..., dict]] = {row.name: row.answer for row in TABLE}
"""Endpoints by name."""
LONG = tuple(row.name for row in TABLE if row.is_long)


def register_endpoints(tools: bool = False) -> None:
    """Register endpoints, and tools if asked; call inside the page's Blocks."""
    for row in TABLE:
        # Requests that wait for a measurement must not block the slots of the short ones.
        queue = MEASURED_FOR_PROGRAMS if row.answer is latency else OF_PROGRAMS
        checked = check_argument_types(within_budget(row.answer) if row.is_long else row.answer)
        gr.api(no_tool(plain_errors(checked, as_html=False)), api_name=row.name, **queue)
        if tools and row.tool is not None:
            register_tool(row.tool, checked)


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
    description = described(row.answer)
    yield f"### `/{row.name}`\n\n{_code(description.summary)}\n"
    for argument in inspect.signature(row.answer).parameters.values():
        required = argument.default is argument.empty
        default = "" if required else f" (`{json.dumps(argument.default)}`)"
        yield f"- `{argument.name}`{default}: {_code(description.arguments[argument.name])}"
    yield f"\nReturns: {_code(description.returns)}\n"
    yield f"Example: `{json.dumps(row.example)}`"


def _code(text: str) -> str:
    return text.replace("``", "`")


if __name__ == "__main__":
    DOCUMENT.write_text(with_endpoints(DOCUMENT.read_text("utf-8")), "utf-8")
