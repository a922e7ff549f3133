"""Processor seconds by address and minute, and who pays them."""

from types import SimpleNamespace

import pytest

from explorer.scheduling import budget as budgets
from explorer.scheduling.budget import SECONDS, WINDOW_S, Budget, BudgetMeter


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_an_address_has_so_much_in_a_minute_and_another_its_own(clock):
    budget = Budget(10, clock)
    for _ in range(4):
        budget.charge("a", 2.5)
        clock.now += 1
    assert budget.spent("a") == 10
    assert budget.exhausted("a")
    assert not budget.exhausted("b")
    clock.now = 1000 + WINDOW_S
    assert budget.spent("a") == 7.5, "the first second is a minute ago"
    assert not budget.exhausted("a")
    clock.now += WINDOW_S
    assert budget.spent("a") == 0
    assert not budget._charges


def test_an_address_may_take_more_while_no_other_pays_and_what_is_taken_goes_on(clock):
    budget = Budget(10, clock, seconds_alone=20)
    budget.charge("a", 15)
    assert not budget.exhausted("a")
    budget.charge("b", 0.1)
    assert budget.exhausted("a"), "its next question waits"
    assert not budget.is_over("a"), "and what runs goes on"
    assert not budget.exhausted("b")
    clock.now += WINDOW_S / 2
    budget.charge("a", 4.9)
    clock.now += WINDOW_S / 2
    assert not budget.others_charged("a"), "b paid a minute ago"
    assert budget.spent("a") == 4.9
    budget.charge("a", 15.1)
    assert budget.exhausted("a")
    assert budget.is_over("a")


def test_visitors_pay_nothing(clock):
    budget = Budget(1, clock)
    budget.charge("", 100)
    assert not budget.exhausted("")


def test_many_payments_of_one_second_are_one_entry(clock):
    budget = Budget(SECONDS, clock)
    for _ in range(1000):
        budget.charge("a", 0.001)
    assert len(budget._charges["a"]) == 1
    assert budget.spent("a") == pytest.approx(1)


def test_addresses_are_forgotten_where_there_are_too_many(clock, monkeypatch):
    monkeypatch.setattr(budgets, "MAX_ADDRESSES", 3)
    budget = Budget(SECONDS, clock)
    for address in "abcd":
        budget.charge(address, 1)
    assert budget.spent("a") == 0
    assert budget.spent("d") == 1


def test_a_meter_counts_the_processor_time_of_its_thread_and_not_its_waiting(clock, monkeypatch):
    """For each of its threads; what the thread did before and after is not paid."""
    spent = [7.0]
    monkeypatch.setattr(budgets, "time", SimpleNamespace(thread_time=lambda: spent[0]))
    budget = Budget(clock=clock)
    meter = BudgetMeter("a", threads=2, budget=budget)
    spent[0] += 100
    with meter.running():
        spent[0] += 0.5
        meter.charge()
        clock.now += 5
    spent[0] += 100
    assert budget.spent("a") == 2 * 0.5
