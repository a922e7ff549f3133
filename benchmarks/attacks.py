"""Load patterns of hostile or careless clients against a served page; loopback only."""

import asyncio
import base64
import json
import random
import socket
import time
import uuid
import zlib
from collections.abc import Awaitable, Callable, Iterable
from typing import Any
from urllib.parse import urlsplit

import httpx

WORDS = "the film was not good and the cat on the mat did not like it at all"
LONG_TEXT = " ".join([WORDS] * 3)
PASSAGE = f"{WORDS}. " * 50
MASKS = " ".join(["the [MASK] sat on a mat"] * 15)
MIXED: tuple[tuple[str, list[Any]], ...] = (
    ("sentiment", [LONG_TEXT, "mini"]),
    ("question", ["what did the cat not like?", PASSAGE, "mini"]),
    ("depth", [MASKS, "mini", "bert"]),
    ("attention", [MASKS, "mini", "bert", 0, 0]),
    ("predict", [MASKS, "mini", 50]),
)
MEASUREMENT = ["mini", 128, 8, 200, "cpu", "float32"]
N_LISTS, N_ROWS, N_WORDS = 6, 300, 478
"""Lists asked at once, their rows, and the words of a row, which are 480 tokens."""
LISTS = "6 lists of 300 long rows"
BURST_S = 5.0
"""Seconds from one burst to the next."""
PATIENCE_S = 120.0
Attack = Callable[[httpx.AsyncClient], Awaitable[object]]


def attack(name: str, url: str, seconds: float) -> None:
    """Run one of ``ATTACKS`` against a server for a number of seconds."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)

    async def run() -> None:
        async with httpx.AsyncClient(base_url=url, timeout=PATIENCE_S, limits=limits) as program:
            async with asyncio.timeout(seconds):
                await ATTACKS[name](program)
                await asyncio.sleep(seconds)

    try:
        asyncio.run(run())
    except TimeoutError:
        return


async def _post(program: httpx.AsyncClient, path: str, body: object) -> dict[str, Any]:
    """Return the server's response; empty where it refuses or closes the connection."""
    try:
        reply = await program.post(path, json=body)
        return {} if reply.is_error else reply.json()
    except httpx.HTTPError:
        return {}


async def _get(program: httpx.AsyncClient, path: str) -> None:
    """Read a page; a refusal or a closed connection is no failure."""
    try:
        await program.get(path)
    except httpx.HTTPError:
        return


async def _ask(program: httpx.AsyncClient, endpoint: str, values: list[Any]) -> None:
    """Send a request and read its stream to the end; after a refusal wait 0.2 s."""
    path = f"/gradio_api/call/{endpoint}"
    event = (await _post(program, path, {"data": values})).get("event_id")
    if not event:
        await asyncio.sleep(0.2)
        return
    try:
        await program.get(f"{path}/{event}")
    except httpx.HTTPError:
        return


async def _again(make: Callable[[], Iterable[Awaitable[object]]], pause_s: float) -> None:
    """Run all requests concurrently, pause, and repeat forever."""
    while True:
        started = time.monotonic()
        await asyncio.gather(*make())
        await asyncio.sleep(max(0.0, pause_s - (time.monotonic() - started)))


async def burst(program: httpx.AsyncClient) -> None:
    """Send 300 requests at once and never open their streams; repeat every five seconds."""
    body = {"data": [LONG_TEXT, "mini"]}
    path = "/gradio_api/call/sentiment"
    await _again(lambda: [_post(program, path, body) for _ in range(300)], BURST_S)


async def unread(program: httpx.AsyncClient) -> None:
    """Send 12 requests from sessions that never read their stream; repeat every five seconds."""
    number = await _event(program, "sentiment")

    def body() -> dict[str, Any]:
        return {
            "data": [LONG_TEXT, "mini"],
            "fn_index": number,
            "session_hash": uuid.uuid4().hex[:10],
        }

    path = "/gradio_api/queue/join"
    await _again(lambda: [_post(program, path, body()) for _ in range(12)], BURST_S)


async def latency(program: httpx.AsyncClient) -> None:
    """Run four clients that measure latency one request after the other without a pause."""

    async def one() -> None:
        while True:
            await _ask(program, "latency", MEASUREMENT)

    await asyncio.gather(*(one() for _ in range(4)))


