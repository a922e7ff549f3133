"""``python -m benchmarks fuzz``: nonsense for everything that answers, and what came of it."""

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
"""What a stream says beside its answers; heartbeats are heard, for how long they go on."""
HANG_S = 30.0
"""Without a word for so long, a question hangs."""
ENOUGH_S = 3.0
"""Who is told how far a measurement has come leaves after so long."""
OURS = UNEXPECTED.partition("(")[0].strip()
AT_ONCE = 4
MOST_SHOWN = 800
"""Characters of what must not be that are shown."""
RENEWED = 40
"""A session is a new one after so many questions."""
GOOD: dict[str, list[Any]] = {
    "predict": ["The [MASK] sat.", "mini", 3],
    "attention": ["The cat sat.", "mini", "bert", 0, 0],
    "depth": ["The [MASK] sat.", "mini", "bert"],
    "layer": ["The [MASK] sat.", "mini", "bert", 0, 0, -1],
    "contexts": ["The [MASK] sat.", "mini"],
    "parameters": [["bert-base-uncased", "mini-albert"]],
    "distillation": ["The [MASK] sat.", "mini", 2.0],
    "pair": ["It rains.", "We stay in.", "mini"],
    "sentiment": ["A good film.", "mini"],
    "question": ["Who sat?", "The cat sat on the mat.", "mini"],
    "latency": ["mini", 8, 1, 1, "cpu", "float32"],
}
PATHS = ("/", "/config", "/gradio_api/info", "/qr", "/provenance/", "/recipe/", "/js/", "/bertviz/")


@dataclass(frozen=True, slots=True)
class FuzzRequest:
    """One request, and where its answer is read."""

    what: str
    path: str
    body: str
    stream: str = ""

    def __str__(self) -> str:
        return f"{self.what} {self.body[:300]!r}"


@dataclass(frozen=True, slots=True)
class Came:
    """What came of it: ``answer``, ``refused``, ``ours``, ``silent``, ``hang`` or ``broken``."""

    asked: FuzzRequest
    kind: str
    said: str = ""
    mark: str = ""
    """The id that the server gave the request."""

    def __str__(self) -> str:
        return f"{self.kind}: {self.asked}: {self.said[:300]}"

    @property
    def is_bad(self) -> bool:
        """Whether it must not be."""
        return self.kind not in ("answer", "refused", "left")


