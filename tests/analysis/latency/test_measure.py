"""The latency protocol on clocks that tick only when told to."""

import gc
from dataclasses import replace

import numpy as np
import pytest

from explorer.analysis.latency.measure import (
    Instruments,
    Latency,
    RoundsPlan,
    TimedCall,
    latency_rounds,
)
from explorer.analysis.latency.ratio import paired_ratio
from explorer.analysis.latency.summary import latency_summary
from explorer.refusal import Refusal
from explorer.scheduling.cancel import Cancelled, CancelToken


class UnstableMachine:
    """Machine in another state after every pause, which slows each model differently."""

    TRUE = 2.0

    def __init__(self, seed, state_spread=0.05, noise=0.005):
        self.now, self.state_spread, self.noise = 0.0, state_spread, noise
        self.rng = np.random.default_rng(seed)
        self.factor = {}

    def pause(self, seconds):
        self.now += seconds
        self.factor = {}

    def model(self, name, seconds):
        def call():
            if name not in self.factor:
                self.factor[name] = float(np.exp(self.state_spread * self.rng.normal()))
            self.now += seconds * self.factor[name] * float(np.exp(self.noise * self.rng.normal()))

        return TimedCall(name, call)

    def instruments(self, pauses=True):
        def watch(call):
            before = self.now
            call()
            return self.now - before

        extra = {"pause": self.pause} if pauses else {}
        return Instruments(watch, lambda: self.now, **extra)


def n_covered(pauses, repeats):
    """Count the measurements of an unstable machine whose interval holds the true ratio."""
    found = 0
    for seed in range(repeats):
        machine = UnstableMachine(seed)
        pair = [machine.model("a", 0.02 * machine.TRUE), machine.model("b", 0.02)]
        plan = RoundsPlan(max_rounds=24, seed=seed)
        *_, final = latency_rounds(pair, machine.instruments(pauses), plan)
        # The blocks' own interval, before it is widened for machines that change more slowly.
        ratio = paired_ratio(final.seconds[:, 0], final.seconds[:, 1], final.blocks)
        found += ratio.low <= machine.TRUE <= ratio.high
    return found / repeats


@pytest.mark.long
def test_an_interval_holds_what_the_next_press_would_give_nine_times_in_ten():
    assert n_covered(pauses=True, repeats=300) >= 0.9
    # One press in one state, however many rounds: narrow, and somewhere else.
    assert n_covered(pauses=False, repeats=50) < 0.3


class FakeMachine:
    """A machine whose clock moves only when a model runs on it."""

    def __init__(self, noise=0.0, drift=0.0, seed=0):
        self.now = 0.0
        self.stolen_s = 0.0
        self.calls = []
        self.rng = np.random.default_rng(seed)
        self.noise, self.drift = noise, drift
        self.warm_up_factor = {}

    def model(self, name, seconds, first=1.0):
        def call():
            n_before = self.calls.count(name)
            slow = first if n_before == 0 else 1.0
            drift = 1.0 + self.drift * len(self.calls)
            self.now += seconds * slow * drift * float(np.exp(self.noise * self.rng.normal()))
            self.calls.append(name)

        return TimedCall(name, call)

    def stopwatch(self, call):
        before = self.now
        call()
        return self.now - before

    def instruments(self, stolen=True):
        return Instruments(
            self.stopwatch, lambda: self.now, (lambda: self.stolen_s) if stolen else (lambda: None)
        )


def measure(machine, candidates, plan=None, check=lambda: None, stolen=True):
    return list(
        latency_rounds(candidates, machine.instruments(stolen), plan or RoundsPlan(), check)
    )


def test_quiet_machine_gives_the_true_ratio_and_stops_at_the_smallest_number_of_rounds():
    machine = FakeMachine()
    shots = measure(machine, [machine.model("bert", 0.2), machine.model("distilbert", 0.1)])
    assert [s.ended for s in shots[:-1]] == ["running"] * (len(shots) - 1)
    assert shots[-1].ended == "settled"
    assert shots[-1].n_rounds == RoundsPlan().min_rounds == len(shots)
    summary = latency_summary(shots[-1])
    assert summary.ratio("distilbert").ratio.ratio == pytest.approx(2.0)
    assert summary.ratio("distilbert").is_different
    assert summary.self_check.ratio == pytest.approx(1.0)
    assert summary.model("bert").median_ms == pytest.approx(200)


def test_every_round_times_each_candidate_once_and_the_first_twice_in_changing_order():
    machine = FakeMachine()
    candidates = [machine.model(name, 0.1) for name in "abc"]
    plan = RoundsPlan(max_rounds=30, min_rounds=30, budget_s=1e9)
    final = measure(machine, candidates, plan)[-1]
    timed = machine.calls[3 * (1 + final.n_warm_rounds) :]
    rounds = [tuple(timed[i : i + 4]) for i in range(0, len(timed), 4)]
    assert all(sorted(order) == ["a", "a", "b", "c"] for order in rounds)
    assert len(set(rounds)) > 6
    assert final.ended == "rounds"


