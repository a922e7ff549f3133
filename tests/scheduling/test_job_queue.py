"""One measurement at a time: turns, places, stopping, and visitors who wait."""

import threading
import time

import pytest

from explorer.scheduling import job_queue as lines
from explorer.scheduling.budget import Budget, BudgetMeter
from explorer.scheduling.cancel import Cancelled
from explorer.scheduling.job_queue import MAX_WAITING, JobQueue, QueueFull, updates
from explorer.scheduling.measurement_lock import MeasurementLock
from tests.waiting import until


def endless(started=None):
    def job(cancel_token):
        if started:
            started.set()
        number = 0
        while True:
            cancel_token.check()
            time.sleep(0.005)
            number += 1
            yield number

    return job


@pytest.fixture
def queue():
    return JobQueue("jobs")


def alone(lock, work):
    """Return the work as a measurement does it: with the machine to itself."""

    def job(cancel_token):
        with lock.measure():
            return (yield from work(cancel_token))

    return job


def test_a_job_runs_to_its_end_and_its_last_word_is_kept(queue):
    seen = list(updates(queue.start(lambda cancel_token: iter(["a", "b"])), 0.01))
    assert seen[-1].done
    assert seen[-1].partial == "b"


def test_a_measurement_is_not_disturbed_by_updates_of_its_own(monkeypatch):
    """It changes every 10 ms, and is shown when its place changes and when it has ended."""
    monkeypatch.setattr(lines, "MEASUREMENT_UPDATE_S", 3600.0)

    def measuring(cancel_token):
        for done in range(20):
            time.sleep(0.01)
            yield done

    seen = list(updates(lines.MEASUREMENTS.start(measuring), 0.001))
    places = [update.position for update in seen if not update.done]
    assert len(places) == len(set(places))
    assert (seen[-1].done, seen[-1].partial) == (True, 19)


def test_a_job_that_never_shows_anything_ends_when_its_owner_has_left(queue):
    left = threading.Event()

    def silent(cancel_token):
        while True:
            cancel_token.check()
            time.sleep(0.005)
            yield None

    queued = queue.start(silent)
    seen = updates(queued, 0.01, left.is_set)
    assert not next(seen).done
    left.set()
    assert next(seen, None) is None
    assert queued.done.wait(60)
    assert not len(queue)


def test_measurements_take_turns_and_know_their_place(queue):
    started = [threading.Event() for _ in range(3)]
    jobs = [queue.start(endless(event)) for event in started]
    until(started[0].is_set)
    assert [queue.position(job) for job in jobs] == [0, 1, 2]
    assert not started[1].is_set()
    jobs[0].stop()
    until(started[1].is_set)
    assert [queue.position(job) for job in jobs[1:]] == [0, 1]
    for job in reversed(jobs[1:]):
        job.stop()
        job.thread.join(120)
    assert not started[2].is_set()


def test_one_who_gives_up_waiting_leaves_the_line_at_once(queue):
    first = queue.start(endless())
    second = queue.start(endless())
    second.stop()
    second.thread.join(120)
    assert not second.thread.is_alive()
    assert first.thread.is_alive()
    first.stop()
    first.thread.join(120)


def test_an_owner_has_one_measurement_and_can_stop_it_by_name(queue):
    first = queue.start(endless(), "visitor")
    second = queue.start(endless(), "visitor")
    until(first.done.is_set)
    until(lambda: second.partial)
    queue.stop("somebody else")
    assert not second.done.is_set()
    queue.stop("visitor")
    until(second.done.is_set)


def test_who_stops_reading_stops_the_measurement(queue):
    measurement = queue.start(endless())
    reading = updates(measurement, 0.01)
    next(reading)
    reading.close()
    until(measurement.done.is_set)


