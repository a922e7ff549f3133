import pytest

from explorer.training import machine
from explorer.training.machine import offer, threads_for


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
