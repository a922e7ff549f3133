"""What each latency fold measures and how its answer is drawn."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from explorer.inference.scheduling.cancel import CancelToken
from explorer.models.choice.family import family_specs
from explorer.models.kinds import distilled_pair
from explorer.models.specs import BASE
from explorer.ui.kit.export import with_save_menu
from explorer.ui.latency import faster_words as words
from explorer.ui.latency import folds_words as texts
from explorer.ui.latency.settings import MeasurementSettings
from explorer.ui.latency.words import NO_RATIO
from explorer.views.latency.measure import ratio_text
from explorer.views.markup import Markup, el, join, model_name, note, table

CLAIM_BUDGET_S = 12.0
POINT_BUDGET_S = 8.0
FASTER_BUDGET_S = 25.0
"""Eight ways to run a model in every round, one of them several times slower."""


def claim(choice: MeasurementSettings, cancel_token: CancelToken) -> Iterator[Any]:
    """BERT against DistilBERT, encoder only and with the head, as (head, measurement) pairs."""
    from explorer.analysis.latency.family import measure_family, plan_for

    pair = [spec for spec in choice_family(choice) if spec.key in distilled_pair()]
    done: dict[bool, Any] = {}
    yield done
    for head in (False, True):
        workload = replace(choice.workload, head=head)
        *_, final = measure_family(pair, workload, plan_for(workload, CLAIM_BUDGET_S), cancel_token)
        if not final.latency.n_rounds:
            return
        done = {**done, head: final}
        yield done


def choice_family(choice: MeasurementSettings) -> tuple[Any, ...]:
    """The chosen family; the three base models where only larger ones were chosen."""
    return family_specs("base" if choice.shapes == "larger" else choice.shapes)


def draw_claim(done: dict[bool, Any]) -> list[Any]:
    """The two ratios on one scale with the published figure."""
    from explorer.views.latency.detail import Mark, ratio_scale
    from explorer.views.latency.numbers import scale_numbers

    ratios = {
        head: found.ratio.inverse
        for head, final in done.items()
        if (found := final.summary.ratio(final.specs[1].name)) is not None
    }
    if not ratios:
        return [note(NO_RATIO) if done else Markup("")]
    marks = [
        Mark(distilled_pair()[1], texts.CLAIM_PARTS[head].capitalize(), r)
        for head, r in ratios.items()
    ]
    first = next(iter(done.values()))
    work, specs = first.workload, first.specs
    names = " and ".join(spec.name for spec in specs)
    texts_of = "1 text" if work.batch == 1 else f"{work.batch} texts"
    what = f"{names}, {texts_of} of {work.length} tokens"
    full_size = all(spec in BASE.values() for spec in specs)
    sentence = note(texts.claim_sentence(ratios, what, full_size))
    scale = ratio_scale(marks, (0.3, 1.1), texts.CLAIM_LINES)
    return [
        join(
            with_save_menu("latency/claim", scale, scale_numbers(marks, work, ("head",))), sentence
        )
    ]


def sweep_lengths(choice: MeasurementSettings, cancel_token: CancelToken) -> Iterator[Any]:
    """The choice at every length."""
    return _sweep(choice, "length", cancel_token)


def sweep_batches(choice: MeasurementSettings, cancel_token: CancelToken) -> Iterator[Any]:
    """The choice at every batch size."""
    return _sweep(choice, "batch", cancel_token)


def _sweep(choice: MeasurementSettings, axis: str, cancel_token: CancelToken) -> Iterator[Any]:
    from explorer.analysis.latency.family import plan_for
    from explorer.analysis.latency.sweep import measure_sweep, sweep_points

    points = sweep_points(choice.workload, axis)
    plan = plan_for(choice.workload, POINT_BUDGET_S)
    return measure_sweep(choice.specs, points, plan, cancel_token)


def draw_sweep(sweep: Any) -> list[Any]:  # noqa: ANN401 - a Sweep
    """The sentence and the two charts; nothing before the first point."""
    from explorer.views.latency.sweep import sweep_canvas

    if not sweep.points:
        return [note(texts.sweep_sentence(sweep)), ""]
    why = texts.sweep_why(sweep.points[0].specs)
    sentence = join(note(texts.sweep_sentence(sweep)), note(why))
    return [sentence, sweep_canvas(sweep, texts.SWEEP_TITLES)]


def limits(choice: MeasurementSettings, cancel_token: CancelToken) -> Iterator[Any]:
    """The machine's limits, then the family's times, as (limits, measurement)."""
    from explorer.analysis.latency.family import measure_family, plan_for
    from explorer.analysis.latency.limits import measure_limits

    *_, found = measure_limits(choice.specs, choice.workload, cancel_token)
    plan = plan_for(choice.workload, CLAIM_BUDGET_S)
    *_, final = measure_family(choice.specs, choice.workload, plan, cancel_token)
    yield found, final


def draw_limits(shot: Any) -> list[Any]:  # noqa: ANN401 - limits, measurement
    """How much of the possible each model reaches."""
    from explorer.analysis.latency.limits import share_of_limit
    from explorer.views.latency.numbers import limits_numbers

    found, final = shot
    if not final.latency.n_rounds:
        return [Markup("")]
    share, rows = share_of_limit(final, found), []
    for spec, limit in zip(final.specs, found, strict=True):
        ms = final.summary.model(spec.name).median_ms
        rows.append(
            [
                model_name(spec.key, spec.label),
                f"{ms:,.1f}",
                f"{limit.arithmetic_ms:,.1f}",
                f"{limit.memory_ms:,.1f}",
                limit.bound_by,
                f"{share[spec.name]:.0%}",
                f"{final.gflops(spec) / ms * 1e3:,.0f}",
                f"{limit.peak_gflops:,.0f}",
                f"{limit.working_set / 1e6:,.0f} MB",
                f"{limit.bandwidth_gb:,.0f}",
            ]
        )
    sentence = note(texts.limits_sentence(final, found, share))
    drawn, numbers = table(texts.LIMITS_HEAD, rows), limits_numbers(found, final)
    return [join(sentence, with_save_menu("latency/limits", drawn, numbers, is_picture=False))]


def faster(
    choice: MeasurementSettings, cancel_token: CancelToken, batches: Sequence[int] = ()
) -> Iterator[Any]:
    """Every way to run every model, and what each does to the answers where weights are real."""
    from explorer.analysis.latency.family import plan_for
    from explorer.analysis.latency.faster import measure_faster

    workload = replace(choice.workload, dtype="float32")
    plan = plan_for(workload, FASTER_BUDGET_S)
    return measure_faster(choice.specs, workload, plan, cancel_token, batches)


def faster_batches(choice: MeasurementSettings, cancel_token: CancelToken) -> Iterator[Any]:
    """The same, and every way with each of three batch sizes."""
    return faster(choice, cancel_token, words.BATCHES)


def draw_faster(found: Any) -> list[Any]:  # noqa: ANN401 - a Faster
    """Gain and cost of each way to run, side by side, and why a row is missing."""
    from explorer.views.latency.numbers import batches_of, faster_numbers

    sizes = batches_of(found)
    by_name = {(cost.key, cost.name): cost for cost in found.costs}
    rows: list[list[str | Markup]] = []
    for variants in found.models:
        spec = variants.spec
        for model in variants.summary.models:
            ratio, cost = variants.summary.ratio(model.name), by_name.get((spec.key, model.name))
            gain = "–" if ratio is None else ratio_text(ratio.ratio.inverse)
            rows.append(
                [
                    model_name(spec.key, spec.label),
                    model.name,
                    f"{model.median_ms:,.2f}",
                    gain,
                    "–" if cost is None else f"{cost.same_top1:.0%}",
                    "–" if cost is None else texts.divergence(cost.mean_kl),
                    words.megabytes(variants.resident.get(model.name)),
                    *(words.throughput(variants.throughput(model.name, n)) for n in sizes),
                ]
            )
    notes = [note(line) for line in words.faster_notes(found) if line]
    head = [*words.HEAD, *(words.THROUGHPUT.format(n=n) for n in sizes)]
    drawn, numbers = table(head, rows), faster_numbers(found)
    shown = with_save_menu("latency/faster", drawn, numbers, is_picture=False) if rows else None
    best = [note(line) for one in found.models if (line := words.ranked(one, found))]
    return [join(share_done(found.done, found.asked), *best, shown, *notes)]


def share_done(done: int, asked: int) -> Markup | None:
    """How far something of several steps is; nothing once it is through."""
    if done >= asked:
        return None
    said = texts.STEPS.format(done=done, asked=asked, share=done / asked)
    return join(el("progress", value=done, max=asked, aria_label=said), note(said))


def draw_recorded(document: str) -> Markup:
    """A measurement saved elsewhere, as a table that says where it comes from."""
    from explorer.analysis.latency.report import read_report
    from explorer.views.latency.detail import recorded_table
    from explorer.views.latency.numbers import recorded_numbers

    if not document:
        return Markup("")
    report = read_report(document)
    protocol, machine = report["protocol"], report["machine"]
    threads = texts.threads(protocol.get("threads"))
    caption = (
        f"Recorded on {machine.get('processor')} ({machine.get('device_name')}), torch "
        f"{machine.get('torch')}: {protocol.get('batch_size')} × {protocol.get('sequence_length')} "
        f"tokens, {protocol.get('dtype')}, clock {protocol.get('clock')}, "
        f"{threads}."
    )
    drawn = recorded_table(report, texts.RECORDED_HEAD, caption)
    return with_save_menu("latency/recorded", drawn, recorded_numbers(report), is_picture=False)
