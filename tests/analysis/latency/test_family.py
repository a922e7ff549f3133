"""The family timed for real, and what follows from its numbers."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from explorer.analysis.latency import family
from explorer.analysis.latency.family import (
    FamilyLatency,
    Sweep,
    budget_of,
    family_peaks,
    last,
    measure_family,
    orders,
    pass_flops,
    roofline,
    share_of_limit,
    stored_parameters,
    streamed_bytes,
    sweep_points,
)
from explorer.analysis.latency.measure import Latency, RoundsPlan
from explorer.analysis.latency.passes import rows_of
from explorer.analysis.latency.report import family_report
from explorer.analysis.latency.size_vs_time import size_vs_time
from explorer.analysis.latency.variants import Variant, variant_latency
from explorer.models.architectures import meta_network
from explorer.models.specs import BASE, LARGER
from explorer.refusal import Refusal
from explorer.scheduling.cancel import Cancelled, CancelToken
from explorer.timing import protocol
from explorer.timing.networks import timed_network
from explorer.timing.protocol import device_peak_bytes, forward_call, highest, peak_bytes
from explorer.timing.runtimes import process as runtime_process
from explorer.timing.workload import Workload

FEW = RoundsPlan(budget_s=1e6, min_rounds=3, max_rounds=3, max_warm_rounds=1)


@pytest.mark.long
@pytest.mark.parametrize("key", ["bert", "distilbert", "albert"])
@pytest.mark.parametrize("head", [False, True])
@pytest.mark.parametrize(("length", "batch"), [(16, 1), (128, 2)])
def test_work_is_what_torch_counts_to_the_last_unit(key, head, length, batch):
    spec, workload = BASE[key], Workload(length, batch, head=head)
    network = meta_network(spec)
    ids = torch.zeros(batch, length, dtype=torch.long, device="meta")
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        hidden = network.base_model(input_ids=ids).last_hidden_state
        if head:
            words = getattr(network, "cls", None)
            if key == "bert":
                words.predictions(hidden)
            elif key == "albert":
                network.predictions(hidden)
            else:
                network.vocab_projector(network.vocab_transform(hidden))
    assert pass_flops(spec, workload) == counter.get_total_flops()


def test_stored_parameters_are_the_published_ones():
    found = {key: stored_parameters(spec) for key, spec in BASE.items()}
    assert found == {"bert": 109_482_240, "distilbert": 66_362_880, "albert": 11_683_584}


@pytest.mark.long
def test_a_family_is_timed_round_by_round(tiny_family):
    specs = tuple(tiny_family.specs.values())
    shots = list(measure_family(specs, Workload(length=8), FEW, CancelToken()))
    assert [shot.latency.n_rounds for shot in shots] == [1, 2, 3]
    final = shots[-1]
    assert final.weights == ("bundled",) * 3
    assert final.threads == 1
    assert np.all(final.latency.seconds > 0)
    networks = [tiny_family.loaded(spec.key).network.base_model for spec in specs]
    expected = [sum(p.nbytes for p in network.parameters()) for network in networks]
    assert list(final.weight_bytes) == expected


@pytest.mark.long
def test_a_pass_that_takes_minutes_is_stopped_in_its_middle(tiny_family):
    """The cancel token is checked before every product, so none of the rest is computed."""

    class StoppingToken(CancelToken):
        looks = 0

        def check(self):
            self.looks += 1
            if self.looks == 4:
                self.stop()
            super().check()

    cancel_token, spec = StoppingToken(), tiny_family.specs["bert"]
    shots = list(measure_family([spec], Workload(512, 4), RoundsPlan(budget_s=1e6), cancel_token))
    assert shots[-1].latency.ended == "stopped"
    assert shots[-1].latency.n_rounds == 0
    assert cancel_token.looks == 4


def test_peak_memory_matches_the_outputs_it_must_hold(tiny_family):
    loaded = tiny_family.loaded("bert")
    shape, length = loaded.spec.architecture, 64
    plain = peak_bytes(forward_call(loaded.spec, loaded.network, Workload(length)))
    looking = peak_bytes(forward_call(loaded.spec, loaded.network, Workload(length, looks=True)))
    kept = 4 * (
        shape.n_layers * shape.n_heads * length**2 + shape.n_layers * length * shape.d_model
    )
    assert plain >= 4 * length * shape.d_ffn
    assert looking >= kept
    assert looking - plain > 0.5 * kept
    peaks = family_peaks(rows_of([loaded.spec], Workload(length)), CancelToken())
    assert peaks[0] == pytest.approx(plain, rel=0.2)


@pytest.mark.long
def test_a_deadline_while_peaks_are_taken_keeps_the_measurement(tiny_family, monkeypatch):
    from explorer.timing import protocol

    class LateToken(CancelToken):
        late = reason = ""

        def check(self):
            if self.late:
                raise Cancelled(self.reason)

    def peak(call, device):
        cancel_token.late = "now"
        return 7

    monkeypatch.setattr(protocol, "peak_bytes", peak)
    specs, cancel_token = tuple(tiny_family.specs.values()), LateToken()
    cancel_token.reason = "deadline"
    report = family_report(specs, Workload(length=8), FEW, cancel_token)
    assert [m["peak_bytes"] for m in report["models"]] == [7, None, None]
    assert report["protocol"]["rounds"] == 3
    cancel_token.late, cancel_token.reason = "", "stopped"
    with pytest.raises(Cancelled):
        family_report(specs, Workload(length=8), FEW, cancel_token)


def test_highest_is_the_highest_running_sum():
    assert highest([]) == 0
    assert highest([5, -5, 3, 4, -7]) == 7
    assert highest([-5, 2]) == 0


def test_a_devices_peak_is_above_what_was_held_before():
    class Device:
        held, most, log = 100, 900, []

        def synchronize(self):
            self.log.append("synchronize")

        def reset_peak_memory_stats(self):
            self.most = self.held

        def memory_allocated(self):
            return self.held

        def max_memory_allocated(self):
            return self.most

    device = Device()

    def call():
        device.most = max(device.most, device.held + 40)

    assert device_peak_bytes(call, "cuda", device) == 40
    assert device.log == ["synchronize", "synchronize"]


def measured(ms_by_name, workload=None, specs=None, n_rounds=20):
    specs = specs or tuple(BASE.values())
    rng = np.random.default_rng(0)
    base = np.array([ms_by_name[spec.key] for spec in specs]) / 1e3
    seconds = base * np.exp(0.002 * rng.normal(size=(n_rounds, len(specs))))
    log = Latency(
        tuple(s.name for s in specs),
        seconds,
        seconds[:, 0].copy(),
        np.zeros(n_rounds, bool),
        (1.0,) * len(specs),
        1,
        5.0,
        True,
        "settled",
    )
    return FamilyLatency(specs, workload or Workload(), log, ("random",) * 3, 1, (1,) * len(specs))


def test_paradox_puts_size_work_and_time_side_by_side():
    specs = tuple(BASE.values())
    before = size_vs_time(specs, Workload(128))
    assert not before.measured
    bert, distilbert, albert = before.rows
    assert bert.parameters / albert.parameters == pytest.approx(9.37, abs=0.01)
    assert albert.gflops / bert.gflops == pytest.approx(1.001, abs=0.002)
    assert distilbert.gflops / bert.gflops == pytest.approx(0.5, abs=0.001)
    after = size_vs_time(specs, Workload(), measured({"bert": 100, "distilbert": 50, "albert": 99}))
    own = after.rows[0].times
    assert (own.ratio, own.low, own.high) == (1, 1, 1), "over itself, by definition"
    assert after.measured
    assert [round(row.ms) for row in after.rows] == [100, 50, 99]
    assert all(row.low_ms <= row.ms <= row.high_ms for row in after.rows)
    assert [spec.label for spec in LARGER.values()] == [
        "BERT-large",
        "ALBERT-large",
        "ALBERT-xlarge",
        "ALBERT-xxlarge",
    ]


def test_a_point_is_faster_slower_or_open_by_its_interval():
    works = sweep_points(Workload(), "length")
    assert [w.length for w in works] == [16, 32, 64, 128, 256, 512]
    times = [80, 90, 100, 112, 120, 130]
    points = tuple(
        measured({"bert": 100, "distilbert": 50, "albert": albert}, work)
        for albert, work in zip(times, works, strict=True)
    )
    distilbert, albert = orders(Sweep("length", points))
    assert (distilbert.faster, distilbert.slower) == (tuple(w.length for w in works), ())
    assert (albert.faster, albert.slower, albert.undecided) == ((16, 32), (128, 256, 512), (64,))
    assert orders(Sweep("length", ())) == ()


def test_a_point_gets_time_for_enough_rounds_by_the_one_before():
    works = sweep_points(Workload(), "length")
    before = measured({"bert": 1000, "distilbert": 500, "albert": 1000}, works[2])
    seconds = budget_of([before], works[4])
    # Ten rounds of four timings, four times as long as before, and three tenths more.
    assert seconds == pytest.approx(min(90, 10 * 3.5 * 4 * 1.3), rel=0.05)
    assert budget_of([], works[0]) == 0
    quick = measured({"bert": 10, "distilbert": 5, "albert": 10}, works[2])
    assert budget_of([quick], works[3]) == pytest.approx(10 * 0.035 * 2 * 1.3, rel=0.05)


@pytest.mark.processes
@pytest.mark.parametrize(("dtype", "head"), [("float32", False), ("bfloat16", True)])
def test_the_wall_clock_is_read_in_a_process_that_does_nothing_else(
    tiny_family, monkeypatch, dtype, head
):
    """In this one torch's threads would sleep at each barrier, because others have used torch too."""
    asked = []

    class Noted(runtime_process.RuntimeProcess):
        def seconds(self, workload, check, place):
            asked.append((place, super().seconds(workload, check, place)))
            return asked[-1][1]

    def not_here(*_):
        raise AssertionError("a pass has run in this process")

    monkeypatch.setattr(runtime_process, "RuntimeProcess", Noted)
    monkeypatch.setattr(protocol.Pass, "forward", not_here)
    specs, work = (
        [*tiny_family.specs.values()],
        Workload(16, 2, dtype=dtype, head=head, clock="wait"),
    )
    found = last(measure_family(specs, work, FEW, CancelToken()))
    timed = found.latency.seconds
    assert timed.shape == (3, 3)
    assert all((place, timed[row, place]) in asked for row in range(3) for place in range(3))
    for spec, weights, n_bytes in zip(specs, found.weights, found.weight_bytes, strict=True):
        with timed_network(spec, work) as here:
            assert (weights, n_bytes) == (here.weights, here.n_bytes(head))


