"""Folds of Latency: sweeps, other runtimes, the machine's limits, recorded measurements."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import gradio as gr

from explorer.analysis.digits import enumerated, in_ms, percent, rate
from explorer.models.choice.family import family_specs
from explorer.models.specs import BASE, distilled_pair
from explorer.scheduling.cancel import CancelToken
from explorer.scheduling.job_queue import MEASUREMENTS, JobUpdate
from explorer.scheduling.measurement_lock import MEASUREMENT_LOCK
from explorer.ui.kit.canvas import Chart, with_save_menu
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.folds import fold
from explorer.ui.kit.jobs import Job, Steps, job_buttons, parts, shown
from explorer.ui.latency import choice_strings, model_choice, strings
from explorer.ui.latency.settings import MeasurementSettings, limit_dropdown
from explorer.views.latency.measure import ratio_text
from explorer.views.markup import Markup, el, join, model_name, note, table

CLAIM_BUDGET_S = 12.0
POINT_BUDGET_S = 8.0
FASTER_BUDGET_S = 25.0
"""Longer, because every round has eight variants and one is several times slower."""


def claim(choice: MeasurementSettings, cancel_token: CancelToken) -> Iterator[Any]:
    """Time BERT against DistilBERT without and with the MLM head; yield results by head."""
    from explorer.analysis.latency.family import measure_family, plan_for

    pair = [spec for spec in choice_family(choice) if spec.key in distilled_pair()]
    by_head: dict[bool, Any] = {}
    yield by_head
    for head in (False, True):
        workload = replace(choice.workload, head=head)
        *_, final = measure_family(pair, workload, plan_for(workload, CLAIM_BUDGET_S), cancel_token)
        if not final.latency.n_rounds:
            return
        by_head = {**by_head, head: final}
        yield by_head


def choice_family(choice: MeasurementSettings) -> tuple[Any, ...]:
    """Return the chosen family; the three base models if the larger sizes were chosen."""
    return family_specs("base" if choice.shapes == "larger" else choice.shapes)


def draw_claim(done: dict[bool, Any]) -> list[Any]:
    """Return the two ratios on one scale with the paper's figure."""
    from explorer.views.latency.measure import Mark, ratio_scale, scale_records

    shown = {head: final.summary.reported for head, final in done.items()}
    ratios = {
        head: ratio.ratio.inverse
        for head, summary in shown.items()
        if summary and (ratio := summary.ratio(done[head].specs[1].name)) is not None
    }
    if not ratios:
        return [note(strings.unreported(final.summary)) for final in [*done.values()][:1]] or [
            Markup("")
        ]
    by_cpu = {head for head in ratios if shown[head] is not done[head].summary}
    marks = [
        Mark(distilled_pair()[1], strings.claim_part(head, by_cpu), r) for head, r in ratios.items()
    ]
    first = next(iter(done.values()))
    work, specs = first.workload, first.specs
    names = enumerated(spec.name for spec in specs)
    texts_of = "1 text" if work.batch == 1 else f"{work.batch} texts"
    what = f"{names}, {texts_of} of {work.length} tokens"
    full_size = all(spec in BASE.values() for spec in specs)
    sentence = note(strings.claim_sentence(ratios, what, full_size, by_cpu))
    scale = ratio_scale(marks, (0.3, 1.1), strings.CLAIM_LINES)
    return [
        join(
            with_save_menu("latency/claim", scale, scale_records(marks, work, ("head",))), sentence
        )
    ]


def sweep_lengths(choice: MeasurementSettings, cancel_token: CancelToken) -> Iterator[Any]:
    """Time the chosen settings at every sequence length."""
    return _sweep(choice, "length", cancel_token)


def sweep_batches(choice: MeasurementSettings, cancel_token: CancelToken) -> Iterator[Any]:
    """Time the chosen settings at every batch size."""
    return _sweep(choice, "batch", cancel_token)


def _sweep(choice: MeasurementSettings, axis: str, cancel_token: CancelToken) -> Iterator[Any]:
    from explorer.analysis.latency.family import measure_sweep, plan_for, sweep_points

    points = sweep_points(choice.workload, axis)
    plan = plan_for(choice.workload, POINT_BUDGET_S)
    return measure_sweep(choice.specs, points, plan, cancel_token)


