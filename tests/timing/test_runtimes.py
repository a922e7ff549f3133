"""Other runtimes give torch's numbers, on the calling thread, and their processes end at once."""

import io
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from explorer.assets import ROOT
from explorer.models.architectures import random_network
from explorer.refusal import Refusal
from explorer.scheduling.cancel import Cancelled, CancelToken
from explorer.timing import child_process
from explorer.timing.networks import checkpoint_here
from explorer.timing.protocol import Pass, thread_width, timed_ids
from explorer.timing.runtimes import child, saved
from explorer.timing.runtimes import process as runtime_process
from explorer.timing.runtimes import table as runtimes
from explorer.timing.runtimes.process import BuildRequest, CrashedError, RuntimeProcess
from explorer.timing.runtimes.saved import openvino_alone, served_bytes
from explorer.timing.runtimes.table import (
    COMPILE,
    MEMORY,
    ONNX,
    OPENVINO,
    OPENVINO_BF16,
    Crash,
    NoRuntime,
    ScoreRequest,
    built,
    scores_at,
)
from explorer.timing.workload import Workload
from tests.timing.native import context_switches, native_threads
from tests.waiting import until

needs_compiler = pytest.mark.skipif(
    shutil.which("c++") is None, reason="no C++ compiler here: apt-get install g++"
)


def need(runtime):
    """Skip where a runtime's packages are not installed; imported here, OpenVINO would report."""
    if absent := runtimes.absent_packages(runtime):
        pytest.skip(f"no {', '.join(absent)} here: pip install -r tests/requirements.txt")


def two_layers(spec):
    """Return the model with two layers, which is quicker to export."""
    return replace(spec, architecture=replace(spec.architecture, n_layers=2))


@pytest.mark.processes
@pytest.mark.parametrize("runtime", [ONNX, OPENVINO])
@pytest.mark.parametrize(("key", "head"), [("bert", True), ("distilbert", False), ("albert", True)])
def test_a_runtime_gives_torchs_numbers_on_the_calling_thread(
    tiny_family, tmp_path, monkeypatch, key, head, runtime
):
    need(runtime)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    spec, work = two_layers(tiny_family.specs[key]), Workload(length=24, batch=2, head=head)
    plain = Pass(spec, random_network(spec), work).eval()
    ids, before = timed_ids(spec, work), native_threads()
    with torch.inference_mode(), thread_width("compute"):
        run = built(runtime, plain, ids, 1)
        other = timed_ids(spec, work, seed=1)
        many = timed_ids(spec, replace(work, batch=16), seed=2)
        for asked in (ids, other, many, many[:1]):
            np.testing.assert_allclose(run(asked), plain(asked), atol=1e-4)
        others = native_threads() - before

        def slept_through():
            slept = context_switches(others)
            for _ in range(5):
                run(many)
            return context_switches(others) == slept

        # A thread that has just been made may still be on its way to sleep.
        is_alone = any(slept_through() for _ in range(20))
    assert is_alone, "another thread of the runtime did some of the work"
    assert list(tmp_path.iterdir()) == [], "the exported file was left behind"


def needs_bfloat16_instructions():
    """Skip by the flags of the processor, not by the runtime."""
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    if "avx512_bf16" not in flags:
        pytest.skip("needs a processor with AVX512-BF16")


def test_openvino_in_bfloat16_is_near_torch_and_not_the_same(tiny_family):
    need(OPENVINO_BF16)
    needs_bfloat16_instructions()
    spec, work = two_layers(tiny_family.specs["bert"]), Workload(length=24)
    plain = Pass(spec, random_network(spec), work).eval()
    ids = timed_ids(spec, work)
    with torch.inference_mode():
        exact, found = plain(ids), built(OPENVINO_BF16, plain, ids, 1)(ids)
    off = float((found - exact).abs().max() / exact.abs().max())
    assert 1e-4 < off < 0.05, "8 bits of mantissa: some thousandths, and not float32's rounding"


def test_bfloat16_is_refused_where_it_would_be_emulated(monkeypatch):
    need(OPENVINO_BF16)
    openvino = openvino_alone()

    class Old:
        def get_property(self, device, name):
            assert (device, name) == ("CPU", "OPTIMIZATION_CAPABILITIES")
            return ["FP32", "INT8"]

    monkeypatch.setattr(openvino, "Core", Old)
    with pytest.raises(NoRuntime) as refusal:
        built(OPENVINO_BF16, torch.nn.Identity(), torch.ones(1, 4), 1)
    assert refusal.value.reason == "bfloat16"


