"""Who goes first, visitors before everything and programs' long work last; which texts share a pass."""

from hypothesis import given
from hypothesis import strategies as st

from explorer.inference.worker_queues import (
    LONG,
    LONG_FOR_PROGRAM,
    LONGEST,
    MAX_ROWS,
    PROGRAM,
    VISITOR,
    PendingText,
    PriorityQueues,
    length_bucket,
    priority_of,
)


def filled(**counts):
    queues = PriorityQueues()
    numbers = {
        "visitor": VISITOR,
        "program": PROGRAM,
        "long": LONG,
        "long_of_program": LONG_FOR_PROGRAM,
    }
    for name, count in counts.items():
        for _ in range(count):
            queues.add(numbers[name], lambda name=name: name)
    return queues


def test_who_asks_and_for_what_says_the_lane():
    assert priority_of("", is_long=False) == VISITOR
    assert priority_of("198.51.100.1", is_long=False) == PROGRAM
    assert priority_of("", is_long=True) == LONG
    assert priority_of("198.51.100.1", is_long=True) == LONG_FOR_PROGRAM


def test_a_free_worker_takes_visitors_first_and_programs_long_work_last():
    queues = filled(long_of_program=2, long=3, program=3, visitor=2)
    order = [queues.next()() for _ in range(10)]
    assert order[:2] == ["visitor"] * 2
    assert sorted(order[2:4]) == ["long", "program"], "each its turn"
    assert sorted(order[4:6]) == ["long", "program"]
    assert order[-2:] == ["long_of_program"] * 2
    assert queues.next() is None


def test_between_two_parts_go_all_visitors_and_one_of_each_lane_before():
    queues = filled(visitor=2, program=5, long=5, long_of_program=5)
    assert [work() for work in queues.before(LONG_FOR_PROGRAM)] == [
        "visitor",
        "visitor",
        "program",
        "long",
    ]
    assert [work() for work in queues.before(LONG)] == ["program"]
    assert queues.waiting(LONG_FOR_PROGRAM) == 5


def test_a_visitor_who_comes_while_others_go_is_next():
    queues, order = filled(program=1), []
    queues.add(PROGRAM, lambda: order.append("program"))
    queues.add(LONG, lambda: order.append("long"))
    queues._pop(PROGRAM)
    for work in queues.before(LONG_FOR_PROGRAM):
        work()
        if order == ["program"]:
            queues.add(VISITOR, lambda: order.append("visitor"))
    assert order == ["program", "visitor", "long"]


@given(st.lists(st.integers(1, 2 * LONGEST), min_size=1, max_size=30))
def test_a_pass_is_no_larger_and_wastes_no_more_than_is_said(lengths):
    line = [PendingText("x" * length, None) for length in lengths]
    taken = length_bucket(line)
    found = [len(one.text) for one in taken]
    assert taken[0] is line[0]
    assert len(taken) <= MAX_ROWS
    assert max(found) <= 1.25 * min(found) + 8
    assert len(taken) == 1 or len(taken) * max(found) <= LONGEST
