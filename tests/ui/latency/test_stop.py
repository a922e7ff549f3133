"""Stop, by the clock: the line is free and a text is answered within two seconds."""

import shutil
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from explorer.models.run import Run
from explorer.models.specs import LARGER
from explorer.page_state import PageState
from explorer.runs import SLOT, get_runs
from explorer.timing import protocol as timing
from explorer.timing.networks import forget_timed_networks, timed_network
from explorer.timing.stop import Stopped, StopSign
from explorer.timing.workload import Workload
from explorer.ui.latency.choice import Choice
from explorer.ui.latency.folds import QUESTIONS, _handler
from explorer.ui.latency.running import stop
from explorer.ui.latency.tab import measure

READER = SimpleNamespace(session_hash="the reader")
AT_MOST_S = 2.0
PATIENCE_S = 300
"""Until there is something to stop; this is not what is timed."""


@pytest.fixture
def reading():
    """Starts one of the page's measurements as the page does; nothing of it is left behind."""
    threads = []

    def start(handler, choice):
        thread = threading.Thread(target=lambda: list(handler(choice, READER)))
        thread.start()
        threads.append(thread)
        return thread

    yield start
    stop(READER)
    for thread in threads:
        thread.join(PATIENCE_S)
    forget_timed_networks()


def answers(text) -> dict[str, Run]:
    return get_runs(PageState(text=text))[0]


def seconds_to_stop_and_to_answer(text) -> tuple[float, float]:
    begun = time.monotonic()
    stop(READER)
    while SLOT.is_measuring:
        time.sleep(0.005)
    stopped = time.monotonic()
    assert len(answers(text)) == 3
    return stopped - begun, time.monotonic() - stopped


def test_in_the_middle_of_a_pass_of_many_seconds(tiny_family, reading, monkeypatch):
    answers("The cat [MASK].")
    inside, finished, forward = threading.Event(), threading.Event(), timing.Pass.forward

    def watched(self, ids):
        inside.set()
        out = forward(self, ids)
        finished.set()
        return out

    monkeypatch.setattr(timing.Pass, "forward", watched)
    reading(measure, Choice("base", 512, 8))
    assert inside.wait(PATIENCE_S)
    stopped, answered = seconds_to_stop_and_to_answer("The dog [MASK].")
    assert not finished.is_set(), "the pass was over before it was stopped: nothing was tested"
    assert stopped < AT_MOST_S
    assert answered < AT_MOST_S


@pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler")
def test_while_torch_is_compiling(tiny_family, reading, monkeypatch, tmp_path):
    before = answers("The cat sat on the [MASK].")
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    (faster,) = [question for question in QUESTIONS if question.title.startswith("What would make")]
    reading(_handler(faster), Choice("mini", 16))
    deadline = time.monotonic() + PATIENCE_S
    while not any(tmp_path.rglob("*.cpp")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    stopped, answered = seconds_to_stop_and_to_answer("The dog [MASK].")
    assert stopped < AT_MOST_S
    assert answered < AT_MOST_S
    from explorer.runs import CACHE

    CACHE.clear()
    for key, run in answers("The cat sat on the [MASK].").items():
        np.testing.assert_array_equal(run.hidden_states, before[key].hidden_states)


def test_while_random_weights_are_drawn():
    forget_timed_networks()
    sign, looks = StopSign(), []

    def check():
        looks.append(1)
        if len(looks) == 3:
            sign.stop()
        sign.check()

    with pytest.raises(Stopped):
        timed_network(LARGER["bert-large-uncased"], Workload(), check)
    assert len(looks) == 3
