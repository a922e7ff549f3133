"""Live checks of the papers' tables: scores relative to BERT, and single cells."""

from collections.abc import Mapping

from explorer.analysis.claims.ledger import (
    KEPT,
    BenchmarkTable,
    Retention,
    benchmark_tables,
    claims_ledger,
    retention,
)
from explorer.analysis.claims.outcomes import PRINTED, CheckOutcome, Quantity, percent, score
from explorer.models.architectures import CheckModels
from explorer.models.specs import label_of

_DECIDED = {"right", "wrong"}


def scores_kept(models: CheckModels) -> CheckOutcome:  # noqa: ARG001 - printed numbers only
    """Check LC26: each model's score relative to its reference, by the papers' own tables."""
    tables = benchmark_tables()
    retained = {n: retention(tables[t], row, base) for n, (t, row, base) in KEPT.items()}
    glue = retained["glue_distilbert"]
    worst, *_ = glue.worst
    return CheckOutcome(
        f"DistilBERT keeps {glue.overall.kept:.1f}% of BERT-base on GLUE dev "
        f"(worst: {worst.task}, {worst.drop:.1f} points), ALBERT-base "
        f"{retained['albert_base'].overall.kept:.1f}%, ALBERT-xxlarge "
        f"{retained['albert_xxlarge'].overall.kept:.1f}% of BERT-large",
        round(glue.overall.kept, 1) == 96.9,
        PRINTED,
        {name: _kept(row) for name, row in retained.items()}
        | {"worst_drop": Quantity(worst.drop, f"{worst.drop:.1f} points lost on {worst.task}")},
        published=True,
    )


def _kept(row: Retention) -> Quantity:
    best = row.overall
    return percent(best.kept, f" kept ({best.student:.1f} of {best.reference:.1f})")


def printed_cells(models: CheckModels) -> CheckOutcome:  # noqa: ARG001 - printed numbers only
    """Check LC30: table cells that claims cite, and the ledger's verdicts against them."""
    tables = benchmark_tables()
    cited = [(c.verdict, t) for c in claims_ledger().claims for t in c.live if t.check == "LC30"]
    cells = {test.quantity: _cell(tables, test.quantity) for _, test in cited}
    agree = [(verdict, bool(test.holds(*cells[test.quantity].ends))) for verdict, test in cited]
    upheld = [holds is (verdict == "right") for verdict, holds in agree if verdict in _DECIDED]
    return CheckOutcome(
        f"{sum(holds for _, holds in agree)} of {len(agree)} claimed scores agree with their cell; "
        f"so does the verdict for {sum(upheld)} of {len(upheld)} called right or wrong",
        all(upheld),
        PRINTED,
        cells,
        published=True,
    )


def _cell(tables: Mapping[str, BenchmarkTable], name: str) -> Quantity:
    table, row, column = name.split("/")
    value, where = tables[table].cell(row, column), tables[table].source.rpartition(", ")[2]
    paper = label_of(tables[table].paper)
    return Quantity(value, f"{column}, {row}: {score(value)} ({paper}, {where})")
