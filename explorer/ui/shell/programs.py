"""Four tools for MCP clients: the endpoints' results as JSON text, with typed choices.

Gradio can offer endpoints as tools itself, but formats results as Python reprs, cuts descriptions
at the end of a line and has no choices. ``/latency`` is no tool because it would block all others.
"""

import json
from collections.abc import Callable
from typing import Any, Literal

import gradio as gr

from explorer.ui.attention.endpoint import attention
from explorer.ui.distillation.endpoint import distillation
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.running import OF_PROGRAMS
from explorer.ui.parameters.endpoint import parameters
from explorer.ui.predictions.endpoint import predict

Family = Literal["mini", "base", "large"]
Model = Literal["bert", "distilbert", "albert"]
Name = Literal[
    "bert-base-uncased",
    "distilbert-base-uncased",
    "albert-base-v2",
    "bert-large-uncased",
    "albert-large-v2",
    "albert-xlarge-v2",
    "albert-xxlarge-v2",
    "mini-bert",
    "mini-distilbert",
    "mini-albert",
]


def predict_masked_words(text: str, family: Family = "mini", top_k: int = 10) -> str:
    """Predict each [MASK] of a text with BERT, DistilBERT and ALBERT, with probabilities.

    Args:
        text: A text with one or more [MASK].
        family: The bundled miniatures (mini) or the published checkpoints (base).
        top_k: How many words are listed for each mask, 1 to 50.
    """
    return _json(predict(text, family, top_k))


def attention_of_head(
    text: str, model: Model, layer: int, head: int, family: Family = "mini"
) -> str:
    """One attention head's exact matrix over the tokens of a text: rows look, columns are seen.

    Args:
        text: Any text; A [SEP] B is a sentence pair.
        model: Which of the three.
        layer: The layer, counted from 0.
        head: The head, counted from 0.
        family: The bundled miniatures (mini) or the published checkpoints (base).
    """
    return _json(attention(text, family, model, layer, head))


def soft_probabilities(text: str, family: Family = "mini", temperature: float = 2.0) -> str:
    """Soft probabilities of BERT as teacher and DistilBERT as student at each [MASK], and their KL.

    Args:
        text: A text with one or more [MASK].
        family: The bundled miniatures (mini) or the published checkpoints (base).
        temperature: What the logits are divided by, 0.05 to 20.
    """
    return _json(distillation(text, family, temperature))


def count_parameters(models: list[Name]) -> str:
    """Exact parameter counts by component: stored, and applied in one forward pass.

    Args:
        models: The architectures to count.
    """
    return _json(parameters(list(models)))


TOOLS: tuple[Callable[..., str], ...] = (
    predict_masked_words,
    attention_of_head,
    soft_probabilities,
    count_parameters,
)


def register_tools() -> None:
    """Register every tool; call inside the page's Blocks, after the endpoints."""
    for tool in TOOLS:
        gr.api(plain_errors(tool, as_html=False), api_name=tool.__name__, **OF_PROGRAMS)


def no_tool(endpoint: Callable) -> Callable:
    """Mark an endpoint as no MCP tool, so that Gradio does not list it as one."""
    endpoint._mcp_type = "endpoint"  # type: ignore[attr-defined]
    return endpoint


def _json(answer: dict[str, Any]) -> str:
    return json.dumps(answer, ensure_ascii=False, allow_nan=False)
