"""Networks stay within their memory whoever chooses what, and one in use is never evicted."""

import ast
import gc
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import explorer
from explorer.analysis.claims import checks
from explorer.analysis.parameters.shapes import shape_memory
from explorer.context import configure, context
from explorer.inference.backend import JOBS, JobPolicy
from explorer.inference.local import LocalBackend
from explorer.inference.runs import CACHE, get_runs, start_run
from explorer.links.page_state import PageState
from explorer.models import forward, loading
from explorer.models.architectures import meta_network
from explorer.models.choice import memory
from explorer.models.choice.family import all_specs, column, family_specs
from explorer.models.hub import ModelUnavailable
from explorer.models.inside import activations
from explorer.models.loading import is_loaded, leased, load_model
from explorer.models.specs import MODEL_KEYS, NetworkKey
from explorer.scheduling.cancel import Cancelled
from explorer.timing.networks import timed_network
from explorer.timing.workload import Workload
from tests.models.choice.seven_sizes import narrow, save_seven
from tests.sources import tree_of

TEXT = "The [MASK] sat on the mat."
BERT, DISTIL, ALBERT = "bert-base-uncased", "distilbert-base-uncased", "albert-base-v2"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("seven")
    save_seven(folder)
    return folder


@pytest.fixture(scope="module", autouse=True)
def frozen_garbage():
    """Leave what is there out of collections, of which each eviction makes one: a third of a second."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module")
def read_once():
    """Reads each checkpoint once for all tests; every time it is asked it gives a new network."""
    found, read = {}, loading.read_checkpoint

    def read_checkpoint(spec, path, device, dtype):
        if spec.name not in found:
            found[spec.name] = read(spec, path, device, dtype)
        return replace(found[spec.name], lock=threading.Lock())

    return read_checkpoint


@pytest.fixture(autouse=True)
def fresh(folder, tiny_family, read_once, monkeypatch):
    with narrow(monkeypatch, folder):
        monkeypatch.setattr(loading, "read_checkpoint", read_once)
        monkeypatch.setattr(memory, "WAIT_S", 60.0)
        yield
    threads = {thread.ident: thread.name for thread in threading.enumerate()}
    assert not loading.weight_memory._leases, f"every lease has been given back; threads: {threads}"
    assert not loading.weight_memory._claims
    assert not loading.weight_memory._forgotten
    assert loading.weight_memory._loading_bytes.total() == loading.weight_memory._pass_bytes == 0


def limit(monkeypatch, *names):
    """Room for these; what a pass takes besides would outweigh networks that are so narrow."""
    specs = [all_specs()[name] for name in names]
    for module in (memory, loading):
        monkeypatch.setattr(module, "running_bytes", lambda *_: 0)
    configure(memory_limit=sum(map(memory.weight_bytes, specs)))


def spec_of(name):
    return all_specs()[name]


def key_of(name):
    return NetworkKey(spec_of(name), "cpu", "float32")


def has_network(name):
    return is_loaded(*key_of(name))


def until(condition):
    """Wait for a condition that another thread brings about."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def weight_of(*names):
    return sum(memory.weight_bytes(spec_of(name)) for name in names)


@pytest.mark.parametrize("name", all_specs())
def test_the_bytes_are_those_of_the_modules(name):
    spec = all_specs()[name]
    network = meta_network(spec)
    heads = ("seq_relationship", "sop_classifier")
    counted = sum(
        p.numel() for n, p in network.named_parameters() if not any(h in n for h in heads)
    )
    assert memory.weight_bytes(spec) == 4 * counted
    assert memory.weight_bytes(spec, "bfloat16") == 2 * counted


def test_the_least_recently_used_leaves_first(monkeypatch):
    limit(monkeypatch, BERT, ALBERT)
    for name in (BERT, ALBERT, BERT, DISTIL):
        load_model(spec_of(name))
    assert has_network(DISTIL)
    assert not has_network(ALBERT)


def test_an_idle_one_leaves_before_an_older_one_in_use(monkeypatch):
    limit(monkeypatch, BERT, DISTIL)
    with leased(spec_of(BERT)):
        load_model(spec_of(DISTIL))
        load_model(spec_of(ALBERT))
        assert has_network(BERT)
        assert not has_network(DISTIL)


def idle_frame(network):
    """A frame that refers to a network and does nothing, as one that a debugger has stopped."""
    yield network


def test_references_do_not_keep_an_idle_network(monkeypatch):
    limit(monkeypatch, BERT)
    stopped, watched = None, []
    with leased(spec_of(BERT)) as network:
        stopped = idle_frame(network)
        watched.append(next(stopped))
    del network
    load_model(spec_of(DISTIL))
    assert not has_network(BERT)
    assert watched[0].spec.name == BERT
    stopped.close()


