"""Links of families with exactly the columns that they name."""

from dataclasses import replace

import pytest

from explorer.context import configure
from explorer.links.codec import from_params, to_link, to_params
from explorer.links.page_state import PageState
from explorer.models.choice.family import read_family, sizes_of


@pytest.fixture
def named():
    """Make a page that was started with three columns, two of them called like fields of a link."""
    configure(columns=("before", "text", "tab"))


@pytest.mark.parametrize(
    ("family", "canonical"),
    [
        ("before=mini-bert,text=mini-albert", "only,before=mini-bert,text=mini-albert"),
        ("only,text=mini-albert,before=mini-bert", "only,text=mini-albert,before=mini-bert"),
        ("only,text=mini-bert,tab=bert-base-uncased", "only,text=mini-bert,tab=bert-base-uncased"),
        ("only,bert=mini,albert=base", "only,bert=mini,albert=base"),
        ("only,bert=mini,distilbert=mini,albert=mini", "mini"),
    ],
)
def test_a_link_holds_exact_columns_in_one_field(named, family, canonical):
    assert read_family(family) == canonical
    state, repaired = from_params({"v": "1", "family": family})
    first = next(iter(sizes_of(family)))
    assert (state.family, state.model, repaired) == (canonical, first, ())
    assert "model" not in to_params(state)
    link = to_link(state)
    assert link == {"v": "1", "family": canonical}
    assert from_params(link) == (state, ())


@pytest.mark.parametrize(
    "family", ["only", "only,", "before=nope", "mini,before=mini-bert", "only,after=mini-bert"]
)
def test_a_family_that_the_page_does_not_have_is_the_default_with_a_notice(named, family):
    state, repaired = from_params({"family": family, "model": "before"})
    assert (state.family, set(repaired)) == ("mini", {"family", "model"})


def test_a_column_of_another_page_is_the_default_with_a_notice():
    family = "only,before=mini-bert,after=mini-albert"
    assert read_family(family) == family
    assert from_params({"family": family})[1] == ("family",)


def test_columns_of_the_page_and_of_architectures_are_not_mixed(named):
    assert from_params({"family": "only,before=mini-bert,bert=mini"})[1] == ("family",)


@pytest.mark.parametrize(
    ("pair", "read", "repaired"),
    [
        ({"teacher": "albert", "student": "bert"}, ("albert", "bert"), ()),
        ({"student": "bert"}, ("", "bert"), ()),
        ({"teacher": "before"}, ("", ""), ("teacher",)),
        ({"teacher": "bert", "student": "bert"}, ("bert", ""), ("student",)),
        ({"family": "only,bert=mini,albert=mini", "teacher": "distilbert"}, ("", ""), ("teacher",)),
    ],
)
def test_a_link_names_teacher_and_student_among_the_familys_columns(pair, read, repaired):
    state, wrong = from_params({"tab": "distillation", **pair})
    assert ((state.teacher, state.student), wrong) == (read, repaired)
    assert from_params(to_params(state)) == (state, ())


def test_a_page_of_three_still_writes_its_links_as_before():
    assert to_params(PageState()) == {"v": "1", "family": "mini"}
    state = replace(PageState(), family="bert=large,distilbert=mini,albert=mini", model="albert")
    assert to_link(state) == {
        "v": "1",
        "model": "albert",
        "bert": "large",
        "distilbert": "mini",
        "albert": "mini",
    }
