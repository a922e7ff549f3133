"""Calls of tools by MCP clients: whose address is counted, and what is said to them."""

import json

import httpx
import pytest

from explorer.middleware import tools, validation

pytest.importorskip("mcp", reason="no MCP here: pip install -r tests/requirements.txt")
ACCEPT = {"accept": "application/json, text/event-stream"}
CLIENT = "127.0.0.2"
"""Address of a client that no proxy stands for: uvicorn believes only 127.0.0.1."""
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "count_parameters", "arguments": {"models": ["mini-bert"]}},
}


@pytest.fixture
def outsider(url):
    transport = httpx.HTTPTransport(local_address=CLIENT)
    with httpx.Client(base_url=url, timeout=300, transport=transport) as http:
        yield http


@pytest.fixture
def senders(page, http, monkeypatch):
    """The senders of requests as the queue counts them."""
    room, seen = page._queue, []
    refusal = room.refusal

    def counted(sender):
        seen.append(sender)
        return refusal(sender)

    monkeypatch.setattr(room, "refusal", counted)
    return seen


def called(client, message=CALL, **headers):
    """Return the result of a tool call."""
    reply = client.post(tools.ROUTE, json=message, headers=ACCEPT | headers)
    assert reply.status_code == 200, reply.text
    (line,) = [line[5:] for line in reply.text.splitlines() if line.startswith("data:")]
    return json.loads(line)["result"]


FORGED = [
    {},
    {"x-forwarded-for": "192.0.2.1"},
    {tools.HEADER: "guessed 192.0.2.1"},
    {tools.HEADER: "192.0.2.1"},
]


@pytest.mark.parametrize("headers", FORGED)
def test_a_tool_call_is_counted_by_its_clients_address(outsider, senders, headers):
    assert not called(outsider, **headers)["isError"]
    assert {sender.address for sender in senders} == {CLIENT}


@pytest.mark.parametrize("headers", FORGED)
def test_nobody_else_can_name_an_address(outsider, senders, headers):
    asked = outsider.post("/gradio_api/call/parameters", json={"data": [["x"]]}, headers=headers)
    assert asked.status_code == 200
    outsider.get(f"/gradio_api/call/parameters/{asked.json()['event_id']}")
    assert {sender.address for sender in senders} == {CLIENT}


def test_two_clients_have_budgets_of_their_own(url, outsider, senders):
    with httpx.Client(base_url=url, timeout=300) as other:
        called(other)
    called(outsider)
    assert {sender.address for sender in senders} == {"127.0.0.1", CLIENT}


@pytest.mark.long
@pytest.mark.parametrize("progress", [{}, {"_meta": {"progressToken": 1}}])
def test_a_refused_call_says_the_pages_own_sentence(page, outsider, monkeypatch, progress):
    monkeypatch.setattr(page._queue, "refusal", lambda _sender: "64 requests are waiting.")
    call = CALL | {"params": CALL["params"] | progress}
    reply = outsider.post(tools.ROUTE, json=call, headers=ACCEPT)
    results = [json.loads(line[5:]) for line in reply.text.splitlines() if line[:5] == "data:"]
    result = next(one["result"] for one in results if "result" in one)
    assert result["isError"]
    assert result["content"][0]["text"] == "64 requests are waiting."


def nested(depth):
    return json.loads("[" * depth + "]" * depth)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"null",
        b"5",
        b"[]",
        b'{"jsonrpc": "2.0"}',
        b'{"jsonrpc": "1.0", "id": 1, "method": "tools/list"}',
        b'{"jsonrpc": "2.0", "id": [], "method": "tools/list"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": 5}',
        json.dumps(CALL | {"params": {"name": "count_parameters", "arguments": nested(40)}}),
        json.dumps([CALL]),
    ],
)
def test_a_malformed_message_is_a_sentence_without_a_stack(outsider, capfd, caplog, content):
    headers = ACCEPT | {"content-type": "application/json"}
    reply = outsider.post(tools.ROUTE, content=content, headers=headers)
    assert (reply.status_code, reply.json()) == (400, {"detail": validation.NO_MESSAGE})
    assert "Traceback" not in "".join(capfd.readouterr()) + caplog.text


def test_depth_is_counted_in_levels():
    assert not tools.is_deeper(5, 0)
    assert not tools.is_deeper(nested(3), 3)
    assert tools.is_deeper(nested(4), 3)
    assert tools.is_deeper({"a": {"b": [{}]}}, 3)
