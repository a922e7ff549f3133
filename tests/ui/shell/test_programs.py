"""Tools for MCP clients: what they say of themselves, and that they answer as the endpoints do."""

import json

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from benchmarks.served import free_port
from explorer.models.choice.family import PRESETS, all_specs
from explorer.models.specs import KINDS
from explorer.serving import launch
from explorer.serving.start import parse_flags
from explorer.ui.shell.page import launch_options
from tests.waiting import in_its_own_loop

pytest.importorskip("mcp", reason="no MCP here: pip install -r tests/requirements.txt")
pytestmark = pytest.mark.processes
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
def url():
    """The page as ``app.py --mcp`` serves it."""
    flags = parse_flags(["--mcp", "--family", "mini", "--port", str(free_port())])
    page = launch.build(flags)
    try:
        yield launch.launched(page, flags, launch_options())[0].rstrip("/")
    finally:
        page.close(verbose=False)


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


def test_a_tool_that_is_called_as_an_endpoint_checks_its_arguments(url):
    with pytest.raises(AppError, match="“text” must be a text"):
        Client(url, verbose=False).predict(5, api_name="/soft_probabilities")
