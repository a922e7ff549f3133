"""Public endpoints; every other event of the page is private."""

import functools
from collections.abc import Callable
from typing import Any

import gradio as gr

from explorer import limits
from explorer.context import configure
from explorer.inference.scheduling.budget import BUDGET
from explorer.links.page_state import PageState
from explorer.refusal import Refusal
from explorer.ui.attention.endpoint import attention
from explorer.ui.depth.endpoint import depth
from explorer.ui.distillation.endpoint import distillation
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.running import MEASURED_FOR_PROGRAMS, OF_PROGRAMS, address_of_asker
from explorer.ui.kit.validation import check_argument_types
from explorer.ui.latency.endpoint import latency
from explorer.ui.layer.endpoint import contexts, layer
from explorer.ui.parameters.endpoint import parameters
from explorer.ui.predictions.endpoint import attribute, predict, score
from explorer.ui.shell.programs import no_tool
from explorer.ui.tasks.endpoint import pair, question, sentiment
from explorer.ui.texts.endpoint import texts

ENDPOINTS: dict[str, Callable[..., dict]] = {
    "predict": predict,
    "attention": attention,
    "layer": layer,
    "contexts": contexts,
    "depth": depth,
    "parameters": parameters,
    "distillation": distillation,
    "pair": pair,
    "sentiment": sentiment,
    "question": question,
    "score": score,
    "attribute": attribute,
    "texts": texts,
    "latency": latency,
}
"""Endpoints by api_name: typed functions that return one JSON object."""
LONG = ("sentiment", "question", "depth", "contexts", "score", "attribute", "texts", "latency")
"""Endpoints of many forward passes, for which programs have a budget."""


def register_endpoints(start: PageState) -> None:
    """Register every endpoint with the page's device and precision; call inside its Blocks."""
    configure(start=start)
    for name, endpoint in ENDPOINTS.items():
        # Requests that wait for a measurement must not block the slots of the short ones.
        queue = MEASURED_FOR_PROGRAMS if name == "latency" else OF_PROGRAMS
        checked = check_argument_types(within_budget(endpoint) if name in LONG else endpoint)
        gr.api(no_tool(plain_errors(checked, as_html=False)), api_name=name, **queue)


def within_budget(endpoint: Callable[..., dict]) -> Callable[..., dict]:
    """Wrap an endpoint to refuse requests of an address whose processor budget is spent."""

    @functools.wraps(endpoint)
    def call(*values: Any, **named: Any) -> dict:  # noqa: ANN401
        if BUDGET.exhausted(address := address_of_asker()):
            shared = BUDGET.others_charged(address)
            raise Refusal((limits.PROCESSOR if shared else limits.PROCESSOR_ALONE).sentence())
        return endpoint(*values, **named)

    return call
