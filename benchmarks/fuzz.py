"""``python -m benchmarks fuzz``: random invalid requests to every endpoint, and their outcomes.

A valid Compare is sent after every 100 of them: it finds a server whose queues have stopped.
"""

import argparse
import itertools
import json
import re
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

import httpx

from benchmarks import start
from benchmarks.nonsense import LINK, TEXTS, Nonsense
from explorer.ui.kit.strings import UNEXPECTED

API, REQUEST_ID = "/gradio_api", "x-request-id"
_BESIDE = re.compile("close_stream|event: ")
"""Stream lines that are no answers; heartbeats are kept, to detect hangs."""
HANG_S = 240.0
"""A request without an answer for this long hangs; /similarity takes 50 s of processor time."""
DEAD_S = 30.0
"""A valid Compare without an answer for this long: the queue is dead."""
ENOUGH_S = 3.0
"""The client leaves a stream of progress reports after this long."""
OURS = UNEXPECTED.partition("(")[0].strip()
AT_ONCE = 4
MAX_SHOWN = 800
"""Characters of a finding that are printed."""
RENEWED = 40
"""Requests of one session."""
CHECKED = 100
"""Requests between two valid Compares."""
COMPARE, UNANSWERED = "a valid Compare", "unanswered"
PATHS = ("/", "/config", "/gradio_api/info", "/qr", "/provenance/", "/recipe/", "/js/", "/bertviz/")


@dataclass(frozen=True, slots=True)
class FuzzRequest:
    """A request, and the stream of its answer."""

    name: str
    path: str
    body: str
    stream: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.body[:300]!r}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a request: answer, refused, left, ours, silent, hang, broken or unanswered."""

    request: FuzzRequest
    kind: str
    text: str = ""
    mark: str = ""
    """The request id from the server's response header."""

    def __str__(self) -> str:
        return f"{self.kind}: {self.request}: {self.text[:300]}"

    @property
    def is_bad(self) -> bool:
        """Return whether the outcome is a finding."""
        return self.kind not in ("answer", "refused", "left")


@dataclass(eq=False, slots=True)
class Checks:
    """Valid Compares after every hundred requests of all visitors together."""

    url: str
    settings: dict[str, Any]
    seed: int
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    has_failed: threading.Event = field(default_factory=threading.Event)
    """Set when a Compare is not answered: nothing more is sent then."""

    def after_request(self) -> Iterator[Outcome]:
        """Count a request; yield the outcome of a Compare after every hundredth."""
        number = next(self.numbers)
        if number % CHECKED == 0:
            yield self.compare(number)

    def compare(self, number: int) -> Outcome:
        """Send a valid Compare of a new text and return its outcome; only an answer is good."""
        link = LINK | {"text": f"The {number} cats sat on the [MASK]."}
        request = opening_request(self.settings, f"check{self.seed}x{number}", link)
        address = {"x-forwarded-for": f"203.0.113.{number // CHECKED % 256}"}
        headers = {"connection": "close"} | address
        with httpx.Client(base_url=self.url, timeout=DEAD_S, headers=headers) as http:
            outcome = send(http, replace(request, name=COMPARE))
        if outcome.kind == "answer":
            return outcome
        self.has_failed.set()
        said = f"{outcome.kind} after {number} requests: {outcome.text}"
        return replace(outcome, kind=UNANSWERED, text=said)


