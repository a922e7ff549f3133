"""The request filter: refused requests, their messages, and their lines in the log."""

import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from explorer.middleware import access_log, validation
from explorer.middleware.request_filter import MAX_BODY, MAX_HEAD, RequestFilter
from explorer.middleware.routes import Routes
from explorer.middleware.validation import PICTURE
from tests.waiting import in_its_own_loop

ROOT = Path(__file__).parents[2]
SECRET = "what the visitor wrote"


async def length_of(request: Request):
    """Return the length of the body that arrived."""
    return PlainTextResponse(str(len(await request.body())))


async def fails(_request):
    raise RuntimeError("broken")


async def breaks_off(_request):
    async def words():
        yield "begun"
        raise RuntimeError("broken")

    return StreamingResponse(words())


def client_of(**options):
    routes = [
        Route("/gradio_api/upload", length_of, methods=["POST"]),
        Route("/gradio_api/queue/join", length_of, methods=["GET", "POST"]),
        Route("/fails", fails),
        Route("/breaks-off", breaks_off),
        Route("/kept/{name}", length_of),
        Route("/", length_of, methods=["GET", "POST"]),
    ]
    options = {"routes": Routes(routes)} | options
    routes = [*routes, Route("/monitoring", length_of), WebSocketRoute("/", fails)]
    app = Starlette(routes=routes, middleware=[Middleware(RequestFilter, **options)])
    return TestClient(app, raise_server_exceptions=False)


def test_the_doors_that_are_shut_say_so():
    client = client_of()
    upload = client.post("/gradio_api/upload", content=b"file")
    assert (upload.status_code, upload.json()["detail"]) == (403, "This page accepts no files.")
    for path in ("/monitoring", "/kept", "/kept/a/b", "/fails/"):
        assert client.get(path).json() == {"detail": "Not found."}
        assert client.get(path).status_code == 404
    assert client.get("/kept/a").status_code == 200
    assert client.delete("/").status_code == 404, "a way that is not on the list either"


def test_who_leaves_in_the_middle_of_a_body_is_no_failure_of_the_server(caplog):
    messages = [
        {"type": "http.request", "body": b'{"comp', "more_body": True},
        {"type": "http.disconnect"},
    ]
    sent = []

    async def receive():
        return messages.pop(0)

    async def send(message):
        sent.append(message)

    headers = [(b"content-type", b"application/json"), (b"content-length", b"50")]
    scope = {"type": "http", "method": "POST", "path": PICTURE, "query_string": b""}
    scope |= {"root_path": "", "headers": headers, "client": ("1.2.3.4", 1)}
    caplog.set_level(logging.INFO)
    in_its_own_loop(RequestFilter(None, Routes())(scope, receive, send))
    (line,) = [json.loads(record.getMessage()) for record in caplog.records]
    assert line["status"] == 499
    assert sent == []


def test_there_is_no_way_in_by_a_socket():
    with pytest.raises(WebSocketDisconnect), client_of().websocket_connect("/"):
        pytest.fail("it was let in")


def test_a_path_below_a_proxy_meets_the_same_doors():
    client = client_of()
    below = TestClient(client.app, root_path="/explorer")
    assert below.get("/explorer/kept/a").status_code == 200
    assert below.get("/explorerkept/a").status_code == 404, "the path ends where a part ends"
    assert below.post("/explorer/gradio_api/upload", content=b"file").status_code == 403
    assert below.get("/explorer/monitoring").status_code == 404


def test_below_a_proxy_the_page_is_found_without_its_last_slash():
    """Its relative addresses hold below the slash alone."""
    below = TestClient(client_of().app, root_path="/explorer")
    sent = below.get("/explorer?tab=layer&text=a+%5BMASK%5D", follow_redirects=False)
    assert sent.headers["location"] == "/explorer/?tab=layer&text=a+%5BMASK%5D"
    assert below.get("/explorer").status_code == 200
    assert below.post("/explorer").status_code == 404


