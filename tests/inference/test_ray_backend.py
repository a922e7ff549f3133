"""The page with networks in another process: all values between them are pickled here too."""

import asyncio
import json
import pickle
import threading
from concurrent.futures import Future

import numpy as np
import pytest
import torch

from explorer.analysis.distillation.live import LiveSettings, WatchedSentence
from explorer.context import configure
from explorer.inference import local, ray_backend, runs
from explorer.inference.ray_backend import ModelServer, RayBackend
from explorer.inference.runs import CACHE, call_on_model, get_run, get_runs
from explorer.links.page_state import PageState
from explorer.models import forward, loading
from explorer.models.choice.family import family_specs
from explorer.models.hub import ModelUnavailable
from explorer.models.specs import MODEL_KEYS
from explorer.models.tokens import BadText
from explorer.refusal import Failed, Refusal
from explorer.scheduling.cancel import Cancelled
from explorer.scheduling.measurement_lock import MEASUREMENT_LOCK, CannotMeasure
from explorer.ui.shell.tabs import TABS, values_of
from tests.waiting import until

TEXT = "the cat [MASK] on the mat"


def copied(value):
    return pickle.loads(pickle.dumps(value))


class Machine:
    """Group of one machine: its own event loop, and only pickled values in and out."""

    def __init__(self):
        self.beside, self.loop, self.asked = ModelServer(), asyncio.new_event_loop(), []
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def ask(self, method, *question):
        self.asked.append(method)
        question = copied(question)
        if method == "devices":
            future = Future()
            future.set_result(self.beside.devices())
            return future
        if method == "stream":
            return self._told(self.beside.stream(*question))
        if method == "run":
            return self._begun(self._run(*question))
        return self._begun(getattr(self.beside, method)(*question))

    async def _run(self, *question):
        (found,) = await self.beside.runs([question])
        return found

    async def _copied(self, answer):
        return copied(await answer)

    def _begun(self, answer):
        return asyncio.run_coroutine_threadsafe(self._copied(answer), self.loop)

    def _told(self, words):
        try:
            while True:
                try:
                    yield self._begun(words.__anext__()).result(60)
                except StopAsyncIteration:
                    return
        finally:  # as Ray does when its caller listens no more
            self._begun(words.aclose()).result(60)


@pytest.fixture
def machine(tiny_family, monkeypatch):
    """All three models on that machine; the page itself loads nothing."""
    machine = Machine()
    place = RayBackend(dict.fromkeys(MODEL_KEYS, machine.ask))
    configure(backend=place)
    return machine


def test_a_run_from_elsewhere_is_the_run_from_here(machine, tiny_family, monkeypatch):
    found, missing = get_runs(PageState(text=TEXT).ask)
    assert not missing
    other = get_run(found["bert"].spec, PageState(text="a dog").ask)
    assert other.vocabulary is found["bert"].vocabulary, "it is sent once"
    configure(backend=local.LocalBackend())
    CACHE.clear()
    for key, run in found.items():
        own = tiny_family.run(key, TEXT)
        assert (run.spec, run.tokens, run.vocabulary) == (own.spec, own.tokens, own.vocabulary)
        assert (run.device, run.dtype, run.mask_id) == (own.device, own.dtype, own.mask_id)
        for mine, theirs in (
            (run.hidden_states, own.hidden_states),
            (run.attention, own.attention),
            (run.mask_logits, own.mask_logits),
        ):
            np.testing.assert_allclose(mine, theirs, atol=2e-6)
            assert not mine.flags.writeable


def test_every_tab_is_the_same_from_elsewhere(machine, monkeypatch):
    """Each headline's HTML and numbers, once from that machine and once in this process."""
    state, shown = PageState(text=TEXT), {}
    tabs = [tab for tab in TABS if tab.ID != "latency"]
    for place in (runs.backend(), local.LocalBackend()):
        configure(backend=place)
        CACHE.clear()
        for tab in tabs:
            values = [v for v in values_of(tab, state) if isinstance(v, str)]
            shown.setdefault(tab.ID, []).append(values)
    assert {"run", "call"} <= set(machine.asked)
    for tab, (elsewhere, own) in shown.items():
        assert elsewhere == own, tab


def test_a_refusal_beyond_the_wire_is_the_same_sentence(machine, tiny_family):
    for text in ("", "cat " * 600):
        with pytest.raises(BadText):
            get_runs(PageState(text=text).ask)
    spec = tiny_family.specs["bert"]
    with pytest.raises(BadText, match="512 fit"):
        call_on_model(forward.tokenize, spec, PageState().ask, "cat " * 600)


