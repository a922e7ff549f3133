"""Properties of the machine that is measured, and its peak performance."""

import os
import platform
import time
from collections.abc import Callable
from pathlib import Path

import torch
import transformers

from explorer.models import devices
from explorer.models.devices import kind_of
from explorer.models.loading import DTYPES
from explorer.timing.memory import free_memory, memory_line, read_system_file
from explorer.timing.protocol import stolen_seconds, stopwatch, thread_width, usable_cores
from explorer.timing.workload import Workload

CPU_INFO = Path("/proc/cpuinfo")
GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
Machine = dict[str, str | int | float | bool | None]


def machine(*devices: str) -> Machine:
    """Return hardware, versions and state for a result; None: not visible to this process."""
    devices = devices or ("cpu",)
    return {
        "processor": processor_name(),
        "cores": usable_cores(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "memory_gb": round(total / 1e9, 1) if (total := memory_line("MemTotal")) else None,
        "device": ", ".join(devices),
        "device_name": ", ".join(device_name(device) for device in devices),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "governor": read_system_file(GOVERNOR),
        "sees_neighbours": stolen_seconds() is not None,
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def device_name(device: str) -> str:
    """Return the accelerator's own name, or the processor's."""
    return processor_name() if device == "cpu" else devices.device_name(device)


def processor_name() -> str:
    """Return the model name of the processor."""
    text = CPU_INFO.read_text("utf-8", "replace") if CPU_INFO.exists() else ""
    names = [line.partition(":")[2].strip() for line in text.splitlines() if "model name" in line]
    return names[0] if names else platform.processor() or platform.machine()


def free_bytes(device: str = "cpu") -> int:
    """Return the free bytes of a device; on the processor, those that this process can take."""
    free = None if device == "cpu" else devices.free_device_bytes(device)
    return int(free_memory()) if free is None else free


GEMM_SIZE = {"cpu": 1024, "cuda": 8192}
OTHER_SIZE = 2048
GEMM_TRIES = 5
READ_TRIES = 5
BURSTS = 3
PAUSE_S = 0.2
"""Seconds between bursts: a short disturbance slows one burst, seldom all."""
_best: dict[tuple[object, ...], float] = {}
"""Highest rates measured in this process, by what was measured."""


def peak_flops(device: str, dtype: str, clock: str) -> float:
    """Return operations per second of a large square matrix product: the highest rate so far."""
    size = GEMM_SIZE.get(kind_of(device), OTHER_SIZE)
    a = torch.ones(size, size, device=device, dtype=DTYPES[dtype])
    out = torch.empty_like(a)
    seconds = best_seconds(lambda: torch.mm(a, a, out=out), device, clock, GEMM_TRIES)
    return best_ever(("product", device, dtype, clock), 2 * size**3 / seconds)


def read_bandwidth(n_bytes: int, device: str, clock: str) -> float:
    """Return bytes per second of repeated reads of ``n_bytes``.

    The highest rate so far for exactly this size: a disturbed measurement is superseded by a
    later one.
    """
    numbers = torch.ones(max(n_bytes // 4, 1), device=device)
    repeats = max(1, 2**25 // max(n_bytes, 1))

    def read() -> None:
        for _ in range(repeats):
            numbers.sum()

    seconds = best_seconds(read, device, clock, READ_TRIES)
    return best_ever(("read", n_bytes, device, clock), repeats * numbers.numel() * 4 / seconds)


def best_ever(key: tuple[object, ...], rate: float) -> float:
    """Return the maximum of a rate and all rates measured of the same thing before."""
    _best[key] = max(rate, _best.get(key, 0.0))
    return _best[key]


def best_seconds(call: Callable[[], object], device: str, clock: str, repeats: int) -> float:
    """Return the shortest of several bursts: a limit is the undisturbed performance."""
    timed = stopwatch(Workload(device=device, clock=clock))
    with thread_width(clock), torch.inference_mode():
        shortest = float("inf")
        for burst in range(BURSTS):
            time.sleep(PAUSE_S if burst else 0)
            call()
            shortest = min(shortest, *(timed(call) for _ in range(repeats)))
        return shortest