def test_one_in_use_stays_until_it_is_given_back(monkeypatch):
    limit(monkeypatch, BERT)
    monkeypatch.setattr(memory, "WAIT_S", 0.0)
    with leased(spec_of(BERT)) as used, leased(spec_of(BERT)) as again:
        assert used is again
        with pytest.raises(ModelUnavailable, match="the memory is in use; please try again"):
            load_model(spec_of(DISTIL))
        assert has_network(BERT)
    assert load_model(spec_of(DISTIL)).spec.name == DISTIL
    assert not has_network(BERT)


def test_whoever_waits_gets_the_room_when_it_is_given_back(monkeypatch):
    limit(monkeypatch, BERT)
    held = ExitStack()
    held.enter_context(leased(spec_of(BERT)))
    with ThreadPoolExecutor(1) as other:
        found = other.submit(load_model, spec_of(DISTIL))
        until(lambda: loading.weight_memory._claims)
        assert has_network(BERT)
        held.close()
        assert found.result(60).spec.name == DISTIL
    assert not has_network(BERT)


def test_those_who_share_one_in_turn_do_not_keep_out_who_waits_for_its_room(monkeypatch):
    """A newcomer waits behind; whoever has a lease already is not made to wait for himself."""
    limit(monkeypatch, BERT)
    order, held = [], ExitStack()
    held.enter_context(leased(spec_of(BERT)))

    def use(name):
        with leased(spec_of(name)):
            order.append(name)

    with ThreadPoolExecutor(2) as others:
        first = others.submit(use, DISTIL)
        until(lambda: loading.weight_memory._claims)
        second = others.submit(use, BERT)
        use(BERT)
        assert order == [BERT]
        assert not second.done()
        held.close()
        first.result(60)
        second.result(60)
    assert order == [BERT, DISTIL, BERT]


def test_a_pass_under_way_counts_and_idle_networks_leave_for_it(monkeypatch):
    limit(monkeypatch, BERT, ALBERT)
    load_model(spec_of(ALBERT))
    with leased(spec_of(BERT)):
        before = loading.weight_memory.used_bytes(loading._loaded)
        for module in (memory, loading):
            monkeypatch.setattr(module, "running_bytes", lambda *_: 1000)
        with loading.reserve_pass(spec_of(BERT), "float32"):
            assert has_network(BERT)
            assert not has_network(ALBERT)
            monkeypatch.setattr(memory, "WAIT_S", 0.0)
            with pytest.raises(ModelUnavailable, match="the memory is in use"):
                load_model(spec_of(ALBERT))
        assert loading.weight_memory.used_bytes(loading._loaded) == before - weight_of(ALBERT)


def test_a_network_counts_once_while_it_comes_in_and_afterwards(monkeypatch):
    spec, seen = spec_of(BERT), []
    limit(monkeypatch, BERT)
    read = loading.read_checkpoint

    def watched(*asked):
        seen.append(loading.weight_memory.used_bytes(loading._loaded))
        return read(*asked)

    monkeypatch.setattr(loading, "read_checkpoint", watched)
    with leased(spec):
        seen.append(loading.weight_memory.used_bytes(loading._loaded))
    assert seen == [memory.weight_bytes(spec)] * 2


def test_a_network_that_cannot_be_read_takes_nothing(monkeypatch):
    def damaged(*_):
        raise ModelUnavailable(spec_of(BERT), "its files are damaged or incomplete")

    limit(monkeypatch, BERT)
    with monkeypatch.context() as patched:
        patched.setattr(loading, "read_checkpoint", damaged)
        with pytest.raises(ModelUnavailable, match="damaged"):
            load_model(spec_of(BERT))
    assert loading.weight_memory.used_bytes(loading._loaded) == 0
    load_model(spec_of(DISTIL))


def test_one_that_is_forgotten_while_it_is_used_goes_when_it_is_given_back():
    with leased(spec_of(BERT)):
        loading.forget_model(*key_of(BERT))
        assert has_network(BERT)
    assert not has_network(BERT)
    load_model(spec_of(BERT))
    loading.forget_all(lambda name: name == BERT)
    assert not has_network(BERT)


def test_no_worker_loads_a_network(monkeypatch):
    """What left between a visitor's own loading and the pass is loaded by the visitor."""
    spec, begun = spec_of(BERT), []
    read = loading.read_checkpoint

    def watched(*asked):
        begun.append(threading.current_thread().name)
        return read(*asked)

    monkeypatch.setattr(loading, "read_checkpoint", watched)
    state = PageState(text=TEXT, family="bert=base")
    get_runs(state.ask)
    loading._loaded.clear()
    CACHE.clear()
    start_run(spec, state.ask).result()
    assert begun.count(threading.current_thread().name) == 1
    assert not [name for name in begun if name.startswith("model")]


