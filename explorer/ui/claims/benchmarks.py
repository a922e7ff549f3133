"""The fold with published numbers: tables as bars, and the share of a score kept."""

import gradio as gr

from explorer.ui.claims import words as texts
from explorer.ui.kit.canvas import Canvas, Chart
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.folds import fold
from explorer.views.markup import el

START = ("distilbert-1", "DistilBERT", "BERT-base")
"""The comparison that the reports quote most."""


def build_benchmark_fold() -> None:
    """Benchmark tables, then the retention calculator."""
    with fold("claims", "scores", texts.BENCHMARKS_FOLD) as scores:
        tables = Canvas("claims/benchmarks")
        gr.HTML(el("h3", texts.RETENTION_TITLE))
        with gr.Row():
            table = gr.Dropdown(
                table_choices(), value=START[0], label=texts.RETENTION["choose_table"]
            )
            rows = row_choices(START[0])
            student = gr.Dropdown(rows, value=START[1], label=texts.RETENTION["student"])
            reference = gr.Dropdown(rows, value=START[2], label=texts.RETENTION["reference"])
        answer = [gr.HTML(), Chart("claims/retention"), gr.HTML()]
    inputs = [table, student, reference]
    scores.on_open(show_tables, [], [tables])
    scores.on_open(show_retention, inputs, answer)
    shown = [student, reference, *answer]
    table.input(plain_errors(on_table), [table], shown, api_visibility="private")
    for choice in (student, reference):
        choice.input(plain_errors(show_retention), inputs, answer, api_visibility="private")


def table_choices() -> list[tuple[str, str]]:
    """Tables in which one system can be compared with another."""
    from explorer.analysis.claims.benchmarks import benchmark_tables

    return [
        (f"{table.title} ({table.source.partition(' (')[0]})", key)
        for key, table in benchmark_tables().items()
        if len(row_choices(key)) > 1
    ]


def row_choices(table_id: str) -> list[str]:
    """Systems of a table that have its ranking score."""
    from explorer.analysis.claims.benchmarks import benchmark_tables

    table = benchmark_tables()[table_id]
    at = [column.label for column in table.columns].index(table.sort)
    is_score = table.columns[at].is_score
    return [row.name for row in table.rows if is_score and row.values[at] is not None]


def show_tables() -> str:
    """Every published table, for the browser to sort and draw."""
    from explorer.analysis.claims.benchmarks import benchmark_tables
    from explorer.views.claims.benchmarks import benchmarks_canvas

    return benchmarks_canvas(benchmark_tables(), texts.BENCHMARKS)


def show_retention(table_id: str, student: str, reference: str) -> list[str]:
    """What one system of a table keeps of another's scores."""
    from explorer.analysis.claims.benchmarks import benchmark_tables, retention
    from explorer.views.claims.benchmarks import retention_canvas, retention_said, retention_table

    kept = retention(benchmark_tables()[table_id], student, reference)
    return [
        draw(kept, texts.RETENTION) for draw in (retention_said, retention_canvas, retention_table)
    ]


def on_table(table_id: str) -> list[object]:
    """New choices for a new table: its last row over its first."""
    rows = row_choices(table_id)
    student, reference = rows[-1], rows[0]
    return [
        gr.Dropdown(choices=rows, value=student),
        gr.Dropdown(choices=rows, value=reference),
        *show_retention(table_id, student, reference),
    ]
