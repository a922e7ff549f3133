"""The documents' example of a program runs against a page of the reader's own."""

import subprocess
import sys
from pathlib import Path

import pytest
from gradio_client import Client

pytestmark = pytest.mark.browser
EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "client.py"


def test_the_example_prints_what_the_endpoint_answers(app_url):
    lines = EXAMPLE.read_text("utf-8").replace("http://127.0.0.1:7860", app_url)
    assert app_url in lines
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    answer = Client(app_url, verbose=False).predict(
        "The capital of France is [MASK].", "mini", 5, api_name="/predict"
    )
    wanted = [
        f"{model['model']} {guess['token']} {round(guess['probability'], 3)}"
        for model in answer["models"]
        for guess in model["masks"][0]["predictions"]
    ]
    printed = [line for line in done.stdout.splitlines() if not line.startswith("Loaded as API")]
    assert printed == wanted
