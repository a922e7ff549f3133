"""Summary, table and charts of a list: every kind, a reader's markup as text, true sentences."""

import json
import re
from html import unescape

import numpy as np
import pytest

from explorer.analysis.precision import ListDifference, ListPrecision
from explorer.lists import labelled
from explorer.lists.bias import sides_of
from explorer.lists.comparison import Duel
from explorer.lists.read import read_table
from explorer.lists.results import PairList, SentenceList
from explorer.lists.rows import text_list
from explorer.lists.sentences import SentencesSummary, pairs_summary
from explorer.lists.ui import strings
from explorer.lists.views.cautions import cautions
from explorer.lists.views.charts import decades_between, list_charts, share_range
from explorer.lists.views.rows import (
    first_difference,
    hiding,
    rows_canvas,
    surprising,
    table_rows,
)
from explorer.lists.views.strings import difference, headline, second_line
from explorer.lists.views.summary import summary_html
from explorer.refusal import Refusal
from tests.lists.test_batches import csv_of
from tests.lists.test_run import finished

EVIL = "<script>alert(1)</script>"
LISTS = {
    "masked": (
        [("the [MASK] sat.", "cat", EVIL), (f"{EVIL} [MASK].", "dog", "y")],
        "text,answer,group",
    ),
    "plain": ([(f"the cat sat {EVIL}", "x"), ("it sat.", "y")], "text,group"),
    "pairs": (
        [("the cat sat.", f"{EVIL} sat.", EVIL), ("it sat.", "sat it.", "y")],
        "good,bad,group",
    ),
    "labelled": (
        [(f"the {'cat' if i % 2 else EVIL} sat {i % 3}.", (EVIL, "b")[i % 2]) for i in range(40)],
        "text,label",
    ),
}


@pytest.mark.parametrize(
    ("texts", "words"),
    [("the cat sat.", "this sentence"), ("the cat sat.\nit sat.", "2 sentences")],
)
def test_one_sentence_is_not_called_these(tiny_family, texts, words):
    assert words in headline(finished(texts))


@pytest.fixture(params=LISTS)
def result(request, tiny_family, monkeypatch):
    monkeypatch.setattr(labelled, "STRENGTHS", (0.01,))
    monkeypatch.setattr(labelled, "REPEATS", 1)
    rows, header = LISTS[request.param]
    return finished(csv_of(rows, header), request.param)


@pytest.mark.long
def test_everything_of_a_kind_is_drawn_and_nothing_of_a_reader_is_markup(result):
    kind = result.texts.kind
    html = summary_html(result, {"albert": ("mini-ALBERT", "gone")}, strings.SUMMARY, strings.NOTES)
    assert "<script" not in html
    assert "gone" in html
    told = unescape(re.sub("<[^>]+>", "", html))
    assert headline(result) in told
    assert second_line(result) in told
    rows = rows_canvas(result, strings.TABLE, {})
    assert "<script" not in rows
    data = json.loads(rows)
    assert data["kind"] == kind
    assert sorted(line["n"] for line in data["lines"]) == [row.number for row in result.texts.rows]
    charts = list_charts(result, strings.CHARTS, {})
    document = json.loads(charts)
    assert len(document["figures"]) == {"masked": 2, "plain": 2, "pairs": 1, "labelled": 6}[kind]
    assert "<script" not in json.dumps(document["figures"])
    titles = [figure["layout"]["title"]["text"] for figure in document["figures"]]
    assert len(set(titles)) == len(titles)
    part = json.loads(rows_canvas(result, strings.TABLE, {}, 1))
    assert (len(part["lines"]), part["total"]) == (1, len(result.texts.rows))


