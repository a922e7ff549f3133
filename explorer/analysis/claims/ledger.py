"""The ledger of claims, and the papers' tables that they are held against."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from pathlib import Path
from types import MappingProxyType

from explorer.assets import DATA, read_in
from explorer.refusal import Refusal

LEDGER = DATA / "claims.json"
VERDICTS: tuple[str, ...] = ("right", "imprecise", "wrong", "unsupported")
"""Always in this order: from agreeing with the source to having none."""


@dataclass(frozen=True, slots=True)
class LiveTest:
    """One number of a claim, and the quantity of a live check it is held against."""

    check: str
    quantity: str
    op: str
    """``rounds_to``, ``equals``, ``at_least`` or ``at_most``."""
    value: float
    unit: float = 0.0
    """For ``rounds_to``: the precision of the printed number, 1,000,000 for 66M."""

    def holds(self, low: float, high: float | None = None) -> bool | None:
        """Whether a value known to lie between two ends is what the claim prints.

        None where one end is and the other is not: then no verdict is due. One value alone is
        both ends.
        """
        ends = {self._side(low), self._side(low if high is None else high)}
        return ends == {0} if len(ends) == 1 else None

    def _side(self, x: float) -> int:
        """0 where a value is what the claim prints; -1 and 1 where it is less or more."""
        return 0 if _OPERATORS[self.op](x, self) else 1 if x > self.value else -1


_OPERATORS = {
    # 1e-9: 39.5 / 1 must not depend on how a binary fraction happens to fall.
    "rounds_to": lambda x, t: abs(x) < inf and abs(round(x / t.unit) - t.value / t.unit) < 1e-9,
    "equals": lambda x, t: abs(x - t.value) <= 1e-9 * max(1.0, abs(t.value)),
    "at_least": lambda x, t: x >= t.value,
    "at_most": lambda x, t: x <= t.value,
}


@dataclass(frozen=True, slots=True)
class Claim:
    """One printed statement beside its primary source."""

    id: str
    report: str
    claim: str
    models: tuple[str, ...]
    topic: str
    claimed: str
    source: str
    """Empty where no source was found."""
    found: str
    """What the primary source says."""
    verdict: str
    checks: tuple[str, ...]
    """Live checks that bear on it."""
    live: tuple[LiveTest, ...]
    """Its numbers, testable here; empty where it prints none that can be measured."""
    same: str = ""
    """The claim of which this is another wording; empty where it is the first of its kind."""


@dataclass(frozen=True, slots=True)
class CheckNote:
    """What the reader is told about one live check before it runs."""

    id: str
    name: str
    measures: str
    expected: str
    see: str = ""
    """The tab, and its fold, where the same is seen on any text; empty where nowhere is."""


@dataclass(frozen=True, slots=True)
class ClaimsLedger:
    """All claims and live checks, with the names of reports, topics and verdicts."""

    reports: Mapping[str, str]
    topics: Mapping[str, str]
    verdicts: Mapping[str, str]
    checks: tuple[CheckNote, ...]
    claims: tuple[Claim, ...]


@lru_cache(maxsize=1)
def claims_ledger(path: Path = LEDGER) -> ClaimsLedger:
    """Every claim of the ledger, in the order of the reports.

    Raises:
        ValueError: a verdict, topic, report or check that the ledger does not list.
    """
    with read_in(path):
        raw = json.loads(path.read_text("utf-8"))
        ledger = ClaimsLedger(
            MappingProxyType({report["id"]: report["name"] for report in raw["reports"]}),
            MappingProxyType(raw["topics"]),
            MappingProxyType(raw["verdicts"]),
            tuple(CheckNote(**check) for check in raw["checks"]),
            tuple(_claim(row) for row in raw["claims"]),
        )
    for claim in ledger.claims:
        _refuse_unlisted(claim, ledger)
    return ledger


def _claim(row: dict) -> Claim:
    tuples = {name: tuple(row[name]) for name in ("models", "checks")}
    return Claim(**row | tuples | {"live": tuple(LiveTest(**test) for test in row["live"])})


def _refuse_unlisted(claim: Claim, ledger: ClaimsLedger) -> None:
    checks = {check.id for check in ledger.checks}
    listed = (
        claim.verdict in ledger.verdicts
        and claim.topic in ledger.topics
        and claim.report in ledger.reports
        and checks.issuperset(claim.checks)
        and set(claim.checks).issuperset(test.check for test in claim.live)
    )
    if not listed:
        raise ValueError(f"Claim {claim.id} names something that the ledger does not list.")


@dataclass(frozen=True, slots=True)
class VerdictShares:
    """How many claims got each verdict, in all and per report."""

    total: Mapping[str, int]
    reports: Mapping[str, Mapping[str, int]]

    @property
    def n_claims(self) -> int:
        """All claims."""
        return sum(self.total.values())

    def share(self, verdict: str) -> float:
        """The share of all claims with a verdict, 0 to 1."""
        return self.total[verdict] / self.n_claims


def verdict_shares(ledger: ClaimsLedger) -> VerdictShares:
    """What share of the printed claims is right, imprecise, wrong or without a source."""
    reports = {
        report: _count([claim for claim in ledger.claims if claim.report == report])
        for report in ledger.reports
    }
    return VerdictShares(_count(list(ledger.claims)), MappingProxyType(reports))


def _count(claims: list[Claim]) -> Mapping[str, int]:
    counts = Counter(claim.verdict for claim in claims)
    return MappingProxyType({verdict: counts[verdict] for verdict in VERDICTS})


TABLES = DATA / "benchmarks.json"


@dataclass(frozen=True, slots=True)
class Column:
    """What a column counts."""

    label: str
    unit: str
    lower_is_better: bool = False

    @property
    def is_score(self) -> bool:
        """Whether a share of it can be kept: per cent, or a correlation times 100."""
        return self.unit == "%" or self.unit.endswith("× 100")


@dataclass(frozen=True, slots=True)
class Row:
    """One system and its printed numbers; None where the paper prints none."""

    name: str
    model: str
    """``bert``, ``distilbert``, ``albert`` or empty for others."""
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Flag:
    """A remark on one cell: a misprint, or a contradiction between sources."""

    row: str
    column: str
    kind: str
    """``misprint`` or ``note``."""
    text: str


@dataclass(frozen=True, slots=True)
class BenchmarkTable:
    """One table of one paper, with the split it was scored on and how."""

    id: str
    paper: str
    title: str
    source: str
    split: str
    protocol: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    flags: tuple[Flag, ...]
    sort: str
    """The column that ranks the rows at first."""
    note: str = ""

    def cell(self, row: str, column: str) -> float:
        """One printed number.

        Raises:
            ValueError: the table has no such row or column, or prints nothing there.
        """
        labels = [c.label for c in self.columns]
        values = next((r.values for r in self.rows if r.name == row), None)
        value = values[labels.index(column)] if values and column in labels else None
        if value is None:
            raise ValueError(f"{self.source} prints no {column} of {row}.")
        return value


@lru_cache(maxsize=1)
def benchmark_tables(path: Path = TABLES) -> Mapping[str, BenchmarkTable]:
    """Every published table by id, in the order of the papers.

    Raises:
        ValueError: a row without a value for each column, or a flag on a cell that is not there.
    """
    with read_in(path):
        raw = json.loads(path.read_text("utf-8"))
        tables = {row["id"]: _table(row) for row in raw["tables"]}
    for table in tables.values():
        if any(len(row.values) != len(table.columns) for row in table.rows):
            raise ValueError(f"{table.source}: a row does not fit the columns.")
        for flag in table.flags:
            table.cell(flag.row, flag.column)
    return MappingProxyType(tables)


def _table(raw: dict) -> BenchmarkTable:
    parts = {
        "columns": tuple(Column(**column) for column in raw["columns"]),
        "rows": tuple(Row(r["name"], r["model"], tuple(r["values"])) for r in raw["rows"]),
        "flags": tuple(Flag(**flag) for flag in raw["flags"]),
    }
    return BenchmarkTable(**raw | parts)


@dataclass(frozen=True, slots=True)
class TaskDrop:
    """One task: both printed scores and what is lost."""

    task: str
    unit: str
    reference: float
    student: float

    @property
    def drop(self) -> float:
        """Points lost; negative where the student is ahead."""
        return self.reference - self.student

    @property
    def kept(self) -> float:
        """The student's score in percent of the reference's."""
        return 100 * self.student / self.reference


@dataclass(frozen=True, slots=True)
class Retention:
    """What one system keeps of another's scores in one table, task by task."""

    table: BenchmarkTable
    student: str
    reference: str
    tasks: tuple[TaskDrop, ...]
    """The columns that are scores and that both rows have."""

    @property
    def overall(self) -> TaskDrop:
        """The column the table is ranked by: its printed average where it has one."""
        return next(task for task in self.tasks if task.task == self.table.sort)

    @property
    def worst(self) -> tuple[TaskDrop, ...]:
        """The tasks that lose the most points as printed; none where no task loses any."""
        lost = [(round(task.drop, 6), task) for task in self.tasks]
        most = max(drop for drop, _ in lost)
        return tuple(task for drop, task in lost if drop == most > 0)


