"""The README's lines for a program run as they stand, against a page of the reader's own."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from gradio_client import Client

pytestmark = pytest.mark.browser
README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
BLOCKS = [b for b in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "gradio_client" in b]


def test_there_is_an_example():
    assert any("/predict" in block for block in BLOCKS)


@pytest.mark.parametrize("block", BLOCKS)
def test_an_example_prints_what_the_endpoint_answers(app_url, block):
    lines = block.replace("http://127.0.0.1:7860", app_url)
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
