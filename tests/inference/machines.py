"""Machines that are network namespaces of this one: each has an address and a link of its own."""

import os
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from signal import SIGKILL, SIGTERM

from explorer.models.specs import MODEL_KEYS

ROOT = Path(__file__).parents[2]
TOOLS = Path(sys.executable).parent
NETWORK, SWITCH = "10.77.0", "bfe-switch"
HEAD, FIRST, SECOND = "bfe-head", "bfe-1", "bfe-2"
ADDRESSES = {name: f"{NETWORK}.{n}" for n, name in enumerate((HEAD, FIRST, SECOND), 1)}
RAY = f"{ADDRESSES[HEAD]}:6379"
SOON = {
    "RAY_health_check_period_ms": "2000",
    "RAY_health_check_timeout_ms": "5000",
    "RAY_health_check_failure_threshold": "3",
}
"""A machine that does not answer is given up after some 20 seconds, with Ray's own after 65."""
ENVIRONMENT = {
    "EXPLORER_CPUS": "0.25",
    "EXPLORER_FAMILY": "mini",
    "EXPLORER_REPLICAS": "2",
    "GRADIO_ANALYTICS_ENABLED": "False",
    "HF_HUB_OFFLINE": "1",
    "PYTHONPATH": str(ROOT),
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": "7" * 64,
    "RAY_USAGE_STATS_ENABLED": "0",
} | SOON


def ip(*words):
    """One command of ``ip``.

    Raises:
        PermissionError: it is not allowed here, or there is no ``ip``.
    """
    try:
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        why = getattr(error, "stderr", None) or str(error)
        raise PermissionError(f"no network namespaces here: ip {' '.join(words)}: {why}") from error


@contextmanager
def network():
    """A switch with the three machines at it.

    Raises:
        PermissionError: namespaces are not allowed here.
    """
    try:
        ip("link", "add", SWITCH, "type", "bridge")
        ip("addr", "add", f"{NETWORK}.254/24", "dev", SWITCH)
        ip("link", "set", SWITCH, "up")
        for name, address in ADDRESSES.items():
            plug_in(name, address)
        yield
    finally:
        for name in ADDRESSES:
            end_all(name)
            with suppress(PermissionError):
                ip("netns", "del", name)
        with suppress(PermissionError):
            ip("link", "del", SWITCH)


def plug_in(name, address):
    """One machine with its cable."""
    ip("netns", "add", name)
    ip("link", "add", f"{name}-c", "type", "veth", "peer", "name", "eth0", "netns", name)
    ip("link", "set", f"{name}-c", "master", SWITCH, "up")
    ip("-n", name, "link", "set", "lo", "up")
    ip("-n", name, "addr", "add", f"{address}/24", "dev", "eth0")
    ip("-n", name, "link", "set", "eth0", "up")
    ip("-n", name, "route", "add", "default", "via", f"{NETWORK}.254")


def cable(name, state):
    """Pull a machine's cable (``down``), or put it back (``up``)."""
    ip("link", "set", f"{name}-c", state)


def started(name, folder, *command):
    """A process on a machine, which has files of its own at ``folder/ray``."""
    for part in (folder / name, folder / "ray"):
        part.mkdir(exist_ok=True)
    own = f'mount --bind {folder / name} {folder / "ray"} && exec "$@"'
    with (folder / "log").open("a") as log:
        return subprocess.Popen(
            ["ip", "netns", "exec", name, "sh", "-c", own, "sh", *map(str, command)],
            cwd=ROOT, env=os.environ | ENVIRONMENT, stdout=log, stderr=log,
        )  # fmt: skip


def pids(name):
    """The processes of a machine."""
    said = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True)
    return [int(pid) for pid in said.stdout.split()]


def models_of(name):
    """The keys of the models that a machine holds, one for each replica."""
    lines = []
    for pid in pids(name):
        with suppress(OSError):
            lines.append(Path(f"/proc/{pid}/cmdline").read_text())
    held = [line.strip("\0 ").rpartition(":")[2] for line in lines if "ServeReplica:" in line]
    return sorted(key for key in held if key in MODEL_KEYS)


def end_all(name):
    """End every process of a machine, in a few seconds or by force."""
    for signal in (SIGTERM, SIGKILL):
        for pid in pids(name):
            with suppress(ProcessLookupError):
                os.kill(pid, signal)
        ends = time.monotonic() + 15
        while pids(name) and time.monotonic() < ends:
            time.sleep(0.1)
