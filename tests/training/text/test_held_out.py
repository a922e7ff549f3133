"""The bundled sentences are held out: nothing that the recipe writes or lists says one of them."""

import re
from functools import cache

import pytest

from explorer.analysis.distillation import live
from explorer.assets import plain_sentences, sentences
from explorer.ui.distillation.strings import CANVAS
from training.text.primer import primer_sentences
from training.text.probe_frames import content_words

HELD_OUT = tuple(one["text"].replace("[MASK]", one["answer"]) for one in sentences())
SLOTS = {
    **dict.fromkeys(("person", "other"), live.PEOPLE),
    "place": live.PLACES,
    "thing": live.THINGS,
    "act": live.ACTS,
    "move": live.MOVES,
    "time": live.TIMES,
    "state": live.STATES,
    "field": live.FIELDS,
}


def plainly(text: str) -> str:
    """The words of a text alone, in lower case, with a space on each side."""
    return f" {' '.join(re.findall(r'[a-z0-9]+', text.lower()))} "


@cache
def read_in_training() -> tuple[str, ...]:
    return (*(one.text for one in primer_sentences()), *plain_sentences())


def pattern(template: str) -> str:
    """A regular expression for every sentence that a template can make."""
    parts = re.split(r"\{(\w+)\}", template.lower())
    choices = ("|".join(map(re.escape, map(str.lower, SLOTS[slot]))) for slot in parts[1::2])
    between = map(re.escape, parts[::2])
    return next(between) + "".join(f"(?:{choice}){next(between)}" for choice in choices)


def test_no_sentence_that_training_reads_holds_one_of_them():
    read = "\n".join(map(plainly, read_in_training()))
    assert [one for one in HELD_OUT if plainly(one) in read] == []


def test_no_sentence_that_training_reads_says_the_same_in_its_content_words():
    read = {content_words(one) for one in read_in_training()}
    assert [one for one in HELD_OUT if content_words(one) in read] == []


@pytest.mark.parametrize("template", live.PATTERNS)
def test_no_pattern_of_the_live_student_can_make_one_of_them(template):
    made = re.compile(pattern(template))
    assert any(made.fullmatch(one.lower()) for one in live.made_up_sentences(2000))
    assert [one for one in HELD_OUT if made.fullmatch(one.lower())] == []


def test_the_live_student_is_examined_on_what_it_does_not_read():
    own, held_out = live.split_sentences()
    assert not {plainly(one.whole) for one in held_out} & set(map(plainly, own))
    assert len({plainly(one) for one in HELD_OUT}) == len(HELD_OUT)


def test_the_page_says_how_many_masked_words_it_examines():
    _, held_out = live.split_sentences()
    asked = sum(len(live.questions_of(one)) for one in held_out)
    assert CANVAS["agree_title"].startswith(f"On {asked} masked words of held-out sentences")
