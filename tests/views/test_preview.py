"""The picture of a link: every word and number of it is there, and nothing else is drawn for a letter."""

import io

import numpy as np
import pytest
from PIL import Image

from explorer.views import preview
from explorer.views.preview import HEIGHT, WIDTH, FirstAnswer, preview_picture
from explorer.views.theme import COLOURS

ANSWERS = [
    FirstAnswer("bert", "mini-BERT", "states", 0.75),
    FirstAnswer("distilbert", "mini-DistilBERT", "states", 0.5),
    FirstAnswer("albert", "mini-ALBERT", "administration", 0.02),
]


@pytest.fixture
def written(monkeypatch):
    """Every string that is drawn, with its colour."""
    found = []
    draw = preview.ImageDraw.Draw

    def watched(picture):
        pen = draw(picture)
        text = pen.text
        pen.text = lambda at, said, *rest: (found.append((at, said)), text(at, said, *rest))[1]
        return pen

    monkeypatch.setattr(preview.ImageDraw, "Draw", watched)
    return found


def pixels(png):
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))


def rgb(colour):
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def test_the_sentence_the_answers_and_their_probabilities_stand_in_it(written):
    sentence = ["The", "<b>ship</b>", "&amp;", "", "."]
    png = preview_picture("Explorer", sentence, ANSWERS)
    said = [text for _, text in written]
    assert said == [
        "Explorer", *sentence,
        "mini-BERT", "states", "0.750",
        "mini-DistilBERT", "states", "0.500",
        "mini-ALBERT", "administration", "0.020",
    ]  # fmt: skip
    assert pixels(png).shape == (HEIGHT, WIDTH, 3)


def test_each_bar_is_as_long_as_its_probability():
    row = pixels(preview_picture("E", ["A", ""], ANSWERS))[558]
    for answer in ANSWERS:
        length = (row == rgb(COLOURS[answer.key].fill)).all(axis=1).sum()
        assert length == pytest.approx(320 * answer.probability, abs=1.5)


def test_the_first_gap_is_filled_and_the_others_are_outlines():
    dark = (pixels(preview_picture("E", ["", ""], ANSWERS))[112:190] == rgb("#1c2230")).all(axis=2)
    first, second = dark[:, 72:210].mean(), dark[:, 232:375].mean()
    assert first > 0.7
    assert 0.02 < second < 0.2


@pytest.mark.parametrize("n", [1, 12, 40, 400])
def test_all_that_is_drawn_lies_within_the_picture_and_a_long_text_begins_near_its_gap(written, n):
    sentence = [f"word{i}" for i in range(n)] + ["", "x" * 300]
    preview_picture("Explorer", sentence, ANSWERS)
    drawn = [text for (_, y), text in written if 100 < y < 430]
    assert "" in drawn
    assert drawn[0] == ("word0" if n < 24 else "…")
    for (x, y), text in written:
        assert 0 <= x < WIDTH
        assert 0 <= y < HEIGHT - 20
        if 100 < y < 430:
            assert x + preview._width(text, preview.SIZES[-1]) <= WIDTH


@pytest.mark.parametrize("word", ["漢字", "🙂", "नमस्ते", "\U0001d4b3"])
def test_where_the_font_has_no_letters_there_is_no_picture(word):
    assert preview_picture("Explorer", ["A", word], ANSWERS) is None
    assert preview_picture("Explorer", ["A"], [FirstAnswer("bert", "B", word, 0.5)]) is None
