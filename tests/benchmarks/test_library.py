"""The library's report, with the processor in the accelerator's place."""

import importlib
import sys
from unittest.mock import patch

import pytest

from benchmarks import library
from benchmarks.__main__ import main

QUICK = ["library", "--device", "cpu", "--functions", "predict", "question", "--calls", "3"]


@pytest.fixture(autouse=True)
def few(monkeypatch):
    asked = {name: library.FUNCTIONS[name] for name in ("predict", "question")}
    monkeypatch.setattr(library, "FUNCTIONS", asked)


@pytest.mark.processes
def test_every_function_equals_itself_and_halves_round(capsys):
    assert main(QUICK) == 0
    said = capsys.readouterr().out
    rows = [
        line.split(" | ") for line in said.splitlines() if line[:9] in ("| predict", "| questio")
    ]
    assert len(rows) == 2
    for _, float32, bfloat16, *_ in rows:
        assert float32.startswith("0.0e+00")
        assert "(0 of" in float32
        assert not bfloat16.startswith("0.0e+00")
    assert "hooks left 0" in said


def test_differences_are_counted_by_numbers_and_by_words():
    expected = {"a": [1.0, 2.0, float("-inf")], "b": {"word": "cat", "rank": 3}}
    actual = {"a": [1.0, 2.25, float("-inf")], "b": {"word": "dog", "rank": 3}}
    found = library.compared(expected, actual)
    assert (found.largest, found.numbers, found.others) == (0.25, 3, [1, 2])
    assert not found.is_fine(1.0)
    assert library.compared(expected, expected).is_fine(0.0)
    assert library.compared([1.0], [1.0, 2.0]).others == [1, 1]
    assert library.compared([1.0], [float("nan")]).is_fine(1.0) is False
    assert "RAISED ZeroDivisionError" in str(library.compared(expected, ZeroDivisionError("no")))


def test_a_function_that_raises_fails_the_command(monkeypatch, capsys):
    monkeypatch.setattr(library, "FUNCTIONS", {"predict": lambda _: 1 / 0})
    monkeypatch.setattr(library, "after_calls", lambda *_: (None, 0))
    assert main([*QUICK[:3], "--functions", "predict"]) == 1
    assert "RAISED ZeroDivisionError: division by zero" in capsys.readouterr().out


def test_hooks_are_counted(tiny_family):
    network = tiny_family.loaded("bert").network
    before = library.hooks_on(network)
    handle = network.base_model.register_forward_hook(lambda *_: None)
    assert library.hooks_on(network) == before + 1
    handle.remove()
    assert library.hooks_on(network) == before


def test_measurements_of_an_accelerator_need_no_gradio():
    """All of the project is imported anew, with Gradio missing."""
    with patch.dict(sys.modules):
        for name in list(sys.modules):
            if name.split(".")[0] in {"benchmarks", "explorer", "gradio"}:
                del sys.modules[name]
        sys.modules["gradio"] = None
        importlib.import_module("benchmarks.__main__")
