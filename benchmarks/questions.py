"""What visitors ask a served explorer, how they ask it, and whether two answers are the same."""

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
"""Two views to eight calls of programs, in turn."""
CLOSE = 2e-3
"""How far two numbers of an answer may differ, relative or absolute: shares are printed rounded."""
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
_SERIAL = re.compile(r'"serial":\d+,|\\"serial\\":\d+,')


@dataclass(frozen=True, slots=True)
class Question:
    """One request: an endpoint or the page's own event, and what it is asked."""

    kind: str
    values: tuple[Any, ...]

    @property
    def text(self) -> str:
        """The text that the models read; empty where they read none."""
        return "" if self.kind == "parameters" else str(self.values[0])


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a question, and after how many seconds."""

    said: str
    """The answer as text; empty where there was none."""
    seconds: float
    failure: str = ""


def questions(count: int, first: int = 0, family: str = "mini") -> list[Question]:
    """So many questions to a family in a fixed order of kinds, about texts that all differ."""
    sentences = json.loads((DATA / "sentences.json").read_text("utf-8"))["sentences"]
    texts = [sentence["text"] for sentence in sentences]
    rng = np.random.default_rng(first)
    made = []
    for number, kind in zip(range(first, first + count), itertools.cycle(KINDS), strict=False):
        one, other = rng.choice(texts, 2, replace=False)
        made.append(Question(kind, _values(kind, f"{one} {number}.", f"{other} {number}.", family)))
    return made


def asked_of(
    kinds: Collection[str], count: int, first: int, family: str = "mini"
) -> list[Question]:
    """So many questions of some kinds in turn, none of which is asked in another round."""
    share = sum(kind in kinds for kind in KINDS)
    turns = -(-count // share) * len(KINDS)
    made = questions(turns, -(-first // share) * len(KINDS), family)
    return [question for question in made if question.kind in kinds][:count]


def _values(kind: str, text: str, other: str, family: str) -> tuple[Any, ...]:
    """The arguments of a question about a text."""
    if kind == VIEW:
        return (text, family)
    if kind == "parameters":
        return (["bert-base-uncased", "mini-albert"],)
    if kind in ("pair", "question"):
        return (text.replace("[MASK]", "it"), other.replace("[MASK]", "it"), family)
    whole = text.replace("[MASK]", "it") if kind == "sentiment" else text
    extra = {"predict": (5,), "attention": ("albert", 2, 1), "distillation": (2.0,)}
    return (whole, family, *extra.get(kind, ()), *(("bert",) if kind == "depth" else ()))


class Visitor:
    """One session of a served page."""

    def __init__(self, url: str, view: int) -> None:
        self.view, self.session = view, uuid.uuid4().hex[:10]
        # Each session has an address: servers and proxies share out by it. All of 127/8 is this
        # machine on Linux alone; elsewhere a server on this machine takes the header's word.
        own = str(IPv4Address("127.0.0.2") + int(self.session[:5], 16))
        near = sys.platform == "linux" and "//127." in url
        self.http = httpx.Client(
            base_url=f"{url}/gradio_api",
            timeout=600,
            headers={} if near else {"x-forwarded-for": own},
            transport=httpx.HTTPTransport(local_address=own) if near else None,
        )

    def ask(self, question: Question) -> Answer:
        """One answer, timed from the request to the last byte."""
        begun = time.perf_counter()
        try:
            said = self._view(question) if question.kind == VIEW else self._call(question)
        except (httpx.HTTPError, ValueError) as error:
            return Answer("", time.perf_counter() - begun, str(error) or repr(error))
        return Answer(_SERIAL.sub("", said), time.perf_counter() - begun)

    def _call(self, question: Question) -> str:
        event = self._post(f"/call/{question.kind}", {"data": list(question.values)})
        # A refusal in a sentence is an answer too: one visitor gets the same.
        reply = self.http.get(f"/call/{question.kind}/{event}").text
        return reply[reply.rindex("event: ") :]

    def _view(self, question: Question) -> str:
        asked = {
            "params": dict(zip(("text", "family"), question.values, strict=True)),
            "number": 1,
            "keep": [],
        }
        body = {"data": [json.dumps(asked)], "fn_index": self.view, "session_hash": self.session}
        self._post("/queue/join", body)
        reply = self.http.get("/queue/data", params={"session_hash": self.session}).text
        lines = [json.loads(line[5:]) for line in reply.splitlines() if line.startswith("data:")]
        done = next((one for one in lines if one["msg"] == "process_completed"), None)
        if done is None or not done["success"]:
            raise ValueError(str(done)[-300:])
        return json.dumps(done["output"]["data"])

    def _post(self, path: str, body: dict[str, Any]) -> str:
        reply = self.http.post(path, json=body)
        if reply.is_error:
            raise ValueError(reply.text[:300])
        return str(reply.json()["event_id"])


def answers_of_class(url: str, asked: Sequence[Question], programs: int) -> list[Answer]:
    """The answers to so many ``gradio_client`` programs, each with one question after the other."""
    from gradio_client import Client
    from gradio_client.exceptions import AppError

    answers: dict[int, Answer] = {}

    def ask(client: Client, question: Question) -> Answer:
        begun, failure, said = time.perf_counter(), "", ""
        try:
            said = json.dumps(client.predict(*question.values, api_name=f"/{question.kind}"))
        except AppError as refusal:  # a refusal in a sentence is an answer too
            said = str(refusal)
        except Exception as error:
            failure = repr(error)
        return Answer(said, time.perf_counter() - begun, failure)

    def work(number: int) -> None:
        client = Client(url, verbose=False)
        for at in range(number, len(asked), programs):
            answers[at] = ask(client, asked[at])
        client.close()

    with ThreadPoolExecutor(programs) as pool:
        list(pool.map(work, range(programs)))
    return [answers[at] for at in range(len(asked))]


def apart(one: str, other: str) -> str:
    """The first place where two answers say something else, with a little around it."""
    ours, theirs = (said.replace("\n", " ").split(",") for said in (one, other))
    alike = [same(a, b) for a, b in zip(ours, theirs, strict=False)]
    first = alike.index(False) if False in alike else len(alike)
    around = slice(max(0, first - 3), first + 2)
    return f"{','.join(ours[around])} | {','.join(theirs[around])}"


def same(one: str, other: str) -> bool:
    """Whether two answers say the same but for the last digits of their numbers."""
    if _NUMBER.sub("#", one) != _NUMBER.sub("#", other):
        return False
    ours, theirs = (np.array(_NUMBER.findall(said), dtype=float) for said in (one, other))
    return bool(np.allclose(ours, theirs, rtol=CLOSE, atol=CLOSE))


def view_event(url: str) -> int:
    """The number of the page's own event on a server."""
    settings = httpx.get(f"{url}/config", timeout=60).json()
    found = (d["id"] for d in settings["dependencies"] if d.get("api_name") == VIEW)
    return int(next(found))