def draw_sweep(sweep: Any) -> list[Any]:  # noqa: ANN401 - a Sweep
    """Return the sentence and the charts; no chart before the first point."""
    from explorer.views.latency.sweep import sweep_canvas

    if not sweep.points:
        return [note(strings.sweep_sentence(sweep)), ""]
    why = strings.sweep_why(sweep.points[0].specs)
    sentence = join(note(strings.sweep_sentence(sweep)), note(why))
    over = strings.SWEEP_TITLES["ratio"].format(first=sweep.points[0].specs[0].label)
    return [sentence, sweep_canvas(sweep, strings.SWEEP_TITLES | {"ratio": over})]


def limits(choice: MeasurementSettings, cancel_token: CancelToken) -> Iterator[Any]:
    """Measure the machine's limits, then time the family; yield (limits, measurement)."""
    from explorer.analysis.latency.family import measure_family, measure_limits, plan_for

    *_, machine_limits = measure_limits(choice.specs, choice.workload, cancel_token)
    plan = plan_for(choice.workload, CLAIM_BUDGET_S)
    *_, final = measure_family(choice.specs, choice.workload, plan, cancel_token)
    yield machine_limits, final


def draw_limits(shot: Any) -> list[Any]:  # noqa: ANN401 - limits, measurement
    """Return which share of the machine's limits each model reaches."""
    from explorer.analysis.latency.family import share_of_limit
    from explorer.views.latency.measure import limits_records

    machine_limits, final = shot
    if not final.latency.n_rounds:
        return [Markup("")]
    if not final.summary.holds:
        return [note(strings.unreported(final.summary))]
    shares, rows = share_of_limit(final, machine_limits), []
    for spec, limit in zip(final.specs, machine_limits, strict=True):
        ms = final.summary.model(spec.name).median_ms
        rows.append(
            [
                model_name(spec.key, spec.label, spec.size),
                *map(in_ms, (ms, limit.arithmetic_ms, limit.memory_ms)),
                limit.bound_by,
                percent(shares[spec.name]),
                rate(final.rates(spec, ms)[1]),
                rate(limit.peak_gflops),
                choice_strings.megabytes(limit.working_set),
                rate(limit.bandwidth_gb),
            ]
        )
    sentence = note(strings.limits_sentence(final, machine_limits, shares))
    html, numbers = table(strings.LIMITS_HEAD, rows), limits_records(machine_limits, final)
    return [join(sentence, with_save_menu("latency/limits", html, numbers, is_picture=False))]


def measure_ways(
    choice: MeasurementSettings, cancel_token: CancelToken, batches: Sequence[int] = ()
) -> Iterator[Any]:
    """Time every model in every runtime and precision, and compare the predictions."""
    from explorer.analysis.latency.family import plan_for
    from explorer.analysis.latency.faster import measure_faster

    workload = replace(choice.workload, dtype="float32")
    plan = plan_for(workload, FASTER_BUDGET_S)
    return measure_faster(choice.specs, workload, plan, cancel_token, batches)


def faster_batches(choice: MeasurementSettings, cancel_token: CancelToken) -> Iterator[Any]:
    """Time every runtime and precision at three batch sizes, too."""
    return measure_ways(choice, cancel_token, choice_strings.BATCHES)