async def mixed(program: httpx.AsyncClient) -> None:
    """Run 50 clients that send the most expensive requests, one after the other."""

    async def one(number: int) -> None:
        while True:
            endpoint, values = MIXED[number % len(MIXED)]
            # Each text is new, so that no answer comes from the cache.
            text, number = f"{values[0]} {uuid.uuid4().hex[:4]}", number + 1
            await _ask(program, endpoint, [text, *values[1:]])

    await asyncio.gather(*(one(number) for number in range(50)))


async def around(program: httpx.AsyncClient) -> None:
    """Send 120 requests at once to a route that bypasses the queue; repeat every five seconds."""
    body = {"data": ["a [MASK] sat", "mini", 5]}
    await _again(
        lambda: [_post(program, "/gradio_api/run/predict", body) for _ in range(120)], BURST_S
    )


async def lists(program: httpx.AsyncClient) -> None:
    """Run six visitors who each ask about a list of long rows, one list after the other."""
    number = await _event(program, "run_list")

    async def one() -> None:
        while True:
            question = {"packed": _packed(_long_rows()), "kind": "plain"}
            session = uuid.uuid4().hex[:10]
            body = {"data": [json.dumps(question), None], "fn_index": number}
            await _post(program, "/gradio_api/queue/join", body | {"session_hash": session})
            await _get(program, f"/gradio_api/queue/data?session_hash={session}")

    await asyncio.gather(*(one() for _ in range(N_LISTS)))


def _long_rows() -> str:
    """Return the rows of a list, which no other list has."""
    words = WORDS.split()
    rows = (random.choices(words, k=N_WORDS) for _ in range(N_ROWS))
    return "\n".join(map(" ".join, rows))


def _packed(text: str) -> str:
    """Return a text as the page sends a list."""
    deflate = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return base64.b64encode(deflate.compress(text.encode()) + deflate.flush()).decode()


async def _event(program: httpx.AsyncClient, name: str) -> int:
    """Return the number of one of the page's events."""
    settings = (await program.get("/config")).json()["dependencies"]
    return next(d["id"] for d in settings if d.get("api_name") == name)


async def pages(program: httpx.AsyncClient) -> None:
    """Open 200 connections that request the page three times each and never read."""
    await _hold(program, b"GET / HTTP/1.1\r\nHost: explorer\r\n\r\n" * 3, 200)


async def new_texts(program: httpx.AsyncClient) -> None:
    """Open 200 pages at once, each with a text of its own; repeat every five seconds."""
    await _again(
        lambda: [_get(program, f"/?text=a+[MASK]+sat+{uuid.uuid4().hex}") for _ in range(200)],
        BURST_S,
    )


async def half_open(program: httpx.AsyncClient) -> None:
    """Open 500 connections that never complete their request."""
    await _hold(program, b"POST /gradio_api/call/predict HTTP/1.1\r\nHost: explorer\r\n", 500)


async def _hold(program: httpx.AsyncClient, data: bytes, count: int) -> None:
    address = urlsplit(str(program.base_url))
    connections = []
    for _ in range(count):
        connection = socket.socket()
        # A small receive buffer, or the kernel would accept the response for the client.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect((address.hostname, address.port))
        connection.sendall(data)
        connections.append(connection)
        await asyncio.sleep(0)
    await asyncio.sleep(PATIENCE_S)


ATTACKS: dict[str, Attack] = {
    "300 at once, never listened to": burst,
    "12 sessions that never listen": unread,
    "4 × /latency without a pause": latency,
    "50 mixed expensive jobs": mixed,
    "120 × /run/predict at once": around,
    "200 pages with new texts": new_texts,
    LISTS: lists,
    "200 connections that never read": pages,
    "500 half-open requests": half_open,
}
"""Attacks by their names in the report's table."""
CUT_BY_PROXY = ("200 connections that never read", "500 half-open requests")
"""Attacks by connections that stay open: they are cut by the proxy, not by the server."""


def answered_again(url: str, within_s: float) -> float:
    """Return the seconds until a client's request is accepted again and completed.

    A refusal because of a full queue does not count; any other response does.
    """
    started = time.monotonic()
    path = f"{url}/gradio_api/call/predict"
    body = {"data": [f"a [MASK] {started}", "mini", 5]}
    while (elapsed := time.monotonic() - started) < within_s:
        try:
            reply = httpx.post(path, json=body, timeout=within_s)
            if not reply.is_error:
                event = json.loads(reply.text)["event_id"]
                httpx.get(f"{path}/{event}", timeout=within_s)
                return time.monotonic() - started
        except httpx.HTTPError:
            pass
        time.sleep(0.2)
    return elapsed
