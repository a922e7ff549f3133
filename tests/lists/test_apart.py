"""Fine-tuning in a process of its own: its answers, a stop, its limits, and what it says on errors."""

import io
import pickle
import subprocess
import sys
import threading

import pytest
import torch

import explorer
from explorer.lists import apart, child
from explorer.lists.apart import TuningAnswer, TuningProcess, TuningRequest
from explorer.lists.child import serve
from explorer.lists.library import table_of
from explorer.lists.rows import text_list
from explorer.lists.tuned import TuningOptions, TuningProgress
from explorer.refusal import Refusal
from explorer.scheduling.cancel import Cancelled, CancelToken
from tests.lists.test_finetune import ROWS
from tests.tiny_models import make_bert, save


@pytest.fixture
def request_of(tmp_path, own_models):
    """A request to train a narrow model that is a folder, as the page's own models are."""
    torch.manual_seed(0)
    save(*make_bert(2, 2, 24), tmp_path / "narrow")
    family = explorer.load({"narrow": str(tmp_path / "narrow")}, only=True)

    def request(seconds=600.0, rows=ROWS[:40], **options):
        texts = text_list(table_of(rows))
        given = TuningOptions(**({"epochs": 1, "rate": 1e-2} | options))
        return TuningRequest(texts, family.ask(), family.name, given, seconds, tmp_path / "tuned")

    return request


class Stoppable(io.BytesIO):
    """Standard input with a request, on which nothing follows until it is stopped."""

    def __init__(self, content, stopped):
        super().__init__(content)
        self._stopped = stopped

    def read(self, size=-1):
        found = super().read(size)
        if not found:
            self._stopped.wait()
        return found


def answers_of(content):
    answers, file = [], io.BytesIO(content)
    while file.tell() < len(content):
        answers.append(pickle.load(file))
    return answers


def served(request, stopped=None):
    event = threading.Event()
    out = io.BytesIO()
    serve(Stoppable(pickle.dumps(request), stopped or event), out)
    event.set()
    return answers_of(out.getvalue())


def test_the_process_answers_with_its_progress_scores_and_folders(request_of, monkeypatch):
    monkeypatch.setattr(child, "TELL_EVERY_S", 0.0)
    *progress, last = served(request_of())
    assert all(isinstance(each, TuningProgress) for each in progress)
    assert [each.done for each in progress] == sorted(each.done for each in progress)
    assert progress[-1].live.curves.losses
    assert isinstance(last, TuningAnswer)
    assert last.ended == "done"
    assert last.result.best == {}
    assert last.result.scores.advice
    assert {path.name for path in last.folders["narrow"].iterdir()} >= {
        "model.safetensors",
        "README.md",
    }


def test_the_time_that_is_over_leaves_what_is_finished(request_of, monkeypatch):
    class Over(CancelToken):
        def check(self):
            self.n = getattr(self, "n", 0) + 1
            if self.n > 100:
                raise Cancelled("deadline")

    monkeypatch.setattr(child, "CancelToken", Over)
    *_, last = served(request_of(seeds=20))
    assert last.ended == "deadline"
    assert 0 < last.result.seeds < 20


def test_a_refusal_and_a_failure_are_told(request_of, monkeypatch):
    (refusal,) = served(request_of(rows=ROWS[:5]))
    assert isinstance(refusal, Refusal)
    assert "at least 40 rows" in str(refusal)

    def fail(*_):
        raise ValueError("no reader sees this")

    monkeypatch.setattr(child, "TuningQuestion", fail)
    (failure,) = served(request_of())
    assert "no reader sees this" in failure


@pytest.mark.processes
def test_a_process_of_its_own_is_stopped_with_what_it_has_and_is_gone_at_the_end(request_of):
    cancel = CancelToken()
    with TuningProcess(request_of(seeds=20, epochs=50), 1e12) as process:
        for answer in process.answers(cancel):
            if isinstance(answer, TuningProgress) and answer.runs["narrow"]:
                cancel.stop()
        assert isinstance(answer, TuningAnswer)
        assert answer.ended == "stopped"
        assert (answer.folders["narrow"] / "config.json").exists()
    assert process._process.poll() is not None


SLEEPS = (sys.executable, "-c", "import sys, time; sys.stdin.buffer.read(1); time.sleep(60)")


def test_a_process_that_takes_too_much_memory_or_dies_has_its_sentence(request_of, monkeypatch):
    monkeypatch.setattr(apart, "CHILD", SLEEPS)
    with (
        TuningProcess(request_of(), 1e6) as process,
        pytest.raises(Refusal, match=r"needs more than the 0\.001 GB that it may take here"),
    ):
        next(process.answers(CancelToken()))
    with TuningProcess(request_of(), 1e12) as process:
        process._process.kill()
        with pytest.raises(Refusal, match="was ended from outside"):
            next(process.answers(CancelToken()))


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ("sys.exit(3)", "Fine-tuning failed; the reason is in the server's log."),
        ("os.kill(os.getpid(), signal.SIGTERM)", "Fine-tuning failed; the reason is in the"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "was ended from outside, most likely for lack of"),
    ],
)
def test_only_a_process_that_was_killed_is_said_to_be_ended_from_outside(
    request_of, monkeypatch, ends, said
):
    lines = f"import os, signal, sys; sys.stdin.buffer.read(1); {ends}"
    monkeypatch.setattr(apart, "CHILD", (sys.executable, "-c", lines))
    with TuningProcess(request_of(), 1e12) as process, pytest.raises(Refusal, match=said):
        next(process.answers(CancelToken()))


def test_a_stop_that_takes_too_long_is_said_to_be_one(request_of, monkeypatch):
    monkeypatch.setattr(apart, "CHILD", SLEEPS)
    monkeypatch.setattr(apart, "STOP_S", 0.2)
    cancel = CancelToken()
    cancel.stop()
    with (
        TuningProcess(request_of(), 1e12) as process,
        pytest.raises(
            Refusal, match=r"Stopped\. The scores and models so far were not there within"
        ),
    ):
        next(process.answers(cancel))


@pytest.mark.skipif(
    sys.platform != "linux", reason="needs Linux, whose /proc tells the state of a process"
)
def test_the_process_waits_while_something_is_timed(request_of, monkeypatch):
    monkeypatch.setattr(apart, "CHILD", SLEEPS)
    cancel, states, timing = CancelToken(), [], iter([True, True, False, False])

    def is_timing():
        line = subprocess.check_output(["ps", "-o", "stat=", "-p", str(process._process.pid)])
        states.append(line.decode()[0])
        answer = next(timing, None)
        if answer is None:
            process._process.kill()
        return bool(answer)

    with TuningProcess(request_of(), 1e12) as process, pytest.raises(Refusal):
        next(process.answers(cancel, is_timing))
    assert states[1:3] == ["T", "T"]
    assert "T" not in states[3:]