def retention(table: BenchmarkTable, student: str, reference: str) -> Retention:
    """What a model keeps of another's score: the quotient of two cells of the same table.

    Only scores are compared (higher is better), and only where both rows have one.

    Raises:
        Refusal: the table lacks a row, or the two share no score in the ranking column.
    """
    rows = {row.name: row.values for row in table.rows}
    for name in (student, reference):
        if name not in rows:
            raise Refusal(f"{table.source} has no row {name}.")
    tasks = tuple(
        TaskDrop(column.label, column.unit, b, a)
        for column, a, b in zip(table.columns, rows[student], rows[reference], strict=True)
        if column.is_score and a is not None and b is not None
    )
    if table.sort not in {task.task for task in tasks}:
        raise Refusal(f"{student} and {reference} share no {table.sort} in {table.source}.")
    return Retention(table, student, reference, tasks)


KEPT: dict[str, tuple[str, str, str]] = {
    "glue_distilbert": ("distilbert-1", "DistilBERT", "BERT-base"),
    "squad_distilbert": ("distilbert-2", "DistilBERT", "BERT-base"),
    "albert_base": ("albert-2", "ALBERT-base", "BERT-base"),
    "albert_large": ("albert-2", "ALBERT-large", "BERT-large"),
    "albert_xlarge": ("albert-2", "ALBERT-xlarge", "BERT-large"),
    "albert_xxlarge": ("albert-2", "ALBERT-xxlarge", "BERT-large"),
    "sharing_e128": ("albert-4", "all-shared, E=128", "not-shared, E=128"),
}
"""Which row over which, by the name that claims use."""
