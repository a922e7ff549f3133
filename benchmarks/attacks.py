"""What hostile or careless programs do to a served page, each for some seconds; loopback only."""

import asyncio
import json
import socket
import time
import uuid
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
BURST_S = 5.0
"""From one burst to the next."""
PATIENCE_S = 120.0
Attack = Callable[[httpx.AsyncClient], Awaitable[object]]


def attack(name: str, url: str, seconds: float) -> None:
    """Do one of ``ATTACKS`` to a server for so long."""
    with_limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)

    async def run() -> None:
        async with httpx.AsyncClient(
            base_url=url, timeout=PATIENCE_S, limits=with_limits
        ) as program:
            async with asyncio.timeout(seconds):
                await ATTACKS[name](program)
                await asyncio.sleep(seconds)

    try:
        asyncio.run(run())
    except TimeoutError:
        return


async def _post(program: httpx.AsyncClient, path: str, body: object) -> dict[str, Any]:
    """The answer of a server; empty where it refuses, or cuts the connection."""
    try:
        reply = await program.post(path, json=body)
        return {} if reply.is_error else reply.json()
    except httpx.HTTPError:
        return {}


async def _ask(program: httpx.AsyncClient, endpoint: str, values: list[Any]) -> None:
    """A question whose answer is read to its end; after a refusal the next one comes soon."""
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
    """All at once, and once more after a pause, without end."""
    while True:
        begun = time.monotonic()
        await asyncio.gather(*make())
        await asyncio.sleep(max(0.0, pause_s - (time.monotonic() - begun)))


async def burst(program: httpx.AsyncClient) -> None:
    """300 questions at once, whose streams are never opened; again every five seconds."""
    body = {"data": [LONG_TEXT, "mini"]}
    path = "/gradio_api/call/sentiment"
    await _again(lambda: [_post(program, path, body) for _ in range(300)], BURST_S)


async def unread(program: httpx.AsyncClient) -> None:
    """12 questions of sessions that never listen; again every five seconds."""
    settings = (await program.get("/config")).json()["dependencies"]
    number = next(d["id"] for d in settings if d.get("api_name") == "sentiment")

    def body() -> dict[str, Any]:
        return {
            "data": [LONG_TEXT, "mini"],
            "fn_index": number,
            "session_hash": uuid.uuid4().hex[:10],
        }

    path = "/gradio_api/queue/join"
    await _again(lambda: [_post(program, path, body()) for _ in range(12)], BURST_S)


async def latency(program: httpx.AsyncClient) -> None:
    """Four programs that measure one after the other without a pause."""

    async def one() -> None:
        while True:
            await _ask(program, "latency", MEASUREMENT)

    await asyncio.gather(*(one() for _ in range(4)))


async def mixed(program: httpx.AsyncClient) -> None:
    """50 programs that ask for what costs most, each one thing after the other."""

    async def one(number: int) -> None:
        while True:
            endpoint, values = MIXED[number % len(MIXED)]
            # Each text is new, so that no answer is kept from before.
            text, number = f"{values[0]} {uuid.uuid4().hex[:4]}", number + 1
            await _ask(program, endpoint, [text, *values[1:]])

    await asyncio.gather(*(one(number) for number in range(50)))


async def around(program: httpx.AsyncClient) -> None:
    """120 times the way around the queue at once; again every five seconds."""
    body = {"data": ["a [MASK] sat", "mini", 5]}
    await _again(
        lambda: [_post(program, "/gradio_api/run/predict", body) for _ in range(120)], BURST_S
    )


async def pages(program: httpx.AsyncClient) -> None:
    """200 connections that ask for the page three times each and never read."""
    await _hold(program, b"GET / HTTP/1.1\r\nHost: explorer\r\n\r\n" * 3, 200)


async def half_open(program: httpx.AsyncClient) -> None:
    """500 connections that never end their request."""
    await _hold(program, b"POST /gradio_api/call/predict HTTP/1.1\r\nHost: explorer\r\n", 500)


async def _hold(program: httpx.AsyncClient, said: bytes, count: int) -> None:
    place = urlsplit(str(program.base_url))
    held = []
    for _ in range(count):
        one = socket.socket()
        # A small window, or the system would read for the program.
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.connect((place.hostname, place.port))
        one.sendall(said)
        held.append(one)
        await asyncio.sleep(0)
    await asyncio.sleep(PATIENCE_S)


ATTACKS: dict[str, Attack] = {
    "300 at once, never listened to": burst,
    "12 sessions that never listen": unread,
    "4 × /latency without a pause": latency,
    "50 mixed expensive jobs": mixed,
    "120 × /run/predict at once": around,
    "200 connections that never read": pages,
    "500 half-open requests": half_open,
}
"""By the name that the table gives each."""


def answered_again(url: str, within_s: float) -> float:
    """Seconds until a program's question is answered, refused for what it is if need be.

    A refusal because too many wait is no answer: the queue is full still.
    """
    begun = time.monotonic()
    path = f"{url}/gradio_api/call/predict"
    body = {"data": [f"a [MASK] {begun}", "mini", 5]}
    while (passed := time.monotonic() - begun) < within_s:
        try:
            reply = httpx.post(path, json=body, timeout=within_s)
            if not reply.is_error:
                event = json.loads(reply.text)["event_id"]
                httpx.get(f"{path}/{event}", timeout=within_s)
                return time.monotonic() - begun
        except httpx.HTTPError:
            pass
        time.sleep(0.2)
    return passed
