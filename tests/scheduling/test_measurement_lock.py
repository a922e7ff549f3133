"""One measurement alone, and how it gives way to a visitor who waits."""

import threading
from contextvars import copy_context

import pytest

from explorer.scheduling import measurement_lock as slots
from explorer.scheduling.cancel import Cancelled, CancelToken
from explorer.scheduling.measurement_lock import MeasurementLock
from tests.waiting import until


def begun(work):
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def visit(slot, order):
    slot.visitor_waits()
    with slot.infer():
        order.append("visitor")
    slot.visitor_done()


def test_a_measurement_gives_way_to_a_visitor_who_waits_and_has_the_machine_again(monkeypatch):
    monkeypatch.setattr(slots, "MAX_OPEN_S", 60)
    slot, order = MeasurementLock(), []
    with slot.measure():
        assert not slot.yield_to_visitors(), "nobody waits"
        visitor = begun(lambda: visit(slot, order))
        until(lambda: slot._visitors)
        assert not order
        assert slot.yield_to_visitors()
        assert order == ["visitor"]
        assert slot.yielded_s > 0
        other = begun(lambda: infer(slot, order))
        until(lambda: slot._condition._waiters)
        assert order == ["visitor"], "the lock is exclusive again"
    other.join(60)
    visitor.join(60)
    assert order == ["visitor", "other"]


def test_long_work_stands_back_until_a_question_is_answered(monkeypatch):
    monkeypatch.setattr(slots, "MAX_REST_S", 60)
    slot, order = MeasurementLock(), []
    slot.stand_back()
    assert not slot.is_visited
    with slot.answering():
        long_work = begun(lambda: (slot.stand_back(), order.append("long work")))
        until(lambda: slot._condition._waiters)
        order.append("answer")
    long_work.join(60)
    assert order == ["answer", "long work"]
    assert slot.is_visited, "another question is likely"


def test_a_question_does_not_stand_back_for_itself(monkeypatch):
    monkeypatch.setattr(slots, "MAX_REST_S", 60)
    slot = MeasurementLock()
    with slot.answering():
        context = copy_context()
        own = begun(lambda: context.run(slot.stand_back))
        own.join(30)
        assert not own.is_alive()


def test_long_work_goes_on_although_questions_never_end(monkeypatch):
    monkeypatch.setattr(slots, "MAX_REST_S", 0.05)
    slot = MeasurementLock()
    slot.visitor_waits()
    long_work = begun(slot.stand_back)
    long_work.join(60)
    assert not long_work.is_alive()


def test_a_measurement_that_never_begins_leaves_the_lock_free(monkeypatch):
    slot = MeasurementLock()
    wait_for = slot._condition.wait_for

    def interrupted(is_free, *more):
        if slot._measuring:
            raise KeyboardInterrupt
        return wait_for(is_free, *more)

    monkeypatch.setattr(slot._condition, "wait_for", interrupted)
    with pytest.raises(KeyboardInterrupt), slot.measure():
        pytest.fail("it has the machine")
    monkeypatch.undo()
    assert not slot.is_measuring
    infer(slot, order := [])
    assert order == ["other"]


def takes_a_turn(slot, order, name, by_program=False):
    with slot.turn(by_program, lambda: None):
        order.append(name)


def test_while_visitors_ask_long_passes_take_turns_and_pages_go_first(monkeypatch):
    monkeypatch.setattr(slots, "MAX_REST_S", 60)
    slot, order = MeasurementLock(), []
    with slot.answering():
        pass
    with slot.turn(False, lambda: None):
        program = begun(lambda: takes_a_turn(slot, order, "program", by_program=True))
        until(lambda: slot._waiting[True])
        page = begun(lambda: takes_a_turn(slot, order, "page"))
        until(lambda: slot._waiting[False])
        assert not order
    page.join(60)
    program.join(60)
    assert order == ["page", "program"]


def test_without_visitors_long_passes_run_together():
    slot, order = MeasurementLock(), []
    with slot.turn(False, lambda: None):
        begun(lambda: takes_a_turn(slot, order, "other")).join(60)
        assert order == ["other"]


