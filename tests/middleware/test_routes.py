"""Every address that the installed Gradio has, held against the list of those that are answered."""

import json
import re

import pytest

from explorer.middleware import headers
from explorer.middleware.routes import PAGE, TOOLS, Routes, below_root
from explorer.refusal import Refusal
from explorer.ui.shell.api import ENDPOINTS
from explorer.ui.shell.page import launch_options

ELSEWHERE = "elsewhere.example"
MET = "waymark%0a%1b[31m"
NOT_HERE = {"detail": "Not found."}


@pytest.fixture(autouse=True)
def with_tools():
    pytest.importorskip("mcp", reason="no MCP here: pip install -r tests/requirements.txt")


def routes_of(routes, before=""):
    """Return every route of an application as (method, address), mounted ones included."""
    for route in routes:
        inner = getattr(route, "original_router", None) or getattr(route, "app", None)
        address = before + getattr(route, "path", "")
        if hasattr(route, "methods"):
            yield from ((method, address) for method in route.methods or ("GET", "POST", "DELETE"))
        elif getattr(inner, "routes", None):
            yield from routes_of(inner.routes, address)
        else:
            yield from ((method, f"{address}/") for method in ("GET", "POST", "DELETE"))


@pytest.fixture(scope="module")
def answered_routes(page, http):
    found = set(routes_of(page.app.routes))
    assert len(found) > 90, "the walk finds Gradio's own"
    return {(method, re.sub("/+$", "/", address)) for method, address in found}


@pytest.fixture(scope="module")
def listed(page, http):
    (request_filter,) = [
        one for one in page.app.user_middleware if one.cls.__name__ == "RequestFilter"
    ]
    return request_filter.kwargs["routes"]


def test_nothing_is_on_the_list_that_is_not_there(answered_routes, listed):
    def plain(address):
        return re.sub(r"{[^}]*}", "{}", address)

    there = {(method, plain(address)) for method, address in answered_routes}
    there |= {  # one address of Gradio's with a name in it is one of ours for each endpoint
        (method, address.replace("{}", name, 1))
        for method, address in there
        if "/call/" in address
        for name in ENDPOINTS
    }
    assert {(method, plain(address)) for method, address in listed.listed} <= there


def test_whatever_else_gradio_has_is_answered_as_if_it_were_not_there(
    http, answered_routes, listed
):
    asked, shut = set(), []
    for method, address in sorted(answered_routes):
        path = re.sub(r"{[^}]*}", "x", address)
        if listed.find(method, path) is None and path != "/gradio_api/upload":
            reply = http.request(method, path, follow_redirects=False)
            asked.add(path)
            if method != "HEAD" and (reply.status_code, reply.json()) != (404, NOT_HERE):
                shut.append((method, path, reply.status_code))
    assert not shut
    assert {
        "/gradio_api/run/x",
        "/gradio_api/api/x",
        "/gradio_api/process_recording",
        "/gradio_api/custom_component/x/x/x/x",
        "/gradio_api/dev/reload",
        "/gradio_api/deep_link",
        "/gradio_api/file=x",
        "/gradio_api/upload_progress",
        "/login",
        "/monitoring",
        "/openapi.json",
        "/pwa_icon/x",
    } <= asked


