"""The answer's strip: a bar for every token that could begin or end it, none that cannot be seen."""

import re

import numpy as np

from explorer.analysis.tasks.tuned import AnswerSpans, Span
from explorer.models.specs import MINI
from explorer.ui.tasks.strings import SENTIMENT_QUESTION
from explorer.views.tasks import answer_spans_html
from tests.markup import every

BAR = re.compile(r"left:([\d.]+)%;width:([\d.]+)%;height:([\d.]+)%")


def test_bars_stand_where_the_tokens_do_the_likeliest_at_full_height():
    places = ((0, 2), (3, 5), (6, 8), (9, 10))
    start, end = np.array([0.8, 0.2, 0.0006, 0.0]), np.array([0.0, 0.5, 0.5, 0.0])
    found = AnswerSpans(places, start, end, (Span(0, 5, 0.4), Span(0, 8, 0.4)))
    drawn = str(answer_spans_html({"bert": found}, MINI, "ab cd ef g", SENTIMENT_QUESTION))
    bars = [tuple(map(float, bar)) for bar in BAR.findall(drawn)]
    # 0.0006 is less than a thousandth of 0.8: under a tenth of a pixel.
    assert bars == [(0, 20, 100), (30, 20, 25), (30, 20, 100), (60, 20, 100)]
    assert [mark.text() for mark in every(drawn, "mark")] == ["ab cd"]
    assert "“ab cd ef” (0.400)" in drawn


def test_a_small_score_is_a_power_of_ten():
    places, start, end = ((0, 2), (3, 5)), np.array([0.0008, 0.0]), np.array([0.0, 1.0])
    found = AnswerSpans(places, start, end, (Span(0, 5, 0.0008), Span(0, 2, 0.0)))
    drawn = str(answer_spans_html({"bert": found}, MINI, "ab cd", SENTIMENT_QUESTION))
    assert "</strong> 8.0×10⁻⁴" in drawn
    assert "“ab” (0.000)" in drawn
