"""What tuned models keep of BERT's score, and what the papers print; never in one table."""

import pytest

from explorer.analysis.claims.ledger import benchmark_tables
from explorer.analysis.tasks.scores import printed_shares, tuned_scores
from explorer.links.page_state import PageState
from explorer.ui.latency.choice_strings import notes_of
from explorer.ui.tasks.tuned import show_kept
from tests.markup import every, plain


def card(value):
    return {"scores": {"accuracy": {"value": value, "interval": [0, 1], "count": 9}}}


def test_a_share_is_the_quotient_of_two_cards():
    found = tuned_scores({"bert": card(0.8), "albert": card(0.6)}, "sst2", "bert")
    assert {key: score.share_of_reference for key, score in found.items()} == pytest.approx(
        {"bert": 1, "albert": 0.75}
    )
    assert tuned_scores({"albert": card(0.6)}, "sst2", "bert")["albert"].share_of_reference is None


def test_the_printed_shares_are_those_of_the_papers():
    found = {(model, task.task): task.kept for model, task, _ in printed_shares()}
    # From the papers' tables, divided by hand.
    assert found == pytest.approx(
        {
            ("DistilBERT", "Score"): 96.86,
            ("DistilBERT", "SST-2"): 98.49,
            ("DistilBERT", "SQuAD F1"): 96.95,
            ("ALBERT-base v1", "SQuAD 1.1 F1"): 98.78,
            ("ALBERT-base v1", "SST-2"): 97.31,
            ("ALBERT-base v1", "Avg"): 97.33,
        },
        abs=0.01,
    )


def test_the_fold_shows_both_apart_and_without_adapters_the_papers_alone(tuned_family):
    tables = every(show_kept(PageState()), "figcaption")
    assert [caption.text().partition(",")[0] for caption in tables] == [
        "Sentiment",
        "Questions",
        "Published: the papers' own tables",
    ]
    assert str(show_kept(PageState())).count("100.0%") == 6


def test_without_adapters_the_command_is_said(tiny_family):
    html = str(show_kept(PageState()))
    assert html.count("<figcaption>") == 1
    assert "--task squad" in html


def test_the_two_scores_of_albert_are_of_two_versions_and_both_are_named(tiny_family):
    """90.3 on SST-2 in one fold, 92.9 in the next: the paper's table is the authors' version 1."""
    tables = benchmark_tables()
    for paper, later in (("SST-2", "SST-2"), ("SQuAD 1.1 F1", "SQuAD 1.1 F1")):
        first = tables["albert-2"].cell("ALBERT-base", paper)
        assert first == tables["albert-v2"].cell("ALBERT-base v1", later)
    second = tables["albert-v2"].cell("ALBERT-base v2", "SST-2")
    said = plain(show_kept(PageState()))
    assert "ALBERT-base v1, SST-2" in said
    assert (
        f"version 2, the explorer's published size, is printed with {second:.1f}% on SST-2" in said
    )
    (note,) = (one for one in notes_of({"ALBERT-base v2": (second / 100, "x")}) if "Printed" in one)
    assert "ALBERT-base v2 92.9% (x)" in note
