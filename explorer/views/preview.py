"""Preview image of a shared link: its sentence and each model's first answer, as a PNG."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from PIL import Image, ImageDraw, ImageFont

from explorer.views.theme import colour_of

WIDTH, HEIGHT = 1200, 630
MARGIN, GAP = 72, 48
PAPER, INK, SOFT, LINE = "#faf9f6", "#1c2230", "#565f73", "#dedbd3"
SIZES = (64, 54, 46, 40)
"""Font sizes of the sentence in pixels; the largest that fits is used."""
MAX_LINES = 4
BEFORE = 12
"""Words shown before the first gap of a long text, so that the gap is in the image."""
CLOSING = tuple(".,;:!?)’'”")
"""Punctuation that follows a word with little space."""
NONE = "\U0010fffe"
"""A character without a glyph in any font; fonts draw the same box for all that they lack."""


@dataclass(frozen=True, slots=True)
class FirstAnswer:
    """A model's first answer at the first mask."""

    key: str
    label: str
    word: str
    probability: float


def preview_picture(
    title: str, sentence: Sequence[str], answers: Sequence[FirstAnswer]
) -> bytes | None:
    """Draw the image; None where the font lacks a character, because a box would be drawn for it.

    Args:
        title: The page's title.
        sentence: The text's words; an empty one is a gap.
        answers: The first answers, in the models' order.
    """
    words = [title, *sentence, *(answer.word for answer in answers)]
    if not all(_can_draw(char) for word in words for char in word):
        return None
    picture = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    pen = ImageDraw.Draw(picture)
    pen.text((MARGIN, 50), title, SOFT, _font(28))
    _draw_sentence(pen, _around_the_gap(list(sentence)))
    width = (WIDTH - 2 * MARGIN - GAP * (len(answers) - 1)) // max(1, len(answers))
    for i, answer in enumerate(answers):
        _draw_answer(pen, answer, MARGIN + i * (width + GAP), width)
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def _around_the_gap(sentence: list[str]) -> list[str]:
    gap = sentence.index("") if "" in sentence else 0
    return sentence if gap < 2 * BEFORE else ["…", *sentence[gap - BEFORE :]]


def _draw_sentence(pen: ImageDraw.ImageDraw, sentence: Sequence[str]) -> None:
    """Draw the sentence as large as four lines allow; the first gap filled, the others outlined."""
    size = next((s for s in SIZES if len(_lines(sentence, s)) <= MAX_LINES), SIZES[-1])
    lines, font = _lines(sentence, size), _font(size)
    if len(lines) > MAX_LINES:
        lines = [*lines[: MAX_LINES - 1], [*lines[MAX_LINES - 1], "…"]]
    gaps = 0
    for row, line in enumerate(lines):
        x, y = float(MARGIN), 112 + row * 1.3 * size
        for word, after in zip(line, [*line[1:], ""], strict=True):
            width = _width(word, size)
            if not word:
                box = (x, y + 0.1 * size, x + width, y + 1.1 * size)
                pen.rounded_rectangle(box, 8, None if gaps else INK, INK, 3)
                gaps += 1
            pen.text((x, y), word, INK, font)
            x += width + (0.05 if after.startswith(CLOSING) else 0.28) * size


def _lines(sentence: Sequence[str], size: int) -> list[list[str]]:
    """Break a sentence into lines between words; cut a word that is wider than the image."""
    available, used = WIDTH - 2 * MARGIN, 0.0
    lines: list[list[str]] = [[]]
    for word in sentence:
        width = _width(word, size)
        if lines[-1] and used + width > available:
            lines, used = [*lines, []], 0.0
        while width > available:
            # By its share of the line at a time: letter by letter a long word takes seconds.
            word = word[: min(len(word) - 1, int(len(word) * available / width) + 1)]
            width = _width(word, size)
        lines[-1].append(word)
        used += width + 0.28 * size
    return lines


def _width(word: str, size: int) -> float:
    return _font(size).getlength(word) if word else 2.2 * size


def _draw_answer(pen: ImageDraw.ImageDraw, answer: FirstAnswer, x: int, width: int) -> None:
    """Draw the model's name, its answer, and a bar whose length is the probability."""
    colour = colour_of(answer.key)
    size = next(s for s in (52, 44, 36, 28, 20, 8) if _width(answer.word, s) <= width or s == 8)
    pen.text((x, 440), answer.label, colour.ink, _font(28))
    pen.text((x, 478), answer.word, INK, _font(size))
    pen.rectangle((x, 552, x + width, 564), LINE)
    pen.rectangle((x, 552, x + width * answer.probability, 564), colour.fill)
    pen.text((x, 574), f"{answer.probability:.3f}", SOFT, _font(26))


@cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    """Load Pillow's own font, which is the same on every machine."""
    font = ImageFont.load_default(size)
    if not isinstance(font, ImageFont.FreeTypeFont):
        raise TypeError("Pillow was built without FreeType")
    return font


@cache
def _can_draw(char: str) -> bool:
    font = _font(SIZES[0])
    return char == " " or bytes(font.getmask(char)) != bytes(font.getmask(NONE))
