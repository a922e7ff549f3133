"""What the machine can do at best: work over the shortest of many times."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from explorer.timing import machine


@pytest.fixture
def clock(monkeypatch):
    """Stopwatch that returns 4, 3, 2, 1, 2, 3, ... seconds and counts the operations."""
    seen = {"calls": 0, "flops": [], "read": []}
    seconds = [4.0, 3.0, 2.0, 1.0, 2.0, 3.0, *([4.0] * 20)]

    class Reads(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if "sum" in str(func):
                seen["read"][-1] += args[0].nbytes
            return func(*args, **(kwargs or {}))

    def timed(call):
        seen["read"].append(0)
        with FlopCounterMode(display=False) as counter, Reads():
            call()
        seen["flops"].append(counter.get_total_flops())
        seen["calls"] += 1
        return seconds[seen["calls"] - 1]

    monkeypatch.setattr(machine, "stopwatch", lambda workload: timed)
    monkeypatch.setattr(machine, "PAUSE_S", 0.0)
    monkeypatch.setattr(machine, "_best", {})
    return seen


def test_the_best_product_is_its_operations_over_the_shortest_time(clock, monkeypatch):
    monkeypatch.setitem(machine.GEMM_SIZE, "cpu", 32)
    found = machine.peak_flops("cpu", "float32", "compute")
    assert clock["calls"] == machine.BURSTS * machine.GEMM_TRIES
    assert set(clock["flops"]) == {found * 1.0}


@pytest.mark.parametrize("n_bytes", [2**18, 2**20, 2**25, 2**26])
def test_the_bandwidth_is_all_bytes_read_over_the_shortest_time(clock, n_bytes):
    """Little is read again and again, until it is as much as a clock can tell."""
    found = machine.read_bandwidth(n_bytes, "cpu", "compute")
    assert clock["calls"] == machine.BURSTS * machine.READ_TRIES
    assert set(clock["read"]) == {found * 1.0}
    assert found >= 2**25


def test_a_disturbed_reading_is_beaten_by_the_next_and_each_size_has_its_own(monkeypatch):
    took = iter([4.0, 2.0, 8.0, 2.0])
    monkeypatch.setattr(machine, "best_seconds", lambda *_: next(took))
    monkeypatch.setattr(machine, "_best", {})
    found = [machine.read_bandwidth(2**25, "cpu", "compute") for _ in range(3)]
    assert found == [2**23, 2**24, 2**24]
    assert machine.read_bandwidth(2**26, "cpu", "compute") == 2**25


def test_the_product_and_the_numbers_are_those_of_the_device(monkeypatch):
    seen = []
    monkeypatch.setitem(machine.GEMM_SIZE, "meta", 8)
    monkeypatch.setattr(machine, "_best", {})
    monkeypatch.setattr(machine, "best_seconds", lambda call, *_: call() or 1.0)
    monkeypatch.setattr(torch, "mm", lambda a, b, out: seen.extend([a, b, out]))
    machine.peak_flops("meta", "bfloat16", "compute")
    assert {(x.device.type, x.dtype, x.shape) for x in seen} == {("meta", torch.bfloat16, (8, 8))}
