"""Ledger of printed claims, and the papers' tables that they are checked against."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from pathlib import Path
from types import MappingProxyType

from explorer.analysis.claims.rule import (
    OPERATIONS,
    VERDICTS,
    ClaimedNumber,
    SourcedQuantity,
    SourceValue,
    number_verdict,
    worst_verdict,
)
from explorer.assets import DATA, read_in
from explorer.models.specs import label_of
from explorer.refusal import Refusal, Sentence

NO_SHARED = Sentence("no-shared-score", "{a} and {b} share no {score} in {table}.")
LEDGER = DATA / "claims.json"


@dataclass(frozen=True, slots=True)
class LiveTest:
    """One number of a claim, and the quantity of a live check that tests it."""

    check: str
    quantity: str
    op: str
    """``rounds_to``, ``equals``, ``at_least`` or ``at_most``."""
    value: float
    unit: float = 0.0
    """For ``rounds_to``: the precision of the printed number, 1,000,000 for 66M."""

    def holds(self, low: float, high: float | None = None) -> bool | None:
        """Return whether a value in the interval from ``low`` to ``high`` agrees with the claim.

        None where the interval leaves it open. Without ``high`` the value is exactly ``low``.
        """
        ends = {self._side(low), self._side(low if high is None else high)}
        return ends == {0} if len(ends) == 1 else None

    def _side(self, x: float) -> int:
        """Return 0 where a value agrees with the claim, -1 where it is less and 1 where more."""
        return 0 if _OPERATORS[self.op](x, self) else 1 if x > self.value else -1


_OPERATORS = {
    # 1e-9 absorbs rounding errors of the division.
    "rounds_to": lambda x, t: abs(x) < inf and abs(round(x / t.unit) - t.value / t.unit) < 1e-9,
    "equals": lambda x, t: abs(x - t.value) <= 1e-9 * max(1.0, abs(t.value)),
    "at_least": lambda x, t: x >= t.value,
    "at_most": lambda x, t: x <= t.value,
}


TABLES = DATA / "benchmarks.json"


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table: its label and unit."""

    label: str
    unit: str
    lower_is_better: bool = False

    @property
    def is_score(self) -> bool:
        """Return whether the column is a score: per cent, or a correlation times 100."""
        return self.unit == "%" or self.unit.endswith("× 100")


@dataclass(frozen=True, slots=True)
class Row:
    """One system and its printed numbers; None where the paper prints none."""

    name: str
    model: str
    """Model key: ``bert``, ``distilbert``, ``albert`` or empty for others."""
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
    """One table of one paper, with its dataset split and evaluation protocol."""

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
    """Label of the column that sorts the rows initially."""
    note: str = ""

    def cell(self, row: str, column: str) -> float:
        """Return one printed number.

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
    """Load the published tables by id, in the order of the papers; cached.

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
    """Statement of the primary source."""
    verdict: str
    """The worst verdict of its numbers, by ``rule.number_verdict``, and of its words."""
    checks: tuple[str, ...]
    """Ids of the live checks related to the claim."""
    live: tuple[LiveTest, ...]
    """Tests of the claim's numbers; empty where it has none that can be measured."""
    same: str = ""
    """Id of the first claim with the same content; empty where this is the first."""
    numbers: tuple[ClaimedNumber, ...] = ()
    """Its printed numbers, each with the quantity that it is about."""
    words: str = ""
    """Verdict of its words; empty where the claim is its numbers."""
    implies: tuple[str, ...] = ()
    """Ids of claims that hold wherever this one holds."""
    opposes: tuple[str, ...] = ()
    """Ids of claims that cannot be right if this one is."""


@dataclass(frozen=True, slots=True)
class CheckNote:
    """Description of one live check, displayed before it runs."""

    id: str
    name: str
    measures: str
    expected: str
    see: str = ""
    """Tab and fold that show the same for any text; empty if there is none."""


@dataclass(frozen=True, slots=True)
class Report:
    """One written comparison that claims were taken from."""

    id: str
    name: str
    kind: str
    """Kind of text, in a few words."""


@dataclass(frozen=True, slots=True)
class ClaimsLedger:
    """Claims and live checks, with the reports, topics, verdicts and sourced quantities."""

    reports: Mapping[str, Report]
    topics: Mapping[str, str]
    verdicts: Mapping[str, str]
    checks: tuple[CheckNote, ...]
    claims: tuple[Claim, ...]
    quantities: Mapping[str, SourcedQuantity]


@lru_cache(maxsize=1)
def claims_ledger(path: Path = LEDGER) -> ClaimsLedger:
    """Load the ledger, claims in the order of the reports; cached.

    Raises:
        ValueError: a verdict, topic, report, check or quantity that the ledger does not list, a
            cell that no table has, or a claim with neither numbers nor a verdict.
    """
    with read_in(path):
        raw = json.loads(path.read_text("utf-8"))
        quantities = {one["id"]: _quantity(one) for one in raw["quantities"]}
        ledger = ClaimsLedger(
            MappingProxyType({report["id"]: Report(**report) for report in raw["reports"]}),
            MappingProxyType(raw["topics"]),
            MappingProxyType(raw["verdicts"]),
            tuple(CheckNote(**check) for check in raw["checks"]),
            tuple(_claim(row, quantities) for row in raw["claims"]),
            MappingProxyType(quantities),
        )
    for claim in ledger.claims:
        _refuse_unlisted(claim, ledger)
    return ledger