def test_one_that_never_fits_is_refused_with_its_numbers_before_its_download(monkeypatch):
    configure(memory_limit=2_000_000)
    asked = []
    monkeypatch.setattr(loading, "checkpoint_path", lambda *a: asked.append(a))
    spec = spec_of("albert-xxlarge-v2")
    with pytest.raises(ModelUnavailable) as refused:
        load_model(spec)
    weights, running = memory.weight_bytes(spec), memory.running_bytes(spec)
    said = str(refused.value)
    assert memory.gigabytes(weights) in said
    assert memory.gigabytes(weights + running) in said
    assert "the networks may take 2.0 MB" in said
    assert asked == []


# Every way in which the program uses a network: a text, a job on a worker, one beside, one that is
# told step by step, one that is given a place instead of a network, and a measurement.


def stub_job(network, do):
    """Stand for any job of the list; ``do`` is called while it runs."""
    return do(network.spec.name)


def stub_loading_job(where, do):
    """Stand for a job that loads its own networks, as the live checks do."""
    with leased(*where) as network:
        return do(network.spec.name)


def stub_stream(network, do):
    """Stand for a job that streams its results, as live distillation does."""
    while True:
        yield do(network.spec.name)


@pytest.fixture
def jobs(monkeypatch):
    for job, way in (
        (stub_job, JobPolicy()),
        (stub_loading_job, JobPolicy(on_worker=False, takes_network=False)),
        (stub_stream, JobPolicy(on_worker=False)),
    ):
        monkeypatch.setitem(JOBS, f"{__name__}:{job.__name__}", way)
    monkeypatch.setitem(JOBS, f"{__name__}:aside", JobPolicy(on_worker=False))


aside = stub_job


def ask_text(do, monkeypatch):
    """A text's own pass."""
    together = forward.run_together

    def run_together(loaded, texts):
        do(loaded.spec.name)
        return together(loaded, texts)

    monkeypatch.setattr(forward, "run_together", run_together)
    return LocalBackend(1).run(key_of(BERT), TEXT, None).result()


def ask_job(name):
    def ask(do, _monkeypatch):
        return LocalBackend(1).call(key_of(BERT), f"{__name__}:{name}", (do,))

    return ask


def ask_stream(do, _monkeypatch):
    told = LocalBackend(1).stream(key_of(BERT), f"{__name__}:stub_stream", (do,))
    try:
        next(told)
        next(told)
    finally:
        told.close()


def ask_measurement(do, _monkeypatch):
    with timed_network(spec_of(BERT), Workload(length=8)) as timed:
        do(timed.spec.name)


def ask_check(do, monkeypatch):
    monkeypatch.setattr(
        checks,
        "check_result",
        lambda _, specimens: specimens.of_each(["bert"], lambda network: do(network.spec.name)),
    )
    checks.checked(key_of(BERT), "base", "LC07", 1)


def ask_neighbour(do, monkeypatch):
    """A network that is compared with another, which is loaded beside it."""
    monkeypatch.setattr(activations, "layer_cosines", lambda _, teacher: do(teacher.spec.name))
    with leased(spec_of(DISTIL)) as student:
        activations.cosines_with(student, spec_of(BERT))


USES = {
    "text": ask_text,
    "job": ask_job("stub_job"),
    "job beside": ask_job("aside"),
    "job of its own": ask_job("stub_loading_job"),
    "stream": ask_stream,
    "measurement": ask_measurement,
    "check": ask_check,
    "neighbour": ask_neighbour,
}


class PassFailed(Exception):
    """Error in the middle of a pass."""


@pytest.mark.parametrize("way", USES)
def test_a_network_is_not_evicted_while_it_is_used_and_can_be_afterwards(way, jobs, monkeypatch):
    limit(monkeypatch, BERT, DISTIL)
    monkeypatch.setattr(memory, "WAIT_S", 0.0)
    seen = []

    def look(name):
        with ThreadPoolExecutor(1) as visitor, pytest.raises(ModelUnavailable, match="in use"):
            visitor.submit(load_model, spec_of("bert-large-uncased")).result()
        seen.append(has_network(name))

    bert = weight_of(BERT)
    configure(memory_limit=weight_of("bert-large-uncased") + bert - 1)
    USES[way](look, monkeypatch)
    assert seen
    assert all(seen)
    assert not loading.weight_memory._leases
    load_model(spec_of("bert-large-uncased"))
    assert not has_network(BERT)


@pytest.mark.parametrize("way", USES)
def test_a_failure_in_the_middle_gives_the_lease_back(way, jobs, monkeypatch):
    def fail(name):
        assert any(key[0] == name for key in loading.weight_memory._leases)
        raise PassFailed

    with pytest.raises(PassFailed):
        USES[way](fail, monkeypatch)
    assert not loading.weight_memory._leases


