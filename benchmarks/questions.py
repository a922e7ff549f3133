"""Requests of visitors to a served explorer, a client for them, and comparison of answers."""

import itertools
import json
import re
import sys
import time
import uuid
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Any

import httpx
import numpy as np

from explorer.assets import DATA

ENDPOINTS = ("predict", "attention", "distillation", "depth", "pair", "sentiment", "question")
VIEW = "on_view"
KINDS = (VIEW, *ENDPOINTS, VIEW, "parameters")
"""Kinds of requests in turn: two views to eight calls of programs."""
CLOSE = 2e-3
"""Tolerance for numbers of an answer, relative or absolute, because shares are rounded."""
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
_SERIAL = re.compile(r'"serial":\d+,|\\"serial\\":\d+,')


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request: an endpoint or the page's own event, and its arguments."""

    kind: str
    values: tuple[Any, ...]

    @property
    def text(self) -> str:
        """The text that the models read; empty without one."""
        return "" if self.kind == "parameters" else str(self.values[0])


@dataclass(frozen=True, slots=True)
class Answer:
    """Outcome of a request, and its duration."""

    text: str
    """The answer as text; empty without one."""
    seconds: float
    failure: str = ""


def page_requests(count: int, first: int = 0, family: str = "mini") -> list[PageRequest]:
    """Return requests to a family in a fixed order of kinds, about texts that all differ."""
    sentences = json.loads((DATA / "sentences.json").read_text("utf-8"))["sentences"]
    texts = [sentence["text"] for sentence in sentences]
    rng = np.random.default_rng(first)
    requests = []
    for number, kind in zip(range(first, first + count), itertools.cycle(KINDS), strict=False):
        text, second_text = rng.choice(texts, 2, replace=False)
        requests.append(
            PageRequest(
                kind, _values(kind, f"{text} {number}.", f"{second_text} {number}.", family)
            )
        )
    return requests


def requests_of_kinds(
    kinds: Collection[str], count: int, first: int, family: str = "mini"
) -> list[PageRequest]:
    """Return requests of some kinds in turn, none of which occurs in another round."""
    share = sum(kind in kinds for kind in KINDS)
    turns = -(-count // share) * len(KINDS)
    requests = page_requests(turns, -(-first // share) * len(KINDS), family)
    return [question for question in requests if question.kind in kinds][:count]


def _values(kind: str, text: str, second_text: str, family: str) -> tuple[Any, ...]:
    """Return the arguments of a request about a text."""
    if kind == VIEW:
        return (text, family)
    if kind == "parameters":
        return (["bert-base-uncased", "mini-albert"],)
    if kind in ("pair", "question"):
        return (text.replace("[MASK]", "it"), second_text.replace("[MASK]", "it"), family)
    whole = text.replace("[MASK]", "it") if kind == "sentiment" else text
    extra = {"predict": (5,), "attention": ("albert", 2, 1), "distillation": (2.0,)}
    return (whole, family, *extra.get(kind, ()), *(("bert",) if kind == "depth" else ()))


class Visitor:
    """A session of a served page."""

    def __init__(self, url: str, view: int) -> None:
        self.view, self.session = view, uuid.uuid4().hex[:10]
        # Each session has an address, because servers and proxies limit by it. All of 127/8 is
        # local on Linux only; elsewhere a server on this machine trusts the header.
        address = str(IPv4Address("127.0.0.2") + int(self.session[:5], 16))
        is_local = sys.platform == "linux" and "//127." in url
        self.http = httpx.Client(
            base_url=f"{url}/gradio_api",
            timeout=600,
            headers={} if is_local else {"x-forwarded-for": address},
            transport=httpx.HTTPTransport(local_address=address) if is_local else None,
        )

    def send(self, request: PageRequest) -> Answer:
        """Return an answer, timed from the request to the last byte."""
        start = time.perf_counter()
        try:
            text = self._view(request) if request.kind == VIEW else self._call(request)
        except (httpx.HTTPError, ValueError) as error:
            return Answer("", time.perf_counter() - start, str(error) or repr(error))
        return Answer(_SERIAL.sub("", text), time.perf_counter() - start)

    def _call(self, request: PageRequest) -> str:
        event = self._post(f"/call/{request.kind}", {"data": list(request.values)})
        # A refusal counts as an answer: a lone visitor gets the same one.
        reply = self.http.get(f"/call/{request.kind}/{event}").text
        return reply[reply.rindex("event: ") :]

    def _view(self, request: PageRequest) -> str:
        payload = {
            "params": dict(zip(("text", "family"), request.values, strict=True)),
            "number": 1,
            "keep": [],
        }
        body = {"data": [json.dumps(payload)], "fn_index": self.view, "session_hash": self.session}
        self._post("/queue/join", body)
        reply = self.http.get("/queue/data", params={"session_hash": self.session}).text
        lines = [json.loads(line[5:]) for line in reply.splitlines() if line.startswith("data:")]
        completed = next(
            (message for message in lines if message["msg"] == "process_completed"), None
        )
        if completed is None or not completed["success"]:
            raise ValueError(str(completed)[-300:])
        return json.dumps(completed["output"]["data"])

    def _post(self, path: str, body: dict[str, Any]) -> str:
        reply = self.http.post(path, json=body)
        if reply.is_error:
            raise ValueError(reply.text[:300])
        return str(reply.json()["event_id"])


def answers_of_class(url: str, requests: Sequence[PageRequest], programs: int) -> list[Answer]:
    """Return the answers to ``gradio_client`` programs, each with one request at a time."""
    from gradio_client import Client
    from gradio_client.exceptions import AppError

    answers: dict[int, Answer] = {}

    def ask(client: Client, question: PageRequest) -> Answer:
        start, failure, text = time.perf_counter(), "", ""
        try:
            text = json.dumps(client.predict(*question.values, api_name=f"/{question.kind}"))
        except AppError as refusal:  # a refusal counts as an answer
            text = str(refusal)
        except Exception as error:
            failure = repr(error)
        return Answer(text, time.perf_counter() - start, failure)

    def work(number: int) -> None:
        client = Client(url, verbose=False)
        for index in range(number, len(requests), programs):
            answers[index] = ask(client, requests[index])
        client.close()

    with ThreadPoolExecutor(programs) as pool:
        list(pool.map(work, range(programs)))
    return [answers[index] for index in range(len(requests))]


def first_difference(expected: str, other: str) -> str:
    """Return the first difference of two answers, with some context."""
    first_parts, second_parts = (
        answer.replace("\n", " ").split(",") for answer in (expected, other)
    )
    alike = [is_same(a, b) for a, b in zip(first_parts, second_parts, strict=False)]
    first = alike.index(False) if False in alike else len(alike)
    around = slice(max(0, first - 3), first + 2)
    return f"{','.join(first_parts[around])} | {','.join(second_parts[around])}"


def is_same(expected: str, other: str) -> bool:
    """Return whether two answers are equal up to the last digits of their numbers."""
    if _NUMBER.sub("#", expected) != _NUMBER.sub("#", other):
        return False
    first, second = (np.array(_NUMBER.findall(answer), dtype=float) for answer in (expected, other))
    return bool(np.allclose(first, second, rtol=CLOSE, atol=CLOSE))


def view_event(url: str) -> int:
    """Return the number of the page's own event on a server."""
    settings = httpx.get(f"{url}/config", timeout=60).json()
    numbers = (d["id"] for d in settings["dependencies"] if d.get("api_name") == VIEW)
    return int(next(numbers))
