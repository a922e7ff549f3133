"""Terms are explained where they stand: in the glossary's own words, and in no others."""

from html import escape
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from explorer.ui.shell.routes import ADDRESS, glossary_route, meanings_html
from explorer.views.glossary import TERMS, place
from explorer.views.markup import explained, finding, term
from tests.markup import every, plain

GLOSSARY = (Path(__file__).parents[2] / "GLOSSARY.md").read_text("utf-8")


BOXES = {box["id"]: box.text() for box in every(meanings_html(), popover=...)}


def opened(markup):
    """The boxes that the buttons of some markup open."""
    return [button["popovertarget"] for button in every(markup, "button")]


def meaning(entry):
    (line,) = [row for row in GLOSSARY.splitlines() if row.startswith(f"| **{entry}** |")]
    return line.split(" | ")[1].removesuffix(" |").replace("`", "").replace("**", "")


@pytest.mark.parametrize("shown", TERMS)
def test_a_word_opens_the_one_box_that_says_what_the_glossary_says(shown):
    (box,) = opened(term(shown))
    assert meaning(TERMS[shown]) in BOXES[box]


def test_a_word_that_the_glossary_lacks_is_refused():
    with pytest.raises(KeyError):
        term("lemma")
    with pytest.raises(KeyError):
        explained("no such word here", "lemma")


def test_a_sentence_stays_the_same_and_only_the_first_place_is_a_button():
    text = 'KLM, KL(a || b) < 2 nats & KL "x"; [CLS] and [CLS]'
    said = finding(explained(text, "KL", "nats", "[CLS]"))
    assert plain(said) == text
    assert opened(said) == [place(word) for word in ("KL", "nats", "[CLS]")]
    assert said.startswith('<p class="finding">KLM, <button')
    assert escape("(a || b) < 2 ") in said


@pytest.mark.long
def test_the_whole_glossary_is_where_every_box_leads():
    reply = TestClient(Starlette(routes=[glossary_route()])).get(f"/{ADDRESS}")
    assert reply.text == GLOSSARY
    assert meanings_html().count(f'href="{ADDRESS}"') == len(BOXES)
