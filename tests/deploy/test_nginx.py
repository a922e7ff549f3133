"""Two processes behind the committed nginx configuration: every visitor always at the same one."""

import shutil
import socket
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from benchmarks.proxy import CONF, behind_nginx
from explorer.middleware.request_filter import MAX_BODY, MAX_HEAD
from explorer.middleware.validation import OTHERS
from explorer.ui.kit.strings import WENT_AWAY

TIMEOUT_S = 120
TEXT = CONF.read_text("utf-8")
LINES = [line.strip() for line in TEXT.splitlines() if line.strip() and line.strip()[0] != "#"]
skipped = pytest.mark.skipif(
    not shutil.which("nginx"), reason="no nginx here: apt-get install nginx"
)


def needs_nginx(test):
    """It starts one."""
    return pytest.mark.processes(skipped(test))


def test_every_line_ends_as_nginx_wants_it():
    assert [line for line in LINES if line[-1] not in ";{}"] == []
    assert TEXT.count("{") == TEXT.count("}")


@pytest.mark.parametrize(
    "line",
    [
        "hash $sticky consistent;",
        "proxy_http_version 1.1;",
        "proxy_buffering off;",
        "proxy_next_upstream error;",
        "add_header Set-Cookie $new_visitor;",
        "client_header_timeout 10s;",
        "client_body_timeout 10s;",
        "send_timeout 30s;",
        "reset_timedout_connection on;",
        "limit_conn connections 600;",
        "limit_req_zone $binary_remote_addr zone=questions:10m rate=20r/s;",
        "limit_req zone=questions burst=200 nodelay;",
        "limit_req_status 429;",
    ],
)
def test_what_sessions_need_is_there(line):
    assert line in LINES


def test_its_limits_are_those_of_the_request_filter_and_its_log_holds_no_query():
    assert f"client_max_body_size {MAX_BODY // 1024}k;" in LINES
    assert f"large_client_header_buffers 4 {MAX_HEAD // 1024}k;" in LINES
    (log,) = [line for line in LINES if line.startswith("log_format")]
    assert not {"$request ", "$request_uri", "$args", "$http_referer"} & set(log.split())


class Process(BaseHTTPRequestHandler):
    """Answers with the port that it listens on; a stream that is its own ends in that."""

    def do_GET(self):
        if self.path == "/large":
            self.do_large()
            return
        own = str(self.server.server_port)
        stream = self.path.startswith("/gradio_api/call/predict/of")
        known = not stream or self.path.endswith(own) or not self.headers.get(OTHERS)
        said = own.encode()
        self.send_response(200 if known else 404)
        self.send_header("content-length", str(len(said)))
        self.send_header("x-heard", self.headers.get("x-forwarded-for", ""))
        self.end_headers()
        self.wfile.write(said)

    do_POST = do_GET  # noqa: N815 - the name that http.server looks for

    def do_large(self):
        """Write until the connection is closed."""
        self.send_response(200)
        self.end_headers()
        try:
            while True:
                self.wfile.write(bytes(2**16))
        except OSError:
            self.server.is_cut.set()

    def log_message(self, *_):
        """Nothing."""


@pytest.fixture
def processes():
    processes = [ThreadingHTTPServer(("127.0.0.1", 0), Process) for _ in range(2)]
    is_cut = threading.Event()
    for process in processes:
        process.is_cut = is_cut
        threading.Thread(target=process.serve_forever, daemon=True).start()
    yield processes
    for process in processes:
        process.shutdown()
        process.server_close()


@pytest.fixture
def url(processes, tmp_path):
    with behind_nginx([process.server_port for process in processes], tmp_path, 1) as address:
        yield address


@needs_nginx
def test_a_visitor_meets_one_process_and_many_visitors_both(url):
    first = set()
    for _ in range(24):
        with httpx.Client(timeout=TIMEOUT_S, base_url=url) as browser:
            browser.get("/")
            met = {browser.get("/gradio_api/queue/data").text for _ in range(12)}
            assert len(met) == 1
            first |= met
    assert len(first) == 2


