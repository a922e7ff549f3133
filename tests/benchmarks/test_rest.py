"""What a server and its page take while they rest: the figures and their report."""

import os
import subprocess
from pathlib import Path

import psutil
import pytest

from benchmarks import rest
from benchmarks.__main__ import main


def test_rounds_are_printed_with_the_ratio_of_the_medians(monkeypatch, capsys):
    seconds = iter([2.0, 8.0, 4.0, 8.0, 3.0, 4.0])
    monkeypatch.setattr(rest, "served", lambda _folder: {"server, resident MB": 600.0})
    monkeypatch.setattr(rest, "first_answer", lambda _folder: {"first, s": next(seconds)})
    assert main(["rest", "--before", "elsewhere", "--rounds", "3"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "server, resident MB: now 600, 600, 600; before 600, 600, 600; ratio 1.00",
        "first, s: now 2, 4, 3; before 8, 8, 4; ratio 0.38",
    ]


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs Linux")
def test_memory_is_that_of_the_process():
    block = bytearray(os.urandom(1 << 20) * 64)
    memory = rest.megabytes(os.getpid())
    assert len(block) / 1e6 < memory["Pss"] <= memory["Rss"]
    assert memory["Rss"] == pytest.approx(psutil.Process().memory_info().rss / 1e6, rel=0.1)


def test_a_first_answer_is_that_of_the_checkout(monkeypatch, tmp_path):
    asked = {}

    def answered(command, cwd, env):
        asked.update(folder=cwd, path=env["PYTHONPATH"], program=command[-1])
        return b"4.5 510.2\n"

    monkeypatch.setattr(subprocess, "check_output", answered)
    assert rest.first_answer(tmp_path) == {
        "first answer, processor s": 4.5,
        "first answer, peak MB": 510.2,
    }
    assert asked == {"folder": tmp_path, "path": str(tmp_path), "program": rest.FIRST}
