"""The image's own conditions: another user, who may write nowhere but in the temporary folder."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import urllib.request
from pathlib import Path

import pytest
from gradio_client import Client

from benchmarks.served import free_port
from deploy import space
from explorer.models.specs import BASE
from explorer.ui.kit.strings import FAMILY_LABEL
from tests.browser.server import answers
from tests.stand_in_hub import WEIGHTS, save_base_family
from tests.waiting import until

SYSTEM = Path(f"/usr/bin/python3.{sys.version_info.minor}")
"""One that every user may run; the tests' own may lie in root's home."""
EXPLORER = 1000

MAX_BYTES = 3e9


@pytest.fixture
def folder():
    """A folder that others can reach, which pytest's own are not."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def served(folder, request):
    """The staged tree as a Space runs it, with the cache that it preloads or with none."""
    space.write(folder, space.staged(space.committed(), "someone/family", False))
    if request.param == "base":
        preload(folder / "cache")
    scratch = folder / "scratch"
    scratch.mkdir()
    os.chown(scratch, EXPLORER, EXPLORER)
    port = free_port()
    environment = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": sysconfig.get_path("purelib"),
        "HOME": str(folder),
        "HF_HOME": str(folder / "cache"),
        "HF_HUB_OFFLINE": "1",
        "TMPDIR": str(scratch),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [str(SYSTEM), "app.py", "--port", str(port)]
    server = subprocess.Popen(
        command, cwd=folder, env=environment, user=EXPLORER, group=EXPLORER, extra_groups=[]
    )
    url = f"http://127.0.0.1:{port}"
    try:
        until(lambda: answers(url) or server.poll() is not None)
        assert server.poll() is None, "it ended"
        yield request.param, url, server.pid
    finally:
        server.terminate()
        server.wait(300)


def preload(cache):
    """The three published shapes at full size, where ``preload_from_hub`` puts them."""
    save_base_family(cache / "made")
    for spec in BASE.values():
        place = cache / "hub" / f"models--{spec.repo.replace('/', '--')}" / "snapshots"
        place.mkdir(parents=True)
        (cache / "made" / spec.repo).rename(place / spec.revision)
        # The hub's client leaves its files for all to read, what writes them here does not.
        (place / spec.revision / WEIGHTS).chmod(0o644)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who alone can become another user")
@pytest.mark.skipif(not SYSTEM.exists(), reason="needs /usr/bin/python3 of this Python's version")
@pytest.mark.parametrize("served", ["mini", "base"], indirect=True)
def test_the_page_opens_on_the_family_that_is_there_and_answers_in_little_memory(served):
    family, url, process = served
    with urllib.request.urlopen(f"{url}/config", timeout=60) as reply:
        parts = json.load(reply)["components"]
    (opened,) = (p["props"] for p in parts if p["props"].get("label") == FAMILY_LABEL)
    assert opened["value"] == family
    client = Client(url, verbose=False)
    answer = client.predict("a [MASK]", family, 1, api_name="/predict")
    assert len(answer["models"]) == 3
    client.predict("a [MASK]", family, "bert", 0, 0, api_name="/attention")
    status = Path(f"/proc/{process}/status").read_text()
    peak = 1024 * int(re.search(r"^VmHWM:\s+(\d+) kB", status, re.M)[1])
    assert peak < MAX_BYTES
