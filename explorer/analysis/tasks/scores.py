"""Fine-tuning scores: those of the bundled adapters and those that papers print."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from explorer.analysis.claims.ledger import TaskDrop, benchmark_tables, retention
from explorer.models.specs import ModelSpec

TASKS: dict[str, str] = {"sst2": "accuracy", "squad": "f1"}
"""The metric of each task."""
PRINTED: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("distilbert-1", "DistilBERT", "DistilBERT", ("SST-2", "Score")),
    ("distilbert-2", "DistilBERT", "DistilBERT", ("SQuAD F1",)),
    ("albert-2", "ALBERT-base", "ALBERT-base v1", ("SST-2", "SQuAD 1.1 F1", "Avg")),
)
"""Tables of the papers with the same tasks: (table, row, model, columns). The paper's ALBERT is
the one that its authors later called version 1."""
REFERENCE = "BERT-base"
PrintedShare = tuple[str, TaskDrop, str]
"""A model, a task with both scores, and the source that prints them."""


@dataclass(frozen=True, slots=True)
class TunedScore:
    """One model's score on one task's dev set."""

    value: float
    low: float
    high: float
    """Upper end of the 95% interval that begins at ``low``."""
    count: int
    share_of_reference: float | None
    """Share of the score of BERT tuned by the same schedule; None where BERT has none."""


Cards = dict[str, dict[str, Any]]
"""Contents of each adapter's card, by model key."""


def fitting_cards(specs: Mapping[str, ModelSpec], task: str) -> tuple[Cards, dict[str, str]]:
    """Return the cards of the adapters that fit, and the error messages of others, by model key."""
    from explorer.models.hub import ModelUnavailable
    from explorer.models.task_heads.adapters import NotTuned, fitting_card

    cards: Cards = {}
    errors: dict[str, str] = {}
    for key, spec in specs.items():
        try:
            cards[key] = fitting_card(spec, task)
        except (NotTuned, ModelUnavailable) as error:
            errors[key] = str(error)
    return cards, errors


def tuned_scores(
    cards: Mapping[str, Mapping[str, Any]], task: str, reference: str
) -> dict[str, TunedScore]:
    """Return the scores of a family's cards by model key, each compared with the reference."""
    metrics = {key: card["scores"][TASKS[task]] for key, card in cards.items()}
    reference_score = metrics[reference]["value"] if reference in metrics else 0.0
    scores = {}
    for key, score in metrics.items():
        low, high = score["interval"]
        share = score["value"] / reference_score if reference_score else None
        scores[key] = TunedScore(score["value"], low, high, score["count"], share)
    return scores


def printed_shares() -> tuple[PrintedShare, ...]:
    """Return the scores of the papers' own tables for the same tasks and the average."""
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
"""By task and model: (table, row, column), all scored on the task's dev set."""


@dataclass(frozen=True, slots=True)
class PrintedScore:
    """One printed score as a share, without an interval, and its source."""

    value: float
    source: str
    row: str
    """Name of the model in the table, with its version."""


def printed_scores(task: str) -> dict[str, PrintedScore]:
    """Return the published checkpoints' scores by model key, where a paper reports one."""
    scores = {}
    for key, (table, row, column) in CELLS.get(task, {}).items():
        benchmark = benchmark_tables()[table]
        scores[key] = PrintedScore(benchmark.cell(row, column) / 100, benchmark.source, row)
    return scores


def trained_seconds(card: Mapping[str, Any]) -> float:
    """Return the duration of an adapter's training, over all runs that its card names."""
    return card["seconds"] + sum(run["seconds"] for run in card.get("earlier", ()))
