"""Scores as the papers print them, and the share of a score that a smaller model keeps."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from explorer.assets import DATA, read_in
from explorer.refusal import Refusal

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
