"""The fold on sentence pairs: quadrants where there is a pair, else how to write one."""

from explorer.links.page_state import PageState
from explorer.ui.tasks import strings
from explorer.ui.tasks.tab import show_quadrants


def test_a_pair_is_drawn_for_the_models_and_one_sentence_is_told_how(tiny_family):
    drawn = show_quadrants(PageState(text="the cat sat [SEP] a dog was bad"))
    assert str(strings.NO_PAIR) not in drawn
    assert all(spec.label in drawn for spec in tiny_family.specs.values())
    alone = show_quadrants(PageState(text="the cat sat"))
    assert "table" not in alone
    assert len(alone) < len(drawn) / 4