def add_command(commands: Any) -> None:  # noqa: ANN401 - argparse's own type is private
    """Declare the command and its flags."""
    parser = commands.add_parser("fuzz", help=__doc__)
    parser.set_defaults(run=run)
    parser.add_argument("--requests", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log", help="a file for what the server writes")


def run(chosen: argparse.Namespace) -> int:
    """Print what came of the requests and what they left in the log; 1 if anything must not be.

    A traceback is a finding whatever the visitor read: it is a fault of ours, refused or not.
    """
    with open(chosen.log, "w+") if chosen.log else tempfile.TemporaryFile("w+") as log:
        with start.app(log) as (url, _):
            start.wait_for(url)
            came = list(everything(url, chosen.requests, chosen.seed))
        log.seek(0)
        left = start.tracebacks(log.read())
    by_mark = {one.mark: one.asked for one in came if one.mark}
    for one in left:
        asked = by_mark.get(one.mark, "a request that is not known")
        sys.stdout.write(f"  traceback: {asked}: {one.last}\n"[:MOST_SHOWN])
    counted = Counter(one.kind for one in came)
    sys.stdout.write(f"{len(came)} requests: {dict(sorted(counted.items()))}\n")
    sys.stdout.write(f"failed on our side: {counted['ours']}, hangs: {counted['hang']}, ")
    sys.stdout.write(f"without a word: {counted['silent']}, broken off: {counted['broken']}, ")
    sys.stdout.write(f"tracebacks in the log: {len(left)}\n")
    return 1 if left or any(one.is_bad for one in came) else 0


def everything(url: str, count: int, seed: int) -> Iterator[Came]:
    """Ask all of it, a few at once, and say what came of each."""
    settings = httpx.get(f"{url}/config", timeout=60).json()
    parts = [count // AT_ONCE + (n < count % AT_ONCE) for n in range(AT_ONCE)]
    with ThreadPoolExecutor(AT_ONCE) as askers:
        visits = [
            askers.submit(one_visitor, url, settings, (part, seed * AT_ONCE + n))
            for n, part in enumerate(parts)
        ]
        for visit in visits:
            yield from visit.result()


def one_visitor(url: str, settings: dict[str, Any], part: tuple[int, int]) -> list[Came]:
    """One of those who ask at once: so many requests from a seed of its own."""
    count, seed = part
    source, came = Nonsense(seed), []
    with httpx.Client(
        # A connection each: one that the server closes for its idleness would look like a failure.
        base_url=url,
        timeout=HANG_S,
        headers={"connection": "close"},
    ) as http:
        for number in range(count):
            session = f"fuzz{seed}x{number // RENEWED}"
            if number % RENEWED == 0:
                # An address each, as a proxy hands it on: the budget of one would refuse most.
                http.headers["x-forwarded-for"] = f"198.18.{seed % 256}.{number // RENEWED % 256}"
                ask(http, opened(settings, session))
            came.append(ask(http, drawn(source, settings, session)))
            if came[-1].is_bad:
                sys.stdout.write(f"  {came[-1]}\n"[:MOST_SHOWN])
                sys.stdout.flush()
    return came


def opened(settings: dict[str, Any], session: str) -> FuzzRequest:
    """What a page asks first, so that there is a text to ask about."""
    event = next(d["id"] for d in settings["dependencies"] if d["api_name"] == "on_view")
    asked = json.dumps({"params": LINK, "number": 1, "keep": []})
    return joined("on_view", {"data": [asked], "fn_index": event, "session_hash": session})


def joined(what: str, body: dict[str, Any], written: str = "") -> FuzzRequest:
    """A question of the page; the stream is of the session that it is asked in."""
    try:
        session = json.loads(written or "{}").get("session_hash", body["session_hash"])
    except ValueError:
        session = body["session_hash"]
    stream = f"{API}/queue/data?{urlencode({'session_hash': session}, errors='replace')}"
    return FuzzRequest(what, f"{API}/queue/join", written or json.dumps(body), stream)


def drawn(source: Nonsense, settings: dict[str, Any], session: str) -> FuzzRequest:
    """Any request: an endpoint, a function of the page, a picture's question, or an address."""
    kind = source.one_of(("endpoint",) * 4 + ("page",) * 5 + ("picture", "address", "beside"))
    if kind == "endpoint":
        name = source.one_of(tuple(GOOD))
        values = [*(source.like(value) for value in GOOD[name]), source.value()]
        body: dict[str, Any] = {"data": values[: int(source.rng.integers(len(values) + 1))]}
        return FuzzRequest(name, f"{API}/call/{name}", source.body(body), f"{API}/call/{name}/")
    if kind == "page":
        return of_page(source, settings, session)
    if kind == "picture":
        asks = [c["id"] for c in settings["components"] if c["props"].get("server_fns")]
        names = ("exact_heads", "read_deeper", "postprocess", "__init__")
        body = {"data": source.question()}
        if source.chance(0.8):
            body["data"] = {"params": LINK, source.one_of(("heads", "want")): source.value()}
        body |= {"component_id": source.one_of((*asks, *asks, 7, -1)), "session_hash": session}
        written = source.body(body | {"fn_name": source.one_of(names)})
        return FuzzRequest("picture", f"{API}/component_server/", written)
    if kind == "beside":
        path = f"{API}/{source.one_of(('cancel', 'reset', 'call/v2/predict', 'queue/join'))}"
        given = {"session_hash": session, "event_id": "x", "fn_index": 1, "text": "a [MASK]"}
        return FuzzRequest(path, path, source.body({k: source.like(v) for k, v in given.items()}))
    path = source.one_of(PATHS) + source.one_of(("", "%0a%1b", "..%2f..%2fapp.py", "%ff", "x"))
    return FuzzRequest(f"{path}?text=", path, "", f"{path}?text={source.one_of(TEXTS)[:50]!r}")


def of_page(source: Nonsense, settings: dict[str, Any], session: str) -> FuzzRequest:
    """One of the page's own functions, with what its controls show or something else."""
    event = source.one_of([d for d in settings["dependencies"] if d["backend_fn"]])
    parts = {part["id"]: part for part in settings["components"]}
    values = []
    for number in event["inputs"]:
        props, kind = parts[number]["props"], parts[number]["type"]
        choices = [choice[1] for choice in props.get("choices") or []]
        value = source.one_of(choices) if choices and source.chance(0.5) else props.get("value")
        asks = kind == "html" and source.chance(0.8)
        values.append(source.question() if asks else source.like(value))
    body = {"data": values, "fn_index": event["id"], "session_hash": session, "event_data": None}
    return joined(event["api_name"] or str(event["id"]), body, source.body(body))


def ask(http: httpx.Client, asked: FuzzRequest) -> Came:
    """Send one request and read what comes of it."""
    try:
        if not asked.body:
            return judged(asked, http.get(asked.stream.encode("utf-8", "replace").decode()))
        headers = {"content-type": "application/json"}
        reply = http.post(asked.path, content=asked.body, headers=headers)
        if reply.is_error or not asked.stream:
            return judged(asked, reply)
        event = reply.json()["event_id"] if asked.stream.endswith("/") else ""
        came = heard(http, asked, f"{asked.stream}{event}")
        return replace(came, mark=reply.headers.get(REQUEST_ID, ""))
    except httpx.TimeoutException as error:
        return Came(asked, "hang", repr(error))
    except (httpx.HTTPError, ValueError, KeyError) as error:
        return Came(asked, "broken", repr(error))


def judged(asked: FuzzRequest, reply: httpx.Response) -> Came:
    """What an answer without a stream is."""
    mark = reply.headers.get(REQUEST_ID, "")
    if OURS in reply.text or reply.status_code >= 500:
        return Came(asked, "ours", f"{reply.status_code} {reply.text}", mark)
    return Came(asked, "refused" if reply.is_error else "answer", mark=mark)


def heard(http: httpx.Client, asked: FuzzRequest, stream: str) -> Came:
    """What the stream of an answer says at its end."""
    begun, last, told = time.monotonic(), "", False
    with http.stream("GET", stream) as reply:
        for line in (one for one in reply.iter_lines() if one and not _BESIDE.search(one)):
            last, told = line, told or "generating" in line
            if time.monotonic() - begun > (ENOUGH_S if told else HANG_S):
                return Came(asked, "left" if told else "hang", last)
            if '"process_completed"' in line:
                break
    return Came(asked, kind_of(last), last)


def kind_of(last: str) -> str:
    """What the last words of a stream are."""
    if OURS in last:
        return "ours"
    if not last or "unexpected_error" in last:
        return "broken"
    refused = '"success":false' in last or "visible" in last
    return ("silent" if re.search(r'"error": ?null', last) else "refused") if refused else "answer"
