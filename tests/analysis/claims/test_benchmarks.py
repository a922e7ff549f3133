"""Published tables: averages close over their cells, except where a misprint is flagged."""

import numpy as np
import pytest

from explorer.analysis.claims.ledger import benchmark_tables, retention
from explorer.refusal import Refusal

TABLES = benchmark_tables()
FIVE = [
    t for t in TABLES.values() if t.sort == "Avg" and "SQuAD 1.1 F1" in [c.label for c in t.columns]
]


def cells(table, row):
    labels = [column.label for column in table.columns]
    return dict(zip(labels, next(r.values for r in table.rows if r.name == row), strict=True))


def misprinted(table, row):
    return any(flag.row == row and flag.kind == "misprint" for flag in table.flags)


def test_five_task_averages_close():
    """Mean of five tasks, F1 and EM averaged first; rounding leaves 0.1."""
    rows = [(table.id, row.name, cells(table, row.name)) for table in FIVE for row in table.rows]
    off = []
    for table, row, c in rows:
        squad = [(c[f"SQuAD {v} F1"] + c[f"SQuAD {v} EM"]) / 2 for v in ("1.1", "2.0")]
        mean = np.mean([*squad, c["MNLI"], c["SST-2"], c["RACE"]])
        off += [(table, row, mean)] if abs(mean - c["Avg"]) > 0.13 else []
    assert len(FIVE) > 5
    assert off == []


@pytest.mark.parametrize(
    ("table_id", "average"),
    [
        ("bert-1", "Average"),
        ("distilbert-1", "Score"),
        ("distilbert-old", "Score"),
    ],
)
def test_glue_averages_close_unless_flagged(table_id, average):
    table = TABLES[table_id]
    for row in table.rows:
        values = [v for name, v in cells(table, row.name).items() if name != average]
        closes = bool(abs(np.mean(values) - cells(table, row.name)[average]) < 0.13)
        assert closes is not misprinted(table, row.name), (row.name, np.mean(values))


def test_the_misprint_is_explained_by_the_other_reading():
    c = cells(TABLES["distilbert-1"], "BERT-base")
    c["MNLI"] = 84.7
    assert np.mean([v for k, v in c.items() if k != "Score"]) == pytest.approx(79.5, abs=0.01)


def test_distilbert_keeps_97_percent():
    kept = retention(TABLES["distilbert-1"], "DistilBERT", "BERT-base")
    assert kept.overall.kept == pytest.approx(100 * 77.0 / 79.5)
    assert round(kept.overall.kept, 1) == 96.9
    assert [(task.task, round(task.drop, 1)) for task in kept.worst] == [("RTE", 9.4)]
    assert {task.task for task in kept.tasks} >= {"Score", "CoLA", "WNLI"}


def test_only_scores_are_compared():
    tasks = retention(TABLES["albert-2"], "ALBERT-base", "BERT-base").tasks
    assert {task.unit for task in tasks} == {"%"}
    assert not {"Parameters", "Training speedup"} & {task.task for task in tasks}


@pytest.mark.parametrize(
    ("student", "reference"), [("GPT-4", "BERT-base"), ("BERT-base", "nobody")]
)
def test_an_unknown_row_is_refused(student, reference):
    with pytest.raises(Refusal, match="no row"):
        retention(TABLES["distilbert-1"], student, reference)


def test_an_empty_cell_is_refused():
    with pytest.raises(ValueError, match="prints no"):
        TABLES["bert-2"].cell("Human", "dev EM")


def test_a_correlation_is_no_per_cent_and_still_a_score():
    columns = [
        c for table in TABLES.values() for c in table.columns if c.label in ("CoLA", "STS-B")
    ]
    assert columns
    assert all(column.unit != "%" and column.is_score for column in columns)


def test_a_mean_over_correlations_is_no_per_cent_either():
    mixed = [t for t in TABLES.values() if {"CoLA", "STS-B"} & {c.label for c in t.columns}]
    means = [c for t in mixed for c in t.columns if c.label in ("Average", "Avg", "Score")]
    assert len(means) == 4
    means += TABLES["bert-leaderboard"].columns
    assert all(column.unit != "%" and column.is_score for column in means)
