"""What is the same for everybody is asked of Gradio once."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.context import configure
from explorer.middleware.page_cache import PageCache


@pytest.fixture
def asked():
    return []


@pytest.fixture
def client(asked):
    def answer(request):
        asked.append(request.url.path)
        status = 503 if len(asked) == 1 and "refuse" in request.query_params else 200
        reply = PlainTextResponse(f"{len(asked)}: {request.url.path}", status)
        reply.headers["x-own"] = str(len(asked))
        return reply

    class HeaderMiddleware:
        """Write into the headers of each response, as the request filter does."""

        def __init__(self, app):
            self.app = app

        async def __call__(self, scope, receive, send):
            async def named(message):
                if message["type"] == "http.response.start":
                    message["headers"].append((b"x-name", scope["query_string"]))
                await send(message)

            await self.app(scope, receive, named)

    routes = [
        Route(path, answer, methods=["GET", "POST"]) for path in ("/", "/config", "/theme.css")
    ]
    return TestClient(
        Starlette(routes=routes, middleware=[Middleware(HeaderMiddleware), Middleware(PageCache)])
    )


@pytest.mark.parametrize("path", ["/", "/config"])
def test_it_is_written_once_whatever_the_link(client, asked, path):
    first, again = client.get(path), client.get(f"{path}?text=a")
    assert asked == [path]
    assert again.text == first.text == f"1: {path}"
    assert again.headers["x-own"] == "1"
    assert again.headers.get_list("x-name") == ["text=a"]


def test_everything_else_is_asked_each_time(client, asked):
    for _ in range(2):
        client.get("/theme.css")
        client.post("/")
        client.head("/config")
    assert asked == ["/theme.css", "/", "/config"] * 2


def test_a_refusal_is_not_kept(client, asked):
    assert client.get("/?refuse").status_code == 503
    assert client.get("/").text == "2: /"
    assert client.get("/?refuse").status_code == 200


def test_each_address_has_its_own(client, asked):
    client.get("/")
    configure(public_url="https://elsewhere.example")
    client.get("/")
    assert asked == ["/", "/"]
