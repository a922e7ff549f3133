"""Tools for MCP clients: endpoints that answer with JSON text, and have typed choices.

Gradio can offer endpoints as tools itself, but formats results as Python reprs, cuts descriptions
at the end of a line and has no choices. ``/latency`` is no tool because it would block all others.
"""

import functools
import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import gradio as gr

from explorer.library.command import described
from explorer.models.choice.family import PRESETS, all_specs
from explorer.models.specs import MODEL_KEYS
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.running import OF_PROGRAMS

CHOICES: dict[str, Any] = {
    "family": Literal[tuple(PRESETS)],
    "model": Literal[tuple(MODEL_KEYS)],
    "models": list[Literal[tuple(all_specs())]],  # type: ignore[misc]
}
"""Types of arguments of which a client is told the choices."""


@dataclass(frozen=True, slots=True)
class Tool:
    """Tool made of an endpoint."""

    name: str
    required: tuple[str, ...] = ()
    """Arguments without a default, besides the endpoint's own."""


def register_tool(tool: Tool, endpoint: Callable[..., dict]) -> None:
    """Register an endpoint as a tool; call inside the page's Blocks, after the endpoints."""
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