@pytest.mark.parametrize(
    ("counts", "sure"),
    [([(12, 0), (3, 1), (1, 1)], ["a over b"]), ([(5, 0), (0, 0), (2, 2)], [])],
)
def test_a_difference_is_said_only_after_correction(counts, sure):
    from explorer.lists.comparison import mcnemar

    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    duels = [
        Duel(*pair, *count, mcnemar(*count)) for pair, count in zip(pairs, counts, strict=True)
    ]
    said = difference(duels, {key: key for key in "abc"}, 20)
    assert said.startswith("20 rows are too few to tell the models apart") == (not sure)
    assert ("a is right on more rows than b" in said) == bool(sure)
    assert difference([], {}, 20) == ""


@pytest.mark.parametrize(
    ("per_word", "said"),
    [
        (
            (-5.574, -6.25, -5.571),
            "c fits these 2 sentences best (−5.571 nats a word by PLL-word-l2r), "
            "against −5.574 for a and −6.250 for b.",
        ),
        ((-5.5, -6.0, -5.5), "Nats a word by PLL-word-l2r over 2 sentences: a −5.50, b −6.00 "),
        ((-5.5,), "Nats a word by PLL-word-l2r over 2 sentences: a −5.50."),
    ],
    ids=["one is ahead", "two are", "one alone"],
)
def test_a_model_is_named_best_only_where_a_word_is_likelier_than_by_all_others(per_word, said):
    keys = "abc"[: len(per_word)]
    perplexity, unknown = dict.fromkeys(keys, 12.0), dict.fromkeys(keys, 0)
    words = dict(zip(keys, per_word, strict=True))
    summary = SentencesSummary(perplexity, words, 2, unknown)
    texts = text_list(read_table("the cat sat.\nit sat."), "plain")
    result = SentenceList(texts, {key: key for key in keys}, {}, summary)
    assert headline(result).startswith(said)
    assert ("is not tested" in second_line(result)) == (len(keys) > 1)


def test_one_row_shows_nothing_and_equal_rows_are_said_to_be_equal():
    names = {key: key for key in "ab"}
    assert difference([Duel("a", "b", 1, 0, 1.0)], names, 1, "pair") == (
        "One pair cannot show a difference between models."
    )
    assert difference([Duel("a", "b", 0, 0, 1.0)], names, 9, "pair") == (
        "The models are right on the same pairs and wrong on the same pairs."
    )


def test_sentences_that_a_model_reads_as_unknown_are_not_ranked(tiny_family):
    """Four signs that no vocabulary has were ranked: one model found them likeliest."""
    unread = finished("\U0001f600 \U0001f600 .\n\u0c95\u0ca8 .", "plain")
    assert headline(unread).startswith("No sentence can be compared: ")
    assert second_line(unread) == ""
    mixed = finished("the cat sat.\n\U0001f600 .\nit sat on the mat.", "plain")
    alone = finished("the cat sat.\nit sat on the mat.", "plain")
    assert headline(mixed) == headline(alone)
    assert mixed.summary.pseudo_perplexity == pytest.approx(alone.summary.pseudo_perplexity)
    assert cautions(mixed)[0].startswith("1 of 3 sentences is not compared: ")
    assert cautions(alone) == ()
    columns = {row[1]: row[5] for row in table_rows(mixed) if row[0] == 2}
    for key, n in columns.items():
        loaded = tiny_family.loaded(key)
        ids = loaded.tokenizer("\U0001f600 .", add_special_tokens=False)["input_ids"]
        assert n == ids.count(loaded.tokenizer.unk_token_id) > 0


def test_pairs_that_a_model_reads_as_unknown_are_not_counted(tiny_family):
    pairs = [
        ("he is good.", "he are good."),
        ("it sat \U0001f600.", "it sat."),
        ("it sat.", "sat it."),
    ]
    found = finished(csv_of(pairs, "good,bad"), "pairs")
    kept = finished(csv_of([pairs[0], pairs[2]], "good,bad"), "pairs")
    assert headline(found) == headline(kept)
    for key, mean in found.summary.mean_margin.items():
        assert mean.value == pytest.approx(kept.summary.mean_margin[key].value)
    assert "1 of 3 pairs is not compared" in cautions(found)[0]
    assert [
        line["right"]
        for line in json.loads(rows_canvas(found, strings.TABLE, {}))["lines"]
        if line["n"] == 2
    ] == [[]]
    none = finished(csv_of([pairs[1]], "good,bad"), "pairs")
    assert headline(none).startswith("No pair can be compared: ")
    assert (second_line(none), cautions(none)) == ("", ())


