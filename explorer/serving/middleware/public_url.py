"""Where the page is to be had: said by whoever starts it, and never by a request.

Gradio takes the host of its own address from ``Host`` and ``X-Forwarded-Host``, which anybody
writes as they like; then a link, a preview or a line of code sends others where that one wants.
"""

import os
from urllib.parse import urlsplit

from gradio import route_utils
from starlette.requests import Request

from explorer.refusal import Refusal

PUBLIC_URL = [""]
"""The page's address in public, without a slash at its end; empty where nobody has said it."""
CONFIG = "/config"


def said_at_the_start(flag: str) -> str:
    """The public address: the flag's, else what Gradio's own variable or a Space says."""
    root, space = os.getenv("GRADIO_ROOT_PATH", ""), os.getenv("SPACE_HOST", "")
    return public_address(flag or (root if "://" in root else "") or (space and f"https://{space}"))


def public_address(said: str) -> str:
    """An address that was given at the start, as it is put before the page's own.

    Raises:
        Refusal: it is none.
    """
    try:
        parts = urlsplit(said)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        whole = False
    if said and (not whole or parts.query or parts.fragment or not said.isprintable()):
        raise Refusal(f"--public-url is {said!r}; it looks like https://example.org/explorer.")
    return said.rstrip("/")


def set_public_url(address: str) -> None:
    """From now on this, and no request, says where the page is."""
    PUBLIC_URL[:] = [address]
    route_utils.get_root_url = root_of


def root_of(request: Request, route_path: str, root_path: str | None) -> str:
    """What Gradio puts before its addresses: the public one, else where this process listens."""
    if route_path == CONFIG:
        return ""  # a program goes on asking where it has asked
    return PUBLIC_URL[-1] or listening(request) + path_of(root_path)


def listening(request: Request) -> str:
    """Where this process itself says that it is, without a slash at its end."""
    page = getattr(request.app, "get_blocks", None)  # the tools are an application of their own
    return ((page and page().local_url) or "http://127.0.0.1").rstrip("/")


def path_of(root_path: str | None) -> str:
    """The path below which a proxy has the page; empty where it is at the top."""
    return urlsplit(root_path or "").path.rstrip("/")
