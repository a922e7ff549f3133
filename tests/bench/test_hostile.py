"""The bench of attacks: what it measures, how it counts a visitor who is turned away, its table."""

import time

import numpy as np
import pytest

from explorer.bench import attacks, hostile
from explorer.bench.attacks import ATTACKS, answered_again, attack
from explorer.bench.hostile import Seen, is_held, press, seconds_until_answered, warm_visitor
from explorer.bench.questions import Answer


class Refused:
    """A visitor who is turned away so often before each answer."""

    def __init__(self, times):
        self.times, self.asked = times, 0

    def ask(self, question):
        self.asked += 1
        time.sleep(0.01)
        return Answer("", 0.01, "429" if self.asked % (self.times + 1) else "")


def test_who_is_turned_away_presses_again_and_the_whole_time_counts():
    assert seconds_until_answered(Refused(0), "a") < 0.1
    visitor = Refused(3)
    assert seconds_until_answered(visitor, "a") >= 3 * 0.1
    assert visitor.asked == 4


def test_who_is_never_answered_counts_as_the_longest_wait(monkeypatch):
    monkeypatch.setattr(hostile, "GIVE_UP_S", 0.3)
    assert seconds_until_answered(Refused(10**6), "a") >= 0.3


def test_a_goal_that_is_missed_is_a_failure():
    alone = Seen([0.1] * 20)
    assert is_held(Seen([1.0] * 20, 1536), alone, 10.0)
    assert not is_held(Seen([1.01] * 20, 1536), alone, 10.0)
    assert not is_held(Seen([0.1] * 20, 1537), alone, 10.0)
    assert not is_held(Seen([0.1] * 20, 100), alone, 10.1)


def test_a_row_says_what_was_seen():
    seen, alone = Seen([*np.linspace(0.1, 0.3, 21)], 1234), Seen([0.1] * 5)
    assert hostile._row("x", seen, alone, 2.0) == "| x | 21 | 200 | 290 | 2.9 | 1,234 | 2.0 |\n"
    assert hostile.HEAD.splitlines()[0].count("|") == 8


FIRST, *REST = ATTACKS


@pytest.mark.parametrize(
    "name", [FIRST, *(pytest.param(name, marks=pytest.mark.slow) for name in REST)]
)
def test_a_visitor_is_answered_during_each_attack(url, tuned_family, monkeypatch, name):
    """Here in one process with the attacker, whose work slows the visitor too."""
    monkeypatch.setattr(attacks, "BURST_S", 60.0)
    seen, visitor = Seen(), warm_visitor(url)
    attacker = hostile.get_context("spawn").Process(target=attack, args=(name, url, 4.0))
    attacker.start()
    try:
        press(visitor, 0, seen, 4.0)
    finally:
        attacker.terminate()
        attacker.join(60)
    assert max(seen.seconds) < 30
    assert answered_again(url, 60) < 60
