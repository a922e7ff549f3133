"""What a session weighs, and that it still holds what a visitor chose."""

import tracemalloc
from types import SimpleNamespace

import gradio as gr
import pytest
from gradio import state_holder
from gradio.data_classes import PredictBodyInternal
from gradio.queueing import Queue
from gradio.state_holder import SessionState, StateHolder
from gradio.utils import LRUCache

from explorer.links.page_state import PageState
from explorer.middleware.sessions import MAX_SESSIONS, LeanSession
from explorer.ui.shell.page import build_page, launch_options
from tests.waiting import in_its_own_loop


@pytest.fixture(scope="module")
def page():
    """One of its own: what is asked of its queue here is never answered."""
    return build_page(PageState())


def held_by(page, session):
    """Bytes that one more session of this kind takes."""
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        kept = [session(page) for _ in range(3)]
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return (after - before) / len(kept)


@pytest.mark.long
def test_a_session_is_small_and_gradios_own_is_not(page):
    """Else the work-around is not needed any more."""
    assert 20 * held_by(page, LeanSession) < held_by(page, SessionState)


@pytest.mark.long
def test_what_a_visitor_chose_is_kept_apart_from_what_another_did(page, monkeypatch):
    monkeypatch.setattr(state_holder, "SessionState", SessionState)
    assert launch_options()["state_session_capacity"] == MAX_SESSIONS
    holder = StateHolder()
    holder.set_blocks(page)
    state = next(key for key, block in page.blocks.items() if isinstance(block, gr.State))
    button = next(key for key, block in page.blocks.items() if isinstance(block, gr.Button))
    one, other = holder["one"], holder["other"]
    assert isinstance(one, LeanSession)
    one[state] = "chosen"
    one[button] = gr.Button("changed", render=False)
    one._update_value_in_config(button, "a long answer" * 1000)
    one._update_config(button)
    assert (one[state], other[state]) == ("chosen", None)
    assert one[button].value == "changed" != other[button].value
    assert list(one.components) == []


def test_no_event_is_summed_up_for_a_page_that_nobody_may_see(page, monkeypatch):
    summed = []
    monkeypatch.setattr(Queue, "_get_df", staticmethod(summed.append))
    page._queue.events_recorded += 1000
    page._queue.compute_analytics_summary([{"function": "predict"}])
    assert summed == []
    assert page._queue.ANALYTICS_MAX_EVENTS == 1
    own = Queue(True, 4, 1.0, None, page, 4)
    own.events_recorded += 1
    with pytest.raises(AttributeError):
        own.compute_analytics_summary([{"function": "predict"}])
    assert summed, "the work-around is not needed any more"


def asked(page, session):
    """A question of a session, as the server hands it to the line; what it is told of its turn."""
    view = next(n for n, event in page.fns.items() if event.api_name == "on_view")
    body = PredictBodyInternal(data=["{}"], fn_index=view, session_hash=session)
    pushed = page._queue.push(body=body, request=None, username=None)
    taken, *_ = in_its_own_loop(pushed)
    return taken


def test_a_visitor_who_waits_while_two_thousand_others_come_is_still_told_of_the_turn(page):
    """Or the task that gives out turns fails for want of a letterbox, and the page is dead."""
    line = page._queue
    line.server_app = SimpleNamespace()
    try:
        assert asked(page, "early")
        for number in range(MAX_SESSIONS + 10):
            line.pending_messages_per_session[f"program {number}"] = object()
            line.broadcast_estimations("compare")
        line.broadcast_estimations("compare")
        assert len(line.pending_messages_per_session) == MAX_SESSIONS
        assert "program 0" not in line.pending_messages_per_session
    finally:
        line.event_queue_per_concurrency_id["compare"].queue.clear()


def test_gradios_own_letterboxes_are_still_thrown_away_by_age_alone():
    boxes = LRUCache(2)
    boxes["early"], boxes["late"] = 1, 2
    assert boxes["early"]
    boxes["new"] = 3
    assert list(boxes) == ["late", "new"], "the work-around is not needed any more"