@pytest.mark.parametrize(
    ("hits", "begins"),
    [(40, ""), (29, ""), (22, "As far as 40 pairs"), (5, "a finds the sentence in")],
)
def test_pairs_no_better_than_guessing_are_said_to_be_no_better(hits, begins):
    from scipy.stats import binomtest

    margins = {"a": np.where(np.arange(40) < hits, 1.0, -1.0)}
    summary = pairs_summary(margins, [""] * 40, {"a": np.zeros(40, bool)})
    texts = text_list(read_table("good,bad\n" + "x,y\n" * 40), "pairs")
    said = cautions(
        PairList(texts, {"a": "a"}, "pll", {}, {}, margins, summary, sides_of(texts), {}, {})
    )
    assert [each.startswith(begins) for each in said] == [True] * bool(begins)
    assert (binomtest(hits, 40).pvalue < 0.01) == (not begins.startswith("As far"))


def test_sentences_apart_is_each_models_own_mean_subtracted_as_the_note_says(tiny_family):
    result = finished("the cat sat.\nit sat.\ndogs played here.", "plain")
    a_word = [
        [score.pll_word_l2r / score.n_words for score in scores]
        for scores in result.scores.values()
    ]
    own = [[value - sum(row) / len(row) for value in row] for row in a_word]
    lines = json.loads(rows_canvas(result, strings.TABLE, {}))["lines"]
    for line in lines:
        column = [row[line["n"] - 1] for row in own]
        assert line["apart"] == pytest.approx(max(column) - min(column))
    assert "less its own mean over the rows" in strings.NOTES["plain"]


def test_a_row_opens_with_the_word_masked_that_says_most():
    text = "the dogs barks."
    assert first_difference(text, "the dogs bark.") == (9, 14)
    assert hiding(text, (9, 14))["text"] == "the dogs [MASK]."
    assert hiding(text, (9, 14))["hidden"] == "barks"
    assert hiding("a [b|c] d", (0, 1))["hidden"] == "", "offsets of another text"
    assert first_difference(text, text) is None
    assert surprising([Spans((-1.0, -4.0, 0.0))]) == [(3, 4), (0, 2)]


class Spans:
    """Scores of words alone."""

    spans = ((0, 2), (3, 4), (4, 5))

    def __init__(self, words):
        self.words = words


def test_a_refusal_is_shown_as_text():
    from explorer.lists.ui.tab import refused_html

    assert "&lt;script" in refused_html(str(Refusal(EVIL)))


@pytest.mark.parametrize(("n_copies", "is_said"), [(1, False), (4, True)])
def test_copies_of_a_row_are_said_and_no_answers_give_no_table(tiny_family, n_copies, is_said):
    rows = [("the [MASK] sat.", ""), ("it [MASK].", "")] * n_copies
    html = str(
        summary_html(
            finished(csv_of(rows, "text,answer"), "masked"), {}, strings.SUMMARY, strings.NOTES
        )
    )
    assert ("Only 2 of the 8 rows are different." in html) == is_said
    assert "tx-models" not in html


def test_what_half_precision_changes_is_said_where_it_is_used(tiny_family):
    result = finished("\n".join(["the cat sat.", "dogs played."]))
    one = ListDifference(1, 0.0625, 0)
    said = ListPrecision("float16", {"bert": one})
    drawn = [
        summary_html(result, {}, strings.SUMMARY, strings.NOTES, precision)
        for precision in (None, said)
    ]
    line = (
        "float16 against float32, on the shortest row. mini-BERT: PLLs differ by up to 0.062 nats."
    )
    assert [line in re.sub("<[^>]+>", "", html) for html in drawn] == [False, True]


