"""The committed nginx configuration in front of served pages."""

import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.served import free_port
from explorer.assets import ROOT
from explorer.refusal import Refusal, Sentence

CONF = ROOT / "deploy" / "nginx.conf"
START_S = 30.0
MISSING = Sentence(
    "no-nginx", "nginx is needed for the attacks that a proxy cuts: apt-get install nginx"
)


def check_nginx() -> None:
    """Check that nginx is there.

    Raises:
        Refusal: it is not installed.
    """
    if shutil.which("nginx") is None:
        raise Refusal(MISSING)


@contextmanager
def behind_nginx(ports: Sequence[int], folder: Path, wait_s: int | None = None) -> Iterator[str]:
    """Run nginx before one or two processes of this machine; yield its URL.

    Args:
        ports: Where the processes listen; the second may be the first.
        folder: An empty folder for nginx's files.
        wait_s: How long nginx waits for slow clients, in place of the file's own timeouts.

    Raises:
        Refusal: nginx is not installed, or does not start.
    """
    check_nginx()
    port = free_port()
    (folder / "nginx.conf").write_text(_configuration(port, ports, wait_s), "utf-8")
    command = ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-g", "daemon off;"]
    with (folder / "stderr").open("w") as errors:
        nginx = subprocess.Popen(command, stderr=errors)
    try:
        _wait_until_it_listens(nginx, folder)
        yield f"http://127.0.0.1:{port}"
    finally:
        nginx.terminate()
        nginx.wait()


def _configuration(port: int, ports: Sequence[int], wait_s: int | None) -> str:
    text = CONF.read_text("utf-8").replace("listen 8080", f"listen 127.0.0.1:{port}")
    first, *others = ports
    for written, real in (("7861", first), ("7862", others[0] if others else None)):
        line = f"server 127.0.0.1:{written};"
        text = text.replace(line, f"server 127.0.0.1:{real};" if real else "")
    if wait_s is not None:
        text = re.sub(r"(client_\w+|send)_timeout \d+s;", rf"\1_timeout {wait_s}s;", text)
    return text


def _wait_until_it_listens(nginx: subprocess.Popen[bytes], folder: Path) -> None:
    deadline = time.monotonic() + START_S
    while not (folder / "nginx.pid").exists():
        if nginx.poll() is not None or time.monotonic() > deadline:
            reason = (folder / "stderr").read_text("utf-8")
            raise Refusal(Sentence("nginx-not-started", f"nginx did not start: {reason}"))
        time.sleep(0.02)
