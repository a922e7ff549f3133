"""Changes of Gradio's internals: names of Gradio 6.31 that the page replaces, all of them here.

Two more changes are subclasses, which Gradio allows: ``WaitingRoom`` of its queue and ``Page`` of
its Blocks. The type stubs, which Gradio writes while it is imported, are left out before that, in
``explorer.serving.start``.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import httpx
from gradio import mcp, queueing, route_utils, routes, state_holder, utils

from explorer.middleware.headers import leave_out, root_of
from explorer.middleware.validation import function_of, refusal_in


@dataclass(frozen=True, slots=True)
class GradioPatch:
    """One name of Gradio that is replaced."""

    module: ModuleType
    name: str
    value: Any
    reason: str
    """Fault of Gradio that the patch mends; ``test_gradio_patches.py`` shows it."""


class ToolServer(mcp.GradioMCPServer):
    """Gradio's MCP server, whose tools say why the page has refused a call."""

    async def _execute_tool_without_progress(self, job: Any) -> list[Any]:  # noqa: ANN401
        with refusals_as_text():
            return await super()._execute_tool_without_progress(job)

    async def _execute_tool_with_progress(
        self,
        job: Any,  # noqa: ANN401
        progress_token: str | int,
    ) -> dict[str, Any]:
        with refusals_as_text():
            return await super()._execute_tool_with_progress(job, progress_token)


@contextmanager
def refusals_as_text() -> Iterator[None]:
    """Raise the sentence of a refused request, in place of an error that names our own address.

    Raises:
        Refusal: the page has refused the request.
    """
    try:
        yield
    except httpx.HTTPStatusError as error:
        raise refusal_in(error.response) from None


def patches(session: type, payload: Callable[..., dict]) -> tuple[GradioPatch, ...]:
    """Return every patch.

    Args:
        session: State of one visitor's session.
        payload: Returns the message of a failure.
    """
    return (
        GradioPatch(
            state_holder,
            "SessionState",
            session,
            "each session copies the config of all components, some hundred KB a visitor",
        ),
        GradioPatch(queueing, "error_payload", payload, "a failure of its own has no message"),
        GradioPatch(
            routes,
            "CustomCORSMiddleware",
            leave_out,
            "any origin may send requests with credentials, and is echoed in the response",
        ),
        GradioPatch(
            route_utils,
            "get_root_url",
            root_of,
            "a header of the request decides to which host the page's own URLs lead",
        ),
        GradioPatch(
            route_utils,
            "get_fn",
            function_of,
            "a request for an unknown function is a KeyError with a traceback in the log",
        ),
        GradioPatch(
            mcp,
            "GradioMCPServer",
            ToolServer,
            "a refused tool call is an error about an HTTP status, without the reason",
        ),
        GradioPatch(
            utils,
            "MatplotlibBackendMananger",
            nullcontext,
            "the first question imports matplotlib where it is installed: 26 MB for no figure",
        ),
    )


def patch_gradio(session: type, payload: Callable[..., dict]) -> None:
    """Apply every patch, for pages that are launched from now on."""
    for patch in patches(session, payload):
        setattr(patch.module, patch.name, patch.value)
