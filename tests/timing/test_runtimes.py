"""Other runtimes give torch's numbers, on the calling thread, and their processes end at once."""

import os
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from explorer.models.architectures import random_network
from explorer.timing.networks import checkpoint_here
from explorer.timing.protocol import Pass, thread_width, timed_ids
from explorer.timing.runtimes import child
from explorer.timing.runtimes import process as runtime_process
from explorer.timing.runtimes import table as runtimes
from explorer.timing.runtimes.process import Order, RuntimeProcess
from explorer.timing.runtimes.table import COMPILE, ONNX, NoRuntime, Question, built, scores_at
from explorer.timing.stop import Stopped, StopSign
from explorer.timing.workload import Workload
from tests.waiting import until

needs_compiler = pytest.mark.skipif(
    shutil.which("c++") is None, reason="no C++ compiler here: apt-get install g++"
)


def two_layers(spec):
    """The same model, quicker to export: a second layer is built as a sixth is."""
    return replace(spec, architecture=replace(spec.architecture, n_layers=2))


@pytest.mark.parametrize(("key", "head"), [("bert", True), ("distilbert", False), ("albert", True)])
def test_onnx_runtime_gives_torchs_numbers_on_the_calling_thread(
    tiny_family, tmp_path, monkeypatch, key, head
):
    for package in runtimes.ONNX_PACKAGES:
        pytest.importorskip(package)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    spec, work = two_layers(tiny_family.specs[key]), Workload(length=24, batch=2, head=head)
    plain = Pass(spec, random_network(spec), work).eval()
    ids = timed_ids(spec, work)
    with torch.inference_mode(), thread_width("compute"):
        run = built(ONNX, plain, ids, 1)
        other = timed_ids(spec, work, seed=1)
        for asked in (ids, other):
            np.testing.assert_allclose(run(asked), plain(asked), atol=1e-4)
        before = time.process_time(), time.thread_time()
        for _ in range(100):
            run(ids)
        everybody, me = time.process_time() - before[0], time.thread_time() - before[1]
    assert me > 0.05
    assert everybody - me < 0.5 * me, "another thread did the work"
    assert list(tmp_path.iterdir()) == [], "the exported file was left behind"


@pytest.mark.slow
@needs_compiler
def test_a_compiled_pass_gives_torchs_numbers_and_never_compiles_again(tiny_family):
    loaded, work = tiny_family.loaded("distilbert"), Workload(length=24, head=True)
    plain = Pass(loaded.spec, loaded.network, work).eval()
    ids, other = (timed_ids(loaded.spec, work, seed=seed) for seed in (0, 1))
    with torch.inference_mode(), thread_width("compute"):
        run = built(COMPILE, plain, ids, 1)
        with torch.compiler.set_stance("fail_on_recompile"):
            for asked in (ids, other, ids):
                torch.testing.assert_close(run(asked), plain(asked), atol=1e-4, rtol=0)


def test_without_a_compiler_that_is_the_reason():
    from torch._inductor import config

    line, ids = torch.nn.Linear(3, 3), torch.ones(1, 3)
    alone = {"cpp.cxx": ("no-such-compiler",), "force_disable_caches": True}
    with config.patch(alone), torch.inference_mode(), pytest.raises(NoRuntime) as refusal:
        built(COMPILE, torch.nn.Sequential(line, torch.nn.GELU()), ids, 1)
    assert refusal.value.reason == "compiler"


def test_any_other_failure_is_one_reason_too():
    class Broken(torch.nn.Module):
        def forward(self, ids):
            raise KeyError("the layer is gone")

    with pytest.raises(NoRuntime) as refusal:
        built(COMPILE, Broken(), torch.ones(1), 1)
    assert refusal.value.reason == "failed"


def test_a_process_times_and_answers_as_this_one_would(tiny_family):
    pytest.importorskip("onnxruntime")
    spec, work = two_layers(tiny_family.specs["distilbert"]), Workload(length=16)
    question = Question(timed_ids(spec, work, seed=3).numpy(), np.array([0, 0]), np.array([2, 5]))
    order = Order(ONNX, spec, work, None)
    sign = StopSign()
    with RuntimeProcess(order) as process:
        process.wait_until_built(sign.check)
        assert 0 < process.seconds(sign.check) < 60
        there = process.scores(question, sign.check)
        here = scores_at(Pass(spec, random_network(spec), work), question, "cpu")
        np.testing.assert_allclose(there, here, atol=1e-4)
        sign.stop()
        os.kill(process._process.pid, signal.SIGSTOP)
        with pytest.raises(Stopped):
            process.seconds(sign.check)
    assert process._process.poll() is not None
    with pytest.raises(NoRuntime, match="stopped before it answered"):
        process.seconds(lambda: None)


def is_running(pid):
    """Whether a process is there and not only waiting for somebody to ask how it ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


BUSY_BUILD = """
import os, subprocess, sys, time
folder = sys.argv[1]
helper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open(os.path.join(folder, "half"), "w") as half:
    half.write(f"{helper.pid} ")
time.sleep(600)
"""


def number_in(folder, name):
    """The number that a file holds once its writer has ended it with a space."""
    said = "".join(path.read_text() for path in folder.rglob(name))
    return int(said) if said.endswith(" ") else None


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no list of processes")
def test_ending_a_build_leaves_no_file_and_no_helper(tiny_family, tmp_path, monkeypatch):
    """What a builder started, and what it has written so far, ends with it."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(runtime_process, "CHILD", (sys.executable, "-c", BUSY_BUILD))
    order = Order(ONNX, tiny_family.specs["bert"], Workload(length=8), None)
    with RuntimeProcess(order):
        helper = until(lambda: number_in(tmp_path, "half"))
        assert is_running(helper)
    assert list(tmp_path.iterdir()) == []
    until(lambda: not is_running(helper))


def test_what_a_compiler_keeps_lies_beside_the_folder_that_goes(tmp_path, monkeypatch):
    """The short form of the one below: where the two places are, with nothing compiled."""
    from torch._inductor import codecache

    own = tmp_path / "own"
    for name in ("TMPDIR", "TORCHINDUCTOR_CACHE_DIR"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    child._scratch_in(str(own), COMPILE)
    assert Path(codecache.cache_dir()).parent == tmp_path
    assert (tempfile.gettempdir(), os.environ["TMPDIR"]) == (str(own), str(own))


@pytest.mark.slow
@needs_compiler
def test_what_was_compiled_is_kept_and_scratch_files_are_not(tiny_family, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.delenv("TORCHINDUCTOR_CACHE_DIR", raising=False)
    spec = tiny_family.specs["distilbert"]
    order = Order(COMPILE, spec, Workload(length=8), checkpoint_here(spec))
    with RuntimeProcess(order):
        until(lambda: any(tmp_path.glob("torchinductor_*/**/*.cpp")))
        assert len(list(tmp_path.iterdir())) > 1
    (kept,) = tmp_path.iterdir()
    assert kept.name.startswith("torchinductor_")
