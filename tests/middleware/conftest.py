"""The page as it is served, once for all tests of the middleware."""

from importlib.util import find_spec

import httpx
import pytest

from benchmarks.served import served
from explorer.links.page_state import PageState
from explorer.ui.shell.page import build_page, launch_options


@pytest.fixture(scope="package")
def page():
    """Return the page, with its MCP tools if the package is installed."""
    return build_page(PageState(), tools=find_spec("mcp") is not None)


@pytest.fixture(scope="package")
def url(page):
    """Yield the URL of the served page."""
    with served(page, mcp_server=find_spec("mcp") is not None, **launch_options()) as url:
        yield url


@pytest.fixture(scope="package")
def http(url):
    """Yield an HTTP client of the served page."""
    with httpx.Client(base_url=url, timeout=300) as client:
        yield client
