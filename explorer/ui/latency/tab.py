"""Latency tab: the models of a family timed side by side."""

import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields, replace
from typing import Any

import gradio as gr

from explorer.analysis.latency.family import FamilyLatency, last, measure_family, plan_for
from explorer.inference.lazy_imports import check_until_imported
from explorer.inference.runs import Runs
from explorer.links.page_state import RUN_FIELDS, PageState
from explorer.models.specs import ModelSpec
from explorer.models.zerogpu import LENT_S, on_lent_gpu
from explorer.scheduling.cancel import CancelToken
from explorer.scheduling.job_queue import MEASUREMENTS, JobUpdate
from explorer.scheduling.measurement_lock import MEASUREMENT_LOCK
from explorer.timing.workload import Workload
from explorer.ui.kit.canvas import Chart, with_save_menu
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.jobs import Job, Steps, job_buttons, parts, shown, supersede
from explorer.ui.latency import size_vs_time_strings, strings
from explorer.ui.latency.folds import build_folds
from explorer.ui.latency.settings import (
    DEVICE,
    LENGTH,
    SHAPE,
    MeasurementSettings,
    build_controls,
    build_longest,
    choice_in,
    device_choices,
    length_choices,
    shape_choices,
    tell_js,
)
from explorer.views.markup import Markup, el, explained, join, note

ID = "latency"
LABEL = strings.LABEL
QUESTION = strings.QUESTION
READS = RUN_FIELDS
PRIVATE: dict[str, Any] = {"api_visibility": "private"}


@dataclass(frozen=True, slots=True, eq=False)
class Headline:
    """Components that a measurement writes."""

    finding: gr.HTML
    progress: gr.HTML
    card: gr.HTML
    status: gr.HTML
    result: gr.State

    @property
    def all(self) -> list[Any]:
        """The components in the order that the handlers return their values."""
        return [self.finding, self.progress, self.card, self.status, self.result]


def build(state: gr.State) -> list[gr.components.Component]:
    """Build finding, settings, button, card and folds; return the controls and the button."""
    # Size and FLOP need neither text nor weights, so they are shown at once.
    finding, progress, card, status, _ = draw_card(MeasurementSettings())
    finding_html = gr.HTML(finding)
    with gr.Row(elem_classes="lt-buttons"):
        settings_html = gr.HTML(settings_of(MeasurementSettings()), elem_classes="lt-said")
        longest = build_longest()
        # Pressed before the link's settings are there, it would measure others.
        measure_button = gr.Button(
            strings.MEASURE, variant="primary", elem_id="measure", interactive=False
        )
        stop_button = gr.Button(strings.STOP, elem_id="measure-stop", visible=False)
    # Below the button, because on a phone the card ends below the window.
    below = gr.HTML(progress), gr.HTML(card), gr.HTML(status), gr.State(None)
    headline = Headline(finding_html, *below)
    with gr.Accordion(strings.SETTINGS, open=False, elem_id="latency-settings"):
        controls = [*build_controls(), longest]
    detail = [gr.HTML(), Chart("latency/samples", elem_classes="detail"), gr.HTML()]
    headline.result.change(
        plain_errors(draw_detail), [headline.result], detail, show_progress="hidden", **PRIVATE
    )
    # A link sets several controls at once. Each one's change would be an event of its own, with
    # values of the others from before or after, so that the card drawn last may be of neither.
    chosen = gr.State([*astuple(MeasurementSettings())])
    inputs = [control.input for control in controls]
    gr.on(
        inputs,
        plain_errors(chosen_values),
        controls,
        chosen,
        js=tell_js(),
        show_progress="hidden",
        trigger_mode="always_last",
        **PRIVATE,
    )
    chosen.change(
        plain_errors(choose),
        chosen,
        [settings_html, *headline.all, stop_button],
        show_progress="hidden",
        trigger_mode="always_last",
        **PRIVATE,
    )
    job_buttons({measure_button.click: MEASURE}, controls, headline.all, stop_button)
    build_folds(state, [*controls])
    return [*controls, chosen, measure_button]


