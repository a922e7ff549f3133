"""The picture of a link: every word and number of it is there, and nothing else is drawn for a letter."""

import io

import numpy as np
import pytest
from PIL import Image, ImageFont

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
    """Every string that is drawn, with its place and its size."""
    found = []
    draw = preview.ImageDraw.Draw

    def watched(picture):
        pen = draw(picture)
        text = pen.text

        def noted(at, said, colour, font):
            found.append((at, said, font.size))
            text(at, said, colour, font)

        pen.text = noted
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
    said = [text for _, text, _ in written]
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
    drawn = [text for (_, y), text, _ in written if 100 < y < 430]
    assert "" in drawn
    assert drawn[0] == ("word0" if n < 24 else "…")
    for (x, y), text, size in written:
        assert 0 <= x < WIDTH
        assert 0 <= y < HEIGHT - 20
        if 100 < y < 430:
            assert x + ImageFont.load_default(size).getlength(text) <= WIDTH


@pytest.mark.parametrize("n", [1, 15, 16, 18, 21, 25, 28])
def test_a_sentence_is_as_large_as_four_lines_allow(written, n):
    """Words of one width: how many of them a line takes is a division."""
    preview_picture("Explorer", ["mmmm"] * n, ANSWERS)
    (size,) = {found for _, text, found in written if text == "mmmm"}
    room = {}
    for one in (64, 54, 46, 40):
        width, gap = ImageFont.load_default(one).getlength("mmmm"), 0.28 * one
        room[one] = 4 * int((1200 - 2 * 72 + gap) // (width + gap))
    assert size == max((one for one in room if n <= room[one]), default=40)


@pytest.mark.parametrize("length", [1, 8, 10, 12, 14, 20, 40])
def test_an_answer_is_as_large_as_its_column_allows(written, length):
    answer = FirstAnswer("bert", "mini-BERT", "m" * length, 0.5)
    preview_picture("Explorer", ["A", ""], [answer] * 3)
    (size,) = {found for _, text, found in written if text == answer.word}
    widths = {
        one: ImageFont.load_default(one).getlength(answer.word) for one in (52, 44, 36, 28, 20)
    }
    fits = [one for one, width in widths.items() if width <= 320]
    assert size == max(fits, default=8)


@pytest.mark.parametrize("word", ["漢字", "🙂", "नमस्ते", "\U0001d4b3"])
def test_where_the_font_has_no_letters_there_is_no_picture(word):
    assert preview_picture("Explorer", ["A", word], ANSWERS) is None
    assert preview_picture("Explorer", ["A"], [FirstAnswer("bert", "B", word, 0.5)]) is None


def test_a_word_wider_than_the_picture_is_cut_in_a_few_steps(monkeypatch):
    """Letter by letter each of 1,500 steps would draw a thousand letters."""
    measured = []
    font = ImageFont.load_default(40)
    monkeypatch.setattr(
        preview, "_width", lambda word, _: measured.append(word) or font.getlength(word)
    )
    for letter in "imW":
        measured.clear()
        (first, (word,), (last,)) = preview._lines(["A", letter * 1500, "b"], 40)
        assert (first, last) == (["A"], "b")
        assert font.getlength(word) <= 1200 - 2 * 72 < font.getlength(word + 2 * letter)
        assert len(measured) < 12
