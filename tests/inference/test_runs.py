"""One forward pass per (model, text): computed once, kept within bounds, never during a measurement."""

import inspect
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import pytest

from explorer.context import configure
from explorer.inference import runs
from explorer.inference.backend import JOBS, UnknownJob, job_named, name_of
from explorer.inference.cache import LEAST_BYTES, ResultCache, size_of
from explorer.inference.local import LocalBackend
from explorer.inference.runs import get_run, get_runs
from explorer.inference.worker_queues import LONG, VISITOR
from explorer.links.page_state import PageState
from explorer.models import forward
from explorer.models.hub import ModelUnavailable
from explorer.models.specs import MODEL_KEYS
from explorer.models.tokens import BadText
from explorer.scheduling.cancel import Cancelled
from explorer.scheduling.measurement_lock import MeasurementLock
from tests.waiting import until


class SizedResult:
    """Stand for a run: the cache reads only its bytes."""

    def __init__(self, n_bytes):
        self.n_bytes = n_bytes


@dataclass
class Pair:
    array: np.ndarray
    name: str


def key(name):
    return (name, "text", "cpu", "float32")


def asked(cache, key, compute):
    """Return the run of a key as every caller gets it: the first to claim it computes it."""
    future, mine = cache.claim(key)
    if mine:
        made = Future()
        try:
            made.set_result(compute())
        except Exception as error:
            made.set_exception(error)
        cache.settle(key, made)
    return future.result()