def test_drift_that_fools_blocks_does_not_fool_pairs():
    machine = FakeMachine(drift=0.02)
    shots = measure(machine, [machine.model("a", 0.1), machine.model("b", 0.1)])
    blocked = np.median(shots[-1].seconds[:6, 0]) / np.median(shots[-1].seconds[6:, 1])
    assert abs(blocked - 1) > 0.1
    summary = latency_summary(shots[-1])
    assert abs(summary.ratio("b").ratio.ratio - 1) < 0.02
    assert summary.ratio("b").ratio.holds_one


def test_noise_is_answered_by_more_rounds_until_the_budget_ends_it():
    quiet, loud = FakeMachine(noise=0.02), FakeMachine(noise=0.3)
    settled = measure(quiet, [quiet.model("a", 0.1), quiet.model("b", 0.2)])[-1]
    spent = measure(loud, [loud.model("a", 0.1), loud.model("b", 0.2)], RoundsPlan(budget_s=8))[-1]
    assert settled.ended == "settled"
    assert settled.n_rounds < 60
    assert spent.ended == "budget"
    assert 4 < spent.wall_s < 10


@pytest.mark.long
def test_interval_against_itself_holds_one_nineteen_times_in_twenty():
    n_covered = 0
    for seed in range(100):
        machine = FakeMachine(noise=0.05, seed=seed)
        plan = RoundsPlan(budget_s=12, seed=seed)
        final = measure(machine, [machine.model("a", 0.1), machine.model("a2", 0.1)], plan)[-1]
        n_covered += latency_summary(final).ratio("a2").ratio.holds_one
    assert n_covered >= 93


def test_first_calls_are_kept_apart_and_warm_up_goes_on_until_two_rounds_agree():
    machine = FakeMachine()
    shots = measure(machine, [machine.model("a", 0.1, first=30.0), machine.model("b", 0.1)])
    final = shots[-1]
    assert final.first_call_s == pytest.approx((3.0, 0.1))
    assert final.n_warm_rounds == 2
    assert np.allclose(final.seconds, 0.1)
    assert latency_summary(final).model("a").first_call_ms == pytest.approx(3000)


def test_neighbours_are_seen_round_by_round():
    machine = FakeMachine()
    plain = machine.model("a", 0.1)

    def with_neighbour():
        plain.call()
        if len(machine.calls) > 12:
            machine.stolen_s += 0.5
            machine.now += 0.5

    plan = RoundsPlan(min_rounds=14, max_rounds=14, budget_s=1e9)
    final = measure(machine, [TimedCall("a", with_neighbour)], plan)[-1]
    assert not final.disturbed[0]
    assert final.disturbed[-1]


@pytest.mark.parametrize(("n_disturbed", "refused"), [(4, False), (9, True)])
def test_wall_clock_ratios_use_quiet_rounds_and_are_refused_when_those_are_the_minority(
    n_disturbed, refused
):
    disturbed = np.arange(14) < n_disturbed
    seconds = np.where(disturbed[:, None], [[9.0, 1.0]], [[2.0, 1.0]])
    log = Latency(("a", "b"), seconds, seconds[:, 0], disturbed, (1.0, 1.0), 1, 5.0, True, "budget")
    summary = latency_summary(log, quiet_only=True)
    assert summary.refused is refused
    assert (summary.self_check is None) is refused
    if not refused:
        assert summary.ratio("b").ratio.ratio == 2.0
        assert summary.ratio("b").ratio.n_rounds == 10
    assert latency_summary(log).ratio("b") is not None


def test_where_neighbours_cannot_be_seen_it_says_so():
    machine = FakeMachine()
    final = measure(machine, [machine.model("a", 0.1)], stolen=False)[-1]
    assert latency_summary(final).disturbed_share is None


def test_stop_ends_at_the_next_sample_and_keeps_whole_rounds():
    machine = FakeMachine()
    cancel_token = CancelToken(clock=lambda: machine.now)
    candidates = [machine.model("a", 0.1), machine.model("b", 0.1)]
    shots = []
    for shot in latency_rounds(candidates, machine.instruments(), RoundsPlan(), cancel_token.check):
        shots.append(shot)
        if shot.n_rounds == 3:
            n_calls = len(machine.calls)
            cancel_token.stop()
    assert shots[-1].ended == "stopped"
    assert shots[-1].n_rounds == 3
    assert len(machine.calls) == n_calls


