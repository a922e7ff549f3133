"""The page in a process of its own, whose jobs over the bundled sentences are short."""

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
from gradio_client import Client

from benchmarks.served import free_port
from tests.waiting import until

ROOT = Path(__file__).parents[2]
START_SECONDS = 300


def answers(url: str) -> bool:
    """Return whether something answers, after a moment if not: a start takes seconds."""
    try:
        with urllib.request.urlopen(url, timeout=5) as reply:
            return reply.status == 200
    except (urllib.error.URLError, OSError):
        time.sleep(0.2)
        return False


@contextmanager
def served(log: Path, *flags: str, **environment: str):
    """Run the page with these flags; yield its URL once its models are loaded."""
    port = free_port()
    command = [sys.executable, "-m", "tests.browser.short_jobs", "--port", str(port), *flags]
    environment = os.environ | {"GRADIO_ANALYTICS_ENABLED": "False"} | environment
    with log.open("w") as out:
        server = subprocess.Popen(
            command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT, env=environment
        )
    url = f"http://127.0.0.1:{port}"
    try:
        until(lambda: server.poll() is not None or answers(url), START_SECONDS, log.read_text)
        if server.poll() is not None:
            pytest.fail(f"app.py did not come up:\n{log.read_text()[-3000:]}")
        # Load the models now, so that the first page of a session need not wait.
        Client(url, verbose=False).predict("a [MASK]", "mini", 1, api_name="/predict")
        yield url
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
