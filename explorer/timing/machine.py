"""The machine that is measured: what it is, what is free, and what nobody can see from here."""

import os
import platform
from pathlib import Path

import torch
import transformers

from explorer.models import devices
from explorer.timing.free_memory import free_memory, line_of, memory_line
from explorer.timing.protocol import stolen_seconds, usable_cores

CPU_INFO = Path("/proc/cpuinfo")
GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
Machine = dict[str, str | int | float | bool | None]


def machine(*devices: str) -> Machine:
    """Hardware, versions and state, as a result must state them; None: not visible from here."""
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
        "governor": line_of(GOVERNOR),
        "sees_neighbours": stolen_seconds() is not None,
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def device_name(device: str) -> str:
    """The accelerator's own name, or the processor's."""
    return processor_name() if device == "cpu" else devices.device_name(device)


def processor_name() -> str:
    """What the processor calls itself."""
    text = CPU_INFO.read_text("utf-8", "replace") if CPU_INFO.exists() else ""
    names = [line.partition(":")[2].strip() for line in text.splitlines() if "model name" in line]
    return names[0] if names else platform.processor() or platform.machine()


def free_bytes(device: str = "cpu") -> int:
    """Bytes that can still be taken without pushing anybody out."""
    left = None if device == "cpu" else devices.free_device_bytes(device)
    return int(free_memory()) if left is None else left