@pytest.mark.long
def test_variants_of_a_model_are_timed_in_the_same_rounds(tiny_family):
    spec, work = tiny_family.specs["distilbert"], Workload(length=16)
    with timed_network(spec, work) as timed:
        looking = Variant("looking", timed, replace(work, looks=True))
        found = variant_latency([Variant("plain", timed, work), looking], FEW, CancelToken())
    assert [model.name for model in found.summary.models] == ["plain", "looking"]
    assert found.summary.n_rounds == 3
    assert found.summary.ratio("looking").ratio.ratio > 0


def test_limits_are_arithmetic_and_memory_whichever_is_slower():
    bert, albert = BASE["bert"], BASE["albert"]
    streamed, distinct = streamed_bytes(bert, "float32")
    assert streamed == distinct == 4 * 12 * 7_087_872
    assert streamed_bytes(albert, "float32") == (streamed, streamed // 12)
    assert streamed_bytes(albert, "bfloat16") == (streamed // 2, streamed // 24)
    found = roofline(bert, Workload(16), 1e11, 1e10)
    assert found.memory_ms == pytest.approx(1e3 * streamed / 1e10)
    assert found.arithmetic_ms == pytest.approx(1e3 * pass_flops(bert, Workload(16)) / 1e11)
    assert found.bound_by == "memory"
    assert roofline(bert, Workload(512), 1e11, 1e10).bound_by == "arithmetic"
    twice = measured({"bert": 2 * found.bound_ms, "distilbert": 50, "albert": 90})
    assert share_of_limit(twice, [found])["bert-base-uncased"] == pytest.approx(0.5, rel=0.01)


def test_a_measurement_is_summed_up_once_however_often_it_is_asked(monkeypatch):
    result, asked = measured({"bert": 2, "distilbert": 1, "albert": 2}), []
    monkeypatch.setattr(family, "latency_summary", lambda *a, **k: asked.append(a) or object())
    assert result.summary is result.summary
    assert len(asked) == 1


def test_last_of_nothing_is_refused():
    with pytest.raises(Refusal, match="Nothing was measured"):
        last(iter(()))


def test_quiet_only_follows_the_clock():
    result = measured({"bert": 2, "distilbert": 1, "albert": 2}, Workload(clock="wait"))
    loud = replace(result.latency, disturbed=np.ones(20, bool))
    refused = replace(result, latency=loud).summary
    assert refused.refused
    assert refused.ratios == ()
    compute = replace(result, latency=loud, workload=Workload()).summary
    assert not compute.refused
