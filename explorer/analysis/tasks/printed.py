"""What the papers print of the published checkpoints on the tasks that adapters are scored on."""

from dataclasses import dataclass

from explorer.analysis.claims.benchmarks import benchmark_tables

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