def test_a_text_that_cannot_be_read_gives_the_lease_back():
    with pytest.raises(forward.BadText):
        LocalBackend(1).run(key_of(BERT), "word " * 600, None).result()
    assert not loading.weight_memory._leases


def test_an_iterator_that_nobody_ends_gives_the_lease_back(jobs):
    told = LocalBackend(1).stream(key_of(BERT), f"{__name__}:stub_stream", (str,))
    assert next(told) == BERT
    assert loading.weight_memory._leases
    del told
    gc.collect()
    assert not loading.weight_memory._leases


def test_whoever_leaves_while_his_job_waits_gives_the_lease_back(jobs, monkeypatch):
    """As a visitor does who closes the page: the job never begins."""
    left, door, entered, place = (
        threading.Event(),
        threading.Event(),
        threading.Event(),
        LocalBackend(1),
    )

    def busy(_name):
        entered.set()
        assert door.wait(60)

    configure(has_left=lambda: left.is_set)
    with ThreadPoolExecutor(2) as visitors:
        first = visitors.submit(place.call, key_of(BERT), f"{__name__}:stub_job", (busy,))
        assert entered.wait(60)
        second = visitors.submit(place.call, key_of(DISTIL), f"{__name__}:stub_job", (str,))
        until(lambda: any(key[0] == DISTIL for key in loading.weight_memory._leases))
        left.set()
        door.set()
        first.result(60)
        with pytest.raises(Cancelled):
            second.result(60)
    assert not loading.weight_memory._leases


@pytest.mark.long
def test_visitors_who_choose_differently_stay_within_it_and_get_right_answers(monkeypatch):
    """While their passes run no network in use is evicted, and those evicted are gone."""
    sizes = {key: [*column(key)][1:] for key in MODEL_KEYS}
    chosen = [
        ",".join(f"{key}={sizes[key][i % len(sizes[key])]}" for key in MODEL_KEYS)
        for i in range(12)
    ]
    asks = [PageState(text=f"{TEXT} {i}", family=family).ask for i, family in enumerate(chosen)]
    right = [get_runs(ask)[0] for ask in asks]
    assert len({spec.name for family in chosen for spec in family_specs(family)}) == 7
    loading._loaded.clear()
    CACHE.clear()
    gc.collect()
    limit(monkeypatch, "bert-large-uncased", "albert-xxlarge-v2")
    alive, lost, taken = weakref.WeakSet(), [], []
    read, run = loading.read_checkpoint, forward.run_together

    def read_checkpoint(*asked):
        with loading._registry:
            taken.append(loading.weight_memory.used_bytes(loading._loaded))
        alive.add(made := read(*asked))
        return made

    def run_together(loaded, texts):
        lost.append(not has_network(loaded.spec.name))
        found = run(loaded, texts)
        lost.append(not has_network(loaded.spec.name))
        return found

    monkeypatch.setattr(loading, "read_checkpoint", read_checkpoint)
    monkeypatch.setattr(forward, "run_together", run_together)
    with ThreadPoolExecutor(12) as visitors:
        found = list(visitors.map(get_runs, asks))
    for (runs, missing), expected in zip(found, right, strict=True):
        assert missing == {}
        assert runs.keys() == expected.keys()
        for key, run_of_key in runs.items():
            assert run_of_key.spec == expected[key].spec
            assert np.allclose(run_of_key.mask_logits, expected[key].mask_logits, atol=1e-5)
    assert lost
    assert not any(lost)
    assert max(taken) <= context().memory_limit
    assert len(taken) > 7, "some had to leave and to come back"
    until(lambda: gc.collect() is not None and set(alive) == set(loading._loaded.values()))


@pytest.mark.long
def test_only_programs_that_run_alone_use_a_network_without_a_lease():
    root = Path(explorer.__file__).parents[1]
    using = {
        path.relative_to(root).parts[0]
        for folder in ("explorer", "benchmarks")
        for path in (root / folder).rglob("*.py")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ImportFrom)
        and node.module == "explorer.models.loading"
        and any(alias.name == "load_model" for alias in node.names)
    }
    assert using == {"benchmarks"}


@pytest.mark.long
@pytest.mark.parametrize("name", all_specs())
def test_a_pass_takes_what_it_holds_and_at_most_its_copy_besides(name):
    """Of a long text mostly attentions, of a short one hidden states."""
    spec = all_specs()[name]
    for tokens in (8, min(512, spec.architecture.n_positions)):
        held = shape_memory(spec, tokens, 1, True).peak_bytes
        assert held <= memory.running_bytes(spec, tokens=tokens) <= 2 * held, tokens
