"""Stop: the line is free and a text is answered before what was running has come to its end."""

import shutil
import sys
import threading
from dataclasses import astuple

import numpy as np
import pytest

from explorer.inference.runs import get_runs
from explorer.links.page_state import PageState
from explorer.models.run import Run
from explorer.models.specs import LARGER
from explorer.scheduling.cancel import Cancelled, CancelToken
from explorer.scheduling.job_queue import MEASUREMENTS
from explorer.scheduling.measurement_lock import MEASUREMENT_LOCK
from explorer.timing import protocol as timing
from explorer.timing.networks import forget_timed_networks, timed_network
from explorer.timing.runtimes import process
from explorer.timing.runtimes.process import RuntimeProcess
from explorer.timing.workload import Workload
from explorer.ui.kit import jobs
from explorer.ui.kit.jobs import handler
from explorer.ui.latency.folds import FASTER, job_of
from explorer.ui.latency.settings import MeasurementSettings
from explorer.ui.latency.tab import MEASURE
from tests.waiting import until

READER = "the reader"
PATIENCE_S = 300
"""Until there is something to stop; this is not what is timed."""


@pytest.fixture
def reading(monkeypatch):
    """Starts one of the page's measurements as the page does; nothing of it is left behind."""
    monkeypatch.setattr(jobs, "owner_of", lambda _: READER)
    threads = []

    def start(job, choice):
        thread = threading.Thread(target=lambda: list(handler(job)(*astuple(choice))))
        thread.start()
        threads.append(thread)
        return thread

    yield start
    MEASUREMENTS.stop(READER)
    for thread in threads:
        thread.join(PATIENCE_S)
    forget_timed_networks()


def answers(text) -> dict[str, Run]:
    return get_runs(PageState(text=text).ask)[0]


def stop_and_ask(text) -> None:
    """Stop as the reader does; then the measurement ends, and a text is answered."""
    MEASUREMENTS.stop(READER)
    until(lambda: not MEASUREMENT_LOCK.is_measuring)
    assert len(answers(text)) == 3


@pytest.fixture
def to_its_end(monkeypatch):
    """Notes when a call begins and when it comes back: what is stopped never comes back."""

    def noted(owner, name):
        begun, ended, original = threading.Event(), threading.Event(), getattr(owner, name)

        def call(*args, **kwargs):
            begun.set()
            out = original(*args, **kwargs)
            ended.set()
            return out

        monkeypatch.setattr(owner, name, call)
        return begun, ended

    return noted


@pytest.mark.long
@pytest.mark.parametrize(
    ("clock", "owner", "name"),
    [
        ("compute", timing.Pass, "forward"),
        pytest.param("wait", RuntimeProcess, "seconds", marks=pytest.mark.processes),
    ],
)
def test_in_the_middle_of_a_pass_of_many_seconds(
    tiny_family, reading, to_its_end, clock, owner, name
):
    answers("The cat [MASK].")
    inside, finished = to_its_end(owner, name)
    reading(MEASURE, MeasurementSettings("base", 512, 8, clock=clock))
    assert inside.wait(PATIENCE_S)
    stop_and_ask("The dog [MASK].")
    assert not finished.is_set(), "the text had to wait for the pass"


@pytest.mark.processes
def test_while_a_process_is_building(tiny_family, reading, monkeypatch, tmp_path, to_its_end):
    """The short form of the one below: a builder that would take ten minutes, and no compiler."""
    answers("The cat [MASK].")
    begun = tmp_path / "begun"
    builder = f"import pathlib, time; pathlib.Path({str(begun)!r}).touch(); time.sleep(600)"
    monkeypatch.setattr(process, "CHILD", (sys.executable, "-c", builder))
    _, built = to_its_end(RuntimeProcess, "wait_until_built")
    reading(job_of(FASTER), MeasurementSettings("mini", 16))
    until(begun.exists)
    assert len(answers("Another visitor's [MASK].")) == 3
    assert MEASUREMENT_LOCK.is_measuring, "who prepares keeps no visitor waiting"
    stop_and_ask("The dog [MASK].")
    assert not built.is_set(), "the text had to wait for the builder"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler here: apt-get install g++")
def test_while_torch_is_compiling(tiny_family, reading, monkeypatch, tmp_path, to_its_end):
    before = answers("The cat sat on the [MASK].")
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    _, built = to_its_end(RuntimeProcess, "wait_until_built")
    reading(job_of(FASTER), MeasurementSettings("mini", 16))
    until(lambda: any(tmp_path.rglob("*.cpp")))
    stop_and_ask("The dog [MASK].")
    assert not built.is_set(), "the text had to wait for the compiler"
    from explorer.inference.runs import CACHE

    CACHE.clear()
    for key, run in answers("The cat sat on the [MASK].").items():
        np.testing.assert_array_equal(run.hidden_states, before[key].hidden_states)


@pytest.mark.long
def test_while_random_weights_are_drawn():
    forget_timed_networks()
    cancel_token, looks = CancelToken(), []

    def check():
        looks.append(1)
        if len(looks) == 3:
            cancel_token.stop()
        cancel_token.check()

    with pytest.raises(Cancelled), timed_network(LARGER["bert-large-uncased"], Workload(), check):
        pass
    assert len(looks) == 3
