"""Measurements one after another: each has its own time, and each end is said."""

from dataclasses import replace

import pytest

from explorer.analysis.latency.family import measure_sweep, sweep_points
from explorer.analysis.latency.measure import RoundsPlan
from explorer.scheduling.cancel import Cancelled, CancelToken
from explorer.timing.runtimes import process as runtime_process
from explorer.timing.workload import Workload
from explorer.ui.latency.folds import draw_sweep

FEW = RoundsPlan(budget_s=1e6, min_rounds=3, max_rounds=3, max_warm_rounds=1)


@pytest.mark.long
def test_a_sweep_ends_with_its_sentence_where_the_machine_does(tiny_family, monkeypatch):
    from explorer.timing import networks as timed_networks

    monkeypatch.setattr(timed_networks, "free_bytes", lambda device: 220_000_000)
    works = [Workload(8, 1), Workload(512, 32)]
    specs = [tiny_family.specs["distilbert"]]
    *_, final = measure_sweep(specs, works, FEW, CancelToken())
    assert [final.position(point) for point in final.points] == [1]
    assert "GB are free" in final.refusal


class SteppedCancelToken(CancelToken):
    """Cancel token whose clock the test moves."""

    now = 0.0

    def __init__(self):
        super().__init__(lambda: self.now)


@pytest.mark.long
def test_weights_are_drawn_whatever_time_the_model_before_was_allowed(tiny_family):
    cancel_token, specs = SteppedCancelToken(), list(tiny_family.specs.values())[:2]
    cancel_token.set_deadline(1)
    cancel_token.now = 2
    works = sweep_points(Workload(length=8), "batch")[:2]
    steps = list(measure_sweep(specs, works, FEW, cancel_token))
    assert [(len(step.points), step.n_points, step.is_over) for step in steps] == [
        (0, 2, False),
        (1, 2, False),
        (2, 2, True),
    ]


@pytest.mark.processes
def test_one_process_reads_the_wall_clock_of_every_point(tiny_family, monkeypatch):
    started, asked = [], []

    class Noted(runtime_process.RuntimeProcess):
        def __init__(self, *requests):
            started.append(self)
            super().__init__(*requests)

        def seconds(self, workload, check, place):
            asked.append((workload.length, place))
            return super().seconds(workload, check, place)

    monkeypatch.setattr(runtime_process, "RuntimeProcess", Noted)
    # Where others disturb most rounds there is no ratio.
    monkeypatch.setattr("explorer.timing.protocol.stolen_seconds", lambda: 0.0)
    works = sweep_points(Workload(length=8, clock="wait"), "length")[:2]
    specs = list(tiny_family.specs.values())[:2]
    eight = replace(FEW, min_rounds=8, max_rounds=8)  # fewer are not reported
    *_, sweep = measure_sweep(specs, works, eight, CancelToken())
    assert [sweep.position(point) for point in sweep.points] == [16, 32]
    assert set(asked) == {(length, place) for length in (16, 32) for place in (0, 1)}
    assert f"time over {specs[0].label}" in draw_sweep(sweep)[1]
    (process,) = started
    assert process._process.poll() is not None, "it has ended with the sweep"


def test_a_point_without_a_round_is_named(tiny_family, monkeypatch):
    def late(*_, **__):
        raise Cancelled("deadline")

    monkeypatch.setattr("explorer.timing.protocol.Pass.forward", late)
    specs = list(tiny_family.specs.values())[:2]
    works = sweep_points(Workload(), "length")
    *_, sweep = measure_sweep(specs, works, FEW, CancelToken())
    assert (sweep.points, sweep.late_point) == ((), 16)
    assert "Stopped: 16 tokens exceeded the time limit." in draw_sweep(sweep)[0]