def draw_faster(result: Any) -> list[Any]:  # noqa: ANN401 - a Faster
    """Return speed and cost of each runtime and precision, and why a row is missing."""
    from explorer.views.latency.measure import faster_records

    sizes = result.batch_sizes
    by_name = {(cost.key, cost.name): cost for cost in result.costs}
    rows: list[list[str | Markup]] = []
    for variants in result.models:
        spec = variants.spec
        for model in variants.summary.models:
            ratio, cost = variants.summary.ratio(model.name), by_name.get((spec.key, model.name))
            gain = "–" if ratio is None else ratio_text(ratio.ratio.inverse)
            rows.append(
                [
                    model_name(spec.key, spec.label, spec.size),
                    model.name,
                    in_ms(model.median_ms),
                    gain,
                    "–" if cost is None else choice_strings.whole_percent(cost.same_top1),
                    "–" if cost is None else strings.divergence(cost.mean_kl),
                    choice_strings.megabytes(variants.resident.get(model.name)),
                    *(choice_strings.throughput(variants.throughput(model.name, n)) for n in sizes),
                ]
            )
    notes = [note(line) for line in choice_strings.faster_notes(result) if line]
    head = [
        *choice_strings.FASTER_HEAD,
        *(choice_strings.THROUGHPUT.format(n=n) for n in sizes),
    ]
    html, numbers = table(head, rows), faster_records(result)
    saved_table = (
        with_save_menu("latency/faster", html, numbers, is_picture=False) if rows else None
    )
    best = [
        note(line)
        for variants_of_model in result.models
        if (line := choice_strings.ranked(variants_of_model, result))
    ]
    bar = None if result.is_out_of_time else share_done(result.done, result.n_steps)
    return [join(bar, *best, saved_table, *notes)]


def share_done(done: int, total: int) -> Markup | None:
    """Return a progress bar with its sentence; None once the work is complete."""
    if done >= total:
        return None
    sentence = strings.STEPS.format(done=done, asked=total, share=done / total)
    return join(el("progress", value=done, max=total, aria_label=sentence), note(sentence))


def draw_recorded(document: str) -> Markup:
    """Return a saved measurement as a table whose caption names machine and protocol."""
    from explorer.analysis.latency.report import read_report
    from explorer.views.latency.measure import recorded_records, recorded_table

    if not document:
        return Markup("")
    report = read_report(document)
    protocol, machine = report["protocol"], report["machine"]
    # Older documents have no reported clock; in newer ones it is null where no time holds.
    clock = protocol.get("reported_clock") or protocol.get("clock")
    is_by_cpu = clock == "compute" != protocol.get("clock")
    threads = strings.threads(1 if is_by_cpu else protocol.get("threads"))
    doubt = "" if protocol.get("reported_clock", clock) else strings.RECORDED_PRELIMINARY
    caption = (
        f"Recorded on {machine.get('processor')} ({machine.get('device_name')}), torch "
        f"{machine.get('torch')}: {protocol.get('batch_size')} × {protocol.get('sequence_length')} "
        f"tokens, {protocol.get('dtype')}, clock {clock}, {threads}.{doubt}"
    )
    html = recorded_table(report, strings.RECORDED_HEAD, caption)
    return with_save_menu("latency/recorded", html, recorded_records(report), is_picture=False)


Measure = Callable[[MeasurementSettings, CancelToken], Iterator[Any]]
Draw = Callable[[Any], list[Any]]
READ_FILE_JS = (
    "() => new Promise(read => { const file = document.createElement('input'); file.type = 'file';"
    " file.accept = '.json'; file.oncancel = () => read(['']);"
    " file.onchange = async () => read([await file.files[0].text()]); file.click(); })"
)
"""Reads the chosen file in the browser, because the page takes no uploads."""
PRIVATE: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}


@dataclass(frozen=True, slots=True)
class LatencyJob:
    """A measurement of one fold: title, explanation, growing results and their drawing."""

    name: str
    """The fold's name in links."""
    title: str
    lead: str
    measure: Measure
    draw: Draw
    has_chart: bool = False
    """True if a chart follows the markup; ``draw`` then returns a value for it, too."""
    is_limited: bool = False
    """True if it ends at the time limit of its settings, counted from the press."""


CLAIM = LatencyJob("claim", strings.CLAIM, strings.CLAIM_NOTE, claim, draw_claim)
FASTER = LatencyJob(
    "faster",
    choice_strings.TITLE,
    choice_strings.FASTER_NOTE,
    measure_ways,
    draw_faster,
    is_limited=True,
)
LIMITS = LatencyJob("advanced", strings.LIMITS, strings.LIMITS_NOTE, limits, draw_limits)