def test_stop_inside_a_call_counts_no_half_round():
    machine = FakeMachine()
    good = machine.model("a", 0.1)

    def stops_in_the_middle():
        if len(machine.calls) > 8:
            raise Cancelled("deadline")
        good.call()

    shots = measure(machine, [good, TimedCall("b", stops_in_the_middle)])
    assert shots[-1].ended == "deadline"
    assert shots[-1].seconds.shape == (shots[-1].n_rounds, 2)


def test_stop_before_the_first_round_measures_nothing_and_says_so():
    machine, cancel_token = FakeMachine(), CancelToken()
    cancel_token.stop()
    shots = measure(machine, [machine.model("a", 0.1)], check=cancel_token.check)
    assert [s.ended for s in shots] == ["stopped"]
    assert machine.calls == []
    with pytest.raises(Refusal, match="before the first round"):
        latency_summary(shots[-1])


def test_slow_models_never_overrun_the_budget_by_a_whole_round():
    machine = FakeMachine()
    final = measure(machine, [machine.model("huge", 3.0)], RoundsPlan(budget_s=20))[-1]
    assert final.ended == "budget"
    assert 14 <= final.wall_s <= 26


def test_garbage_is_not_collected_inside_a_sample():
    machine, seen = FakeMachine(), []
    candidate = machine.model("a", 0.1)

    def call():
        seen.append(gc.isenabled())
        candidate.call()

    assert gc.isenabled()
    measure(machine, [TimedCall("a", call)])
    assert not any(seen)
    assert gc.isenabled()


def test_results_cannot_be_written_to():
    machine = FakeMachine()
    final = measure(machine, [machine.model("a", 0.1)])[-1]
    with pytest.raises(ValueError, match="read-only"):
        final.seconds[0, 0] = 1.0


def test_stop_sign_deadline():
    now = [0.0]
    cancel_token = CancelToken(clock=lambda: now[0])
    cancel_token.set_deadline(5)
    now[0] = 4.9
    cancel_token.check()
    now[0] = 5.1
    with pytest.raises(Cancelled, match="deadline"):
        cancel_token.check()
    assert not cancel_token.cancelled


class InterruptedMachine(FakeMachine):
    """Machine that requests interrupt, so many times in the middle of a call or before one."""

    def __init__(self, inside=(), between=()):
        super().__init__()
        self.inside, self.between = set(inside), set(between)
        self.yielded_s, self.asked = 0.0, 0

    def give_way(self):
        self.asked += 1
        return self.asked in self.between

    def model(self, name, seconds, first=1.0):
        plain = super().model(name, seconds, first)

        def call():
            plain.call()
            if len(self.calls) in self.inside:
                self.now += 0.7
                self.yielded_s += 0.7

        return TimedCall(name, call)

    def instruments(self, stolen=True):
        return replace(
            super().instruments(stolen), give_way=self.give_way, yielded_s=lambda: self.yielded_s
        )


def test_a_sample_in_whose_middle_others_went_is_taken_again():
    machine = InterruptedMachine(inside=[1, 9, 10, 30])
    *_, final = measure(machine, [machine.model("a", 0.2), machine.model("b", 0.1)])
    assert np.all(np.isin(final.seconds.round(6), [0.1, 0.2]))
    assert final.first_call_s == pytest.approx((0.2, 0.1)), "what was given is not in it"
    assert machine.yielded_s == pytest.approx(4 * 0.7)


def test_after_others_went_between_two_samples_a_call_that_does_not_count_comes_first():
    machine, rude = InterruptedMachine(between=[12, 20]), InterruptedMachine()
    counts = []
    for one in (machine, rude):
        *_, final = measure(one, [one.model("a", 0.2), one.model("b", 0.1)])
        counts.append(len(one.calls))
        assert final.n_rounds == RoundsPlan().min_rounds
    assert counts[0] == counts[1] + 2


class BusyMachine(FakeMachine):
    """Machine on which others run during the rounds named: passes take longer, and waiting shows."""

    def __init__(self, busy, slow=5.0):
        super().__init__()
        self.busy, self.slow, self.walls = busy, slow, 0

    def model(self, name, seconds):
        def call():
            n = self.walls
            self.walls += 1
            is_busy = self.busy(n)
            took = seconds * (self.slow if is_busy else 1.0)
            self.now += took
            self.stolen_s += took * is_busy
            self.calls.append(name)

        def on_one_thread():
            self.now += 3 * seconds
            self.calls.append(f"{name} by CPU")

        by_cpu = TimedCall(name, on_one_thread, lambda call: call() or 2 * seconds)
        return TimedCall(name, call, on_cpu=by_cpu)