@pytest.mark.parametrize(
    ("counts", "n", "said"),
    [((12, 1), 1, "p ≤ 0.004"), ((12, 1), 3, "p ≤ 0.011"), ((20, 0), 3, "p < 0.001")],
)
def test_a_bound_on_p_is_not_below_it(counts, n, said):
    from scipy.stats import binomtest

    p = n * binomtest(min(counts), sum(counts)).pvalue
    pairs = [("a", "b"), ("a", "c"), ("b", "c")][:n]
    duels = [Duel(*pair, *counts, p / n) for pair in pairs]
    sentence = difference(duels, {key: key for key in "abc"}, 20)
    assert f", {said} after correction" in sentence
    assert p <= float(said.split()[-1])


def test_groups_and_labels_that_begin_alike_are_drawn_apart(tiny_family):
    groups = ("determiner_noun_agreement_1", "determiner_noun_agreement_2", "all rows")
    rows = [("the [MASK] sat.", word, group) for group in groups for word in ("cat", "dog")]
    document = json.loads(
        list_charts(finished(csv_of(rows, "text,answer,group"), "masked"), strings.CHARTS, {})
    )
    bar = document["figures"][0]["data"][0]
    assert len(set(bar["x"])) == 4
    assert [name.rstrip("\u200b") for name in bar["x"]] == [
        "all rows",
        "determiner_nou…reement_1",
        "determiner_nou…reement_2",
        "all rows",
    ]
    drawn = [row[2:4] for row in document["numbers"]["rows"]][: len(bar["y"])]
    assert [value for _, value in drawn] == bar["y"]
    assert drawn[0][0] == "all rows"


@pytest.mark.long
def test_a_confusion_matrix_has_a_place_for_each_label(tiny_family, little_training):
    rows, header = LISTS["labelled"]
    same = "a label of many letters twice {} in one list"
    names = dict.fromkeys(label for _, label in rows)
    long = {label: same.format(n) for n, label in enumerate(names)}
    renamed = [(text, long[label]) for text, label in rows]
    document = json.loads(
        list_charts(finished(csv_of(renamed, header), "labelled"), strings.CHARTS, {})
    )
    (matrix, *_) = (
        figure for figure in document["figures"] if figure["data"][0]["type"] == "heatmap"
    )
    (trace,) = matrix["data"]
    assert len(set(trace["x"])) == len(set(trace["y"])) == len(long)


@pytest.mark.parametrize(
    ("values", "ends"),
    [([1.0], [0.95, 1.02]), ([0.0, 1], [-0.02, 1.02]), ([0.5, 0.6], [0.45, 0.65])],
)
def test_an_axis_of_shares_holds_its_values_and_little_else(values, ends):
    assert share_range(values) == pytest.approx(ends)


@pytest.mark.parametrize(
    ("values", "n"), [([0.01, 10.0], 3), ([20.0, 25.0], 1), ([0.0, 5.0, 500.0], 2), ([], 1)]
)
def test_an_axis_of_costs_has_as_many_powers_of_ten_as_its_values(values, n):
    assert decades_between(values) == pytest.approx(n)


@pytest.mark.long
def test_shades_of_counts_start_at_0_and_are_alike_in_all_models(tiny_family, little_training):
    rows, header = LISTS["labelled"]
    document = json.loads(
        list_charts(finished(csv_of(rows, header), "labelled"), strings.CHARTS, {})
    )
    traces = [trace for figure in document["figures"] for trace in figure["data"]]
    counts = [trace for trace in traces if trace["type"] == "heatmap"]
    assert len(counts) == 3
    assert {(trace["zmin"], trace["zmax"]) for trace in counts} == {(0, len(rows) / 2)}
