"""Every tab that reads the text says when it is not English, or when a model reads [UNK]."""

import pytest

from explorer.links.page_state import PageState
from explorer.ui.shell.tabs import TABS, values_of
from explorer.ui.tasks.tuned import show_question, show_sentiment
from tests.markup import plain

READERS = ("predictions", "attention", "layer", "depth", "distillation", "tasks")
TAB = {tab.ID: tab for tab in TABS}
GERMAN = "Der Hund ist [MASK]."
NOT_ENGLISH = "This text does not look like English."


def first_shown(tab, text):
    return plain(values_of(TAB[tab], PageState(text=text))[0])


@pytest.mark.parametrize("tab", READERS)
def test_a_tab_that_reads_the_text_says_that_it_is_not_english(tiny_family, tab):
    is_pair = tab == "tasks"
    assert NOT_ENGLISH in first_shown(tab, GERMAN + " [SEP] Die Katze schläft." * is_pair)
    assert NOT_ENGLISH not in first_shown(tab, "The dog is [MASK]." + " [SEP] It sat." * is_pair)


@pytest.mark.parametrize("tab", READERS)
def test_a_tab_that_reads_the_text_says_which_pieces_are_unknown(tiny_family, tab):
    text = "the cat 漢 😀 sat on the [MASK]" + " [SEP] the dog sat" * (tab == "tasks")
    tokens = tiny_family.run("bert", text).tokens
    said = first_shown(tab, text)
    n = tokens.pieces.count("[UNK]")
    assert n
    assert f"BERT reads {n} of {len(tokens) - sum(tokens.special)} pieces as [UNK]" in said
    assert "it does not know 漢 and 😀" in said


def test_the_example_that_stands_for_no_pair_is_not_judged_by_the_text(tiny_family):
    assert NOT_ENGLISH not in first_shown("tasks", GERMAN)


@pytest.mark.long
def test_what_is_typed_into_a_task_s_own_box_is_judged_too(tuned_family):
    state = PageState()
    assert NOT_ENGLISH in show_sentiment(state, "Der Film ist nicht gut.")
    assert NOT_ENGLISH not in show_sentiment(state, "The film is not good.")
    passage = "Die Brücke wurde im Jahr 1874 gebaut."
    assert NOT_ENGLISH in show_question(state, "When was it built?", passage)
    assert NOT_ENGLISH not in show_question(state, "When?", "The bridge was built in 1874.")
