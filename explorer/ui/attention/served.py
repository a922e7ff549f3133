"""Files of BertViz's frame."""

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from explorer.views.attention.folds import ADDRESS, bertviz_files


def frame_route() -> Route:
    """Return the route that serves the frame and its scripts, relative to the page."""
    files = bertviz_files()

    def send(request: Request) -> Response:
        path = files.get(request.path_params["name"])
        return FileResponse(path) if path else Response(status_code=404)

    return Route(f"/{ADDRESS}/{{name}}", send)
