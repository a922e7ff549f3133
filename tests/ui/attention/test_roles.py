"""The choice of teacher and student on Attention, where several columns can be either."""

from dataclasses import replace

import pytest

from explorer.context import configure
from explorer.links.page_state import PageState
from explorer.ui.attention import tab
from explorer.ui.shell.tabs import values_of
from tests.markup import every, plain

STATE = PageState(text="the cat sat on the [MASK].")
FAMILY = "only,a=mini-bert,b=mini-distilbert,c=mini-distilbert"


@pytest.fixture(autouse=True)
def columns(tiny_family):
    configure(columns=("a", "b", "c"))


def shown(**chosen):
    return values_of(tab, replace(STATE, **chosen))[0]


def sides(markup):
    """Return what is chosen on each side, and what there is to choose."""
    return [
        (
            next(one["value"] for one in select.every("option") if "selected" in one.attributes),
            [one["value"] for one in select.every("option")],
        )
        for select in every(markup, "select", data_pair=...)
    ]


def test_a_student_is_chosen_where_a_teacher_has_two():
    usual = shown(family=FAMILY)
    assert sides(usual) == [("a", ["a", "b", "c"]), ("b", ["a", "b", "c"])]
    assert plain(usual).startswith("Of b's 36 heads, ")
    other = shown(family=FAMILY, teacher="a", student="c")
    assert [chosen for chosen, _ in sides(other)] == ["a", "c"]
    assert plain(other).startswith("Of c's 36 heads, ")


def test_two_that_are_no_teacher_and_student_are_not_compared_and_it_is_said():
    turned = shown(family=FAMILY, teacher="b", student="a")
    assert [chosen for chosen, _ in sides(turned)] == ["b", "a"]
    assert "b was distilled from a, not the other way round." in plain(turned)
    assert "near-cop" not in plain(turned)


@pytest.mark.parametrize("family", ["mini", "only,a=mini-bert,b=mini-bert,c=mini-bert"])
def test_without_two_pairs_there_is_no_choice(family):
    assert sides(shown(family=family)) == []


def test_a_link_that_names_the_only_pair_the_other_way_round_has_a_way_back():
    turned = shown(family="mini", teacher="distilbert", student="bert")
    assert [chosen for chosen, _ in sides(turned)] == ["distilbert", "bert"]