@needs_nginx
def test_a_program_that_keeps_no_cookie_meets_one_process_too(url):
    assert (
        len(
            {
                httpx.post(f"{url}/gradio_api/call/predict", timeout=TIMEOUT_S, json={}).text
                for _ in range(12)
            }
        )
        == 1
    )


@needs_nginx
def test_a_program_that_keeps_cookies_meets_one_process_from_its_first_question_on(url):
    met = set()
    for _ in range(12):
        with httpx.Client(timeout=TIMEOUT_S, base_url=url) as program:
            met.add(program.post("/gradio_api/call/predict", json={}).text)
            met |= {program.get("/gradio_api/call/predict/1").text for _ in range(3)}
            assert not program.cookies
    assert len(met) == 1


@needs_nginx
def test_an_answer_is_fetched_where_its_question_was_asked(url, processes):
    """Wherever the cookie leads now."""
    for n in range(12):
        with httpx.Client(timeout=TIMEOUT_S, base_url=url, cookies={"bfe": str(n)}) as moved:
            for port in (str(process.server_port) for process in processes):
                assert moved.get(f"/gradio_api/call/predict/of-{port}").text == port


@needs_nginx
def test_where_nobody_knows_of_a_question_the_visitors_own_process_says_so(url):
    for n in range(12):
        with httpx.Client(timeout=TIMEOUT_S, base_url=url, cookies={"bfe": str(n)}) as visitor:
            own = visitor.post("/gradio_api/queue/join").text
            said = visitor.get("/gradio_api/call/predict/of-nobody")
            assert (said.status_code, said.text) == (200, own)


@needs_nginx
def test_a_process_that_has_gone_costs_nobody_who_comes_later(url, processes):
    processes[0].shutdown()
    processes[0].server_close()
    for n in range(24):
        with httpx.Client(timeout=TIMEOUT_S, base_url=url, cookies={"bfe": str(n)}) as visitor:
            said = visitor.post("/gradio_api/queue/join")
            assert (said.status_code, said.text) == (200, str(processes[1].server_port))


@needs_nginx
def test_where_all_have_gone_there_is_a_sentence(url, processes):
    for process in processes:
        process.shutdown()
        process.server_close()
    for said in (
        httpx.post(f"{url}/gradio_api/queue/join", timeout=TIMEOUT_S),
        httpx.get(f"{url}/gradio_api/queue/data", timeout=TIMEOUT_S),
    ):
        assert (said.status_code, said.json()) == (502, {"detail": WENT_AWAY})


@needs_nginx
def test_a_body_that_is_too_long_is_turned_away_at_the_door(url):
    reply = httpx.post(
        f"{url}/gradio_api/call/predict", timeout=TIMEOUT_S, content=b"x" * (MAX_BODY + 1)
    )
    assert reply.status_code == 413


@needs_nginx
@pytest.mark.parametrize(
    "said",
    [b"GET / HTTP/1.1\r\nHost: e\r\n", b"POST / HTTP/1.1\r\nHost: e\r\nContent-Length: 9\r\n\r\na"],
    ids=["half the headers", "half the body"],
)
def test_a_request_that_does_not_come_to_its_end_is_cut(url, said):
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), 60) as one:
        one.sendall(said)
        with suppress(ConnectionResetError):
            assert b"200 OK" not in one.recv(4096)


@needs_nginx
def test_an_answer_that_is_not_read_is_cut(url, processes):
    """Its process stops writing: nothing is held for a client that does not read."""
    host, port = url.removeprefix("http://").split(":")
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect((host, int(port)))
        client.sendall(b"GET /large HTTP/1.1\r\nHost: e\r\n\r\n")
        assert processes[0].is_cut.wait(60)


@needs_nginx
def test_the_last_address_that_a_program_names_is_nginxs_own_word(url):
    """What a program writes itself stands before it, and is not believed by what comes after."""
    forged = {"x-forwarded-for": "203.0.113.9"}
    said = httpx.post(f"{url}/gradio_api/call/predict", timeout=TIMEOUT_S, json={}, headers=forged)
    assert said.headers["x-heard"] == "203.0.113.9, 127.0.0.1"
