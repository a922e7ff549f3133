"""The image's own conditions: another user, who may write nowhere but in the temporary folder."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

import pytest
from gradio_client import Client

from deploy import space
from tests.browser.conftest import answers, free_port

SYSTEM = Path(f"/usr/bin/python3.{sys.version_info.minor}")
"""One that every user may run; the tests' own may lie in root's home."""
EXPLORER = 1000
SECONDS = 180


@pytest.fixture
def folder():
    """A folder that others can reach, which pytest's own are not."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.skipif(not SYSTEM.exists(), reason="the system's own Python is another one")
def test_the_page_comes_up_and_answers(folder):
    for name, content in space.staged(space.committed(), "someone/family", False).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    scratch = folder / "scratch"
    scratch.mkdir()
    os.chown(scratch, EXPLORER, EXPLORER)
    port = free_port()
    environment = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": sysconfig.get_path("purelib"),
        "HOME": str(folder),
        "HF_HOME": str(folder / "nowhere"),
        "HF_HUB_OFFLINE": "1",
        "TMPDIR": str(scratch),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [str(SYSTEM), "app.py", "--port", str(port)]
    server = subprocess.Popen(
        command, cwd=folder, env=environment, user=EXPLORER, group=EXPLORER, extra_groups=[]
    )
    url, deadline = f"http://127.0.0.1:{port}", time.monotonic() + SECONDS
    try:
        while not answers(url):
            assert server.poll() is None, "it ended"
            assert time.monotonic() < deadline, "it never answered"
            time.sleep(0.3)
        answer = Client(url, verbose=False).predict("a [MASK]", "mini", 1, api_name="/predict")
        assert len(answer["models"]) == 3
    finally:
        server.terminate()
        server.wait(20)