def _quantity(raw: dict) -> SourcedQuantity:
    return SourcedQuantity(raw["id"], raw["name"], tuple(map(_source, raw["sources"])))


_OF_CELLS: Mapping[str, Callable[..., float]] = {
    "value": lambda a: a,
    "difference": lambda a, b: a - b,
    "ratio": lambda a, b: a / b,
    "share": lambda a, b: 100 * a / b,
    "saved": lambda a, b: 100 * (1 - a / b),
}
"""Ways to compute a value from one or two printed cells."""


def _source(raw: dict) -> SourceValue:
    """Return a source's value: as written, or computed of the cells of published tables."""
    more = {name: raw[name] for name in ("unit", "condition") if name in raw}
    if "cells" not in raw:
        return SourceValue(raw["where"], raw["value"], **more)
    paths = [path.split("/") for path in raw["cells"]]
    tables = benchmark_tables()
    values = [tables[table].cell(row, column) for table, row, column in paths]
    value = _OF_CELLS[raw.get("as", "value")](*values)
    return SourceValue(_place(tables[paths[0][0]], paths[0][1]), value, **more)


def _place(table: BenchmarkTable, row: str) -> str:
    """Return the short name of a table and its row: ``ALBERT Table 2, ALBERT-base``."""
    part = table.source.rpartition(", ")[2]
    name = f"{label_of(table.paper)} {part}" if "arXiv" in table.source else table.source
    return f"{name}, {row}"


def _claim(row: dict, quantities: Mapping[str, SourcedQuantity]) -> Claim:
    lists = {name: tuple(row.get(name, ())) for name in ("models", "checks", "implies", "opposes")}
    numbers = tuple(ClaimedNumber(**number) for number in row.get("numbers", ()))
    unknown = [n for n in numbers if n.quantity not in quantities or n.op not in OPERATIONS]
    words = row.get("verdict", "")
    if unknown or not (numbers or words):
        raise ValueError(f"Claim {row['id']} has no verdict, or a number that nothing is said of.")
    computed = [number_verdict(number, quantities[number.quantity]) for number in numbers]
    parts = {
        "numbers": numbers,
        "words": words,
        "verdict": worst_verdict(computed + [words] * bool(words)),
        "live": tuple(LiveTest(**test) for test in row["live"]),
    }
    return Claim(**row | lists | parts)


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
    """Number of claims with each verdict, in total and per report."""

    total: Mapping[str, int]
    reports: Mapping[str, Mapping[str, int]]

    @property
    def n_claims(self) -> int:
        """The number of claims."""
        return sum(self.total.values())

    @property
    def n_decided(self) -> int:
        """The number of claims that a source decides: all but the unsupported."""
        return self.n_claims - self.total["unsupported"]

    @property
    def right_share(self) -> float:
        """The share of the claims that a source decides which are right, 0 to 1; 0 of none."""
        return self.total["right"] / self.n_decided if self.n_decided else 0.0


def verdict_shares(ledger: ClaimsLedger) -> VerdictShares:
    """Count the claims that are right, imprecise, wrong or without a source."""
    reports = {
        report: _count([claim for claim in ledger.claims if claim.report == report])
        for report in ledger.reports
    }
    return VerdictShares(_count(list(ledger.claims)), MappingProxyType(reports))


def _count(claims: list[Claim]) -> Mapping[str, int]:
    counts = Counter(claim.verdict for claim in claims)
    return MappingProxyType({verdict: counts[verdict] for verdict in VERDICTS})


@dataclass(frozen=True, slots=True)
class TaskDrop:
    """One task with the printed scores of reference and student."""

    task: str
    unit: str
    reference: float
    student: float

    @property
    def drop(self) -> float:
        """The points lost; negative where the student is better."""
        return self.reference - self.student

    @property
    def kept(self) -> float:
        """The student's score in percent of the reference's."""
        return 100 * self.student / self.reference


@dataclass(frozen=True, slots=True)
class Retention:
    """Scores of one system relative to another in one table, task by task."""

    table: BenchmarkTable
    student: str
    reference: str
    tasks: tuple[TaskDrop, ...]
    """Tasks whose columns are scores that both rows have."""

    @property
    def overall(self) -> TaskDrop:
        """The task of the table's sort column, its printed average where it has one."""
        return next(task for task in self.tasks if task.task == self.table.sort)

    @property
    def worst(self) -> tuple[TaskDrop, ...]:
        """The tasks that lose the most points as printed; empty where none loses any."""
        drops = [(round(task.drop, 6), task) for task in self.tasks]
        largest = max(drop for drop, _ in drops)
        return tuple(task for drop, task in drops if drop == largest > 0)


def retention(table: BenchmarkTable, student: str, reference: str) -> Retention:
    """Compare a student's scores with a reference's in the same table.

    Only columns that are scores (higher is better) are compared, and only where both rows have one.

    Raises:
        Refusal: the table lacks a row, or the two share no score in the ranking column.
    """
    rows = {row.name: row.values for row in table.rows}
    for name in (student, reference):
        if name not in rows:
            raise Refusal(Sentence("no-row-in-table", f"{table.source} has no row {name}."))
    tasks = tuple(
        TaskDrop(column.label, column.unit, b, a)
        for column, a, b in zip(table.columns, rows[student], rows[reference], strict=True)
        if column.is_score and a is not None and b is not None
    )
    if table.sort not in {task.task for task in tasks}:
        raise Refusal(
            NO_SHARED.format(a=student, b=reference, score=table.sort, table=table.source)
        )
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
"""By the name of the quantity in claims: (table, student row, reference row)."""
