"""Terms are explained where they stand: in the glossary's own words, and in no others."""

import re
from html import escape, unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from explorer.ui.shell.routes import ADDRESS, glossary_route, meanings_html
from explorer.views.glossary import TERMS, place
from explorer.views.markup import explained, finding, term

GLOSSARY = (Path(__file__).parents[2] / "GLOSSARY.md").read_text("utf-8")


class MeaningBoxes(HTMLParser):
    """What each box says, and how each may be opened."""

    def __init__(self, html):
        super().__init__()
        self.said, self.buttons, self.inside = {}, [], None
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if "popover" in found:
            assert found["id"] not in self.said
            self.inside = found["id"]
            self.said[self.inside] = ""
        if tag == "button":
            self.buttons.append(found["popovertarget"])

    def handle_data(self, data):
        if self.inside:
            self.said[self.inside] += data


BOXES = MeaningBoxes(meanings_html()).said


def meaning(entry):
    (line,) = [row for row in GLOSSARY.splitlines() if row.startswith(f"| **{entry}** |")]
    return line.split(" | ")[1].removesuffix(" |").replace("`", "").replace("**", "")


@pytest.mark.parametrize("shown", TERMS)
def test_a_word_opens_the_one_box_that_says_what_the_glossary_says(shown):
    (box,) = MeaningBoxes(term(shown)).buttons
    assert meaning(TERMS[shown]) in BOXES[box]


def test_a_word_that_the_glossary_lacks_is_refused():
    with pytest.raises(KeyError):
        term("lemma")
    with pytest.raises(KeyError):
        explained("no such word here", "lemma")


def test_a_sentence_stays_the_same_and_only_the_first_place_is_a_button():
    text = 'KLM, KL(a || b) < 2 nats & KL "x"; [CLS] and [CLS]'
    said = finding(explained(text, "KL", "nats", "[CLS]"))
    assert unescape(re.sub("<[^>]*>", "", said)) == text
    assert MeaningBoxes(said).buttons == [place(word) for word in ("KL", "nats", "[CLS]")]
    assert said.startswith('<p class="finding">KLM, <button')
    assert escape("(a || b) < 2 ") in said


def test_the_whole_glossary_is_where_every_box_leads():
    reply = TestClient(Starlette(routes=[glossary_route()])).get(f"/{ADDRESS}")
    assert reply.text == GLOSSARY
    assert meanings_html().count(f'href="{ADDRESS}"') == len(BOXES)
