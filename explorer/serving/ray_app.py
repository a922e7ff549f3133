"""Ray Serve application: the page on one machine, each model on its own machines.

``serve run explorer.serving.ray_app:app`` starts both, ``explorer.serving.ray_app:models`` the
models alone, for pages that ``app.py --models-at`` serves. Ray Serve starts, monitors and scales
them; ``docs/serving.md`` says how many of each. Needs ``deploy/requirements-serve.txt``.
"""

import os
from collections.abc import AsyncIterator
from inspect import signature
from typing import Any

import gradio as gr
from fastapi import FastAPI
from ray import serve
from ray.serve.handle import DeploymentHandle

from explorer.inference.ray_backend import ModelServer, NetworkName
from explorer.inference.runs import default_family, warm_up
from explorer.links.page_state import PageState
from explorer.models.choice.family import PRESETS, read_family
from explorer.models.specs import MODEL_KEYS
from explorer.refusal import Refusal, Sentence
from explorer.serving.ray_client import use_ray_backend
from explorer.ui.shell.page import build_page, launch_options

FAMILY = os.getenv("EXPLORER_FAMILY", "")
"""A preset, or a size for each column; empty: base if it is in this machine's cache."""
NO_PAGE = "Here are models alone; the page is served by app.py --models-at."
TOGETHER = 8
"""Most texts of one batch."""
WAIT_S = 0.01
"""Seconds that the first text of a batch waits for the others."""


class Encoder(ModelServer):
    """Ray Serve deployment of the networks of one model."""

    @serve.batch(max_batch_size=TOGETHER, batch_wait_timeout_s=WAIT_S)
    async def run(self, networks: list[NetworkName], texts: list[str]) -> list[Any]:
        """Return the runs of texts that arrived within WAIT_S."""
        return await self.runs(zip(networks, texts, strict=True))

    async def stream(self, *question: Any) -> AsyncIterator[Any]:  # noqa: ANN401
        """Yield what ``ModelServer.stream`` does; Ray needs a generator on this class."""
        async for item in super().stream(*question):
            yield item


def served_page(start: PageState) -> FastAPI:
    """Return the page as ``app.py`` serves it, with the same look, scripts and middleware."""
    warm_up(start.ask)
    options, page = launch_options(os.getenv("EXPLORER_PUBLIC_URL", "")), build_page(start)
    page.state_session_capacity = options["state_session_capacity"]
    known = signature(gr.mount_gradio_app).parameters
    accepted = {name: value for name, value in options.items() if name in known}
    application = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    return gr.mount_gradio_app(application, page, path="/", **accepted)


class Page:
    """Deployment of the page, its endpoints and its sessions."""

    def __init__(self, family: str, **groups: DeploymentHandle) -> None:
        use_ray_backend(groups)
        self._start = PageState(family=family, device="auto")

    def __serve_build_asgi_app__(self) -> FastAPI:
        """Return the application; Ray calls it in the replica's process."""
        return served_page(self._start)


def family_of(name: str) -> str:
    """Return the family that the page opens on.

    Raises:
        Refusal: there is no such family.
    """
    known = read_family(name) if name else default_family()
    if known is None:
        presets = ", ".join(PRESETS)
        raise Refusal(
            Sentence(
                "bad-family-variable",
                f"EXPLORER_FAMILY is {name!r}; it can be {presets}, or a size for each column: "
                "bert=large,albert=xlarge.",
            )
        )
    return known


class Models:
    """Deployment of the models without a page; its HTTP response says how to serve the page."""

    def __init__(self, **groups: DeploymentHandle) -> None:
        self.groups = groups

    def __call__(self, _request: object) -> str:
        """Return the response to every path."""
        return NO_PAGE


_least, _, _most = os.getenv("EXPLORER_REPLICAS", "1-4").partition("-")
_encoders = serve.deployment(
    Encoder,
    max_ongoing_requests=32,
    autoscaling_config={
        "min_replicas": int(_least),
        "max_replicas": int(_most or _least),
        "target_ongoing_requests": 8,
    },
    ray_actor_options={
        "num_cpus": float(os.getenv("EXPLORER_CPUS", "1")),
        "num_gpus": float(os.getenv("EXPLORER_GPUS", "0")),
    },
)
_groups = {key: _encoders.options(name=key).bind() for key in MODEL_KEYS}
_page = serve.deployment(
    serve.ingress()(Page), max_ongoing_requests=512, ray_actor_options={"num_cpus": 0.2}
)
app = _page.bind(family_of(FAMILY), **_groups)
"""The application of page and models that ``serve run`` starts."""
models = serve.deployment(Models, ray_actor_options={"num_cpus": 0}).bind(**_groups)
"""The application of the models alone."""
