"""Fold: the memory of one pass, estimated from the shape and measured here, side by side."""

from collections.abc import Iterator, Mapping, Sequence

import gradio as gr

from explorer.inference.scheduling.cancel import CancelToken
from explorer.inference.scheduling.job_queue import MEASUREMENTS, JobUpdate
from explorer.links.page_state import PageState
from explorer.models.choice.family import family_specs
from explorer.models.specs import BASE, LARGER, ModelSpec
from explorer.timing.workload import Workload, clock_on
from explorer.ui.kit.canvas import Chart
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.folds import fold
from explorer.ui.kit.queues import AT_ONCE, LIGHT
from explorer.ui.kit.running import hide_stop_after, running, show_stop_on, stops
from explorer.ui.parameters import folds_words as texts

TURN_S = 60.0
"""Seconds that one model's two passes may take."""
Peaks = dict[str, int | None]


def build_memory(state: gr.State) -> None:
    """Weights beside one pass at a chosen length and batch; a button measures what is estimated."""
    with fold("parameters", "memory", texts.MEMORY) as section:
        with gr.Row(elem_classes="pt-controls"):
            sizes = gr.Radio(
                texts.MEMORY_SIZES, value="base", label=texts.MEMORY_SIZES_LABEL, min_width=260
            )
            length = gr.Slider(8, 512, 128, step=8, label=texts.MEMORY_LENGTH, min_width=260)
            batch = gr.Slider(1, 8, 1, step=1, label=texts.MEMORY_BATCH, min_width=260)
            keeps = gr.Checkbox(label=texts.MEMORY_KEEPS, min_width=260)
        with gr.Row(elem_classes="lt-buttons"):
            measure = gr.Button(texts.MEMORY_MEASURE, variant="primary")
            stop = gr.Button(texts.MEMORY_STOP, visible=False)
        result, inputs = Chart("parameters/memory"), [sizes, length, batch, keeps]
    section.on_open(show_memory, inputs, [result])
    gr.on(
        [sizes.change, length.release, batch.release, keeps.change],
        plain_errors(show_memory),
        inputs,
        result,
        **LIGHT,
        trigger_mode="always_last",
    )
    show_stop_on(stop, measure)
    event = measure.click(
        plain_errors(measure_memory),
        [state, *inputs],
        [result],
        api_visibility="private",
        show_progress="hidden",
        concurrency_id="measure",
    )
    stop.click(
        stops(MEASUREMENTS),
        None,
        None,
        **AT_ONCE,
    )
    hide_stop_after(stop, event)


def show_memory(sizes: str, length: int, batch: int, keeps: bool) -> str:
    """Every chosen size followed on meta tensors; nothing is measured yet."""
    return drawn(specs_of(sizes), Workload(int(length), int(batch), looks=bool(keeps)), {})


def measure_memory(  # noqa: PLR0913 - the state, the four controls and who asks
    state: PageState | None, sizes: str, length: int, batch: int, keeps: bool, request: gr.Request
) -> Iterator[str]:
    """The same with what a real pass holds, model by model."""
    device = state.device if state is not None else "cpu"
    clock = clock_on(device, "compute")
    work = Workload(int(length), int(batch), device, looks=bool(keeps), clock=clock)
    specs = specs_of(sizes)

    def draw(update: JobUpdate) -> list[str]:
        place = texts.MEMORY_PLACE.format(n=update.place) if update.place else ""
        place = texts.MEMORY_STOPPED if update.stopped else place
        return [drawn(specs, work, update.partial or {}, place)]

    for (shown,) in running(
        MEASUREMENTS, lambda cancel_token: peaks_of(specs, work, cancel_token), request, draw
    ):
        yield shown


def specs_of(sizes: str) -> Sequence[ModelSpec]:
    """The models of one choice of sizes."""
    return tuple(LARGER.values()) if sizes == "larger" else family_specs(sizes)


def peaks_of(
    specs: Sequence[ModelSpec], work: Workload, cancel_token: CancelToken
) -> Iterator[Peaks]:
    """What one pass of each model holds, one model after another."""
    from explorer.timing.peak_memory import pass_peak

    found: Peaks = {}
    for spec in specs:
        cancel_token.set_deadline(TURN_S)
        found = found | {spec.name: pass_peak(spec, work, cancel_token.check)}
        yield found


def drawn(
    specs: Sequence[ModelSpec], work: Workload, measured: Mapping[str, int | None], place: str = ""
) -> str:
    """The finding at base size, the bars of the chosen sizes, and how both numbers were had."""
    from explorer.analysis.parameters.memory import shape_memory
    from explorer.timing.free_memory import resident_bytes
    from explorer.views.parameters.memory import MemoryRow, memory_canvas, memory_numbers

    shape = (work.length, work.batch, work.looks)
    rows = [MemoryRow(s.key, s.name, shape_memory(s, *shape), measured.get(s.name)) for s in specs]
    bert, albert = (shape_memory(BASE[key], *shape) for key in ("bert", "albert"))
    sentence = texts.MEMORY_FINDING.format(
        weight_share=f"{albert.weight_bytes / bert.weight_bytes:.1%}",
        peak_share=f"{albert.peak_bytes / bert.peak_bytes:.0%}",
        length=work.length,
        batch=work.batch,
        width=BASE["bert"].architecture.d_model,
    )
    resident = resident_bytes() if measured else None
    whole = texts.MEMORY_PROCESS.format(mb=resident / 1e6) if resident else ""
    compared = {
        "albert_weights_over_bert": albert.weight_bytes / bert.weight_bytes,
        "albert_pass_over_bert": albert.peak_bytes / bert.peak_bytes,
        "width": BASE["bert"].architecture.d_model,
    }
    sizes = " ".join(dict.fromkeys(spec.size or spec.name for spec in specs))
    chosen = {"sizes": sizes, "keeps": work.looks, "base": compared}
    numbers = memory_numbers(rows, {spec.name: spec.config for spec in specs}, chosen)
    said = [
        *([place] if place else ()),
        texts.MEMORY_NOTE.format(kept=texts.MEMORY_KEPT[work.looks]),
        *([whole] if whole else ()),
        *([activation_note()] if albert.peak_bytes > bert.peak_bytes else ()),
    ]
    return memory_canvas(rows, numbers, texts.MEMORY_TEXTS, finding=sentence, note=" ".join(said))


def activation_note() -> str:
    """Why ALBERT's pass takes more than BERT's, said where it does."""
    names = {key: BASE[key].architecture.activation for key in ("albert", "bert")}
    return texts.MEMORY_ACTIVATION.format(**names)
