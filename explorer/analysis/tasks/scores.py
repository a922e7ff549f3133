"""Scores of fine-tuning: those of the adapters here, and those that papers print."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from explorer.analysis.claims.ledger import TaskDrop, benchmark_tables, retention
from explorer.models.specs import ModelSpec

TASKS: dict[str, str] = {"sst2": "accuracy", "squad": "f1"}
"""The score by which each task is compared."""
PRINTED: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("distilbert-1", "DistilBERT", "DistilBERT", ("SST-2", "Score")),
    ("distilbert-2", "DistilBERT", "DistilBERT", ("SQuAD F1",)),
    ("albert-2", "ALBERT-base", "ALBERT-base v1", ("SST-2", "SQuAD 1.1 F1", "Avg")),
)
"""The papers' tables that have the same tasks, their row, what it is of, and the columns; the
paper's ALBERT is what its authors later called version 1."""
REFERENCE = "BERT-base"
PrintedShare = tuple[str, TaskDrop, str]
"""A model, a task and where both scores are printed."""


@dataclass(frozen=True, slots=True)
class TunedScore:
    """One model's score on one task's dev set."""

    value: float
    low: float
    high: float
    """The ends of its 95% interval."""
    count: int
    kept: float | None
    """Its share of BERT's score by the same schedule; None where BERT has none."""


Cards = dict[str, dict[str, Any]]
"""What each adapter's card says, by model key."""


def fitting_cards(specs: Mapping[str, ModelSpec], task: str) -> tuple[Cards, dict[str, str]]:
    """Return the cards of the adapters that fit, by model key, and why the others are missing."""
    from explorer.models.hub import ModelUnavailable
    from explorer.models.task_heads.adapters import NotTuned, fitting_card

    found: Cards = {}
    lacking: dict[str, str] = {}
    for key, spec in specs.items():
        try:
            found[key] = fitting_card(spec, task)
        except (NotTuned, ModelUnavailable) as error:
            lacking[key] = str(error)
    return found, lacking


def tuned_scores(
    cards: Mapping[str, Mapping[str, Any]], task: str, reference: str
) -> dict[str, TunedScore]:
    """The scores of a family's cards by model key, each beside the reference model's."""
    own = {key: card["scores"][TASKS[task]] for key, card in cards.items()}
    base = own[reference]["value"] if reference in own else 0.0
    found = {}
    for key, score in own.items():
        low, high = score["interval"]
        kept = score["value"] / base if base else None
        found[key] = TunedScore(score["value"], low, high, score["count"], kept)
    return found


def printed_shares() -> tuple[PrintedShare, ...]:
    """What the papers' own tables say of the same tasks and the average."""
    return tuple(
        (name, task, benchmark_tables()[table].source)
        for table, row, name, columns in PRINTED
        for task in retention(benchmark_tables()[table], row, REFERENCE).tasks
        if task.task in columns
    )


CELLS: dict[str, dict[str, tuple[str, str, str]]] = {
    "sst2": {
        "bert": ("distilbert-1", "BERT-base", "SST-2"),
        "distilbert": ("distilbert-1", "DistilBERT", "SST-2"),
        "albert": ("albert-v2", "ALBERT-base v2", "SST-2"),
    },
    "squad": {
        "bert": ("bert-2", "BERT-base (single)", "dev F1"),
        "distilbert": ("distilbert-2", "DistilBERT", "SQuAD F1"),
        "albert": ("albert-v2", "ALBERT-base v2", "SQuAD 1.1 F1"),
    },
}
"""By task and model: the table, its row and its column; all on the task's dev set."""


@dataclass(frozen=True, slots=True)
class PrintedScore:
    """One printed number as a share, without an interval, and where it stands."""

    value: float
    source: str
    row: str
    """The model as the table names it, with its version."""


def printed_scores(task: str) -> dict[str, PrintedScore]:
    """The published checkpoints' scores by model key; none for what no paper reports."""
    found = {}
    for key, (table, row, column) in CELLS.get(task, {}).items():
        one = benchmark_tables()[table]
        found[key] = PrintedScore(one.cell(row, column) / 100, one.source, row)
    return found
