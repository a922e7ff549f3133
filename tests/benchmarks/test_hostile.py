"""The bench of attacks: what it measures, how it counts a visitor who is turned away, its table."""

from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import attacks, hostile
from benchmarks.attacks import ATTACKS, answered_again, attack
from benchmarks.hostile import (
    VisitorTimes,
    meets_goals,
    press,
    seconds_until_answered,
    warm_visitor,
)
from benchmarks.questions import Answer
from explorer.refusal import Refusal


class Refused:
    """A visitor who is turned away so often before each answer, which takes two seconds."""

    def __init__(self, times, clock):
        self.times, self.asked, self.clock = times, 0, clock

    def send(self, request):
        self.asked += 1
        self.clock.now += 2
        return Answer("", 2, "429" if self.asked % (self.times + 1) else "")


@pytest.fixture
def clock(monkeypatch):
    clock = SimpleNamespace(now=100.0)

    def sleep(seconds):
        clock.now += seconds

    stand_in = SimpleNamespace(perf_counter=lambda: clock.now, sleep=sleep)
    monkeypatch.setattr(hostile, "time", stand_in)
    return clock


def test_who_is_turned_away_presses_again_and_the_whole_time_counts(clock):
    assert seconds_until_answered(Refused(0, clock), "a") == pytest.approx(2)
    visitor = Refused(3, clock)
    assert seconds_until_answered(visitor, "a") == pytest.approx(4 * 2 + 3 * 0.1)
    assert visitor.asked == 4


def test_who_is_never_answered_counts_as_the_longest_wait(clock):
    assert seconds_until_answered(Refused(10**6, clock), "a") >= hostile.GIVE_UP_S


def test_a_goal_that_is_missed_is_a_failure():
    alone = VisitorTimes([0.1] * 20)
    assert meets_goals(VisitorTimes([1.0] * 20, 1536), alone, 10.0)
    assert not meets_goals(VisitorTimes([1.01] * 20, 1536), alone, 10.0)
    assert not meets_goals(VisitorTimes([0.1] * 20, 1537), alone, 10.0)
    assert not meets_goals(VisitorTimes([0.1] * 20, 100), alone, 10.1)
    for seconds, is_met in ((0.3, True), (0.31, False)):
        seen = VisitorTimes([seconds] * 20, 100)
        assert meets_goals(seen, alone, 1.0, hostile.MAX_RATIOS[attacks.LISTS]) is is_met


def test_without_nginx_nothing_is_measured(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr(hostile, "server_for", lambda _: pytest.fail("a server was started"))
    with pytest.raises(Refusal, match="apt-get install nginx"):
        hostile.run(SimpleNamespace(seconds=1.0))


def test_a_row_says_what_was_seen():
    seen, alone = VisitorTimes([*np.linspace(0.1, 0.3, 21)], 1234), VisitorTimes([0.1] * 5)
    assert hostile._row("x", seen, alone, 2.0) == "| x | 21 | 200 | 290 | 2.9 | 1,234 | 2.0 |\n"
    assert hostile.HEAD.splitlines()[0].count("|") == 8


FIRST, *REST = ATTACKS


@pytest.mark.processes
@pytest.mark.parametrize(
    "name", [FIRST, *(pytest.param(name, marks=pytest.mark.slow) for name in REST)]
)
def test_a_visitor_is_answered_during_each_attack(url, tuned_family, monkeypatch, name):
    """Here in one process with the attacker, whose work slows the visitor too."""
    monkeypatch.setattr(attacks, "BURST_S", 60.0)
    monkeypatch.setattr(hostile, "GIVE_UP_S", 300.0)
    seen, visitor = VisitorTimes(), warm_visitor(url)
    attacker = hostile.get_context("spawn").Process(target=attack, args=(name, url, 4.0))
    attacker.start()
    try:
        press(visitor, 0, seen, 4.0)
    finally:
        attacker.terminate()
        attacker.join(60)
    assert seen.seconds
    assert max(seen.seconds) < hostile.GIVE_UP_S, "every press was answered"
    assert answered_again(url, 300) < 300
