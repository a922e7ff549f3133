"""Half-open requests and readers that do not read: each is cut, and nobody else is."""

import socket
import threading
import time
from contextlib import contextmanager, suppress

import gradio as gr
import httpx
import pytest
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

from benchmarks.served import served
from explorer.serving.gradio_patches import patch_gradio
from explorer.serving.middleware import timeouts
from explorer.serving.middleware.timeouts import BODY_S, HEAD_S, READ_S
from explorer.ui.kit.blocks import LeanSession, Page
from explorer.ui.kit.errors import payload
from tests.waiting import until

LARGE = 32 * 2**20
SHORT_S = 0.4
HEAD = b"POST /echo HTTP/1.1\r\nHost: explorer\r\n"


async def echo(request):
    return PlainTextResponse(str(len(await request.body())))


async def large(_request):
    return PlainTextResponse(b"x" * LARGE)


async def slowly(_request):
    import asyncio

    async def words():
        for _ in range(4):
            yield b"word"
            await asyncio.sleep(SHORT_S)

    return StreamingResponse(words())


@pytest.fixture(scope="module")
def server():
    patch_gradio(LeanSession, payload)
    with Page(analytics_enabled=False) as page:
        gr.HTML("page")
    page.queue(default_concurrency_limit=4)
    routes = [
        Route("/echo", echo, methods=["POST"]),
        Route("/large", large),
        Route("/slowly", slowly),
    ]
    with served(page, app_kwargs={"routes": routes}) as url:
        yield url, page.server.server_state.connections


@pytest.fixture
def url(server, monkeypatch):
    for name in ("HEAD_S", "BODY_S", "READ_S"):
        monkeypatch.setattr(timeouts, name, SHORT_S)
    return server[0]


@contextmanager
def connected(url):
    host, port = url.removeprefix("http://").split(":")
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    one.connect((host, int(port)))
    one.settimeout(60)
    try:
        yield one
    finally:
        one.close()


def is_cut(one):
    """Whether the server ends a connection without a word."""
    with suppress(ConnectionResetError):
        return one.recv(100) == b""
    return True


def hear(one):
    """Read one answer to its end."""
    said = b""
    while not said.endswith(b"\r\n\r\n3"):
        said += one.recv(1)


@pytest.mark.parametrize(
    "said",
    [b"", b"GET / HT", HEAD, HEAD + b"Content-Length: 10\r\n\r\nabc"],
    ids=["nothing", "half a line", "half the headers", "half the body"],
)
def test_a_request_that_does_not_come_to_its_end_is_cut(url, said):
    with connected(url) as one:
        one.sendall(said)
        assert is_cut(one)


def test_so_is_one_that_comes_in_drops(url):
    with connected(url) as one:
        stop = threading.Event()

        def drip():
            while not stop.wait(SHORT_S / 6):
                try:
                    one.sendall(b"a")
                except OSError:
                    return

        one.sendall(HEAD + b"x-slow: ")
        threading.Thread(target=drip, daemon=True).start()
        assert is_cut(one)
        stop.set()


def test_the_second_request_of_a_connection_has_the_same_limits(url):
    whole = HEAD + b"Content-Length: 3\r\n\r\nabc"
    with connected(url) as one:
        one.sendall(whole)
        hear(one)
        one.sendall(whole + HEAD + b"Content-Length: 10\r\n\r\nabc")
        hear(one)
        assert is_cut(one)


def test_who_does_not_read_is_cut_and_the_memory_is_given_back(server, url):
    connections = server[1]
    until(lambda: not connections)
    with connected(url) as one:
        one.sendall(b"GET /large HTTP/1.1\r\nHost: explorer\r\n\r\n")
        until(lambda: connections)
        until(lambda: not connections)


def test_who_takes_time_between_words_is_not_cut(url, monkeypatch):
    """A stream that says little, an answer that is read in time, a connection used again."""
    monkeypatch.setattr(timeouts, "READ_S", READ_S)  # however slow this machine reads
    with httpx.Client(base_url=url, timeout=60) as http:
        assert http.get("/slowly").text == "word" * 4
        assert len(http.get("/large").content) == LARGE
        time.sleep(2 * SHORT_S)
        assert http.post("/echo", content=b"abc").text == "3"


def test_the_limits_are_those_that_the_documentation_says():
    assert (HEAD_S, BODY_S, READ_S) == (10.0, 20.0, 30.0)
