"""Claims tab: the ledger, its live checks and the papers' benchmark tables."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import gradio as gr

from explorer import limits
from explorer.inference.runs import Runs
from explorer.links.page_state import PageState
from explorer.models.choice.family import family_specs
from explorer.scheduling.cancel import CancelToken
from explorer.scheduling.job_queue import JobQueue, JobUpdate
from explorer.ui.claims import strings
from explorer.ui.kit.canvas import Canvas, Chart
from explorer.ui.kit.errors import plain_errors, sentence_of
from explorer.ui.kit.folds import fold
from explorer.ui.kit.jobs import Job, Progress, Steps, job_buttons, shown
from explorer.ui.kit.validation import refuse_bad_input
from explorer.views.markup import Markup, el

if TYPE_CHECKING:
    from explorer.analysis.claims.outcomes import CheckResult


ID = "claims"
LABEL = strings.LABEL
QUESTION = strings.QUESTION
READS: tuple[str, ...] = ()
MAX_PRESSES = 5
"""Upper limit of the factor by which a timed check multiplies its rounds."""


def build(state: gr.State) -> list[gr.components.Component]:
    """Build the finding, the stacked shares, the ledger and the folds; return the headline."""
    finding, shares = gr.HTML(), Canvas("claims/shares")
    with gr.Row(elem_id="claims-run"):
        run = gr.Button(strings.RUN_ALL, size="sm", scale=0, min_width=150)
        stop = gr.Button(strings.STOP, size="sm", scale=0, min_width=80, visible=False)
        results = Canvas("claims/results", saves=False, min_width=200)
    ledger = Canvas("claims/ledger")
    with fold("claims", "checks", strings.CHECKS_FOLD) as checks_fold:
        checks = Canvas("claims/checks")
    checks_fold.on_open(show_checks, [], [checks])
    job_buttons({run.click: CHECKS}, [state], [results], stop)
    for canvas in (ledger, checks):
        canvas.on_question(run_one, [state], [results], show_progress="hidden")
    build_benchmark_fold()
    return [finding, shares, ledger, results]


def show(_state: PageState, _: Runs) -> list[object]:
    """Return the headline's values; they depend on no text and run no model."""
    from explorer.analysis.claims.ledger import claims_ledger, verdict_shares
    from explorer.views import claims as views
    from explorer.views.markup import explained, finding

    ledger = claims_ledger()
    shares = verdict_shares(ledger)
    return [
        finding(explained(strings.shares_finding(shares), "imprecise")),
        views.shares_canvas(shares, ledger, strings.SHARES),
        views.ledger_canvas(ledger, strings.MODELS, strings.LEDGER),
        _message([], []),
    ]


def first(_: PageState, values: list[Any]) -> list[Markup]:
    """Return the headline's values as HTML."""
    from explorer.views.first.claims import ledger_html, shares_html
    from explorer.views.first.parts import canvas

    sentence, shares, ledger, *_rest = values
    return [
        sentence,
        canvas("claims/shares", shares_html(json.loads(shares))),
        canvas("claims/ledger", ledger_html(json.loads(ledger))),
    ]


def show_checks() -> str:
    """Return the canvas of all live checks; results are filled in by the browser."""
    from explorer.analysis.claims.ledger import claims_ledger
    from explorer.views.claims import checks_canvas

    return checks_canvas(claims_ledger(), strings.CHECKS)


@dataclass(frozen=True, slots=True, eq=False)
class CheckProgress:
    """Results of live checks so far, and the check that runs; none at the end."""

    results: "tuple[CheckResult, ...]" = ()
    running: tuple[str, ...] = ()


def run_all(state: PageState, cancel_token: CancelToken) -> Steps:
    """Run every live check in turn; yield the results so far before each."""
    from explorer.analysis.claims.ledger import claims_ledger

    results: tuple[CheckResult, ...] = ()
    for check in (note.id for note in claims_ledger().checks):
        yield Progress(part=CheckProgress(results, (check,)))
        cancel_token.check()
        results = (*results, _run(check, state))
    return CheckProgress(results)


def draw_checks(_: PageState, update: JobUpdate) -> list[Any]:
    """Return the canvas of the results so far, and of the check that runs."""
    progress = shown(update) or CheckProgress()
    running = () if update.done else progress.running
    return [_message(running, progress.results, len(progress.results), update.stopped)]


CHECKS = Job(
    "run_all",
    JobQueue("checks", limits.OWN_LINE.maximum),
    lambda state: state or PageState(),
    run_all,
    draw_checks,
)


def run_one(question: dict, state: PageState | None) -> Iterator[str]:
    """Yield progress, then the result, of the check whose button was pressed."""
    with refuse_bad_input():
        check, presses = str(question.get("check", "")), int(question.get("press") or 1)
    yield _message([check], [])
    yield _message([], [_run(check, state, min(max(1, presses), MAX_PRESSES))])