def in_threads(jobs):
    threads = [threading.Thread(target=job, daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert not any(thread.is_alive() for thread in threads)


def test_twenty_threads_asking_for_one_key_compute_it_once():
    cache, found, calls, asking = ResultCache(), [], [], []

    def compute():
        calls.append(1)
        until(lambda: len(asking) == 20)
        return SizedResult(1)

    def ask():
        asking.append(1)
        found.append(asked(cache, key("bert"), compute))

    in_threads([ask] * 20)
    assert len(calls) == 1
    assert len(found) == 20
    assert len({id(run) for run in found}) == 1


def test_different_keys_do_not_wait_for_each_other():
    cache, both = ResultCache(), threading.Barrier(2, timeout=300)

    def compute():
        both.wait()
        return SizedResult(1)

    in_threads([lambda name=name: asked(cache, key(name), compute) for name in "ab"])


def test_the_cache_stays_within_its_bytes_and_forgets_the_oldest_first():
    cache = ResultCache(limit=100)
    for name in "abc":
        asked(cache, key(name), lambda: SizedResult(40))
        asked(
            cache, key("a"), lambda: pytest.fail("a was used a moment ago and must still be there")
        )
    assert cache.n_bytes == 80
    again = []
    asked(cache, key("b"), lambda: again.append(1) or SizedResult(40))
    assert again == [1]


def test_one_run_larger_than_the_bound_is_still_kept():
    cache = ResultCache(limit=10)
    asked(cache, key("a"), lambda: SizedResult(50))
    asked(cache, key("a"), lambda: pytest.fail("it was there"))
    asked(cache, key("b"), lambda: SizedResult(50))
    assert cache.n_bytes == 50
    cache.clear()
    assert cache.n_bytes == 0


def test_runs_and_results_share_the_bytes_and_each_is_computed_once():
    cache, computed = ResultCache(limit=1000), []

    def numbers():
        computed.append(1)
        return np.zeros(50)

    first = cache.memo(("numbers", "a"), numbers)
    assert cache.memo(("numbers", "a"), numbers) is first
    assert (len(computed), cache.n_bytes) == (1, 400)
    asked(cache, key("b"), lambda: SizedResult(500))
    assert cache.get(("numbers", "a")) is first, "used last"
    asked(cache, key("c"), lambda: SizedResult(500))
    assert key("b") not in cache
    assert cache.n_bytes == 900
    assert cache.get(("numbers", "b")) is None
    cache.put(("numbers", "a"), np.zeros(10))
    assert cache.n_bytes == 580, "the old value counts no more"


def test_a_result_is_as_large_as_its_arrays_and_texts():
    array = np.zeros((3, 5), np.float32)
    assert size_of(array) == 60
    assert size_of((array, [array])) == 120 + 2 * LEAST_BYTES
    assert size_of({"a": array}) == 60 + LEAST_BYTES
    assert size_of("word") == 4 + LEAST_BYTES
    assert size_of(SizedResult(7)) == 7
    assert size_of(Pair(array, "a")) == 60 + 1 + 2 * LEAST_BYTES
    assert size_of(None) == LEAST_BYTES


def test_a_failure_reaches_everyone_waiting_and_is_not_kept():
    cache, seen, asking = ResultCache(), [], []

    def fail():
        until(lambda: len(asking) == 5)
        raise BadText("too long")

    def ask():
        asking.append(1)
        try:
            asked(cache, key("a"), fail)
        except BadText as error:
            seen.append(str(error))

    in_threads([ask] * 5)
    assert seen == ["too long"] * 5
    assert asked(cache, key("a"), lambda: SizedResult(3)).n_bytes == 3


def test_the_same_text_runs_no_model_again(tiny_family, monkeypatch):
    calls = []
    original = forward.run_model
    monkeypatch.setattr(forward, "run_model", lambda *a: calls.append(1) or original(*a))
    first, missing = get_runs(PageState(text="The cat sat on the [MASK].").ask)
    assert list(first) == list(MODEL_KEYS)
    assert missing == {}
    for text in ("The cat sat on the [MASK].", " the cat"[:0] + "The cat sat on the <mask>."):
        state = PageState(text=text, tab="attention", layer=3, temperature=7.0)
        again, _ = get_runs(state.ask)
        assert all(again[k] is first[k] for k in MODEL_KEYS)
    assert len(calls) == 3


def test_many_visitors_at_once_get_what_each_asked_for(tiny_family):
    texts = [f"The cat sat on the {'[MASK] ' * (i % 4)}mat {i}." for i in range(6)]
    alone = {text: get_runs(PageState(text=text).ask)[0] for text in texts}
    runs.CACHE.clear()
    found = {}
    in_threads([lambda t=t: found.update({t: get_runs(PageState(text=t).ask)[0]}) for t in texts])
    for text in texts:
        for model in MODEL_KEYS:
            expected, got = alone[text][model], found[text][model]
            assert got.tokens == expected.tokens
            np.testing.assert_allclose(got.attention, expected.attention, atol=1e-5)
            np.testing.assert_allclose(got.mask_logits, expected.mask_logits, atol=1e-3)


def test_texts_that_come_during_a_pass_share_the_next(tiny_family, monkeypatch):
    """Three shorter than a quarter more share; the long one has a pass of its own."""
    passes, release, first = [], threading.Event(), threading.Event()
    together = forward.run_together

    def spy(loaded, texts):
        passes.extend([[tokens.text for tokens in texts]] if texts else [])
        if texts and texts[0].text == "the cat":
            first.set()
            assert release.wait(300)
        return together(loaded, texts)

    monkeypatch.setattr(forward, "run_together", spy)
    bert, long = tiny_family.specs["bert"], "the cat sat on the mat " * 6
    texts = ["the cat", "the cat [MASK]", "a dog sat", long.strip(), "the mat sat", "  "]
    # One worker: whoever comes second finds it busy.
    configure(backend=LocalBackend(1))
    asked = [runs.start_run(bert, PageState(text=texts[0]).ask, None)]
    assert first.wait(300)
    asked += [runs.start_run(bert, PageState(text=text).ask, None) for text in texts[1:]]
    release.set()
    for text, future in zip(texts[:-1], asked, strict=False):
        assert future.result(300).tokens.text == text
    with pytest.raises(BadText):
        asked[-1].result(300)
    assert passes == [["the cat"], ["the cat [MASK]", "a dog sat", "the mat sat"], [long.strip()]]


def test_one_missing_model_leaves_the_other_two(tiny_family, tmp_path, monkeypatch):
    import shutil

    from explorer.models import loading, specs

    shutil.copytree(tiny_family.path, tmp_path / "models")
    shutil.rmtree(tmp_path / "models" / "mini-distilbert")
    monkeypatch.setattr(specs, "BUNDLED", tmp_path / "models")
    monkeypatch.setattr(loading, "_loaded", {})
    found, missing = get_runs(PageState(text="the cat").ask)
    assert list(found) == ["bert", "albert"]
    assert isinstance(missing["distilbert"], ModelUnavailable)
    assert str(missing["distilbert"]).count(".") == 1


def test_a_slow_download_keeps_no_other_visitor_waiting(tiny_family, monkeypatch):
    from explorer.models import loading, specs

    arrived, waiting = threading.Event(), threading.Event()
    original = loading.checkpoint_path

    def slow(spec, report):
        if not spec.repo:
            return original(spec, report)
        waiting.set()
        arrived.wait(60)
        raise ModelUnavailable(spec, "the test is over")

    monkeypatch.setattr(loading, "checkpoint_path", slow)
    answers = []
    base = PageState(text="the cat", family="base")
    visitors = [
        threading.Thread(target=lambda: answers.append(get_runs(base.ask))) for _ in range(2)
    ]
    for visitor in visitors:
        visitor.start()
    try:
        assert waiting.wait(300)
        assert len(get_runs(PageState(text="the dog").ask)[0]) == 3
        assert answers == []
    finally:
        arrived.set()
        for visitor in visitors:
            visitor.join(300)
    assert [(runs, list(missing)) for runs, missing in answers] == [
        ({}, list(specs.MODEL_KEYS))
    ] * 2


def test_a_bad_text_is_one_sentence_and_the_next_request_works(tiny_family):
    with pytest.raises(BadText):
        get_runs(PageState(text="  ").ask)
    with pytest.raises(BadText, match="512 fit"):
        get_runs(PageState(text="cat " * 600).ask)
    assert len(get_runs(PageState(text="the cat").ask)[0]) == 3


@pytest.mark.parametrize("n", [0, 1, 50])
def test_no_mask_one_mask_fifty_masks(tiny_family, n):
    run = get_run(tiny_family.specs["albert"], PageState(text="the cat " + "[MASK] " * n).ask)
    assert run.mask_logits.shape[0] == n == len(run.tokens.mask_positions)


def test_an_absent_device_becomes_one_that_is_here(tiny_family):
    state = replace(PageState(text="the cat"), device="cuda")
    run = get_run(tiny_family.specs["bert"], state.ask)
    assert run.device in runs.devices()


def test_inferences_run_together():
    slot, together = MeasurementLock(), threading.Barrier(3, timeout=300)

    def infer():
        with slot.infer():
            together.wait()

    in_threads([infer] * 3)
    assert not together.broken


def entering_thread(hold):
    """Return a thread that enters a part of the lock, and the event set once it is inside."""
    inside = threading.Event()

    def enter():
        with hold():
            inside.set()

    thread = threading.Thread(target=enter, daemon=True)
    thread.start()
    return thread, inside


def test_a_measurement_waits_for_the_inferences_that_run_and_shuts_the_door():
    slot = MeasurementLock()
    with slot.infer():
        measuring, measured = entering_thread(slot.measure)
        until(lambda: slot.is_measuring)
        inferring, inferred = entering_thread(slot.infer)
        assert not measured.wait(0.05), "it measured beside an inference"
        assert not inferred.wait(0.05), "an inference slipped in before the measurement"
    for thread in (measuring, inferring):
        thread.join(300)
    assert measured.is_set()
    assert inferred.is_set()


def test_nothing_runs_beside_a_measurement():
    slot = MeasurementLock()
    with slot.measure():
        others = [entering_thread(slot.infer), entering_thread(slot.measure)]
        assert not any(inside.wait(0.05) for _, inside in others)
    for thread, inside in others:
        thread.join(300)
        assert inside.is_set()


def test_a_measurement_that_fails_opens_the_door_again():
    slot = MeasurementLock()
    with pytest.raises(ZeroDivisionError), slot.measure():
        raise ZeroDivisionError
    with pytest.raises(ZeroDivisionError), slot.infer():
        raise ZeroDivisionError
    in_threads([lambda: slot.measure().__enter__()])


@dataclass
class Busy:
    """A single worker, blocked until ``release`` is set, so that the order is certain."""

    part: Callable
    release: threading.Event
    order: list


@pytest.fixture
def busy(tiny_family, monkeypatch):
    from explorer.models import forward

    began, release, order = threading.Semaphore(0), threading.Event(), []

    def part(loaded, rows):
        order.append("part")
        began.release()
        assert release.wait(60)
        return len(rows)

    monkeypatch.setattr(forward, "row_logits", part)
    part.__module__, part.__qualname__ = "explorer.models.forward", "row_logits"
    configure(backend=LocalBackend(1))
    spec, state = tiny_family.specs["bert"], PageState()
    asked = ThreadPoolExecutor(1).submit(runs.call_on_model, part, spec, state, (1, 2))
    assert began.acquire(timeout=60)
    yield Busy(part, release, order)
    release.set()
    assert asked.result(60) == 2


def test_a_run_already_there_waits_for_no_worker(tiny_family, request):
    kept = tiny_family.run("bert", "a [MASK]")
    request.getfixturevalue("busy")
    assert tiny_family.run("bert", "a [MASK]") is kept


def test_a_compare_waits_for_the_passes_in_flight_and_for_no_other_part_of_long_work(
    tiny_family, busy, monkeypatch
):
    """Twelve parts of somebody's long work wait for a worker when the text comes; it goes first."""
    spec, ask = tiny_family.specs["bert"], PageState(text="the dog [MASK] on a mat").ask
    together, pool, place = forward.run_together, ThreadPoolExecutor(13), runs.backend()

    def run_together(loaded, texts):
        busy.order.append("run")
        return together(loaded, texts)

    monkeypatch.setattr(forward, "run_together", run_together)
    long_work = [pool.submit(runs.call_on_model, busy.part, spec, ask, (1, 2)) for _ in range(12)]
    until(lambda: place._queues.waiting(LONG) == 12)
    asked = pool.submit(get_runs, ask)
    until(lambda: place._queues.waiting(VISITOR) == 3)
    busy.release.set()
    assert set(asked.result(60)[0]) == set(MODEL_KEYS)
    assert [part.result(60) for part in long_work] == [2] * 12
    assert busy.order == ["part", *["run"] * 3, *["part"] * 12]


def test_only_what_is_on_the_list_runs_beside_the_weights(tiny_family):
    """A job is named by the page: a place must not run whatever it is told to."""
    spec, state = tiny_family.specs["bert"], PageState()
    for job in (lambda loaded: loaded, tiny_family.loaded, os.system):
        with pytest.raises(UnknownJob):
            runs.call_on_model(job, spec, state.ask)
    with pytest.raises(UnknownJob):
        job_named("os:system")


def test_every_job_on_the_list_is_there_and_takes_what_it_is_said_to():
    for name, way in JOBS.items():
        first = next(iter(inspect.signature(job_named(name)).parameters))
        assert (first == "key") is not way.takes_network, name
        assert name_of(job_named(name)) == name


def test_models_run_on_few_threads_whoever_asks(tiny_family, monkeypatch):
    import torch

    seen, run_model = [], forward.run_model

    def spy(loaded, tokens):
        seen.append((torch.get_num_threads(), threading.current_thread().name))
        return run_model(loaded, tokens)

    monkeypatch.setattr(forward, "run_model", spy)
    tiny_family.run("albert", "on the [MASK]")
    assert seen[0][1].startswith("model")
    assert seen[0][0] == max(1, (os.cpu_count() or 1) // 3)


def test_the_workers_do_nothing_for_a_visitor_who_has_left(tiny_family, busy, monkeypatch):
    left = threading.Event()
    configure(has_left=lambda: left.is_set)
    spec, state = tiny_family.specs["albert"], PageState()
    states = np.zeros((1, spec.architecture.d_model), np.float32)
    waits = ThreadPoolExecutor(1).submit(
        runs.call_on_model, forward.state_logits, spec, state, states
    )
    until(lambda: runs.backend()._workers._work_queue.qsize() > 0)
    left.set()
    busy.release.set()
    with pytest.raises(Cancelled):
        waits.result(60)
    left.clear()
    assert runs.call_on_model(forward.state_logits, spec, state.ask, states).shape[0] == 1