def test_a_pass_that_waits_for_its_turn_can_be_stopped(monkeypatch):
    monkeypatch.setattr(slots, "MAX_REST_S", 0.01)
    slot, cancel = MeasurementLock(), CancelToken()
    with slot.answering():
        pass
    cancel.stop()
    with slot.turn(False, lambda: None), pytest.raises(Cancelled), slot.turn(False, cancel.check):
        pytest.fail("it has no turn")
    takes_a_turn(slot, order := [], "next")
    assert order == ["next"]
    assert not slot._turns


def infer(slot, order):
    with slot.infer():
        order.append("other")


def test_it_gives_way_for_so_long_and_then_goes_on(monkeypatch):
    """The visitor who was counted never comes."""
    monkeypatch.setattr(slots, "MAX_OPEN_S", 0.05)
    slot = MeasurementLock()
    with slot.measure():
        slot.visitor_waits()
        assert slot.yield_to_visitors()
        assert slot.is_measuring
        assert not slot._may_infer()


def test_another_measurement_does_not_slip_in_while_one_gives_way(monkeypatch):
    monkeypatch.setattr(slots, "MAX_OPEN_S", 0.2)
    slot, order = MeasurementLock(), []

    def measure():
        with slot.measure():
            order.append("second")

    with slot.measure():
        second = begun(measure)
        slot.visitor_waits()
        slot.yield_to_visitors()
        order.append("first")
    second.join(60)
    assert order == ["first", "second"]


def test_visitors_are_answered_while_a_measurement_prepares_and_not_while_it_times():
    slot, order = MeasurementLock(), []
    with slot.measure():
        with slot.paused():
            begun(lambda: infer(slot, order)).join(60)
            assert order == ["other"]
        waiting = begun(lambda: infer(slot, order))
        until(lambda: slot._condition._waiters)
        assert order == ["other"], "the lock is exclusive again"
    waiting.join(60)
    assert order == ["other", "other"]


def test_a_pause_ends_with_the_last_inference_also_after_an_error():
    slot, order, end = MeasurementLock(), [], threading.Event()

    def run():
        with slot.infer():
            order.append("begins")
            end.wait(60)
            order.append("ends")

    def prepare():
        with slot.paused():
            begun(run)
            until(lambda: order)
            begun(end.set)
            raise KeyError

    with slot.measure():
        with pytest.raises(KeyError):
            prepare()
        assert order == ["begins", "ends"]


def test_who_measures_nothing_pauses_nothing():
    slot, said = MeasurementLock(), []

    def pause():
        with slot.paused():
            said.append(slot._may_infer())

    with slot.measure():
        begun(pause).join(60)
    assert said == [False]


def test_nobody_else_can_make_a_measurement_give_way():
    slot, said = MeasurementLock(), []
    slot.visitor_waits()
    with slot.measure():
        begun(lambda: said.append(slot.yield_to_visitors())).join(60)
    assert said == [False]
    assert not slot.yield_to_visitors(), "nothing is measured"


@pytest.mark.parametrize("is_visitor", [True, False])
def test_who_is_served_outside_the_lanes_is_waited_for_only_if_a_visitor(is_visitor):
    slot = MeasurementLock()
    with slot.visitor_pass(is_visitor):
        assert slot._visitors == int(is_visitor)
    assert slot._visitors == 0


def test_a_measurement_whose_time_is_over_leaves_the_lock_to_others():
    """It waits for a pass, or for another measurement, and holds nothing after it gave up."""
    slot, cancel_token = MeasurementLock(), CancelToken()
    cancel_token.end_within(0)
    with slot.infer():
        with pytest.raises(Cancelled, match="deadline"), slot.measure(cancel_token.check):
            pytest.fail("a pass was running")
        assert not slot.is_measuring
    with slot.measure():
        with pytest.raises(Cancelled, match="deadline"), slot.measure(cancel_token.check):
            pytest.fail("another measurement was running")
        assert slot.is_measuring
    assert not slot.is_measuring