def build_folds(state: gr.State, controls: list[gr.components.Component]) -> None:
    """Build all folds in the order of the page."""
    model_choice.build_fold(state)
    fields = ("sweep", strings.SWEEP, strings.SWEEP_NOTE, sweep_lengths, draw_sweep)
    sweep = LatencyJob(*fields, has_chart=True)
    batches = replace(sweep, measure=sweep_batches)
    with fold("latency", sweep.name, strings.HOW_MUCH):
        gr.HTML(el("h3", CLAIM.title))
        build_question(CLAIM, controls)
        gr.HTML(el("h3", sweep.title))
        build_question(sweep, controls, {strings.LENGTHS: sweep, strings.BATCHES: batches})
    with fold("latency", FASTER.name, FASTER.title):
        long = replace(FASTER, measure=faster_batches)
        build_question(
            FASTER,
            controls,
            {strings.MEASURE_AGAIN: FASTER, choice_strings.MEASURE_BATCHES: long},
            build_longest_of_faster,
        )
    with fold("latency", "advanced", strings.ADVANCED):
        gr.HTML(el("h3", LIMITS.title))
        build_question(LIMITS, controls)
        gr.HTML(el("h3", strings.RECORDED))
        _recorded()


def build_longest_of_faster() -> gr.Dropdown:
    """Build the estimate of "Faster inference", and the dropdown of its time limit."""
    from explorer.analysis.latency.faster import estimated_s

    n_models = len(MeasurementSettings().specs)
    seconds = [estimated_s(n_models, n, FASTER_BUDGET_S) for n in (1, len(choice_strings.BATCHES))]
    gr.HTML(note(choice_strings.faster_estimate(n_models, *seconds)))
    limits = choice_strings.FASTER_LONGEST
    return limit_dropdown(limits, limits[0][1], "faster-longest")


def build_question(
    question: LatencyJob,
    controls: list[gr.components.Component],
    choices: dict[str, LatencyJob] | None = None,
    build_limit: Callable[[], gr.Dropdown] | None = None,
) -> None:
    """Build a fold's explanation, one button per measurement, and its outputs.

    ``build_limit`` builds a time limit of its own, in the place of the controls' last one.
    """
    gr.HTML(note(question.lead))
    if build_limit is not None:
        controls = [*controls[:-1], build_limit()]
    with gr.Row(elem_classes="lt-buttons"):
        starts = {
            gr.Button(name, variant="primary").click: job_of(measurement)
            for name, measurement in (choices or {strings.MEASURE_AGAIN: question}).items()
        }
        stop = gr.Button(strings.STOP, visible=False)
    out = [gr.HTML(), *([Chart("latency/sweep")] if question.has_chart else [])]
    job_buttons(starts, controls, out, stop)


def job_of(question: LatencyJob) -> Job:
    """Return the job that measures on the chosen device."""

    def ask(*controls: Any) -> MeasurementSettings:  # noqa: ANN401 - the eight values
        return MeasurementSettings(*controls).on_one_device()

    def compute(settings: MeasurementSettings, cancel_token: CancelToken) -> Steps:
        cancel_token.stage = "lock"
        with MEASUREMENT_LOCK.measure(cancel_token.check):
            cancel_token.stage = "build"
            return (yield from parts(question.measure(settings, cancel_token)))

    return Job(
        question.name,
        MEASUREMENTS,
        ask,
        compute,
        lambda settings, update: _drawn(question, update, settings.longest_s),
        ends_s=lambda settings: settings.longest_s if question.is_limited else inf,
    )


def _drawn(question: LatencyJob, update: JobUpdate, longest_s: float = 0) -> list[Any]:
    picture_stays, measured = [gr.skip()] if question.has_chart else [], shown(update)
    if update.position:
        return [note(strings.place_in_line(update.position)), *picture_stays]
    if measured is None:
        nothing = strings.nothing(update.stopped, update.stage, longest_s)
        return [note(nothing if update.done else strings.progress(0, 0, 0)), *picture_stays]
    markup, *picture = question.draw(measured)
    status = strings.STOPPED if update.stopped else "" if update.done else strings.WORKING
    return [join(note(status) if status else None, markup), *picture]


def _recorded() -> None:
    gr.HTML(note(strings.RECORDED_NOTE))
    with gr.Row(elem_classes="lt-buttons"):
        choose, document = gr.Button(strings.RECORDED_BUTTON), gr.Textbox(visible=False)
    out = gr.HTML()
    choose.click(plain_errors(draw_recorded), [document], [out], js=READ_FILE_JS, **PRIVATE)