def add_command(commands: Any) -> None:  # noqa: ANN401 - argparse's own type is private
    """Declare the command and its flags."""
    parser = commands.add_parser("fuzz", help=__doc__)
    parser.set_defaults(run=run)
    parser.add_argument("--requests", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log", help="a file for what the server writes")


def run(chosen: argparse.Namespace) -> int:
    """Print the outcomes of the requests and the log's tracebacks; return 1 for any finding.

    A traceback always is a finding, because it is a bug of ours, refused or not.
    """
    with open(chosen.log, "w+") if chosen.log else tempfile.TemporaryFile("w+") as log:
        with start.app(log) as (url, _):
            start.wait_for(url)
            outcomes = list(send_all(url, chosen.requests, chosen.seed))
        log.seek(0)
        failures = start.tracebacks(log.read())
    by_mark = {item.mark: item.request for item in outcomes if item.mark}
    for item in failures:
        request = by_mark.get(item.mark, "a request that is not known")
        sys.stdout.write(f"  traceback: {request}: {item.last}\n"[:MAX_SHOWN])
    compares = [item for item in outcomes if item.request.name == COMPARE]
    counted = Counter(item.kind for item in outcomes if item.request.name != COMPARE)
    n_sent = counted.total()
    sys.stdout.write(f"{n_sent} requests: {dict(sorted(counted.items()))}\n")
    n_answered = sum(not item.is_bad for item in compares)
    sys.stdout.write(f"valid Compares between them: {len(compares)}, answered: {n_answered}\n")
    sys.stdout.write(f"failed on our side: {counted['ours']}, hangs: {counted['hang']}, ")
    sys.stdout.write(f"without a word: {counted['silent']}, broken off: {counted['broken']}, ")
    sys.stdout.write(f"tracebacks in the log: {len(failures)}\n")
    is_whole = n_sent == chosen.requests
    return 1 if failures or not is_whole or any(item.is_bad for item in outcomes) else 0


def send_all(url: str, count: int, seed: int) -> Iterator[Outcome]:
    """Send all requests from a few threads, and yield their outcomes."""
    settings = httpx.get(f"{url}/config", timeout=60).json()
    parts = [count // AT_ONCE + (n < count % AT_ONCE) for n in range(AT_ONCE)]
    checks = Checks(url, settings, seed)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        visits = [
            pool.submit(one_visitor, checks, part, seed * AT_ONCE + n)
            for n, part in enumerate(parts)
        ]
        for visit in visits:
            yield from visit.result()


def one_visitor(checks: Checks, count: int, seed: int) -> list[Outcome]:
    """Send a share of the requests, drawn from its own seed; return all outcomes."""
    source, outcomes, settings = Nonsense(seed), list[Outcome](), checks.settings
    with httpx.Client(
        # One connection a request: a keep-alive closed for idleness would look like a failure.
        base_url=checks.url,
        timeout=HANG_S,
        headers={"connection": "close"},
    ) as http:
        for number in range(count):
            if checks.has_failed.is_set():
                break
            session = f"fuzz{seed}x{number // RENEWED}"
            if number % RENEWED == 0:
                # One address a session, as a proxy forwards it: one address would reach its limit.
                http.headers["x-forwarded-for"] = f"198.18.{seed % 256}.{number // RENEWED % 256}"
                send(http, opening_request(settings, session))
            sent = [send(http, random_request(source, settings, session))]
            sent += checks.after_request()
            for outcome in sent:
                if outcome.is_bad:
                    sys.stdout.write(f"  {outcome}\n"[:MAX_SHOWN])
                    sys.stdout.flush()
            outcomes += sent
    return outcomes


def opening_request(
    settings: dict[str, Any], session: str, link: dict[str, str] = LINK
) -> FuzzRequest:
    """Return the page's first request, a Compare, so that the session has a text."""
    event = next(d["id"] for d in settings["dependencies"] if d["api_name"] == "on_view")
    payload = json.dumps({"params": link, "number": 1, "keep": []})
    return page_request("on_view", {"data": [payload], "fn_index": event, "session_hash": session})


def page_request(name: str, body: dict[str, Any], written: str = "") -> FuzzRequest:
    """Return a request of the page; its answer comes on its session's stream."""
    try:
        session = json.loads(written or "{}").get("session_hash", body["session_hash"])
    except ValueError:
        session = body["session_hash"]
    stream = f"{API}/queue/data?{urlencode({'session_hash': session}, errors='replace')}"
    return FuzzRequest(name, f"{API}/queue/join", written or json.dumps(body), stream)


def random_request(source: Nonsense, settings: dict[str, Any], session: str) -> FuzzRequest:
    """Draw a request: an endpoint, a function of the page, a component's call, or an address."""
    from explorer.ui.shell.api import TABLE  # gradio, which other benchmarks do without

    kind = source.one_of(("endpoint",) * 4 + ("page",) * 5 + ("picture", "address", "beside"))
    if kind == "endpoint":
        endpoint = source.one_of(TABLE)
        name = endpoint.name
        values = [*(source.like(value) for value in endpoint.values()), source.value()]
        body: dict[str, Any] = {"data": values[: int(source.rng.integers(len(values) + 1))]}
        return FuzzRequest(name, f"{API}/call/{name}", source.body(body), f"{API}/call/{name}/")
    if kind == "page":
        return random_page_request(source, settings, session)
    if kind == "picture":
        component_ids = [c["id"] for c in settings["components"] if c["props"].get("server_fns")]
        names = ("exact_heads", "read_deeper", "postprocess", "__init__")
        body = {"data": source.question()}
        if source.chance(0.8):
            body["data"] = {"params": LINK, source.one_of(("heads", "want")): source.value()}
        body |= {
            "component_id": source.one_of((*component_ids, *component_ids, 7, -1)),
            "session_hash": session,
        }
        written = source.body(body | {"fn_name": source.one_of(names)})
        return FuzzRequest("picture", f"{API}/component_server/", written)
    if kind == "beside":
        path = f"{API}/{source.one_of(('cancel', 'reset', 'call/v2/predict', 'queue/join'))}"
        fields = {"session_hash": session, "event_id": "x", "fn_index": 1, "text": "a [MASK]"}
        return FuzzRequest(path, path, source.body({k: source.like(v) for k, v in fields.items()}))
    path = source.one_of(PATHS) + source.one_of(("", "%0a%1b", "..%2f..%2fapp.py", "%ff", "x"))
    return FuzzRequest(f"{path}?text=", path, "", f"{path}?text={source.one_of(TEXTS)[:50]!r}")


def random_page_request(source: Nonsense, settings: dict[str, Any], session: str) -> FuzzRequest:
    """Draw a call of a function of the page, with its controls' values or others."""
    event = source.one_of([d for d in settings["dependencies"] if d["backend_fn"]])
    parts = {part["id"]: part for part in settings["components"]}
    values = []
    for number in event["inputs"]:
        props, kind = parts[number]["props"], parts[number]["type"]
        choices = [choice[1] for choice in props.get("choices") or []]
        value = source.one_of(choices) if choices and source.chance(0.5) else props.get("value")
        is_component_call = kind == "html" and source.chance(0.8)
        values.append(source.question() if is_component_call else source.like(value))
    body = {"data": values, "fn_index": event["id"], "session_hash": session, "event_data": None}
    return page_request(event["api_name"] or str(event["id"]), body, source.body(body))


def send(http: httpx.Client, request: FuzzRequest) -> Outcome:
    """Send one request and return its outcome."""
    try:
        if not request.body:
            return classify(request, http.get(request.stream.encode("utf-8", "replace").decode()))
        headers = {"content-type": "application/json"}
        reply = http.post(request.path, content=request.body, headers=headers)
        if reply.is_error or not request.stream:
            return classify(request, reply)
        event = reply.json()["event_id"] if request.stream.endswith("/") else ""
        outcome = read_stream(http, request, f"{request.stream}{event}")
        return replace(outcome, mark=reply.headers.get(REQUEST_ID, ""))
    except httpx.TimeoutException as error:
        return Outcome(request, "hang", repr(error))
    except (httpx.HTTPError, ValueError, KeyError) as error:
        return Outcome(request, "broken", repr(error))


def classify(request: FuzzRequest, reply: httpx.Response) -> Outcome:
    """Classify a response without a stream."""
    mark = reply.headers.get(REQUEST_ID, "")
    if OURS in reply.text or reply.status_code >= 500:
        return Outcome(request, "ours", f"{reply.status_code} {reply.text}", mark)
    return Outcome(request, "refused" if reply.is_error else "answer", mark=mark)


def read_stream(http: httpx.Client, request: FuzzRequest, stream: str) -> Outcome:
    """Read the stream of an answer and classify its end."""
    started, last, has_progress, most_s = time.monotonic(), "", False, http.timeout.read or HANG_S
    with http.stream("GET", stream) as reply:
        for line in (text for text in reply.iter_lines() if text and not _BESIDE.search(text)):
            last, has_progress = line, has_progress or "generating" in line
            if time.monotonic() - started > (ENOUGH_S if has_progress else most_s):
                return Outcome(request, "left" if has_progress else "hang", last)
            if '"process_completed"' in line:
                break
    return Outcome(request, kind_of(last), last)


def kind_of(last: str) -> str:
    """Classify the last line of a stream."""
    if OURS in last:
        return "ours"
    if not last or "unexpected_error" in last:
        return "broken"
    refused = '"success":false' in last or "visible" in last
    return ("silent" if re.search(r'"error": ?null', last) else "refused") if refused else "answer"
