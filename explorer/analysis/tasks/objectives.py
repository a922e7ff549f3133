"""What each pair objective learns: its head on its own kind of pairs and on the other's."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from explorer.analysis.claims.benchmarks import benchmark_tables
from explorer.analysis.tasks.pairs import Skill, pair_skill

OBJECTIVES: tuple[str, ...] = ("nsp", "sop")
TABLE = "albert-5"


@dataclass(frozen=True, slots=True)
class CrossTest:
    """The cross test of ALBERT's Table 5: measured on the bundled heads, and as it was printed."""

    measured: Mapping[str, tuple[Skill | None, ...]]
    """By model name, in the order of ``OBJECTIVES``; None where it was not taken."""
    printed: Mapping[str, tuple[float, ...]]
    """By what ALBERT-base was trained with, per cent."""
    source: str


def cross_test(results: Mapping[str, Any], names: tuple[str, ...]) -> CrossTest:
    """Both objectives' pairs under every head, from the cards and from the paper."""
    table = benchmark_tables()[TABLE]
    columns = [f"{objective.upper()} accuracy" for objective in OBJECTIVES]
    skills = {
        name: tuple(pair_skill(results, name, objective) for objective in OBJECTIVES)
        for name in names
    }
    return CrossTest(
        {name: found for name, found in skills.items() if any(found)},
        {row.name: tuple(table.cell(row.name, column) for column in columns) for row in table.rows},
        table.source,
    )
