import pytest

from training import machine
from training.machine import multiplies_halves, offer, threads_for


@pytest.mark.parametrize(("cores", "load", "threads"), [(2, 0.1, 2), (2, 0.9, 1), (16, 3.0, 1)])
def test_a_busy_machine_gets_one_thread(cores, load, threads):
    assert threads_for(cores, load) == threads


def test_the_offer_names_the_machine_and_keeps_what_was_asked_for(monkeypatch):
    monkeypatch.setattr(machine.os, "cpu_count", lambda: 4)
    monkeypatch.setattr(machine.os, "getloadavg", lambda: (2.0, 0.0, 0.0))
    threads, line = offer(0)
    assert threads == 1
    assert "1 threads" in line
    assert "OMP_WAIT_POLICY=passive" in line
    assert machine.machine() in line
    assert offer(3)[0] == 3


@pytest.mark.skipif(
    not machine.CPU.exists(), reason="needs Linux, whose /proc lists the processor's flags"
)
def test_only_instructions_make_half_precision_worth_it():
    """oneDNN emulates bfloat16 on AVX-512 alone, and calls it supported."""
    flags = set(machine.CPU.read_text().split())
    assert multiplies_halves() == bool(flags & {"avx512_bf16", "amx_bf16"})
