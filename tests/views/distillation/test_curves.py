"""The charts over temperature: what the browser fills in, and that lines which meet are both seen."""

import pytest

from explorer.analysis.measures import TEMPERATURES
from explorer.models.tokens import Word
from explorer.ui.distillation.strings import CURVES
from explorer.views.distillation.lab import strip_words, temperature_figures


def test_the_browser_is_told_which_measure_each_line_is_and_at_which_temperatures():
    divergences, gradients = temperature_figures(TEMPERATURES, CURVES)
    measures = [trace.meta for trace in divergences.data]
    assert measures == ["soft_loss", "ab", "js", "mean", None]
    assert [trace.visible for trace in divergences.data[:-1]] == [True, True, True, False]
    temperatures = list(gradients.data[0].x)
    assert temperatures == sorted(temperatures)
    assert len(temperatures) == 82, "81 by equal ratios, the middle one T = 1, and T = 2"
    assert (temperatures[0], temperatures[-1]) == pytest.approx(TEMPERATURES)
    assert {1.0, 2.0} <= set(temperatures)
    for figure in (divergences, gradients):
        wide, dotted = figure.data[:2]
        assert wide.line.width > dotted.line.width
        assert dotted.line.dash == "dot"
        assert [shape.x0 for shape in figure.layout.shapes] == [1]


def test_masks_and_words_that_begin_with_a_letter_or_digit_can_be_pressed():
    texts = ("The", "[MASK]", ",", "9", "’tis")
    words = [Word(text, 0, len(text)) for text in texts]
    assert strip_words(words) == [
        {"text": "The", "clickable": True},
        {"text": "▢", "clickable": True},
        {"text": ",", "clickable": False},
        {"text": "9", "clickable": True},
        {"text": "’tis", "clickable": False},
    ]