def test_what_gradio_answers_is_a_list_that_somebody_has_read(page, http):
    """A new version that brings an address is seen here; none is answered before it is listed."""
    ours = {route.path for route in launch_options()["app_kwargs"]["routes"]}
    gradios = {path for part in (PAGE, TOOLS) for paths in part.values() for path in paths}
    assert not ours & gradios
    assert Routes().listed == {
        (method, path) for part in (PAGE, TOOLS) for method in part for path in part[method]
    }


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/gradio_api/call/nothing", {"data": []}, 404),
        ("POST", "/gradio_api/call/on_view", {"data": []}, 404),
        ("GET", f"/gradio_api/call/predict/{MET}", None, 404),
        ("GET", f"/gradio_api/queue/data?session_hash={MET}", None, 200),
        (
            "POST",
            "/gradio_api/queue/join",
            {"data": [], "fn_index": 99999, "session_hash": "s"},
            404,
        ),
        ("POST", "/gradio_api/queue/join", {"data": [], "fn_index": 3}, 400),
        (
            "POST",
            "/gradio_api/queue/join",
            {"data": [], "fn_index": None, "session_hash": "s"},
            400,
        ),
        ("POST", "/gradio_api/queue/join", [], 422),
        *(
            ("POST", "/gradio_api/component_server/", asked, status)
            for asked, status in [
                ({"data": 1, "component_id": 9**9, "fn_name": "x", "session_hash": "s"}, 404),
                ({"data": 1, "component_id": 1, "fn_name": "__init__", "session_hash": "s"}, 404),
                ({"data": 1, "component_id": [], "fn_name": "x", "session_hash": "s"}, 400),
                ({"data": 1, "component_id": 1, "fn_name": [], "session_hash": []}, 400),
                ([], 400),
                (json.loads("[" * 500 + "]" * 500), 400),
            ]
        ),
        ("GET", f"/custom/{MET}", None, 404),
        ("GET", f"/gradio_api/custom_component/a/client/b/{MET}", None, 404),
        ("GET", f"/provenance/{MET}", None, 404),
        ("GET", f"/recipe/a/{MET}.py", None, 404),
        ("GET", f"/bertviz/{MET}", None, 404),
        ("GET", "/bertviz/..%2fviewer.html", None, 404),
        ("GET", f"/?page={MET}&deep_link={MET}&text=a", None, 200),
        ("GET", f"/config?page={MET}&deep_link=..%2f{MET}", None, 200),
    ],
)
def test_what_there_is_not_is_a_sentence_without_a_stack(
    http, capfd, caplog, method, path, body, status
):
    headers = {"host": ELSEWHERE, "x-forwarded-host": ELSEWHERE, "origin": f"http://{MET[:7]}"}
    with http.stream(method, path, json=body, headers=headers) as reply:
        reply.read()
    assert reply.status_code == status
    assert not [
        value for value in reply.headers.values() if "waymark" in value or ELSEWHERE in value
    ]
    said = "".join(capfd.readouterr()) + caplog.text
    assert "Traceback" not in said
    assert "waymark" not in said


def test_a_picture_takes_no_files(http):
    asked = {"component_id": "1", "fn_name": "x", "session_hash": "s"}
    reply = http.post("/gradio_api/component_server/", data=asked, files={"a": b"x" * 1000})
    assert reply.status_code == 415


@pytest.mark.parametrize("path", ["/", "/config", "/gradio_api/info", "/gradio_api/mcp/schema"])
def test_no_answer_names_the_host_that_a_request_names(http, path):
    for name in ("host", "x-forwarded-host", "x-gradio-server"):
        reply = http.get(path, headers={name: f"http://{ELSEWHERE}"[7 * (name == "host") :]})
        assert reply.status_code == 200
        assert ELSEWHERE not in reply.text + str(reply.headers)


def test_a_program_goes_on_asking_where_it_has_asked(http):
    assert http.get("/config").json()["root"] == ""


@pytest.mark.parametrize(
    ("said", "taken"),
    [
        ("", ""),
        ("https://example.org", "https://example.org"),
        ("http://example.org:8080/explorer/", "http://example.org:8080/explorer"),
    ],
)
def test_the_public_address_is_an_address(said, taken):
    assert headers.public_address(said) == taken


@pytest.mark.parametrize(
    "said",
    [
        "example.org",
        "ftp://example.org",
        "https://",
        "https://a/?b",
        "https://a/#b",
        "http://a:b",
        "https://a/\nb",
    ],
)
def test_what_is_no_address_is_said_in_a_sentence(said):
    with pytest.raises(Refusal, match=r"it looks like https://example\.org"):
        headers.public_address(said)


@pytest.mark.parametrize(
    ("flag", "root", "space", "public"),
    [
        ("https://a.example", "https://b.example", "c.example", "https://a.example"),
        ("", "https://b.example/x", "c.example", "https://b.example/x"),
        ("", "/x", "c.example", "https://c.example"),
        ("", "/x", "", ""),
    ],
)
def test_gradios_variable_and_a_space_say_it_too(monkeypatch, flag, root, space, public):
    monkeypatch.setenv("GRADIO_ROOT_PATH", root)
    monkeypatch.setenv("SPACE_HOST", space)
    assert headers.configured_url(flag) == public


def test_a_path_before_the_page_is_taken_off_once():
    assert below_root("/explorer/config", "/explorer") == "/config"
    assert below_root("/config", "/explorer") == "/config"
    assert below_root("/explorerconfig", "/explorer") == "/explorerconfig"
    assert below_root("/config", "") == "/config"