@pytest.mark.parametrize(
    ("raised", "arrives"),
    [
        (ValueError("operands could not be broadcast"), Failed),
        (TimeoutError("late"), Failed),
        (torch.OutOfMemoryError("out of memory"), RuntimeError),
        (MemoryError(), MemoryError),
    ],
)
def test_a_failure_is_logged_beside_the_weights_and_arrives_as_one(
    machine, monkeypatch, caplog, raised, arrives
):
    def broken(*_):
        raise raised

    monkeypatch.setattr(local, "job_named", lambda name: broken)
    spec = next(iter(family_specs("mini")))
    with pytest.raises(arrives) as failure:
        call_on_model(forward.tokenize, spec, PageState().ask, TEXT)
    (record,) = caplog.records
    assert record.exc_info[1] is raised
    assert type(failure.value) is arrives
    assert record.args[0] in str(failure.value)


def test_weights_that_cannot_be_had_beyond_the_wire_are_a_card(machine, monkeypatch):
    def absent(where, report=None):
        raise ModelUnavailable(where.spec, "it is gone")

    monkeypatch.setattr(ray_backend, "leased", absent)
    monkeypatch.setattr(local, "leased", absent)
    found, missing = get_runs(PageState(text=TEXT).ask)
    assert found == {}
    assert [str(missing[key]).endswith("it is gone.") for key in MODEL_KEYS] == [True] * 3
    assert [missing[key].spec.key for key in MODEL_KEYS] == list(MODEL_KEYS)


@pytest.mark.processes
def test_a_lesson_goes_on_beyond_the_wire_and_ends_with_its_listener(
    machine, tiny_family, few_questions
):
    settings = LiveSettings(layers=1, steps=12)
    told = runs.stream_live_distillation(
        tiny_family.specs["bert"], PageState().ask, settings, WatchedSentence()
    )
    assert [report.step for report in told if report] == list(range(13))
    again = runs.stream_live_distillation(
        tiny_family.specs["bert"], PageState().ask, settings, WatchedSentence()
    )
    assert next(again).step == 0
    assert loading.weight_memory._leases, "it goes on"
    again.close()
    assert not loading.weight_memory._leases, "the network is free again"


def test_what_its_visitor_does_not_wait_for_is_not_begun(machine, tiny_family, monkeypatch):
    """The page notices, hangs up, and the machine drops what waits for its worker."""
    began, release, left = threading.Event(), threading.Event(), threading.Event()
    ran, real = [], local.job_named

    def job_named(name):
        def job(*arguments):
            ran.append(name)
            began.set()
            assert release.wait(60)
            return real(name)(*arguments)

        return job

    monkeypatch.setattr(local, "job_named", job_named)
    configure(has_left=lambda: left.is_set)
    signs, event = [], threading.Event
    monkeypatch.setattr(ray_backend, "Event", lambda: signs.append(event()) or signs[-1])
    spec, failed = tiny_family.specs["bert"], []
    states = np.zeros((1, spec.architecture.d_model), np.float32)

    def asking():
        try:
            call_on_model(forward.state_logits, spec, PageState().ask, states)
        except Cancelled as error:
            failed.append(error)

    threads = [threading.Thread(target=asking) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert began.wait(60)
    until(lambda: machine.beside._backend._workers._work_queue.qsize() == 1)
    left.set()
    for thread in threads:
        thread.join(60)
    until(lambda: all(sign.is_set() for sign in signs[-2:]))
    release.set()
    until(lambda: machine.beside._backend._workers._work_queue.qsize() == 0)
    assert len(failed) == 2
    assert len(ran) == 1


def test_where_nothing_is_timed_the_page_says_so(monkeypatch):
    monkeypatch.setattr(MEASUREMENT_LOCK, "_refusal", "Not here.")
    with pytest.raises(CannotMeasure, match="Not here"), MEASUREMENT_LOCK.measure():
        pytest.fail("it measured")
    with MEASUREMENT_LOCK.infer():
        pass


def test_a_latency_question_is_refused_where_nothing_is_timed(monkeypatch):

    from explorer.ui.kit.strings import ELSEWHERE
    from tests.endpoints import latency

    monkeypatch.setattr(MEASUREMENT_LOCK, "_refusal", ELSEWHERE)
    with pytest.raises(Refusal, match="Timing is off here"):
        latency("mini", 16, 1, 3, "cpu", "float32")
    assert json.dumps(ELSEWHERE)
