"""What is timed: the right work, on the right clock, and it can be stopped in the middle."""

import threading
from types import SimpleNamespace

import pytest
import torch

from explorer.context import configure
from explorer.models import loading
from explorer.models.choice import memory
from explorer.models.specs import BASE
from explorer.scheduling.cancel import Cancelled, CancelToken
from explorer.timing import networks
from explorer.timing import protocol as timing
from explorer.timing.networks import (
    element_size,
    forget_timed_networks,
    has_weights,
    int8_network,
    timed_network,
    weight_bytes,
)
from explorer.timing.protocol import (
    event_stopwatch,
    forward_call,
    interruptible,
    stolen_seconds,
    thread_width,
    timed_ids,
    waiting_stopwatch,
)
from explorer.timing.workload import Workload
from tests.timing.native import native_threads, needs_list
from tests.tiny_models import WIDTH

KEYS = ("bert", "distilbert", "albert")


class FakeDevice:
    """A device that works through its queue only when waited for."""

    def __init__(self):
        self.queue, self.now_ms, self.passed = [], 0.0, {}

    def submit(self, ms):
        self.queue.append(("work", ms))

    def event(self):
        return FakeEvent(self)

    def run_until(self, mark):
        while self.queue:
            kind, value = self.queue.pop(0)
            if kind == "work":
                self.now_ms += value
                continue
            self.passed[value] = self.now_ms
            if value is mark:
                return


class FakeEvent:
    def __init__(self, device):
        self.device = device

    def record(self):
        self.device.queue.append(("mark", self))

    def synchronize(self):
        self.device.run_until(self)

    def elapsed_time(self, end):
        return self.device.passed[end] - self.device.passed[self]


def test_cuda_events_time_the_device_and_not_the_queueing():
    device = FakeDevice()
    timed = event_stopwatch(device.event)
    assert timed(lambda: device.submit(40)) == pytest.approx(0.040)


def test_work_queued_before_is_not_charged():
    device = FakeDevice()
    device.submit(1000)
    assert event_stopwatch(device.event)(lambda: device.submit(7)) == pytest.approx(0.007)


def test_devices_without_events_are_waited_for_on_both_sides():
    device = FakeDevice()
    device.submit(1000)
    timed = waiting_stopwatch(lambda: device.run_until(None), lambda: device.now_ms / 1e3)
    assert timed(lambda: device.submit(7)) == pytest.approx(0.007)


def test_cuda_workloads_use_cuda_events(monkeypatch):
    device = FakeDevice()
    monkeypatch.setattr(torch.cuda, "Event", lambda enable_timing: device.event())
    timed = timing.stopwatch(Workload(device="cuda", clock="device"))
    assert timed(lambda: device.submit(3)) == pytest.approx(0.003)


def test_compute_clock_counts_the_threads_own_work_and_the_other_clock_all_that_passes(monkeypatch):
    own, wall = [10.0], [20.0]
    clocks = SimpleNamespace(thread_time=lambda: own[0], perf_counter=lambda: wall[0])
    monkeypatch.setattr(timing, "time", clocks)

    def call():
        own[0] += 1
        wall[0] += 5

    assert timing.stopwatch(Workload())(call) == 1
    assert timing.stopwatch(Workload(clock="wait"))(call) == 5


@needs_list
def test_one_thread_means_that_torch_spawns_no_other():
    """Where it may take two, it does."""
    found = []

    def work():
        a = torch.ones(500, 500)
        torch.set_num_threads(2)
        before = native_threads()
        with thread_width("compute") as width:
            a @ a
            found.append((width, native_threads() - before))
        a @ a
        found.append(native_threads() - before)

    before = torch.get_num_threads()
    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    torch.set_num_threads(before)
    (width, beside), of_two = found
    assert width == 1
    assert not beside
    assert len(of_two) == 1


def test_thread_width_is_put_back():
    before = torch.get_num_threads()
    with thread_width("compute"):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("head", [False, True])
def test_the_call_runs_the_encoder_and_the_head_exactly_when_asked(tiny_family, key, head):
    loaded = tiny_family.loaded(key)
    workload = Workload(length=9, batch=2, head=head)
    products = []
    handles = [
        module.register_forward_hook(lambda m, i, out: products.append(tuple(out.shape)))
        for module in loaded.network.modules()
        if isinstance(module, torch.nn.Linear)
    ]
    try:
        forward_call(loaded.spec, loaded.network, workload)()
    finally:
        for handle in handles:
            handle.remove()
    vocabulary = loaded.network.config.vocab_size
    assert ((2, 9, vocabulary) in products) is head
    n_layers = loaded.spec.architecture.n_layers
    assert sum(shape == (2, 9, 4 * WIDTH) for shape in products) == n_layers