def test_a_quiet_machine_runs_nothing_by_processor_time():
    machine = BusyMachine(lambda n: False)
    final = measure(machine, [machine.model("a", 0.2), machine.model("b", 0.1)])[-1]
    assert final.cpu is None
    assert not any("CPU" in call for call in machine.calls)
    assert latency_summary(final, quiet_only=True).reported.model("a").median_ms == pytest.approx(
        200
    )


def test_a_busy_machine_gets_half_its_time_by_processor_time_and_reports_that():
    machine = BusyMachine(lambda n: True)
    plan = RoundsPlan(quiet_only=True)
    final = measure(machine, [machine.model("a", 0.2), machine.model("b", 0.1)], plan)[-1]
    assert (final.ended, final.disturbed.all()) == ("budget", True)
    assert final.wall_s < plan.budget_s + 2.5, "the last wall round may exceed it by half"
    by_cpu = 3 * 0.1 * sum("CPU" in call for call in machine.calls)
    assert by_cpu / final.wall_s == pytest.approx(0.5, abs=0.2)
    summary = latency_summary(final, quiet_only=True)
    assert (summary.holds, summary.n_used, summary.refused) == (False, 0, True)
    assert summary.reported is summary.cpu
    assert summary.reported.model("a").median_ms == pytest.approx(400)
    assert summary.reported.ratio("b").ratio.ratio == pytest.approx(2.0)
    assert summary.reported.n_rounds == final.cpu.n_rounds >= 8


def test_one_busy_second_costs_a_few_rounds_by_processor_time_and_changes_nothing_else():
    machine = BusyMachine(lambda n: 30 <= n < 33)
    plan = RoundsPlan(quiet_only=True)
    final = measure(machine, [machine.model("a", 0.2), machine.model("b", 0.1)], plan)[-1]
    assert final.ended == "settled"
    assert 0 < final.disturbed.sum() <= 2
    assert 0 < final.cpu.n_rounds < 8
    summary = latency_summary(final, quiet_only=True)
    assert summary.reported is summary
    assert summary.model("a").median_ms == pytest.approx(200)
    assert summary.cpu.holds is False


def test_calls_that_have_no_processor_time_are_timed_as_before():
    machine = BusyMachine(lambda n: True)
    calls = [replace(machine.model(name, 0.1), on_cpu=None) for name in "ab"]
    final = measure(machine, calls, RoundsPlan(quiet_only=True))[-1]
    assert final.cpu is None
    assert latency_summary(final, quiet_only=True).reported is None


@pytest.mark.parametrize("n_by_cpu", [0, 7, 8])
@pytest.mark.parametrize("n_disturbed", [0, 3, 7, 9])
@pytest.mark.parametrize("n_quiet", [0, 1, 7, 8, 12])
def test_a_time_is_reported_from_eight_undisturbed_rounds_on(n_quiet, n_disturbed, n_by_cpu):
    """Medians by numpy: of the undisturbed rounds, or of those by processor time."""
    n = n_quiet + n_disturbed
    if not n:
        return
    rng = np.random.default_rng(n)
    disturbed = rng.permutation(np.arange(n) < n_disturbed)
    seconds = rng.uniform(1, 2, (n, 2)) * np.where(disturbed, 9, 1)[:, None]
    fields = (("a", "b"), seconds, seconds[:, 0], disturbed, (1.0, 1.0), 1, 5.0, True, "budget")
    by_cpu = rng.uniform(1, 2, (n_by_cpu, 2))
    cpu = replace(
        Latency(*fields), seconds=by_cpu, control=by_cpu[:, 0], disturbed=np.zeros(n_by_cpu, bool)
    )
    log = replace(Latency(*fields), cpu=cpu if n_by_cpu else None)
    summary = latency_summary(log, quiet_only=True)
    assert summary.n_used == n_quiet
    if n_quiet:
        medians = [model.median_ms for model in summary.models]
        assert medians == pytest.approx(1e3 * np.median(seconds[~disturbed], axis=0))
    assert summary.holds == (n_quiet >= 8 and n_quiet >= n_disturbed)
    if summary.holds:
        assert summary.reported is summary
    elif n_by_cpu == 8:
        medians = [model.median_ms for model in summary.reported.models]
        assert medians == pytest.approx(1e3 * np.median(by_cpu, axis=0))
    else:
        assert summary.reported is None
    assert latency_summary(log).holds == (n >= 8), "a clock that is not disturbed needs eight too"


def test_no_later_deadline_goes_beyond_the_end():
    now = [0.0]
    cancel_token = CancelToken(clock=lambda: now[0])
    assert cancel_token.left_s == float("inf")
    cancel_token.end_within(20)
    cancel_token.set_deadline(240)
    now[0] = 12.0
    assert cancel_token.left_s == 8.0
    now[0] = 20.1
    assert cancel_token.left_s == 0.0
    with pytest.raises(Cancelled, match="deadline"):
        cancel_token.check()
