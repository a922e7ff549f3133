"""The page on an accelerator, without one: everything in ``pretend_suite.py``, in its own process."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "pytest", "-q", "-o", "addopts=", "--import-mode=importlib"]
SUITE = "tests/inference/pretend_suite.py"


@pytest.mark.processes
def test_everything_on_a_pretend_accelerator_gives_the_cpus_numbers():
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "GRADIO_ANALYTICS_ENABLED": "False"}
    environment = {k: v for k, v in environment.items() if not k.startswith("PYTEST_")}
    done = subprocess.run(
        [*COMMAND, "-p", "no:cacheprovider", SUITE],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) >= 50
