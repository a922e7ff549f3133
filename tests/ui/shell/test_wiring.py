"""How the page is wired, whatever its handlers do: what is on it is reached by some event."""

import difflib
from inspect import isgeneratorfunction
from pathlib import Path

import gradio as gr

from explorer import limits
from explorer.ui.kit.jobs import LONG
from explorer.ui.shell.api import ENDPOINTS
from tests.ui.shell.page_map import page_map


def places(page, kind):
    return [block for block in page.blocks.values() if isinstance(block, kind)]


def events(page):
    return list(page.fns.values())


def test_no_place_stays_empty(page):
    written = {block._id for event in events(page) for block in event.outputs}
    empty = [place for place in places(page, gr.HTML) if not place.value]
    assert len(empty) > 40
    for place in empty:
        assert place._id in written, (place.parent.elem_id, getattr(place, "kind", "HTML"))


def test_a_stop_is_drawn_by_its_jobs_and_its_click_does_nothing_but_stop(page):
    """Shown and hidden by the last output of the job itself, or hidden by a reset."""
    hidden = [button for button in places(page, gr.Button) if button.visible is False]
    assert len(hidden) > 10
    for button in hidden:
        writing = [event for event in events(page) if button in event.outputs]
        jobs = [event for event in writing if isgeneratorfunction(event.fn)]
        where = (button.parent.elem_id, button.value)
        assert jobs, where
        assert {event.outputs[-1] for event in jobs} == {button}, where
        clicks = [event for event in events(page) if (button._id, "click") in event.targets]
        assert [(event.inputs, event.outputs) for event in clicks] == [([], [])], where


def test_no_event_is_ended_by_gradio_and_none_waits_for_the_end_of_a_job(page):
    """A closed stream would be drawn as it stood, and its pass would hold up the next cancel."""
    jobs = {event._id for event in events(page) if isgeneratorfunction(event.fn)}
    assert not [event.name for event in events(page) if event.cancels]
    assert not [event.name for event in events(page) if event.trigger_after in jobs]


def test_an_open_fold_is_computed_for_the_newest_text_last(page):
    opening = [event for event in events(page) if "expand" in {name for _, name in event.targets}]
    assert len(opening) > 15
    assert {event.trigger_mode for event in opening} == {"always_last"}


def test_one_visitor_cannot_take_all_turns_of_long_work(page):
    long = {event.name: event for event in events(page) if event.concurrency_id == LONG.name}
    assert 0 < len(long) < limits.LONG.maximum, "a visitor has one job of each name"
    assert {event.trigger_mode for event in long.values()} <= {"once", "always_last"}


def test_who_waits_for_a_measurement_takes_no_place_of_those_who_want_an_answer(page):
    named = {event.api_name: event.concurrency_id for event in events(page)}
    assert named["latency"] == "measured"
    assert {named[name] for name in ENDPOINTS if name != "latency"} == {"programs"}
    pages = {line for name, line in named.items() if name not in ENDPOINTS}
    assert not pages & {"measured", "programs"}, "no page waits for a program's turn"
    assert [name for name, line in named.items() if line == "compare"] == ["on_view"]


def test_every_part_and_every_event_is_as_written_down(page):
    """What a change means to do to the page is seen in the difference of page.txt."""
    written = (Path(__file__).parent / "page.txt").read_text("utf-8").splitlines()
    changed = "\n".join(difflib.unified_diff(written, page_map(page), n=0, lineterm=""))
    assert not changed, f"{changed}\n(anew: python -m tests.ui.shell.page_map > page.txt)"
