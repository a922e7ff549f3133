"""The public endpoints: only these have names, everything else on the page is private."""

from collections.abc import Callable

import gradio as gr

from explorer.ui.attention.endpoint import attention
from explorer.ui.depth.endpoint import depth
from explorer.ui.distillation.endpoint import distillation
from explorer.ui.kit.errors import plain_errors
from explorer.ui.latency.endpoint import latency
from explorer.ui.parameters.endpoint import parameters
from explorer.ui.predictions.endpoint import predict
from explorer.ui.shell.programs import no_tool
from explorer.ui.tasks.endpoint import pair, question, sentiment

ENDPOINTS: dict[str, Callable[..., dict]] = {
    "predict": predict,
    "attention": attention,
    "depth": depth,
    "parameters": parameters,
    "distillation": distillation,
    "pair": pair,
    "sentiment": sentiment,
    "question": question,
    "latency": latency,
}
"""api_name -> typed function that returns one JSON object."""


def register_endpoints() -> None:
    """Give every endpoint its name; call inside the page's Blocks."""
    for name, endpoint in ENDPOINTS.items():
        # Those who wait for a measurement must not take the places of those who want an answer.
        line = "measure" if name == "latency" else "infer"
        offered = no_tool(plain_errors(endpoint, as_html=False))
        gr.api(offered, api_name=name, concurrency_id=line)