@pytest.mark.processes
def test_openvino_reports_nothing_to_anybody(tiny_family, tmp_path):
    """Its converter would write an identity into the home folder and send how it was used."""
    need(OPENVINO)
    line = (
        "import torch; from explorer.timing.runtimes.table import OPENVINO, built; "
        "built(OPENVINO, torch.nn.Linear(4, 4), torch.ones(1, 4), 1)"
    )
    env = {**os.environ, "HOME": str(tmp_path), "CI": "", "GITHUB_ACTIONS": ""}
    subprocess.run([sys.executable, "-c", line], check=True, env=env, cwd=ROOT)
    assert list(tmp_path.iterdir()) == []


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
    assert "Traceback" in refusal.value.detail


def test_a_mistake_in_a_runtimes_process_is_sent_with_its_traceback(monkeypatch, tiny_family):
    def wrong_pass(order, threads):
        raise ValueError("operands could not be broadcast")

    monkeypatch.setattr(child, "_build", wrong_pass)
    monkeypatch.setattr(child, "_scratch_in", lambda *_: None)
    order, sent = BuildRequest(ONNX, tiny_family.specs["bert"], Workload(length=8), None), []
    child.serve(io.BytesIO(pickle.dumps((order,))), sent.append, "")
    (crash,) = sent
    assert "in wrong_pass" in crash.report
    assert "could not be broadcast" in crash.report


def ended(*command, **options):
    """Start a process and wait for its end, before anybody writes to it."""
    process = subprocess.Popen(*command, **options)
    process.wait(60)
    return process


@pytest.mark.processes
@pytest.mark.parametrize("start", [subprocess.Popen, ended])
def test_a_mistake_in_a_runtimes_process_is_logged_and_fails_here(
    monkeypatch, caplog, tiny_family, start
):
    crash = pickle.dumps(Crash("Traceback: deep down"))
    says = f"import sys; sys.stdout.buffer.write({crash!r})"
    monkeypatch.setattr(runtime_process, "CHILD", (sys.executable, "-c", says))
    starts = SimpleNamespace(Popen=start, PIPE=subprocess.PIPE, DEVNULL=subprocess.DEVNULL)
    monkeypatch.setattr(child_process, "subprocess", starts)
    order = BuildRequest(ONNX, tiny_family.specs["bert"], Workload(length=8), None)
    with RuntimeProcess(order) as process:
        with pytest.raises(CrashedError):
            process.wait_until_built(lambda: None)
        for _ in range(2):
            with pytest.raises(NoRuntime):
                process.seconds(order.workload, lambda: None)
    assert not issubclass(CrashedError, Refusal)
    assert [r.levelname for r in caplog.records if "Traceback: deep down" in r.message] == ["ERROR"]


@pytest.mark.processes
def test_a_process_times_and_answers_as_this_one_would(tiny_family):
    need(ONNX)
    spec, work = two_layers(tiny_family.specs["distilbert"]), Workload(length=16)
    question = ScoreRequest(
        timed_ids(spec, work, seed=3).numpy(), np.array([0, 0]), np.array([2, 5])
    )
    order = BuildRequest(ONNX, spec, work, None)
    cancel_token = CancelToken()
    with RuntimeProcess(order) as process:
        held = process.wait_until_built(cancel_token.check)
        assert set(held) == {ONNX}
        assert all(process.seconds(replace(work, batch=n), cancel_token.check) > 0 for n in (1, 32))
        there = process.scores(question, cancel_token.check)
        here = scores_at(Pass(spec, random_network(spec), work), question, "cpu")
        np.testing.assert_allclose(there, here, atol=1e-4)
        cancel_token.stop()
        os.kill(process._process.pid, signal.SIGSTOP)
        with pytest.raises(Cancelled):
            process.seconds(work, cancel_token.check)
    assert process._process.poll() is not None
    with pytest.raises(NoRuntime, match="stopped before it answered"):
        process.seconds(work, lambda: None)


SLOW_THEN_QUICK = """
import pickle, sys, time
pickle.load(sys.stdin.buffer)
for seconds in (None, 1.0, 0.0):
    if seconds is not None:
        pickle.load(sys.stdin.buffer)
        time.sleep(seconds)
    pickle.dump(seconds, sys.stdout.buffer)
    sys.stdout.buffer.flush()
"""