def test_the_line_has_an_end(queue):
    jobs = [queue.start(endless()) for _ in range(MAX_WAITING + 1)]
    with pytest.raises(QueueFull, match="try again later"):
        queue.start(endless())
    for job in jobs:
        job.stop()
    for job in jobs:
        job.thread.join(120)
    assert list(updates(queue.start(lambda cancel_token: iter([1])), 0.01))[-1].partial == 1


def test_who_asks_again_in_a_full_queue_keeps_a_place(queue):
    others = [queue.start(endless()) for _ in range(MAX_WAITING)]
    mine = queue.start(endless(), owner="me")
    with pytest.raises(QueueFull):
        queue.start(endless(), owner="you")
    again = queue.start(endless(), owner="me")
    assert mine.cancel_token.cancelled
    assert not again.cancel_token.cancelled
    for job in [*others, again]:
        job.stop()
    for job in [*others, mine, again]:
        job.thread.join(120)


def test_who_is_refused_keeps_the_job_that_waits(queue):
    """An address at its limit asks once more: nothing of its own ends."""
    two = [queue.start(endless(), owner=name, address="10.0.0.1") for name in ("a", "b")]
    with pytest.raises(QueueFull):
        queue.start(endless(), owner="a", address="10.0.0.1")
    assert not any(job.cancel_token.cancelled for job in two)
    for job in two:
        job.stop()


@pytest.mark.long
def test_an_address_has_two_places_and_leaves_the_others_to_everybody_else(queue):
    two = [queue.start(endless(), address="10.0.0.1") for _ in range(2)]
    with pytest.raises(QueueFull, match="2 measurements from your address"):
        queue.start(endless(), address="10.0.0.1")
    others = [queue.start(endless(), address=place) for place in ("10.0.0.2", "", "", "")]
    assert len(queue) == 6
    two[1].stop()
    two[1].thread.join(120)
    again = queue.start(endless(), address="10.0.0.1")
    for job in [*two, *others, again]:
        job.stop()
        job.thread.join(120)


def test_failures_reach_the_reader_and_free_the_line(queue):
    def broken(cancel_token):
        yield 1
        raise ValueError("The device went away.")

    with pytest.raises(ValueError, match="went away"):
        list(updates(queue.start(broken), 0.01))
    assert list(updates(queue.start(lambda cancel_token: iter([1])), 0.01))[-1].done


def test_visitors_are_answered_again_right_after_a_stop():
    slot = MeasurementLock()
    queue = JobQueue("measure")
    measurement = queue.start(alone(slot, endless()))
    until(lambda: measurement.partial)
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


def test_a_job_that_goes_on_does_not_keep_a_process_from_ending(queue):
    queued = queue.start(endless())
    assert queued.thread.daemon
    queued.stop()


@pytest.mark.long
def test_a_programs_job_gives_way_at_every_step_and_ends_when_its_address_has_spent(monkeypatch):
    slot, budget = MeasurementLock(), Budget(seconds=0.3)
    monkeypatch.setattr(lines, "MEASUREMENT_LOCK", slot)
    monkeypatch.setattr(lines, "BUDGET", budget)
    monkeypatch.setattr(lines, "BudgetMeter", lambda who: BudgetMeter(who, budget=budget))
    seen, reasons, queue = [], [], JobQueue("measure")

    def job(cancel_token):
        try:
            while True:
                seen.append(sum(range(1000)))
                cancel_token.check()
        except Cancelled as stopped:
            reasons.append(stopped.reason)
        yield len(seen)

    slot.visitor_waits()
    queued = queue.start(alone(slot, job), address="198.51.100.1")
    until(lambda: slot.is_measuring)
    with slot.infer():
        assert slot.is_measuring, "in the middle of the measurement"
    slot.visitor_done()
    *_, last = updates(queued, 0.01)
    assert last.done
    assert reasons == ["deadline"]
    assert budget.exhausted("198.51.100.1")


