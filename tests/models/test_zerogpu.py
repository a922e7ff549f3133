"""A GPU that is lent for one call: in the marked function it is there, and nowhere else."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from explorer.models.zerogpu import NOT_LENT, on_lent_gpu
from explorer.refusal import Failed, Refusal

ROOT = Path(__file__).parents[2]
SPACES = """
import pickle
MARKED = []
def GPU(duration):
    def mark(function):
        MARKED.append((function.__name__, duration))
        def called(*arguments):
            from explorer.models import zerogpu
            result = function(*pickle.loads(pickle.dumps(arguments)))
            zerogpu._holding = False  # the process that held it is gone
            return pickle.loads(pickle.dumps(result))
        return called
    return mark
"""
SCRIPT = """
from explorer.serving.start import leave_out_stubs
leave_out_stubs()
import json, spaces
import explorer.ui.shell.page
marked = list(spaces.MARKED)
import torch
torch.cuda.is_available = lambda: True  # as spaces has torch say
torch.accelerator.is_available = lambda: True
torch.accelerator.current_accelerator = lambda: torch.device("cuda")
torch.accelerator.device_count = lambda: 1
from explorer.models.zerogpu import on_lent_gpu
from explorer.models.devices import available_devices, resolve_device
from explorer.models.specs import MINI
from explorer.refusal import Refusal
from explorer.timing.workload import Workload
from dataclasses import astuple
from explorer.ui.kit.jobs import handler
from explorer.ui.latency import tab
from explorer.ui.latency.settings import MeasurementSettings, device_choices
from explorer.ui.latency.tab import MEASURE

def seen():
    return available_devices()

outside = seen(), resolve_device("auto")
inside = on_lent_gpu(seen)()
plan_for = tab.plan_for
tab.plan_for = lambda workload, _budget: plan_for(workload, 600.0, 3)
MeasurementSettings.workload = property(lambda self: Workload(4))  # the device alone is not to be had here
*_, shown = handler(MEASURE)(*astuple(MeasurementSettings(shapes="mini", device="cuda")))
try:
    refused = MeasurementSettings(device="cuda").on_one_device()
except Refusal as error:
    refused = str(error)
result = shown[-2]  # the last one is the stop button

from dataclasses import replace
import explorer.models.zerogpu as lending
from explorer.links.page_state import PageState
from explorer.ui.shell.tabs import TABS, values_of
there = torch.nn.Module.to
def moved(module, *where, **named):
    asked = str(where + tuple(named.values()))
    assert "cuda" not in asked or lending._holding, "a network was moved to the GPU while it was not lent"
    return there(module, *where, **named)
torch.nn.Module.to = moved
for tab in TABS:
    values_of(tab, replace(PageState(), device="auto"))
print(json.dumps([marked, outside, inside, device_choices(), result.latency.n_rounds, refused]))
"""


def lent(function, monkeypatch, host=lambda duration: lambda marked: marked):
    """The function as it is where a GPU is lent by a host that runs what it marks."""
    monkeypatch.setenv("SPACES_ZERO_GPU", "true")
    monkeypatch.setattr("explorer.models.zerogpu._holding", False)
    monkeypatch.setitem(sys.modules, "spaces", SimpleNamespace(GPU=host))
    return on_lent_gpu(function)


def test_a_refusal_comes_back_and_anything_else_is_logged_where_it_happened(monkeypatch, caplog):
    errors = [Refusal("Not this text."), ValueError("broadcast")]

    def fails(n):
        raise errors[n]

    asked = lent(fails, monkeypatch)
    with pytest.raises(Refusal, match=r"^Not this text\.$"):
        asked(0)
    assert not caplog.records
    with pytest.raises(Failed, match="ValueError: broadcast"):
        asked(1)
    assert caplog.records[-1].exc_info[1] is errors[1]


def test_where_the_host_lends_none_that_is_said_and_its_own_words_are_logged(monkeypatch, caplog):
    def spent(*_):
        raise KeyError("quota of 198.51.100.7")

    asked = lent(len, monkeypatch, lambda duration: lambda marked: spent)
    with pytest.raises(Refusal) as refusal:
        asked([])
    assert str(refusal.value) == NOT_LENT
    assert caplog.records[-1].exc_info


@pytest.mark.processes
def test_the_lent_gpu_is_there_inside_the_marked_function_alone(tmp_path):
    (tmp_path / "spaces.py").write_text(SPACES)
    environment = os.environ | {
        "SPACES_ZERO_GPU": "true",
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}",
        "HF_HUB_OFFLINE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    marked, outside, inside, offered, n_rounds, refused = json.loads(done.stdout.splitlines()[-1])
    assert [name for name, _ in marked] == ["lent_latency"], "the host asks for one at the start"
    assert outside == [["cpu"], "cpu"], "auto never takes what is only lent"
    assert inside == ["cpu", "cuda"]
    assert [device for _, device in offered] == ["cpu", "cuda"]
    assert n_rounds > 0
    assert "lent GPU" in refused
