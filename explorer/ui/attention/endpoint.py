"""``/attention`` and ``/ablate``: heads on a text, as JSON; and the files of BertViz's frame."""

from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from explorer.library import attention as library
from explorer.ui.kit.validation import check_words, page_family
from explorer.views.attention import ADDRESS, bertviz_files

MAX_WORDS = 64
"""Most words of a text on which every head is switched off in turn."""


def attention(
    text: str, family: str = "mini", model: str = "", layer: int = 0, head: int = 0
) -> dict[str, Any]:
    """Return the attention of one head: the weight of every token for every other.

    Args:
        text: The text; ``A [SEP] B`` makes a sentence pair.
        family: "mini" (bundled weights), "base" or "large" (the published checkpoints), or a size
            for each model: "bert=large,distilbert=base,albert=xlarge".
        model: "bert", "distilbert" or "albert", or a column's own name; empty: the first.
        layer: The layer, counted from 0; for ALBERT the application of its one layer.
        head: The head, counted from 0.

    Returns:
        The model's tokens and the head's weights after softmax: ``attention[query][key]``, every
        row sums to 1.
    """
    return library.attention(text, page_family(family), model, layer, head).to_dict()


def ablate(
    text: str, family: str = "mini", heads: dict[str, list[list[int]]] | None = None
) -> dict[str, Any]:
    """Return the predictions with heads switched off, or the effect of each head alone.

    Args:
        text: The text, with at least one [MASK]; without ``heads`` at most 64 words and signs.
        family: "mini" (bundled weights), "base" or "large" (the published checkpoints), or a size
            for each model: "bert=large,distilbert=base,albert=xlarge".
        heads: By model the heads to switch off together, ``{"bert": [[layer, head]]}``, counted
            from 0; without it every head of every model is switched off alone.

    Returns:
        With ``heads``, per model those that are ``off`` and per mask ``kl``, KL(before || after) in
        nats, with the words whose probability is then another. Without, per model
        ``kl[layer][head]``, the mean over the masks. A head's output is multiplied by 0 before the
        output projection.
    """
    if heads is None:
        check_words(text, MAX_WORDS)
    return library.ablate(text, page_family(family), heads).to_dict()


def frame_route() -> Route:
    """Return the route that serves the frame and its scripts, relative to the page."""
    files = bertviz_files()

    def send(request: Request) -> Response:
        path = files.get(request.path_params["name"])
        return FileResponse(path) if path else Response(status_code=404)

    return Route(f"/{ADDRESS}/{{name}}", send)