def show(state: PageState, text_runs: Runs) -> list[object]:
    """Return updates of the controls (the page's models and devices), their values, the button."""
    runs, _ = text_runs
    n_tokens = max((len(run.tokens) for run in runs.values()), default=0)
    settings = choice_in(state.timed, state.family)
    values = [gr.update(value=value) for value in astuple(settings)]
    values[SHAPE] |= gr.update(choices=shape_choices(state.family))
    values[LENGTH] |= gr.update(choices=length_choices(n_tokens))
    values[DEVICE] = gr.update(choices=device_choices())
    return [*values, [*astuple(settings)], gr.update(interactive=True)]


def first(state: PageState, _: list[Any]) -> list[Markup]:
    """Return the card of the chosen settings without measured times."""
    choice = choice_in(state.timed, state.family)
    sentence, _, card, status, _ = draw_card(choice)
    return [sentence, settings_of(choice), card, status]


def chosen_values(*values: Any) -> list[Any]:  # noqa: ANN401 - the eight controls
    """Return the controls' values, which are in the link by now."""
    return [*values]


def choose(values: list[Any]) -> list[object]:
    """Return the settings' sentence and the card without times; stop what measures others.

    Measure may have been pressed before this event came: then its card stays.
    """
    choice = MeasurementSettings(*values)
    if supersede(MEASURE, unless=lambda measured: measured == choice):
        return [settings_of(choice), *(gr.skip() for _ in fields(Headline)), gr.skip()]
    return [settings_of(choice), *draw_card(choice), gr.Button(visible=False)]


def settings_of(choice: MeasurementSettings) -> Markup:
    """Return the chosen settings as one sentence."""
    return el("p", strings.settings_said(astuple(choice)), class_="settings-said")


def time_family(choice: MeasurementSettings, cancel_token: CancelToken) -> Steps:
    """Time the chosen settings; yield the measurement after every round."""
    from explorer.analysis.latency.family import measure_family, plan_for

    specs, workload = choice.specs, choice.workload
    cancel_token.stage = "build"
    check_until_imported(cancel_token.check)
    cancel_token.stage = "lock"
    with MEASUREMENT_LOCK.measure(cancel_token.check):
        if choice.is_lent:
            return lent_latency(specs, workload)
        plan = plan_for(workload, choice.longest_s)
        rounds = measure_family(specs, workload, plan, cancel_token, choice.devices)
        return (yield from parts(rounds))


def draw_card(
    choice: MeasurementSettings,
    result: Any = None,  # noqa: ANN401
    standing: JobUpdate | None = None,
) -> list[Any]:
    """Return finding, progress, card, notes and result of the settings as far as measured.

    What is told of a measurement is progress until there is a result that it is about.
    """
    from explorer.analysis.latency.size_vs_time import size_vs_time
    from explorer.views.latency.measure import paradox_card, paradox_records

    has_times = result is not None and result.latency.n_rounds > 0
    rows = size_vs_time(choice.specs, choice.workload, result, choice.devices)
    is_result = has_times and standing is not None and standing.done
    told = status_of(rows, result, standing, choice.longest_s)
    notes = [
        told if is_result else "",
        strings.clocks(choice.devices),
        size_vs_time_strings.why(rows),
    ]
    return [
        size_vs_time_strings.paradox_finding(
            rows, result.summary if is_result else None, choice.shapes
        ),
        note(told) if told and not is_result else "",
        with_save_menu(
            "latency/measure",
            paradox_card(rows, size_vs_time_strings.paradox_titles(rows, choice.longest_s)),
            paradox_records(rows),
        ),
        join(*(note(line) for line in notes if line)),
        result if is_result else None,
    ]


MEASURE = Job(
    "measure",
    MEASUREMENTS,
    MeasurementSettings,
    time_family,
    lambda choice, update: draw_card(choice, shown(update), update),
    ends_s=lambda choice: choice.longest_s,
)


