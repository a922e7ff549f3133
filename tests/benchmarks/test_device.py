"""The accelerator's report, with the processor in its place."""

import re
from itertools import cycle

import numpy as np
import pytest

from benchmarks import device
from benchmarks.__main__ import main
from explorer.models.choice.family import family_specs

ROW = re.compile(r"\| (mini-\w+) \| ([^|]+) \| (.+) \|$", re.MULTILINE)
QUICK = ["device", "--device", "cpu", "--texts", "1", "--rounds", "1"]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(device, "SHAPES", ((1, 16),))
    monkeypatch.setattr(device, "family_specs", lambda family: family_specs(family)[-1:])


@pytest.mark.processes
def test_every_part_equals_itself_and_halves_round(capsys):
    assert main(QUICK) == 0
    said = capsys.readouterr().out
    rows = {(m, part): cells.split(" | ") for m, part, cells in ROW.findall(said)}
    parts = [key for key, cells in rows.items() if len(cells) == 4]
    assert len(parts) == len(device.PARTS)
    for key in parts:
        float32, twice = rows[key][0], rows[key][-1]
        assert float32.startswith("0.0e+00"), key
        assert twice == float32
        same, whole = re.search(r"\(([\d,]+) of ([\d,]+)\)", float32).groups()
        assert same == whole
    assert not rows["mini-albert", "logits at the masks"][1].startswith("0.0e+00")
    _, tokens, ours, again, cpu, peak = ("1", *rows["mini-albert", "1"])
    assert (tokens, float(ours) > 0, float(cpu) > 0, float(peak) > 0) == ("16", True, True, True)
    assert 0.01 < float(again) < 100, "the same device against itself"


TURNS = cycle((0.0, np.nan))


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        (lambda *_: 1 / 0, "RAISED ZeroDivisionError: division by zero"),
        (lambda *_: np.random.default_rng().normal(size=2), "TOO LARGE "),
        (lambda *_: np.full(2, next(TURNS)), "TOO LARGE "),
    ],
)
def test_a_part_that_raises_or_differs_fails_the_command(monkeypatch, capsys, numbers, said):
    monkeypatch.setattr(device, "PARTS", (device.Part("broken", numbers),))
    assert main(QUICK) == 1
    assert said in capsys.readouterr().out
