"""Tools for MCP clients: what they say of themselves, and that they answer as the endpoints do."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from gradio_client import Client

from explorer.models.choice.family import PRESETS, all_specs
from explorer.models.kinds import KINDS
from tests.browser.conftest import answers, free_port
from tests.waiting import in_its_own_loop

pytest.importorskip("mcp")
ROOT = Path(__file__).parents[3]
TEXT = "The cat sat on the [MASK]."
CALLS = {
    "predict_masked_words": ({"text": TEXT, "top_k": 3}, ("/predict", TEXT, "mini", 3)),
    "attention_of_head": (
        {"text": TEXT, "model": "albert", "layer": 0, "head": 0},
        ("/attention", TEXT, "mini", "albert", 0, 0),
    ),
    "soft_probabilities": (
        {"text": TEXT, "temperature": 4.0},
        ("/distillation", TEXT, "mini", 4.0),
    ),
    "count_parameters": (
        {"models": ["mini-bert", "albert-base-v2"]},
        ("/parameters", ["mini-bert", "albert-base-v2"]),
    ),
}


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    port, log = free_port(), tmp_path_factory.mktemp("server") / "app.log"
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "GRADIO_ANALYTICS_ENABLED": "False"}
    command = [sys.executable, "app.py", "--port", str(port), "--family", "mini", "--mcp"]
    with log.open("w") as out:
        server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=out, stderr=out)
    deadline = time.monotonic() + 180
    while not answers(f"http://127.0.0.1:{port}"):
        assert server.poll() is None, log.read_text()
        assert time.monotonic() < deadline
        time.sleep(0.3)
    yield f"http://127.0.0.1:{port}"
    server.terminate()
    server.wait(20)


@pytest.fixture(scope="module")
def asked(url):
    """The tools as a client lists them, and its answers; a refusal is the last."""
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    async def ask():
        async with (
            streamablehttp_client(f"{url}/gradio_api/mcp/") as (read, write, _),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            listed = (await session.list_tools()).tools
            found = {n: await session.call_tool(n, given) for n, (given, _) in CALLS.items()}
            bad = {"text": TEXT, "model": "albert", "layer": 99, "head": 0}
            return listed, found, await session.call_tool("attention_of_head", bad)

    return in_its_own_loop(ask())


def test_there_are_four_tools_with_their_choices_and_a_line_on_each_argument(asked):
    tools = {tool.name: tool for tool in asked[0]}
    assert set(tools) == set(CALLS)
    for tool in tools.values():
        assert tool.description.endswith(".")
        for name, argument in tool.inputSchema["properties"].items():
            assert argument["description"].endswith("."), (tool.name, name)
    head = tools["attention_of_head"].inputSchema
    assert head["properties"]["model"]["enum"] == list(KINDS)
    assert set(head["properties"]["family"]["enum"]) == set(PRESETS)
    assert head["required"] == ["text", "model", "layer", "head"]
    names = tools["count_parameters"].inputSchema["properties"]["models"]["items"]["enum"]
    assert set(names) == set(all_specs())


@pytest.mark.parametrize("name", CALLS)
def test_a_tool_answers_with_the_json_of_its_endpoint(asked, url, name):
    answer = asked[1][name]
    assert not answer.isError
    endpoint, *arguments = CALLS[name][1]
    wanted = Client(url, verbose=False).predict(*arguments, api_name=endpoint)
    assert json.loads(answer.content[0].text) == wanted


def test_a_refusal_is_one_plain_sentence(asked):
    refusal = asked[2]
    assert refusal.isError
    assert "layers" in refusal.content[0].text
    assert "Traceback" not in refusal.content[0].text
