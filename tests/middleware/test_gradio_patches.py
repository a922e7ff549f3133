"""Each change of Gradio's internals is needed, is possible, and is made."""

import inspect
import json
import subprocess
import sys

import gradio
import pytest
from gradio import blocks, mcp, queueing, route_utils, routes, state_holder

from explorer.middleware.gradio_patches import patch_gradio, patches
from explorer.middleware.sessions import LeanSession
from explorer.ui.kit.errors import payload

FAULTS = """
import json
import sys
from types import SimpleNamespace
import asyncio
import gradio as gr
import httpx
from gradio import mcp, queueing, route_utils, routes, state_holder, utils
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.testclient import TestClient

with gr.Blocks(analytics_enabled=False) as page:
    gr.Textbox("a text")
session = state_holder.SessionState(page)
site = {"origin": "https://elsewhere.example", "cookie": "a=b"}
client = TestClient(routes.CustomCORSMiddleware(Starlette()), base_url="https://here.example")
scope = {"type": "http", "path": "/", "server": ("here.example", 80), "scheme": "http",
         "query_string": b"", "headers": [(b"x-forwarded-host", b"elsewhere.example")]}
body = SimpleNamespace(session_hash=None, fn_index=999)
try:
    route_utils.get_fn(page, None, body)
    unknown = ""
except KeyError:
    unknown = "KeyError"
def refused():
    asked = httpx.Request("POST", "http://127.0.0.1/")
    httpx.Response(429, json={"detail": "a sentence"}, request=asked).raise_for_status()
try:
    job = SimpleNamespace(result=refused)
    asyncio.run(mcp.GradioMCPServer._execute_tool_without_progress(None, job))
except httpx.HTTPStatusError as error:
    refusal = str(error)
asked = []
sys.modules["matplotlib"] = SimpleNamespace(get_backend=lambda: "agg", use=asked.append)
with utils.MatplotlibBackendMananger():
    pass
print(json.dumps({
    "SessionState": session.blocks_config.blocks is not page.default_config.blocks,
    "error_payload": queueing.error_payload(RuntimeError("x"), False)["error"] is None,
    "CustomCORSMiddleware": client.get("/", headers=site).headers.get("access-control-allow-origin") == site["origin"],
    "get_root_url": "elsewhere.example" in route_utils.get_root_url(Request(scope), "/", None),
    "get_fn": unknown == "KeyError",
    "GradioMCPServer": "a sentence" not in refusal,
    "MatplotlibBackendMananger": len(asked) == 2,
}))
"""
"""What Gradio does by itself: True where the fault is there that a patch mends."""
USED = {
    "SessionState": (state_holder, "SessionState("),
    "error_payload": (queueing, " error_payload("),
    "CustomCORSMiddleware": (routes, "            CustomCORSMiddleware,"),
    "get_root_url": (routes, "route_utils.get_root_url("),
    "get_fn": (queueing, "route_utils.get_fn("),
    "GradioMCPServer": (routes, "gradio.mcp.GradioMCPServer("),
    "MatplotlibBackendMananger": (route_utils, "utils.MatplotlibBackendMananger("),
}
"""Where Gradio looks a name up when it is needed: a patch of it is then heard of."""


@pytest.mark.processes
def test_every_fault_that_a_patch_mends_is_still_there():
    """Else the patch goes."""
    done = subprocess.run(
        [sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True
    )
    faults = json.loads(done.stdout.splitlines()[-1])
    assert faults == dict.fromkeys(faults, True)
    assert set(faults) == {patch.name for patch in patches(LeanSession, payload)}


def test_gradio_still_looks_up_every_name_that_is_replaced():
    made = {patch.name: patch for patch in patches(LeanSession, payload)}
    assert set(USED) == set(made)
    for name, (module, call) in USED.items():
        assert call in inspect.getsource(module), (name, gradio.__version__)
        assert made[name].reason
    assert "state_holder.SessionState" not in inspect.getsource(blocks) + inspect.getsource(mcp)


def test_all_are_applied_at_once():
    patch_gradio(LeanSession, payload)
    assert state_holder.SessionState is LeanSession
    assert queueing.error_payload is payload
    for patch in patches(LeanSession, payload):
        assert getattr(patch.module, patch.name) is patch.value
    assert route_utils.get_fn.__module__.startswith("explorer.")