def status_of(
    rows: Any,  # noqa: ANN401
    result: Any,  # noqa: ANN401
    standing: JobUpdate | None,
    longest_s: float,
) -> str:
    """Return the status: place in the queue, progress, or how far to trust the result."""
    if standing is None:
        return ""
    if standing.position:
        return strings.place_in_line(standing.position)
    n_rounds = result.latency.n_rounds if result is not None else 0
    if not standing.done:
        return strings.progress(n_rounds, result.latency.wall_s if result else 0, longest_s)
    if not n_rounds:
        return strings.nothing(standing.stopped, standing.stage, longest_s)
    trust = strings.trust(result.summary, rows.rows[0].label, result.workload)
    return f"{trust} {strings.conditions(result)}"


LENT_BUDGET_S = LENT_S / 4
"""Budget of the rounds in seconds; initialising and moving the networks takes part of the rest."""


@on_lent_gpu
def lent_latency(specs: Sequence[ModelSpec], workload: Workload) -> FamilyLatency:
    """Measure everything in one call, because a lent GPU allows no progress and no stop."""
    plan = plan_for(workload, LENT_BUDGET_S)
    return last(measure_family(specs, workload, plan, CancelToken()))


def draw_detail(result: Any) -> list[str]:  # noqa: ANN401 - a FamilyLatency or None
    """Return every sample of a complete measurement and its details; empty without one."""
    if result is None:
        return ["", "", ""]
    from explorer.views.latency.measure import samples_canvas

    return [el("h3", strings.DETAIL), samples_canvas(result, strings.SAMPLES), detail(result)]


def timing_note(n_used: int) -> Markup:
    """Return what is below the timing table, by the number of undisturbed rounds."""
    return explained(strings.TIMING_NOTE if n_used else strings.DISTURBED_NOTE, "p90")


def detail(result: Any) -> Markup:  # noqa: ANN401 - a FamilyLatency
    """Return the timing table, the ratios on one scale, and the downloads (JSON, CSV)."""
    from explorer.analysis.latency.report import latency_report, report_csv
    from explorer.analysis.latency.size_vs_time import row_label
    from explorer.timing.machine import machine
    from explorer.views.latency.measure import (
        Mark,
        downloads,
        ratio_scale,
        scale_records,
        timing_records,
        timing_table,
    )

    by_name = {row.name: row for row in result.rows}
    summary = result.summary.reported or result.summary
    by_cpu = summary is not result.summary
    marks = [
        Mark(
            by_name[ratio.denominator].spec.key,
            row_label(by_name[ratio.denominator], result.devices),
            ratio.ratio.inverse,
        )
        for ratio in summary.ratios
    ]
    if summary.self_check is not None:
        marks.append(Mark(result.specs[0].key, strings.SELF, summary.self_check))
    top = max([2.4, *(1.1 * mark.ratio.ratio for mark in marks)])
    noun = "CPU time" if by_cpu or result.workload.clock == "compute" else "time"
    lead = strings.RATIOS_LEAD.format(first=row_label(result.rows[0], result.devices), noun=noun)
    scale = ratio_scale(marks, (0.0, top), {1.0: "equal"})
    workload = replace(result.workload, clock="compute") if by_cpu else result.workload
    compared = scale_records(marks, workload, ("device", "clock") if result.devices else ())
    ratios = [note(lead), with_save_menu("latency/ratios", scale, compared)] if marks else []
    times = timing_table(result, strings.TIMING_HEAD, timing_note(result.summary.n_used))
    report = latency_report(result, machine(*(result.devices or (result.workload.device,))))
    documents = {
        "latency.json": json.dumps(report, indent=1, allow_nan=False),
        "latency.csv": report_csv(report),
    }
    return join(
        with_save_menu("latency/times", times, timing_records(result), is_picture=False),
        *ratios,
        downloads(documents, strings.SAVE),
    )