def _run(check: str, state: PageState | None, presses: int = 1) -> "CheckResult":
    """Run one check, alone on the machine if it is timed; an exception becomes "failed"."""
    from explorer.analysis.claims.checks import TIMED, checked, timed
    from explorer.analysis.claims.outcomes import CheckResult
    from explorer.inference.runs import call_on_model

    exact = replace(state or PageState(), dtype="float32")
    teacher, *_ = family_specs(exact.family)
    try:
        job = timed if check in TIMED else checked
        return call_on_model(job, teacher, exact.ask, exact.family, check, presses)
    except Exception as error:
        # One failing check must not end the others; sentence_of logs unexpected errors.
        return CheckResult(check, "failed", sentence_of(error), "", False, {})


def _message(
    running: Sequence[str],
    results: "Sequence[CheckResult]",
    done: int | None = None,
    is_stopped: bool = False,
) -> str:
    from explorer.analysis.claims.ledger import claims_ledger
    from explorer.views.claims import ChecksProgress, results_canvas

    total = len(claims_ledger().checks)
    names = [note.name for note in claims_ledger().checks if note.id in running]
    progress: ChecksProgress = {
        "running": list(running),
        "names": names,
        "done": done,
        "total": total,
        "stopped": is_stopped,
        "texts": dict(strings.PROGRESS),
    }
    return results_canvas(progress, results)


START = ("distilbert-1", "DistilBERT", "BERT-base")
"""Table, student and reference of the comparison that reports quote most."""


def build_benchmark_fold() -> None:
    """Build the benchmark tables and the retention calculator."""
    with fold("claims", "scores", strings.BENCHMARKS_FOLD) as scores:
        tables = Canvas("claims/benchmarks")
        gr.HTML(el("h3", strings.RETENTION_TITLE))
        with gr.Row():
            table = gr.Dropdown(
                table_choices(), value=START[0], label=strings.RETENTION["choose_table"]
            )
            rows = row_choices(START[0])
            student = gr.Dropdown(rows, value=START[1], label=strings.RETENTION["student"])
            reference = gr.Dropdown(rows, value=START[2], label=strings.RETENTION["reference"])
        answer = [gr.HTML(), Chart("claims/retention"), gr.HTML()]
        from_link = gr.Textbox(visible=False)
    controls = [table, student, reference]
    scores.keep("retention", table=table, student=student, reference=reference)
    systems = sorted({name for _, key in table_choices() for name in row_choices(key)})
    for control in (student, reference):
        scores.form[control]["among"] = systems
    scores.on_open(show_tables, [], [tables])
    # What a link names may be in no row of the table that the menus still show.
    linked = f"() => [JSON.stringify(window.explorer.form({scores.controls(controls)}))]"
    scores.on_open(linked_retention, [from_link], [*controls, *answer], js=linked)
    gr.on(
        [control.input for control in controls],
        plain_errors(choose_retention),
        controls,
        [*controls, *answer],
        api_visibility="private",
        show_progress="minimal",
        trigger_mode="always_last",
    )


def table_choices() -> list[tuple[str, str]]:
    """Return label and key of the tables with at least two comparable systems."""
    from explorer.analysis.claims.ledger import benchmark_tables

    return [
        (f"{table.title} ({table.source.partition(' (')[0]})", key)
        for key, table in benchmark_tables().items()
        if len(row_choices(key)) > 1
    ]


def row_choices(table_id: str) -> list[str]:
    """Return the systems of a table that have a score in its sort column."""
    from explorer.analysis.claims.ledger import benchmark_tables

    table = benchmark_tables()[table_id]
    at = [column.label for column in table.columns].index(table.sort)
    is_score = table.columns[at].is_score
    return [row.name for row in table.rows if is_score and row.values[at] is not None]


def show_tables() -> str:
    """Return the canvas of all published tables; sorting happens in the browser."""
    from explorer.analysis.claims.ledger import benchmark_tables
    from explorer.views.claims import benchmarks_canvas

    return benchmarks_canvas(benchmark_tables(), strings.BENCHMARKS)


def show_retention(table_id: str, student: str, reference: str) -> list[str]:
    """Return sentence, chart and table of the share of scores that ``student`` retains."""
    from explorer.analysis.claims.ledger import benchmark_tables, retention
    from explorer.views.claims import retention_canvas, retention_finding, retention_table

    result = retention(benchmark_tables()[table_id], student, reference)
    return [
        draw(result, strings.RETENTION)
        for draw in (retention_finding, retention_canvas, retention_table)
    ]


def linked_retention(question: str) -> list[object]:
    """Return the dropdowns and the answer for the table and the two systems of a link, as JSON.

    Without a link it is the comparison that reports quote most.

    Raises:
        Refusal: the request holds something else.
    """
    with refuse_bad_input():
        table_id, student, reference = json.loads(question) if question else START
        return choose_retention(table_id, student, reference)


def choose_retention(table_id: str, student: str, reference: str) -> list[object]:
    """Return the dropdowns and the answer for a table and two systems.

    A system that the table lacks is replaced: the student by its last row, the reference by its
    first.
    """
    rows = row_choices(table_id)
    student = student if student in rows else rows[-1]
    reference = reference if reference in rows else rows[0]
    return [
        gr.update(value=table_id),
        gr.Dropdown(choices=rows, value=student),
        gr.Dropdown(choices=rows, value=reference),
        *show_retention(table_id, student, reference),
    ]
