"""Hardware of the machine, and the number of threads for a training run."""

import os
import platform
from pathlib import Path

import torch

BUSY = 0.5  # a load average above this means other work
CPU = Path("/proc/cpuinfo")


def machine() -> str:
    """Return the name of the GPU, or of the CPU with its number of cores."""
    if torch.cuda.is_available():
        return torch.cuda.get_device_name()
    names = [
        line.partition(":")[2].strip()
        for line in (CPU.read_text().splitlines() if CPU.exists() else [])
        if line.startswith("model name")
    ]
    return f"{names[0] if names else platform.processor()}, {os.cpu_count()} cores"


def multiplies_halves() -> bool:
    """Return whether the CPU has instructions for bfloat16 products.

    oneDNN reports support wherever there is AVX-512; without the instructions it took 3.6 times
    as long as float32.
    """
    return torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()


def threads_for(cores: int, load: float) -> int:
    """Return all cores for an idle machine, 1 for a busy one.

    Threads synchronise after every product: beside other work two threads reached a seventh of
    the speed of one.
    """
    return cores if load < BUSY else 1


def offer(requested: int) -> tuple[int, str]:
    """Return the number of threads to train with, and one line that describes the hardware."""
    cores, load = os.cpu_count() or 1, os.getloadavg()[0]
    threads = requested or threads_for(cores, load)
    halves = torch.cuda.is_available() or multiplies_halves()
    product = (
        "bfloat16" if halves else "float32 only (no AVX-512 BF16 or AMX): a third of the speed"
    )
    advice = "" if threads > 1 or cores == 1 else "; set OMP_WAIT_POLICY=passive beside other work"
    return threads, f"{machine()}, load {load:.1f}: {threads} threads, {product}{advice}"
