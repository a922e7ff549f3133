"""``/attention``: one head's attention on a text, as JSON; and the files of BertViz's frame."""

from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from explorer.library import attention as library
from explorer.ui.kit.validation import page_family
from explorer.views.attention import ADDRESS, bertviz_files


def attention(
    text: str, family: str = "mini", model: str = "bert", layer: int = 0, head: int = 0
) -> dict[str, Any]:
    """Return the attention of one head: the weight of every token for every other.

    Args:
        text: The text; ``A [SEP] B`` makes a sentence pair.
        family: "mini" (bundled weights), "base" or "large" (the published checkpoints), or a size
            for each model: "bert=large,distilbert=base,albert=xlarge".
        model: "bert", "distilbert" or "albert".
        layer: The layer, counted from 0; for ALBERT the application of its one layer.
        head: The head, counted from 0.

    Returns:
        The model's tokens and the head's weights after softmax: ``attention[query][key]``, every
        row sums to 1.
    """
    return library.attention(text, page_family(family), model, layer, head).to_dict()


def frame_route() -> Route:
    """Return the route that serves the frame and its scripts, relative to the page."""
    files = bertviz_files()

    def send(request: Request) -> Response:
        path = files.get(request.path_params["name"])
        return FileResponse(path) if path else Response(status_code=404)

    return Route(f"/{ADDRESS}/{{name}}", send)