def test_ids_are_the_same_every_time_and_fit_the_vocabulary(tiny_family):
    spec = tiny_family.specs["bert"]
    first, second = (timed_ids(spec, Workload(length=50, batch=3)) for _ in range(2))
    assert torch.equal(first, second)
    assert first.shape == (3, 50)
    assert 0 <= int(first.min()) <= int(first.max()) < spec.architecture.d_vocab


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("long_layer", [0, 1e18])
def test_a_pass_is_stopped_in_its_middle(tiny_family, key, long_layer, monkeypatch):
    monkeypatch.setattr(timing, "LONG_LAYER", long_layer)
    loaded, seen = tiny_family.loaded(key), []

    def check():
        seen.append(1)
        if len(seen) == 3:
            raise Cancelled("stopped")

    call = forward_call(loaded.spec, loaded.network, Workload(length=8))
    with (
        interruptible([(loaded.spec, loaded.network)], 8, check),
        pytest.raises(Cancelled),
    ):
        call()
    seen.clear()
    call()
    assert not seen, "the hooks outlived the measurement"


def test_every_product_of_a_long_8_bit_pass_looks_at_the_stop_sign(tiny_family, monkeypatch):
    monkeypatch.setattr(timing, "LONG_LAYER", 0)
    spec, seen = tiny_family.specs["distilbert"], []
    with (
        timed_network(spec, Workload()) as timed,
        int8_network(timed) as int8,
        interruptible([(spec, int8.network)], 32, lambda: seen.append(1)),
    ):
        forward_call(spec, int8.network, Workload())()
    assert len(seen) >= 6 * spec.architecture.n_layers


def test_looking_at_the_stop_sign_does_not_change_the_result(tiny_family):
    loaded = tiny_family.loaded("albert")
    ids = timed_ids(loaded.spec, Workload())
    with torch.inference_mode():
        plain = loaded.network.base_model(input_ids=ids).last_hidden_state
        with interruptible([(loaded.spec, loaded.network)], 32, CancelToken().check):
            watched = loaded.network.base_model(input_ids=ids).last_hidden_state
    assert torch.equal(plain, watched)


def test_pressure_is_read_from_the_some_line(tmp_path, monkeypatch):
    path = tmp_path / "cpu"
    path.write_text("some avg10=1.00 avg60=2.00 avg300=3.00 total=1500000\nfull avg10=0 total=9\n")
    monkeypatch.setattr(timing, "PRESSURE", path)
    assert stolen_seconds() == 1.5
    path.write_text("nonsense")
    assert stolen_seconds() is None
    monkeypatch.setattr(timing, "PRESSURE", tmp_path / "absent")
    assert stolen_seconds() is None


def test_the_explorers_own_network_is_timed_where_it_has_one(tiny_family):
    spec = tiny_family.specs["distilbert"]
    assert has_weights(spec)
    with timed_network(spec, Workload()) as timed:
        assert timed.weights == "bundled"
        assert timed.network is tiny_family.loaded("distilbert").network


def test_weights_are_counted_once_however_often_they_are_tied(tiny_family):
    network = tiny_family.loaded("bert").network
    by_storage = {p.data_ptr(): p.numel() * p.element_size() for p in network.state_dict().values()}
    buffers = {b.data_ptr() for b in network.buffers()}
    expected = sum(size for pointer, size in by_storage.items() if pointer not in buffers)
    assert weight_bytes(network) == expected
    assert element_size("bfloat16") == 2


def test_ids_hold_no_special_token(tiny_family):
    """Every word costs the same, but [PAD] or [MASK] would be a text that nobody reads."""
    for key in KEYS:
        loaded = tiny_family.loaded(key)
        ids = timed_ids(loaded.spec, Workload(length=512, batch=8)).flatten().tolist()
        assert not set(ids) & set(loaded.tokenizer.all_special_ids)
    assert int(timed_ids(BASE["bert"], Workload(length=512, batch=8)).min()) >= 1000


@pytest.mark.long
def test_random_networks_are_kept_within_the_memory_that_all_networks_share(monkeypatch):
    drawn = []
    monkeypatch.setattr(networks, "has_weights", lambda spec: False)
    monkeypatch.setattr(
        networks, "random_network", lambda spec, check: drawn.append(spec) or torch.nn.Linear(1, 1)
    )
    monkeypatch.setattr(loading, "_loaded", {})
    first, second, third = BASE.values()
    room = sum(map(memory.weight_bytes, (first, second, third))) - 1
    configure(memory_limit=room)
    monkeypatch.setattr(memory, "running_bytes", lambda *_: 0)
    for spec in (first, second, first, second, third):
        with timed_network(spec, Workload(length=8)):
            assert loading.weight_memory.used_bytes(loading._loaded) <= room
    assert drawn == [first, second, third]
    with timed_network(first, Workload(length=8)):
        assert drawn == [first, second, third, first]
    forget_timed_networks()
    assert not loading._loaded


def test_the_sign_is_looked_at_in_the_passes_of_the_thread_that_measures_alone(tiny_family):
    """A visitor for whom the measurement gives way runs the same network meanwhile."""
    loaded, seen = tiny_family.loaded("bert"), []
    call = forward_call(loaded.spec, loaded.network, Workload(length=8))
    with interruptible([(loaded.spec, loaded.network)], 8, lambda: seen.append(1)):
        visitor = threading.Thread(target=call)
        visitor.start()
        visitor.join(60)
        assert not seen
        call()
        assert len(seen) == loaded.spec.architecture.n_layers
