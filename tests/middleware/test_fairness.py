"""Admission to the queue, over every order in which requests come and go; and the table of all limits."""

import ast
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer import limits
from explorer.middleware.waiting_room import Sender, account_of, exceeded
from tests.sources import trees_in

ALL, OF_PROGRAMS = limits.QUESTIONS.maximum, limits.PROGRAMS.maximum
ADDRESSES = tuple("abcde")
COMES = st.builds(
    Sender, st.sampled_from(ADDRESSES), st.sampled_from(("s", "t", "u")), st.booleans()
)
LEAVES = st.integers(0, ALL - 1)
STEPS = st.lists(st.tuples(COMES | LEAVES, st.integers(1, ALL)), max_size=30)
"""Who comes, or which of those who wait is begun; and how often in a row."""


def newcomer(is_program):
    return Sender("newcomer", "new", is_program)


def fill(asker, waiting, most=2 * ALL):
    """Send requests of one address until one is refused; each page is a session of its own."""
    for number in range(most):
        one = asker if asker.is_program else Sender(asker.address, f"p{number}", is_program=False)
        if exceeded(one, waiting):
            return
        waiting.append(one)


@given(STEPS)
@settings(deadline=None)
def test_whatever_comes_and_goes_the_laws_of_the_room_hold(steps):
    waiting = []
    for step, times in steps:
        for _ in range(times):
            if isinstance(step, int):
                waiting[step : step + 1] = []
            elif exceeded(step, before := tuple(waiting)) is None:
                waiting.append(step)
            else:
                assert tuple(waiting) == before, "what was taken is not given up for it"
        programs = sum(one.is_program for one in waiting)
        pages = Counter(one.session for one in waiting if not one.is_program)
        assert len(waiting) <= ALL
        assert programs <= OF_PROGRAMS
        assert max(pages.values(), default=0) <= limits.PAGE.maximum
        is_free = len(waiting) < ALL
        assert (exceeded(newcomer(is_program=False), waiting) is None) == is_free
        is_free &= programs < OF_PROGRAMS
        assert (exceeded(newcomer(is_program=True), waiting) is None) == is_free


@pytest.mark.parametrize(("is_program", "room"), [(True, OF_PROGRAMS), (False, ALL)])
def test_one_address_may_fill_nearly_all_places_and_leaves_room_for_who_comes(is_program, room):
    waiting = []
    fill(Sender("a", "s", is_program), waiting)
    assert len(waiting) == room * 15 // 16
    assert exceeded(newcomer(is_program), waiting) is None


def test_an_address_alone_has_room_for_a_class_of_thirty_programs():
    waiting = []
    fill(Sender("router", "s", is_program=True), waiting)
    assert len(waiting) == 30


@given(st.integers(2, len(ADDRESSES)), st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_when_others_come_each_ends_with_its_share(n, seed):
    """One begins alone; each time a question of anybody is begun, all want its place."""
    random, waiting = Random(seed), []
    fill(Sender("a", "s", is_program=True), waiting)
    for _ in range(10 * OF_PROGRAMS):
        waiting.pop(random.randrange(len(waiting)))
        for address in random.sample(ADDRESSES[:n], n):
            fill(Sender(address, "s", is_program=True), waiting, 1)
    held = Counter(one.address for one in waiting)
    share = OF_PROGRAMS // n
    assert all(share - 2 <= held[address] <= share + 2 for address in ADDRESSES[:n]), held


@pytest.mark.parametrize(
    ("host", "account"),
    [
        ("198.51.100.7", "198.51.100.7"),
        ("::ffff:198.51.100.7", "198.51.100.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("testclient", "testclient"),
    ],
)
def test_an_address_is_one_account(host, account):
    assert account_of(host) == account


def test_the_documentation_prints_the_table_of_limits():
    written = limits.DOCUMENT.read_text("utf-8")
    assert limits.with_table(written) == written, "python -m explorer.limits writes it"
    assert limits.table().count("\n") == 2 + len([*limits.rows()]) > 20


@pytest.mark.long
def test_every_row_of_the_table_is_read_by_the_code():
    names = {name for name, value in vars(limits).items() if isinstance(value, limits.Limit)}
    read = set()
    for tree in trees_in(Path(limits.__file__).parent).values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                read |= {node.attr} if node.value.id == "limits" else set()
    assert names - read == set()


def test_a_sentence_says_the_number_of_its_row():
    assert "5 s" in limits.UNHEARD.sentence()
    assert "256 KB" in limits.BODY.sentence()
    assert limits.QUESTIONS.sentence(n=64).startswith("64 requests")
    for row in limits.rows():
        assert "{" not in row.sentence(n=1)
