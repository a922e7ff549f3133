"""One measurement at a time: turns, places, stopping, and visitors who wait."""

import threading
import time

import pytest

from explorer.inference.scheduling import job_queue as lines
from explorer.inference.scheduling.budget import Budget, Meter
from explorer.inference.scheduling.cancel import Stopped
from explorer.inference.scheduling.job_queue import LONGEST_LINE, Line, LineIsLong, updates
from explorer.inference.scheduling.measurement_lock import Slot
from tests.waiting import until


def endless(started=None):
    def job(sign):
        if started:
            started.set()
        number = 0
        while True:
            sign.check()
            time.sleep(0.005)
            number += 1
            yield number

    return job


@pytest.fixture
def line():
    return Line(Slot().measure)


def test_a_job_runs_to_its_end_and_its_last_word_is_kept(line):
    seen = list(updates(line.start(lambda sign: iter(["a", "b"])), 0.01))
    assert seen[-1].done
    assert seen[-1].shot == "b"


def test_a_job_that_never_shows_anything_ends_when_its_owner_has_left(line):
    left = threading.Event()

    def silent(sign):
        while True:
            sign.check()
            time.sleep(0.005)
            yield None

    turn = line.start(silent)
    seen = updates(turn, 0.01, left.is_set)
    assert not next(seen).done
    left.set()
    assert next(seen, None) is None
    assert turn.done.wait(60)
    assert not len(line)


def test_measurements_take_turns_and_know_their_place(line):
    started = [threading.Event() for _ in range(3)]
    jobs = [line.start(endless(event)) for event in started]
    until(started[0].is_set)
    assert [line.place(job) for job in jobs] == [0, 1, 2]
    assert not started[1].is_set()
    jobs[0].stop()
    until(started[1].is_set)
    assert [line.place(job) for job in jobs[1:]] == [0, 1]
    for job in reversed(jobs[1:]):
        job.stop()
        job.thread.join(120)
    assert not started[2].is_set()


def test_one_who_gives_up_waiting_leaves_the_line_at_once(line):
    first = line.start(endless())
    second = line.start(endless())
    second.stop()
    second.thread.join(120)
    assert not second.thread.is_alive()
    assert first.thread.is_alive()
    first.stop()
    first.thread.join(120)


def test_an_owner_has_one_measurement_and_can_stop_it_by_name(line):
    first = line.start(endless(), "visitor")
    second = line.start(endless(), "visitor")
    until(first.done.is_set)
    until(lambda: second.shot)
    line.stop("somebody else")
    assert not second.done.is_set()
    line.stop("visitor")
    until(second.done.is_set)


def test_who_stops_reading_stops_the_measurement(line):
    measurement = line.start(endless())
    reading = updates(measurement, 0.01)
    next(reading)
    reading.close()
    until(measurement.done.is_set)


def test_the_line_has_an_end(line):
    jobs = [line.start(endless()) for _ in range(LONGEST_LINE + 1)]
    with pytest.raises(LineIsLong, match="try again later"):
        line.start(endless())
    for job in jobs:
        job.stop()
    for job in jobs:
        job.thread.join(120)
    assert list(updates(line.start(lambda sign: iter([1])), 0.01))[-1].shot == 1


def test_an_address_has_two_places_and_leaves_the_others_to_everybody_else(line):
    two = [line.start(endless(), address="10.0.0.1") for _ in range(2)]
    with pytest.raises(LineIsLong, match="2 measurements from your address"):
        line.start(endless(), address="10.0.0.1")
    others = [line.start(endless(), address=place) for place in ("10.0.0.2", "", "", "")]
    assert len(line) == 6
    two[1].stop()
    two[1].thread.join(120)
    again = line.start(endless(), address="10.0.0.1")
    for job in [*two, *others, again]:
        job.stop()
        job.thread.join(120)


def test_failures_reach_the_reader_and_free_the_line(line):
    def broken(sign):
        yield 1
        raise ValueError("The device went away.")

    with pytest.raises(ValueError, match="went away"):
        list(updates(line.start(broken), 0.01))
    assert list(updates(line.start(lambda sign: iter([1])), 0.01))[-1].done


def test_visitors_are_answered_again_right_after_a_stop():
    slot = Slot()
    line = Line(slot.measure)
    measurement = line.start(endless())
    until(lambda: measurement.shot)
    answered = threading.Event()

    def visitor():
        with slot.infer():
            answered.set()

    thread = threading.Thread(target=visitor)
    thread.start()
    assert not answered.wait(0.05), "a visitor disturbed the measurement"
    measurement.stop()
    assert answered.wait(120)
    thread.join()


def test_a_job_that_goes_on_does_not_keep_a_process_from_ending(line):
    turn = line.start(endless())
    assert turn.thread.daemon
    turn.stop()


def test_a_programs_job_gives_way_at_every_step_and_ends_when_its_address_has_spent(monkeypatch):
    slot, budget = Slot(), Budget(seconds=0.3)
    monkeypatch.setattr(lines, "SLOT", slot)
    monkeypatch.setattr(lines, "BUDGET", budget)
    monkeypatch.setattr(lines, "Meter", lambda who: Meter(who, budget=budget))
    seen, reasons, line = [], [], Line(slot.measure)

    def job(sign):
        try:
            while True:
                seen.append(sum(range(1000)))
                sign.check()
        except Stopped as stopped:
            reasons.append(stopped.reason)
        yield len(seen)

    turn = line.start(job, address="198.51.100.1")
    slot.visitor_comes()
    with slot.infer():
        assert slot.is_measuring, "in the middle of the measurement"
    slot.visitor_goes()
    *_, last = updates(turn, 0.01)
    assert last.done
    assert reasons == ["deadline"]
    assert budget.is_spent("198.51.100.1")


def test_a_job_is_replaced_only_by_one_that_is_drawn_in_the_same_place(line):
    first = line.start(endless(), owner="me", place=(1,))
    line.start(endless(), owner="me", place=(2,))
    *_, last = updates(first, 0.01)
    assert last.stopped
    assert not first.replaced, "nothing else says at its place that it ended"
    third, fourth = (line.start(endless(), owner="me", place=(3,)) for _ in range(2))
    assert third.replaced
    fourth.stop()
    assert fourth.done.wait(60)
