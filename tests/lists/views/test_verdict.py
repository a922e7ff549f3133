"""The order of the sentences on a list, and each sentence only where it is true."""

import re
from html import unescape
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest

from explorer.lists.judge import Scored
from explorer.lists.read import read_table
from explorer.lists.results import BestLayer, LabelledList, SentenceList
from explorer.lists.rows import text_list
from explorer.lists.sentences import SentencesSummary
from explorer.lists.ui import strings
from explorer.lists.views.strings import headline
from explorer.lists.views.summary import summary_html
from explorer.lists.views.verdict import better_layers, lines_said, most_apart
from tests.lists.test_batches import SENTENCES
from tests.lists.test_run import finished

CHOICES = ("the cat sat, [he|she] said.", "[he|she] is good.", "the dog ran as [he|she] sat.")


@pytest.mark.parametrize(
    ("content", "begins"),
    [
        ("\n".join(CHOICES), "The mean log-ratio of “he” to “she” is "),
        ("\n".join((*CHOICES[:2], "[cat|dog] is good.")), "Of 3 rows, the first word is "),
        ("the cat [MASK] on it.\nit is [MASK].", "Of 2 rows, the first word is "),
        ("text,answer\n" + "".join(f'"{each}",he\n' for each in CHOICES), "Of 3 rows, the given"),
    ],
    ids=["two words", "not the same two", "no words", "an answer"],
)
def test_two_offered_words_are_compared_before_first_words_are(tiny_family, content, begins):
    result = finished(content, "masked")
    first, *others = lines_said(result)
    assert first.startswith(begins)
    assert headline(result) in (first, *others[:1])
    html = summary_html(result, {}, strings.SUMMARY, strings.NOTES)
    told = unescape(re.sub("<[^>]+>", "", str(html)))
    places = [told.index(line) for line in (first, *others)]
    assert places == sorted(places)


@pytest.mark.parametrize(("low", "is_said"), [(0.01, True), (0.0, False), (-0.02, False)])
def test_a_better_layer_is_in_the_verdict_where_its_interval_is_above_zero(low, is_said):
    best = BestLayer(Scored(0.9, 0.8, 0.95), (2, 1, 2), Scored(0.15, low, 0.3))
    accuracy = {"a": Scored(0.75, 0.6, 0.8)}
    result = LabelledList(
        None, {"a": "A"}, "mean", {"a": 6}, SimpleNamespace(accuracy=accuracy), {}, {}, {"a": best},
        {}, None, None,
    )  # fmt: skip
    said = (
        "A has better features than those of layer 6: with the layer that each fold chooses on its "
        "training rows (layers 1 and 2) it is right in 90.0% instead of 75.0%, a difference of "
        "15.0% [1.0%, 30.0%]."
    )
    assert better_layers(result) == said * is_said


def of_values(values, n_unknown=()):
    """Sentences of three words each, from the PLL a word of each model."""
    scores = {
        key: [
            SimpleNamespace(pll_word_l2r=3 * value, n_words=3, n_unknown=int(i in n_unknown))
            for i, value in enumerate(each)
        ]
        for key, each in values.items()
    }
    n = len(next(iter(values.values()))) - len(n_unknown)
    zeros = dict.fromkeys(values, 0)
    texts = text_list(read_table("the cat sat.\nit sat."), "plain")
    summary = SentencesSummary(dict.fromkeys(values, 9.0), dict.fromkeys(values, -5.0), n, zeros)
    return SentenceList(texts, {key: key.upper() for key in values}, scores, summary)


VALUES = {"a": (-5.0, -6.0, -7.0), "b": (-4.0, -5.0, -6.0), "c": (-5.0, -5.0, -8.0)}


def test_which_two_models_differ_most_is_not_the_difference_of_their_means():
    """b is one nat above a in nearly every sentence: they differ little from one to the next."""
    said = most_apart(of_values(VALUES | {"b": (-4.0, -5.0, -6.3)}))
    assert said.startswith("A and C differ most on these 3 sentences: by 0.67 nats a word")
    assert "against 0.13 (A, B) and 0.60 (B, C)." in said


@pytest.mark.parametrize(
    ("values", "unknown"),
    [
        (VALUES, ()),  # a and c are as far apart as b and c
        ({key: VALUES[key] for key in "ac"}, ()),
        (dict.fromkeys("abc", (-5.0, -6.0, -7.0)), ()),
        (VALUES | {"b": (-4.0, -5.0, -6.3)}, (0, 1)),
    ],
    ids=["a tie", "two models", "no difference", "one sentence that all can read"],
)
def test_no_two_models_are_named_where_none_differ_most(values, unknown):
    assert most_apart(of_values(values, unknown)) == ""


def test_the_two_models_are_those_of_the_largest_mean_difference(tiny_family):
    result = finished("\n".join(SENTENCES[:6]))
    values = {
        key: np.array([score.pll_word_l2r / score.n_words for score in scores])
        for key, scores in result.scores.items()
    }
    apart = {
        pair: np.mean(np.abs(np.subtract(*(values[key] - np.mean(values[key]) for key in pair))))
        for pair in combinations(values, 2)
    }
    first, second = max(apart, key=apart.get)
    said = most_apart(result)
    assert said.startswith(f"{result.labels[first]} and {result.labels[second]} differ most on ")
    assert f"by {max(apart.values()):.2f} nats" in said
    assert lines_said(result)[:2] == (headline(result), said)
