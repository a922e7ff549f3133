"""Simulated machines as network namespaces, each with its own address and link."""

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
"""Ray settings: a machine without a response is dropped after about 20 seconds, by default 65."""
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
    """Run one command of ``ip``.

    Raises:
        PermissionError: It is not allowed here, or there is no ``ip``.
    """
    try:
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        why = getattr(error, "stderr", None) or str(error)
        raise PermissionError(f"no network namespaces here: ip {' '.join(words)}: {why}") from error


@contextmanager
def network():
    """Set up a switch with the three machines; remove them afterwards.

    Raises:
        PermissionError: Namespaces are not allowed here.
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
    """Create one machine and connect it to the switch."""
    ip("netns", "add", name)
    ip("link", "add", f"{name}-c", "type", "veth", "peer", "name", "eth0", "netns", name)
    ip("link", "set", f"{name}-c", "master", SWITCH, "up")
    ip("-n", name, "link", "set", "lo", "up")
    ip("-n", name, "addr", "add", f"{address}/24", "dev", "eth0")
    ip("-n", name, "link", "set", "eth0", "up")
    ip("-n", name, "route", "add", "default", "via", f"{NETWORK}.254")


def cable(name, state):
    """Disconnect a machine's link (``down``), or reconnect it (``up``)."""
    ip("link", "set", f"{name}-c", state)


def started(name, folder, *command):
    """Start a process on a machine, with its own files mounted at ``folder/ray``."""
    for part in (folder / name, folder / "ray"):
        part.mkdir(exist_ok=True)
    mount_and_run = f'mount --bind {folder / name} {folder / "ray"} && exec "$@"'
    with (folder / "log").open("a") as log:
        return subprocess.Popen(
            ["ip", "netns", "exec", name, "sh", "-c", mount_and_run, "sh", *map(str, command)],
            cwd=ROOT, env=os.environ | ENVIRONMENT, stdout=log, stderr=log,
        )  # fmt: skip


def pids(name):
    """Return the processes of a machine."""
    listed = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True)
    return [int(pid) for pid in listed.stdout.split()]


def models_of(name):
    """Return the keys of the models on a machine, one for each replica."""
    lines = []
    for pid in pids(name):
        with suppress(OSError):
            lines.append(Path(f"/proc/{pid}/cmdline").read_text())
    keys = [line.strip("\0 ").rpartition(":")[2] for line in lines if "ServeReplica:" in line]
    return sorted(key for key in keys if key in MODEL_KEYS)


def end_all(name):
    """Terminate every process of a machine, by force after 15 seconds."""
    for signal in (SIGTERM, SIGKILL):
        for pid in pids(name):
            with suppress(ProcessLookupError):
                os.kill(pid, signal)
        deadline = time.monotonic() + 15
        while pids(name) and time.monotonic() < deadline:
            time.sleep(0.1)