@pytest.mark.parametrize("in_pieces", [False, True], ids=["announced", "in pieces"])
def test_a_body_is_whole_up_to_the_limit_and_refused_beyond_it(in_pieces):
    client = client_of()

    def body(n):
        return iter([b"x" * 1000] * (n // 1000) + [b"x" * (n % 1000)]) if in_pieces else b"x" * n

    assert client.post("/", content=body(MAX_BODY)).text == str(MAX_BODY)
    refused = client.post("/", content=body(MAX_BODY + 1))
    assert refused.status_code == 413
    assert refused.json() == {
        "detail": "This request is larger than the limit of 256 KB.",
        "code": "request-too-large",
    }


@pytest.mark.parametrize("length", ["-1", "1e3", "x"])
def test_a_length_that_is_no_number_is_refused(length):
    assert client_of().post("/", headers={"content-length": length}).status_code == 413


def test_headers_and_addresses_are_limited_too():
    client = client_of()
    assert client.get("/", params={"text": "x" * MAX_HEAD}).status_code == 431
    assert client.get("/", headers={"cookie": "x" * MAX_HEAD}).status_code == 431
    assert client.get("/", params={"text": "x" * (MAX_HEAD - 1000)}).status_code == 200


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.INFO, logger=access_log.LOGGER.name)
    return lambda: [
        json.loads(r.message) for r in caplog.records if r.name == access_log.LOGGER.name
    ]


def test_every_request_has_a_name_a_line_and_no_text(lines, caplog):
    client = client_of()
    path = f"/{SECRET}"
    preflight = {"origin": "https://x", "access-control-request-method": "GET"}
    replies = [
        client.get("/", params={"text": SECRET}),
        client.post("/", content=SECRET.encode(), headers={"referer": f"http://x/?text={SECRET}"}),
        client.get(path),
        client.get("/fails", params={"text": SECRET}),
        client.post("/gradio_api/upload", content=SECRET.encode()),
        client.get(f"/kept/{SECRET}%0a%1b"),
        client.options(f"/kept/{SECRET}", headers=preflight),
        client.options(path, headers=preflight),
    ]
    names = [reply.headers["x-request-id"] for reply in replies]
    assert [line["id"] for line in lines()] == names
    assert len({line["id"] for line in lines()}) == len(replies)
    assert [line["status"] for line in lines()] == [200, 200, 404, 500, 403, 200, 200, 404]
    assert [line["path"] for line in lines()] == [
        "/",
        "/",
        "unknown",
        "/fails",
        "unknown",
        "/kept/{name}",
        "/kept/{name}",
        "unknown",
    ]
    assert all(0 <= line["ms"] < 60_000 for line in lines())
    logged = [r.getMessage() for r in caplog.records if r.name == access_log.LOGGER.name]
    assert not any("visitor" in line for line in logged)


def test_every_answer_says_what_a_browser_may_do():
    client = client_of()
    preflight = {"origin": "https://x", "access-control-request-method": "GET"}
    for reply in (
        client.get("/"),
        client.post("/gradio_api/upload"),
        client.get("/nothing"),
        client.get("/fails"),
        client.options("/", headers=preflight),
    ):
        policy = dict(
            part.split(" ", 1) for part in reply.headers["content-security-policy"].split("; ")
        )
        assert policy["default-src"] == "'self'"
        assert policy["object-src"] == "'none'"
        assert policy["frame-ancestors"] == "*", "embedding is what the page offers"
        assert not any("http" in sources for sources in policy.values()), "no other host"
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["referrer-policy"] == "same-origin"


def test_a_failure_behind_the_door_is_a_sentence_with_one_stack_in_the_log(caplog):
    reply = client_of().get("/fails")
    name = reply.headers["x-request-id"]
    assert reply.status_code == 500
    assert reply.json() == {"detail": validation.FAILED.format(mark=name)}
    (failure,) = [record for record in caplog.records if record.exc_info]
    assert failure.getMessage() == f"failure {name}"
    assert "broken" in caplog.text


def test_an_answer_that_fails_in_its_middle_ends_there(caplog):
    reply = TestClient(client_of().app).get("/breaks-off")
    assert (reply.status_code, reply.text) == (200, "begun")
    assert len([record for record in caplog.records if record.exc_info]) == 1


def test_another_site_may_ask_for_what_is_listed_and_reads_why_it_is_refused():
    client = client_of()
    site = {"origin": "https://x"}
    asked = client.options("/", headers=site | {"access-control-request-method": "POST"})
    assert (asked.status_code, asked.headers["access-control-allow-origin"]) == (200, "*")
    assert client.options("/", headers=site).status_code == 404, "no preflight"
    assert client.get("/nothing", headers=site).headers["access-control-allow-origin"] == "*"


def test_with_the_log_on_whatever_is_logged_is_one_line_of_json(tmp_path):
    script = """
import logging, sys, warnings
import uvicorn
from explorer.middleware import access_log as log
log.show()
uvicorn.Config(None, log_level="warning")
logging.getLogger("uvicorn.error").warning("no request:\\n%s", "GARBAGE")
warnings.warn("old")
log.write({"method": "GET"}, 200, 0.1)
try:
    raise RuntimeError("broken")
except RuntimeError as failure:
    log.fail({}, failure)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    said = [json.loads(line) for line in done.stderr.splitlines()]
    assert [line.get("logger") for line in said] == [
        "uvicorn.error",
        "py.warnings",
        None,
        "explorer.failures",
    ]
    assert said[0]["message"] == "no request:\nGARBAGE"
    assert said[2]["path"] == "unknown"
    assert "RuntimeError: broken" in said[3]["stack"]
