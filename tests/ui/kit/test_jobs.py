"""A job behind a button: shown, stopped, kept and replaced, whatever it computes."""

import threading
from collections import deque

import gradio as gr
import pytest

from explorer.inference.cache import CACHE
from explorer.refusal import Refusal
from explorer.scheduling.job_queue import MEASUREMENTS, JobQueue, JobUpdate
from explorer.ui.kit import jobs
from explorer.ui.kit.jobs import Job, Progress, handler, parts, shown, status
from tests.waiting import until


@pytest.fixture(autouse=True)
def _nothing_cached():
    CACHE.clear()


def squares(asked, cancel_token):
    total = 0
    for n in range(asked):
        cancel_token.check()
        total += n * n
        yield Progress(n + 1, asked, total)
    return total


def draw(asked, update):
    return [status(update, "{done} of {n}", "Stopped."), str(shown(update))]


def job(**changes):
    fields = {"name": "square", "queue": JobQueue("squares"), "ask": lambda n: n, "key": None}
    return Job(**fields | {"compute": squares, "draw": draw} | changes)


def visible(step):
    return step[-1].visible


def held(inside, go_on):
    """Return a computation that waits in its second step."""

    def compute(asked, cancel_token):
        yield Progress(1, asked, "half")
        inside.set()
        assert go_on.wait(300)
        cancel_token.check()
        return "whole"

    return compute


def test_every_step_says_whether_the_stop_is_there_and_the_last_one_hides_it():
    steps = list(handler(job())(4))
    assert [visible(step) for step in steps] == [True] * (len(steps) - 1) + [False]
    assert steps[-1][:2] == ["", "14"]


def test_a_kept_result_is_drawn_at_once_and_the_stop_never_comes():
    computed = []

    def compute(n, cancel_token):
        computed.append(n)
        return (yield from squares(n, cancel_token))

    kept = job(compute=compute, key=lambda n: ("squares", n))
    list(handler(kept)(4))
    ((said, total, stop),) = handler(kept)(4)
    assert (said, total, stop.visible) == ("", "14", False)
    list(handler(kept)(5))
    assert computed == [4, 5]


def test_without_a_question_nothing_is_drawn_and_a_question_may_draw_itself():
    assert list(handler(job(ask=lambda n: None))(4)) == []

    def ask(n):
        yield ["reading", ""]
        return None if n < 0 else n

    (step,) = handler(job(ask=ask))(-1)
    assert (step[:2], visible(step)) == (["reading", ""], False)
    first, *_, last = handler(job(ask=ask))(4)
    assert (first[0], last[1]) == ("reading", "14")


@pytest.fixture
def of_visitor(monkeypatch):
    """Sets whose event the handler runs in, and in which components it draws."""
    monkeypatch.setattr(jobs, "outputs_of_event", lambda: (1, 2, 3))

    def be(name):
        monkeypatch.setattr(jobs, "owner_of", lambda _request: name)

    be("me")
    return be


def started(steps):
    """Read the steps in a thread of its own; return them as they come, and the thread."""
    seen = []
    thread = threading.Thread(target=lambda: seen.extend(steps), daemon=True)
    thread.start()
    return seen, thread


def test_a_stop_ends_the_visitors_own_job_and_nothing_of_it_is_kept(of_visitor):
    inside, go_on = threading.Event(), threading.Event()
    slow = job(compute=held(inside, go_on), key=lambda n: ("held", n))
    seen, thread = started(handler(slow)(4))
    assert inside.wait(300)
    slow.queue.stop(("somebody else", slow.compute))
    slow.queue.stop(("me", squares))
    assert not slow.queue._waiting[0].cancel_token.cancelled
    slow.queue.stop(slow.owner())
    go_on.set()
    thread.join(300)
    assert "Stopped." in seen[-1][0]
    assert seen[-1][1] == "half"
    assert not visible(seen[-1])
    until(lambda: not len(slow.queue))
    assert ("held", 4) not in CACHE


def test_what_another_visitor_computed_meanwhile_is_not_computed_again(of_visitor):
    inside, go_on, passes = threading.Event(), threading.Event(), []
    hold = held(inside, go_on)

    def compute(asked, cancel_token):
        passes.append(asked)
        return (yield from hold(asked, cancel_token))

    shared = job(compute=compute, key=lambda n: ("held", n))
    first, thread = started(handler(shared)(4))
    assert inside.wait(300)
    of_visitor("you")
    second, other = started(handler(shared)(4))
    until(lambda: len(shared.queue) == 2)
    go_on.set()
    thread.join(300)
    other.join(300)
    assert passes == [4]
    assert first[-1][1] == second[-1][1] == "whole"


def test_a_replaced_job_draws_nothing_any_more(of_visitor):
    inside, go_on = threading.Event(), threading.Event()
    slow = job(compute=held(inside, go_on))
    older, thread = started(handler(slow)(4))
    assert inside.wait(300)
    until(lambda: older and older[-1][1] == "half")  # nothing more is drawn before it is replaced
    n_drawn = len(older)
    newer, other = started(handler(slow)(5))
    until(lambda: len(slow.queue) == 2)
    go_on.set()
    thread.join(300)
    other.join(300)
    assert len(older) == n_drawn
    assert newer[-1][1] == "whole"
    assert not visible(newer[-1])