def test_a_job_is_replaced_only_by_one_that_is_drawn_in_the_same_place(queue):
    first = queue.start(endless(), owner="me", component_ids=(1,))
    queue.start(endless(), owner="me", component_ids=(2,))
    *_, last = updates(first, 0.01)
    assert last.stopped
    assert not first.replaced, "nothing else says at its place that it ended"
    third, fourth = (queue.start(endless(), owner="me", component_ids=(3,)) for _ in range(2))
    assert third.replaced
    fourth.stop()
    assert fourth.done.wait(60)


def test_a_result_is_there_at_the_end_and_a_stopped_job_has_none(queue):
    def counts(cancel_token):
        yield "half"
        return "whole"

    *_, last = updates(queue.start(counts), 0.01)
    assert (last.partial, last.result, last.stopped) == ("half", "whole", False)
    cut = queue.start(endless())
    until(lambda: cut.partial)
    cut.stop()
    *_, last = updates(cut, 0.01)
    assert (last.result, last.stopped) == (None, True)


def test_a_few_jobs_run_at_a_time_where_the_queue_lets_them():
    queue, started = JobQueue("few", at_once=2), [threading.Event() for _ in range(3)]
    jobs = [queue.start(endless(event)) for event in started]
    until(lambda: started[0].is_set() and started[1].is_set())
    assert [queue.position(job) for job in jobs] == [0, 0, 1]
    assert not started[2].is_set()
    jobs[1].stop()
    until(started[2].is_set)
    assert queue.position(jobs[2]) == 0
    for job in jobs:
        job.stop()
        assert job.done.wait(60)


@pytest.mark.long
def test_a_stopped_job_is_shown_as_stopped_though_its_last_step_goes_on(queue):
    inside, go_on = threading.Event(), threading.Event()

    def slow(cancel_token):
        yield 1
        inside.set()
        assert go_on.wait(300)

    queued = queue.start(slow)
    assert inside.wait(300)
    queued.stop()
    *_, last = updates(queued, 0.01)
    assert (last.partial, last.done, last.stopped) == (1, True, True)
    assert not queued.ended.is_set()
    assert len(queue) == 1, "the next job waits for it"
    go_on.set()
    assert queued.done.wait(60)


def test_a_queue_may_wait_longer_for_what_a_stopped_job_has():
    patient = JobQueue("patient", patience_s=300.0)
    inside, goes_on = threading.Event(), threading.Event()

    def slow(cancel_token):
        yield 1
        inside.set()
        assert goes_on.wait(300)
        return "what there is"

    queued = patient.start(slow)
    assert inside.wait(300)
    queued.stop()
    looks = iter(range(200))  # of 0.01 s each: longer than other queues wait
    seen = updates(queued, 0.01, lambda: next(looks, None) is None and goes_on.set())
    *_, last = seen
    assert (last.result, last.stopped) == ("what there is", True)


def test_the_first_update_comes_at_once(queue):
    queued = queue.start(endless())
    assert next(updates(queued, 300)).done is False
    queued.stop()


def test_an_owners_job_is_found_by_the_components_that_it_draws_in(queue):
    queued = queue.start(endless(), owner="me", component_ids=(1, 2), question="why")
    assert queued.question == "why"
    assert queue.drawn_in("you", (1, 2)) is queue.drawn_in("me", (3, 4)) is None
    assert queue.drawn_in("me", (0, 2)) is queued
    queued.replaced = True
    assert queue.drawn_in("me", (0, 2)) is None
    newer = queue.start(endless(), owner="me", component_ids=(3, 4))
    assert queued.replaced, "a job elsewhere does not bring it back"
    newer.stop()
    assert newer.done.wait(60)
    assert queued.done.wait(60)


def test_a_job_whose_time_is_over_ends_while_it_waits_for_its_turn(queue):
    first = queue.start(endless())
    waiting = queue.start(endless())
    waiting.cancel_token.end_within(0)
    *_, last = updates(waiting, 0.01)
    assert (last.done, last.stopped, last.partial, last.stage) == (True, False, None, "queue")
    assert not first.ended.is_set()
    first.stop()
    assert first.done.wait(60)
