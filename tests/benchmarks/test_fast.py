"""Fast lists in turn with others: what a round asks, the ratios, and the decisions counted."""

from argparse import Namespace

import numpy as np
import pytest

from benchmarks import fast
from benchmarks.fast_side import favourites

CHOSEN = Namespace(masked=4, answers=24, pairs=3, sentences=5, scored=7, listed=9, rounds=3)


class Told:
    """A side that takes as long as it is told, and remembers in which order it was asked."""

    def __init__(self, name, order, seconds):
        self.name, self.order, self.seconds = name, order, seconds

    def ask(self, rows, family, how):
        self.order.append((self.name, how))
        return {"seconds": 0, "work": self.seconds[how].pop(0), "found": [family, len(rows)]}


def test_ratios_are_of_the_times_of_one_round():
    order = []
    now = Told("now", order, {"fast": [1, 2, 6], "float32": [5, 5, 5], "loop": [4, 10, 5]})
    before = Told("before", order, {"float32": [4, 4, 10]})
    (job, *_) = fast.jobs(CHOSEN)
    found = fast.measured(job, {"now": now, "before": before}, 3, "work")
    over, own, loop = fast.time_lines(job, found)
    assert over.endswith("4 rows | at most 0.40 | 0.50 | 3: 0.25 to 0.60 |\n")
    assert own.endswith("4 rows | at most 0.40 | 0.40 | 3: 0.20 to 1.20 |\n")
    assert loop.endswith("4 rows | at least 1.00 | 1.00 | 3: 0.80 to 2.00 |\n")
    assert [{*order[n : n + 4]} for n in (0, 4, 8)] == [{*job.asked}] * 3
    assert order[0] != order[4] != order[8], "none is always the first"


def test_a_side_that_is_missing_has_no_line():
    now = Told("now", [], {"fast": [1], "float32": [5], "loop": [4]})
    (job, *_) = fast.jobs(CHOSEN)
    assert len([*fast.time_lines(job, fast.measured(job, {"now": now}, 1, "work"))]) == 2


def test_decisions_are_counted_one_by_one():
    fast_row = {"word": "a", "answer_rank": 5, "precision": "fast"}
    rows = [fast_row, {"word": "b", "precision": "fast"}, {"margin": -1.0, "precision": "float32"}]
    exact = [{"word": "a", "answer_rank": 6}, {"word": "c"}, {"margin": -0.1}]
    assert fast.agreement(rows, exact) == (4, 6)
    line = fast.same_line("three rows", rows, exact)
    assert "three rows | 99.9% | 66.67% | 2 of 6 differ; 33.3% of the rows in float32" in line


@pytest.mark.parametrize(("ours", "theirs", "said"), [([-1.0, -2.0], [-1.0, -2.5], "5e-01")])
def test_scores_are_compared_with_minicons(ours, theirs, said):
    found = fast.Measured(found={fast.NOW: [{"pll": x} for x in ours], fast.MINICONS: theirs})
    assert f"2 rows | 1e-4 | {said}" in fast.decision_line("", found)


def test_differences_are_printed_by_model():
    seen = {"rms_of_margins": 0.0314, "largest_of_numbers": 0.0271}
    line = fast.error_line("facts", {"bert": seen, "albert": seen | {"rms_of_margins": None}})
    assert line.endswith("| | bert 0.031, 0.027; albert 0.000, 0.027 | |\n")


def test_each_job_asks_for_what_its_name_says():
    masked, answers, pairs, sentences, scored = found = fast.jobs(CHOSEN)
    assert [len(job.rows) for job in found] == [4, 24, 3, 5, 7]
    assert scored.family == "bert"
    assert all(row["text"].count("[MASK]") == 1 for row in masked.rows + answers.rows)
    assert {row["answer"] for row in answers.rows} == {f"w{n - 5}" for n in favourites(30_522)}
    assert not any("[MASK]" in text for row in pairs.rows + sentences.rows for text in row.values())
    sizes = [len(row["text"].split()) + 2 for row in fast.rows_of(500, fast.LENGTHS, 0)]
    assert (min(sizes), max(sizes)) == (8, 39)
    assert fast.jobs(Namespace(masked=0, answers=0, pairs=0, sentences=0, scored=0)) == []


def test_five_lists_mask_words_of_bundled_sentences():
    found = fast.lists(CHOSEN.listed)
    assert [len(rows) for rows in found.values()] == [9] * 5
    assert fast.each_word(["Abc def g, h i"])[0].keys() == {"text", "answer"}
    masked = {(row["text"], row["answer"]) for row in fast.each_word(["The sea is deep."])}
    assert masked == {("The [MASK] is deep.", "sea"), ("The sea [MASK] deep.", "is")}
    assert fast.lists(0) == {}
    assert len(np.unique(favourites(30_522))) == 12
