"""``serve run explorer.serve:app``: the page on one machine, each model on machines of its own.

Ray Serve starts, watches and multiplies them; ``docs/serving.md`` says how many of each. Needs
``deploy/requirements-serve.txt``.
"""

import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from inspect import signature
from typing import Any

import gradio as gr
from fastapi import FastAPI
from ray import serve
from ray.exceptions import RayError, RayTaskError
from ray.serve.exceptions import RayServeException
from ray.serve.handle import DeploymentHandle

from explorer import runs
from explorer.models.specs import FAMILIES, MODEL_KEYS
from explorer.page_state import PageState
from explorer.places.beside import Beside, Network
from explorer.places.replicas import Gone, Replicas
from explorer.runs import default_family, warm_up
from explorer.timing.slot import SLOT
from explorer.ui.kit.words import ELSEWHERE, WENT_AWAY
from explorer.ui.shell.page import build_page, launch_options

FAMILY = os.getenv("EXPLORER_FAMILY", "")
"""``mini`` or ``base``; empty: base if it is in this machine's cache."""
TOGETHER = 8
"""Texts that may share a pass."""
WAIT_S = 0.01
"""How long the first of them waits for the others."""


class Encoder(Beside):
    """The networks of one model, behind Ray's door."""

    @serve.batch(max_batch_size=TOGETHER, batch_wait_timeout_s=WAIT_S)
    async def run(self, networks: list[Network], texts: list[str]) -> list[Any]:
        """The runs of texts that came within a moment."""
        return await self.runs(zip(networks, texts, strict=True))

    async def stream(self, *question: Any) -> AsyncIterator[Any]:  # noqa: ANN401
        """As ``Beside``: Ray looks for the generator here."""
        async for told in super().stream(*question):
            yield told


@contextmanager
def said_plainly() -> Iterator[None]:
    """A machine that goes away is one sentence; a fault in what it ran stays a fault."""
    try:
        yield
    except (RayTaskError, TimeoutError):  # the latter is one of Ray's own too
        raise
    except (RayError, RayServeException) as lost:
        raise Gone(WENT_AWAY) from lost


class Asked:
    """An answer of a machine that may go away before it comes."""

    def __init__(self, response: Any) -> None:  # noqa: ANN401 - Ray's, of either kind
        self._response = response

    def result(self, timeout: float | None = None) -> Any:  # noqa: ANN401
        """The answer.

        Raises:
            TimeoutError: it has not come yet. Gone: it never will.
        """
        with said_plainly():
            return self._response.result(timeout_s=timeout)

    def cancel(self) -> None:
        """Let the machine know that nobody listens any more."""
        self._response.cancel()

    def __iter__(self) -> Iterator[Any]:
        try:
            with said_plainly():
                yield from self._response
        finally:
            self.cancel()


def ask(handle: DeploymentHandle, method: str, *question: Any) -> Asked:  # noqa: ANN401
    """Put a question to any machine of a group."""
    asked = handle.options(stream=True) if method == "stream" else handle
    return Asked(getattr(asked, method).remote(*question))


def ask_elsewhere(groups: Mapping[str, DeploymentHandle]) -> None:
    """From now on this process holds no network and times nothing."""
    runs.PLACE[:] = [Replicas({key: partial(ask, group) for key, group in groups.items()})]
    SLOT.shut(ELSEWHERE)


def served_page(start: PageState) -> FastAPI:
    """The page as ``app.py`` serves it, with the same look, scripts and doors."""
    warm_up(start)
    options, page = launch_options(os.getenv("EXPLORER_PUBLIC_URL", "")), build_page(start)
    page.state_session_capacity = options["state_session_capacity"]
    known = signature(gr.mount_gradio_app).parameters
    taken = {name: value for name, value in options.items() if name in known}
    bare = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    return gr.mount_gradio_app(bare, page, path="/", **taken)


class Page:
    """The page, its endpoints and its sessions."""

    def __init__(self, family: str, **groups: DeploymentHandle) -> None:
        ask_elsewhere(groups)
        self._start = PageState(family=family)

    def __serve_build_asgi_app__(self) -> FastAPI:
        """Ray asks for the application here, where it runs."""
        return served_page(self._start)


def family_of(name: str) -> str:
    """The family that the page opens on.

    Raises:
        ValueError: there is no such family.
    """
    if name and name not in FAMILIES:
        raise ValueError(f"EXPLORER_FAMILY is {name!r}; it can be {' or '.join(FAMILIES)}.")
    return name or default_family()


_encoders = serve.deployment(
    Encoder,
    max_ongoing_requests=32,
    autoscaling_config={"min_replicas": 1, "max_replicas": 4, "target_ongoing_requests": 8},
    ray_actor_options={"num_cpus": float(os.getenv("EXPLORER_CPUS", "1"))},
)
_page = serve.deployment(
    serve.ingress()(Page), max_ongoing_requests=512, ray_actor_options={"num_cpus": 0.2}
)
app = _page.bind(
    family_of(FAMILY), **{key: _encoders.options(name=key).bind() for key in MODEL_KEYS}
)
"""What ``serve run`` starts."""
