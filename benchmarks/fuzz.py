"""``python -m benchmarks fuzz``: random invalid requests to every endpoint, and their outcomes."""

import argparse
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

import httpx

from benchmarks import start
from benchmarks.nonsense import LINK, TEXTS, Nonsense
from explorer.ui.kit.strings import UNEXPECTED

API, REQUEST_ID = "/gradio_api", "x-request-id"
_BESIDE = re.compile("close_stream|event: ")
"""Stream lines that are no answers; heartbeats are kept, to detect hangs."""
HANG_S = 30.0
"""A request without an answer for this long hangs."""
ENOUGH_S = 3.0
"""The client leaves a stream of progress reports after this long."""
OURS = UNEXPECTED.partition("(")[0].strip()
AT_ONCE = 4
MAX_SHOWN = 800
"""Characters of a finding that are printed."""
RENEWED = 40
"""Requests of one session."""
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
    """Outcome of a request: answer, refused, left, ours, silent, hang or broken."""

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
    counted = Counter(item.kind for item in outcomes)
    sys.stdout.write(f"{len(outcomes)} requests: {dict(sorted(counted.items()))}\n")
    sys.stdout.write(f"failed on our side: {counted['ours']}, hangs: {counted['hang']}, ")
    sys.stdout.write(f"without a word: {counted['silent']}, broken off: {counted['broken']}, ")
    sys.stdout.write(f"tracebacks in the log: {len(failures)}\n")
    return 1 if failures or any(item.is_bad for item in outcomes) else 0


def send_all(url: str, count: int, seed: int) -> Iterator[Outcome]:
    """Send all requests from a few threads, and yield their outcomes."""
    settings = httpx.get(f"{url}/config", timeout=60).json()
    parts = [count // AT_ONCE + (n < count % AT_ONCE) for n in range(AT_ONCE)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        visits = [
            pool.submit(one_visitor, url, settings, part, seed * AT_ONCE + n)
            for n, part in enumerate(parts)
        ]
        for visit in visits:
            yield from visit.result()


def one_visitor(url: str, settings: dict[str, Any], count: int, seed: int) -> list[Outcome]:
    """Send a share of the requests, drawn from its own seed; return their outcomes."""
    source, outcomes = Nonsense(seed), []
    with httpx.Client(
        # One connection a request: a keep-alive closed for idleness would look like a failure.
        base_url=url,
        timeout=HANG_S,
        headers={"connection": "close"},
    ) as http:
        for number in range(count):
            session = f"fuzz{seed}x{number // RENEWED}"
            if number % RENEWED == 0:
                # One address a session, as a proxy forwards it: one address would reach its limit.
                http.headers["x-forwarded-for"] = f"198.18.{seed % 256}.{number // RENEWED % 256}"
                send(http, opening_request(settings, session))
            outcomes.append(send(http, random_request(source, settings, session)))
            if outcomes[-1].is_bad:
                sys.stdout.write(f"  {outcomes[-1]}\n"[:MAX_SHOWN])
                sys.stdout.flush()
    return outcomes


def opening_request(settings: dict[str, Any], session: str) -> FuzzRequest:
    """Return the page's first request, so that the session has a text."""
    event = next(d["id"] for d in settings["dependencies"] if d["api_name"] == "on_view")
    payload = json.dumps({"params": LINK, "number": 1, "keep": []})
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
    started, last, has_progress = time.monotonic(), "", False
    with http.stream("GET", stream) as reply:
        for line in (text for text in reply.iter_lines() if text and not _BESIDE.search(text)):
            last, has_progress = line, has_progress or "generating" in line
            if time.monotonic() - started > (ENOUGH_S if has_progress else HANG_S):
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