@pytest.mark.parametrize("is_kept", [True, False], ids=["kept", "refused"])
def test_an_answer_without_a_job_ends_the_one_that_draws_there(of_visitor, is_kept):
    inside, go_on = threading.Event(), threading.Event()

    def ask(n):
        if n < 0:
            yield ["No.", ""]
            return None
        return n

    slow = job(compute=held(inside, go_on), ask=ask, key=lambda n: ("answered", n))
    CACHE.put(("answered", 5), "kept")
    older, thread = started(handler(slow)(4))
    assert inside.wait(300)
    until(lambda: older and older[-1][1] == "half")
    n_drawn = len(older)
    (only,) = handler(slow)(5 if is_kept else -1)
    assert only[1] == ("kept" if is_kept else "")
    go_on.set()
    thread.join(300)
    assert len(older) == n_drawn, "nothing is drawn over the answer"


@pytest.mark.parametrize("at", ["ask", "compute"])
def test_a_failure_hides_the_stop_and_reaches_the_visitor(of_visitor, at):
    def fail(*_):
        raise Refusal("No.")
        yield

    seen: deque = deque()
    with pytest.raises(Refusal, match="No"):
        seen.extend(handler(job(**{at: fail}))(4))
    last = seen.pop()
    assert last[:2] == [gr.skip(), gr.skip()]
    assert not visible(last)


def test_the_stop_of_an_earlier_job_stays_where_a_question_is_refused(of_visitor):
    inside, go_on = threading.Event(), threading.Event()

    def ask(n):
        if n < 0:
            raise Refusal("No.")
        return n

    slow = job(compute=held(inside, go_on), ask=ask)
    _, thread = started(handler(slow)(4))
    assert inside.wait(300)
    refused = handler(slow)(-1)
    assert visible(next(refused))
    with pytest.raises(Refusal):
        next(refused)
    go_on.set()
    thread.join(300)


def test_a_job_says_its_place_then_its_progress_then_its_end():
    texts = ("{done} of {n}", "Stopped.")
    assert "1 ahead" in status(JobUpdate(1, None, done=False), *texts)
    assert "0 of 7" in status(JobUpdate(0, None, done=False), *texts, 7)
    assert "3 of 4" in status(JobUpdate(0, Progress(3, 4), done=False), *texts, 7)
    assert status(JobUpdate(0, Progress(4, 4), done=True, result=1), *texts) == ""
    assert "Stopped." in status(JobUpdate(0, Progress(3, 4), done=True, stopped=True), *texts)


def test_growing_results_are_progress_and_the_last_one_is_the_result():
    growing = job(compute=lambda asked, _: parts(f"{n} of {asked}" for n in (1, 2)))
    *_, last = handler(growing)(2)
    assert last[1] == "2 of 2"


def test_what_a_stopped_computation_still_returns_is_shown_and_not_kept(of_visitor):
    """A measurement ends at a stop with the rounds that it has."""
    inside, go_on = threading.Event(), threading.Event()

    def compute(_question, _cancel_token):
        yield Progress(part="a round")
        inside.set()
        assert go_on.wait(300)
        return "the rounds so far"

    short = job(compute=compute, key=lambda n: ("rounds", n))
    seen, thread = started(handler(short)(4))
    assert inside.wait(300)
    short.queue.stop(short.owner())
    go_on.set()
    thread.join(300)
    until(lambda: not len(short.queue))
    assert "Stopped." in seen[-1][0]
    assert ("rounds", 4) not in CACHE


def test_the_stop_below_two_jobs_stops_whichever_of_them_runs(of_visitor):
    inside, go_on = threading.Event(), threading.Event()
    two = job(compute=held(inside, go_on)), job()
    with gr.Blocks() as page:
        starts = {gr.Button().click: each for each in two}
        stop = gr.Button()
        jobs.job_buttons(starts, [gr.Number()], [gr.HTML(), gr.HTML()], stop)
    (pressed,) = (f for f in page.fns.values() if f.targets == [(stop._id, "click")])
    seen, thread = started(handler(two[0])(4))
    assert inside.wait(300)
    pressed.fn(None)
    go_on.set()
    thread.join(300)
    assert "Stopped." in seen[-1][0]


def test_a_visitor_has_two_different_jobs_at_once_but_one_measurement(of_visitor):
    inside, go_on = threading.Event(), threading.Event()
    queue = JobQueue("few", at_once=2)
    strip = job(compute=held(inside, go_on), queue=queue)
    first, thread = started(handler(strip)(4))
    assert inside.wait(300)
    *_, last = handler(job(queue=queue))(4)
    assert last[1] == "14"
    assert not queue._waiting[0].cancel_token.cancelled, "the other one goes on"
    go_on.set()
    thread.join(300)
    assert first[-1][1] == "whole"
    measurements = [job(queue=MEASUREMENTS), job(queue=MEASUREMENTS, compute=held(inside, go_on))]
    assert {measurement.owner() for measurement in measurements} == {"me"}