@pytest.mark.processes
def test_the_answer_to_a_question_that_was_given_up_is_not_the_next_ones(monkeypatch, tiny_family):
    """A deadline ends one length of a sweep in the middle of a pass; the process times the next."""
    monkeypatch.setattr(runtime_process, "CHILD", (sys.executable, "-c", SLOW_THEN_QUICK))
    request = BuildRequest("float32", tiny_family.specs["bert"], Workload(length=8), None)

    def too_late():
        raise Cancelled("deadline")

    with RuntimeProcess(request) as process:
        process.wait_until_built(lambda: None)
        with pytest.raises(Cancelled):
            process.seconds(request.workload, too_late)
        assert process.seconds(request.workload, lambda: None) == 0.0


SERVER = """
import runpy, sys
sys.argv[1:] = {asked!r}
runpy.run_module("explorer.timing.runtimes.saved", run_name="__main__")
sys.stdout.write(" " + str(sorted({{"torch", "transformers", "gradio"}} & set(sys.modules))))
"""


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(),
    reason="needs Linux, whose /proc has the sizes of processes",
)
@pytest.mark.processes
@pytest.mark.parametrize("runtime", [ONNX, OPENVINO])
def test_memory_is_that_of_a_process_with_the_runtime_alone(tiny_family, runtime, monkeypatch):
    """A network of torch, or torch itself, would be charged to every other runtime."""
    need(runtime)
    spec, work = two_layers(tiny_family.specs["bert"]), Workload(length=16)
    plain, run = Pass(spec, random_network(spec), work).eval(), subprocess.run
    found, said = [], []

    def beside(command, **options):
        """Run the process and record its imported modules."""
        assert command[1:3] == ["-m", "explorer.timing.runtimes.saved"]
        done = run([command[0], "-c", SERVER.format(asked=command[3:])], **options)
        done.stdout, _, imported = done.stdout.partition(" ")
        said.append(imported)
        return done

    monkeypatch.setattr(saved, "subprocess", SimpleNamespace(run=beside))

    def look(file):
        found.append((served_bytes(runtime, file, 1, (1, 16)), file.stat().st_size))

    with torch.inference_mode():
        built(runtime, plain, timed_ids(spec, work), 1, look)
    assert said == ["[]"]
    ((held, of_file),) = found
    assert held > of_file


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(),
    reason="needs Linux, whose /proc has the sizes of processes",
)
def test_memory_of_torch_is_that_of_a_process_for_each_way(tiny_family, monkeypatch):
    """Each is new, and has torch as it is first imported; here they run in this one."""
    pools = []

    class Pool(ThreadPoolExecutor):
        def __init__(self, workers, context, max_tasks_per_child):
            pools.append((workers, context.get_start_method(), max_tasks_per_child))
            super().__init__(workers)

    monkeypatch.setattr(child, "ProcessPoolExecutor", Pool)
    ways = {name: child.TORCH_WAYS[name] for name in ("float32", "int8")}
    monkeypatch.setattr(child, "TORCH_WAYS", ways)
    seen = []
    for name, way in ways.items():
        monkeypatch.setitem(ways, name, lambda net, n=name, w=way: seen.append(n) or w(net))
    order = BuildRequest(MEMORY, two_layers(tiny_family.specs["bert"]), Workload(length=16), None)
    held = child.memory_of_torch(order)
    assert pools == [(1, "spawn", 1)]
    assert list(held) == seen == ["float32", "int8"]
    assert min(held.values()) > sum(p.nbytes for p in random_network(order.spec).parameters()) / 4


def is_running(pid):
    """Return whether a process runs; a zombie does not."""
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
    """Return the number in a file, complete once a space follows it."""
    said = "".join(path.read_text() for path in folder.rglob(name))
    return int(said) if said.endswith(" ") else None


@pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="needs Linux, whose /proc lists processes"
)
@pytest.mark.processes
def test_ending_a_build_leaves_no_file_and_no_helper(tiny_family, tmp_path, monkeypatch):
    """What a builder started, and what it has written so far, ends with it."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(runtime_process, "CHILD", (sys.executable, "-c", BUSY_BUILD))
    order = BuildRequest(ONNX, tiny_family.specs["bert"], Workload(length=8), None)
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
    order = BuildRequest(COMPILE, spec, Workload(length=8), checkpoint_here(spec))
    with RuntimeProcess(order):
        until(lambda: any(tmp_path.glob("torchinductor_*/**/*.cpp")))
        assert len(list(tmp_path.iterdir())) > 1
    (kept,) = tmp_path.iterdir()
    assert kept.name.startswith("torchinductor_")
