"""Folds of Parameters: sizes, embedding, sharing, memory."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import gradio as gr

from explorer.analysis.digits import memory, percent, quotient
from explorer.inference.cache import memo
from explorer.inference.runs import call_on_model, network_key
from explorer.links.page_state import PageState
from explorer.models.choice.family import family_specs
from explorer.models.specs import BASE, LARGER, ModelSpec
from explorer.scheduling.cancel import CancelToken
from explorer.scheduling.job_queue import MEASUREMENTS, JobUpdate
from explorer.scheduling.measurement_lock import MEASUREMENT_LOCK
from explorer.timing.workload import Workload, clock_on
from explorer.ui.kit.canvas import Canvas, Chart, with_save_menu
from explorer.ui.kit.folds import fold
from explorer.ui.kit.jobs import Job, Progress, Steps, job_buttons, shown, supersede
from explorer.ui.kit.validation import refuse_bad_input
from explorer.ui.parameters import strings
from explorer.views.markup import el, join, note

if TYPE_CHECKING:
    from explorer.analysis.parameters.count import EmbeddingSpectrum


Value = TypeVar("Value")


def show_calls(state: PageState | None) -> str:
    """Return layer calls and tensors of the loaded family, and of the published shapes."""
    from explorer.analysis.parameters.count import loaded_layer_calls, shape_layer_calls
    from explorer.views.parameters.counts import CallRow, calls_records, calls_table

    measured, cards = _each_loaded(state, partial(call_on_model, loaded_layer_calls))
    rows = [CallRow(s, calls, strings.LOADED) for s, calls in measured]
    shapes = [CallRow(s, shape_layer_calls(s), strings.SHAPE_ONLY) for s in BASE.values()]
    html = calls_table([*rows, *shapes], strings.CALLS_HEADS, strings.CALLS_CHIP)
    numbers = calls_records([*rows, *shapes], [spec for spec, _ in measured], list(BASE.values()))
    html = join(html, note(strings.CALLS_NOTE))
    return join(*cards, with_save_menu("parameters/calls", html, numbers))


def build_sizes(state: gr.State) -> None:
    """Build the seven sizes, the components of each model, and a form for any shape."""
    with fold("parameters", "sizes", strings.SIZES_FOLD) as section:
        seven = Canvas("parameters/sizes")
        gr.HTML(el("h3", strings.PARTS_TITLE))
        tensors = Canvas("parameters/tensors")  # its switch shows the table below instead
        components = gr.HTML(elem_classes="pt-components")
        section.on_open(show_sizes, [state], [seven, components], needs_state=False)
        section.on_open(show_tensors, [state], [tensors], needs_state=False)
        gr.HTML(el("h3", strings.BUILD_TITLE))
        form, result = Canvas("parameters/build", saves=False), gr.HTML()
        section.on_open(show_builder, [], [form, result])
        form.on_question(on_shape, [], [result], show_progress="hidden", trigger_mode="always_last")


def show_sizes(state: PageState | None = None) -> list[str]:
    """Return sizes, and the components of base, mini and the page's own models.

    Length, unit and order change in the browser.
    """
    from explorer.analysis.parameters.shapes import family_members, seven_sizes
    from explorer.views.parameters.counts import components_records, components_table
    from explorer.views.parameters.shapes import sizes_canvas

    families = [members for family in ("base", "mini") if (members := family_members(family))]
    known = {member.spec for members in families for member in members}
    own = family_members((state or PageState()).family)
    families += [others] if (others := tuple(m for m in own if m.spec not in known)) else []
    return [
        sizes_canvas(seven_sizes(), strings.SIZES_TEXTS, strings.WORK_TEXTS),
        with_save_menu(
            "parameters/components",
            components_table(families, strings.PART_NAMES, strings.ROWS),
            components_records(families),
            is_picture=False,
        ),
    ]


def show_tensors(state: PageState | None) -> str:
    """Return every tensor of the page's family, or of "base" if its shapes are unknown."""
    from explorer.analysis.parameters.shapes import family_members
    from explorer.views.parameters.counts import tensors_canvas

    family = (state or PageState()).family
    members = family_members(family) or family_members("base")
    return tensors_canvas(members, strings.TENSORS_TEXTS)


def build_embedding(state: gr.State) -> None:
    """Build the embedding calculator and the spectrum of the loaded embeddings."""
    with fold("parameters", "embedding", strings.EMBEDDING) as section:
        cards = gr.HTML()
        outputs = [Canvas("parameters/embedding"), Chart("parameters/spectrum"), cards]
        section.on_open(show_embedding, [state], outputs, needs_state=False)


def show_embedding(state: PageState | None) -> list[str]:
    """Return the calculator's marks, and singular values where weights are loaded."""
    from explorer.views.parameters.counts import embedding_canvas, spectrum_canvas

    measured, cards = _each_loaded(state, _spectrum)
    spectra = {spec.key: (spec.label, spectrum) for spec, spectrum in measured}
    pins = [(s.key, s.name, s.architecture) for s in pinned(state)]
    lines = spectrum_canvas(spectra, strings.SPECTRUM_TEXTS) if spectra else ""
    return [embedding_canvas(pins, strings.EMBEDDING_TEXTS), lines, join(*cards)]


def _spectrum(spec: ModelSpec, state: PageState) -> "EmbeddingSpectrum":
    """Return the singular values of a model's embedding; an SVD of it takes seconds."""
    from explorer.analysis.parameters.count import loaded_spectrum

    key = ("spectrum", spec.name, *network_key(spec, state.ask)[1:])
    return memo(key, partial(call_on_model, loaded_spectrum, spec, state.ask))


def pinned(state: PageState | None) -> tuple[ModelSpec, ...]:
    """Return the models marked in the calculator: the page's family, or the published ones.

    A family without known shapes has no marks; the published ones replace it.
    """
    specs = family_specs((state or PageState()).family)
    published = (*BASE.values(), *LARGER.values())
    is_here = all(spec.architecture.d_vocab for spec in specs)
    return published if not is_here or specs[0] in published else specs


def build_sharing(state: gr.State) -> None:
    """Build the layer calls of the loaded models, and four ways to share at any depth."""
    with fold("parameters", "sharing", strings.SHARING) as section:
        gr.HTML(el("h3", strings.CALLS_TITLE))
        section.on_open(show_calls, [state], [gr.HTML()], needs_state=False)
        gr.HTML(el("h3", strings.SHARING_TITLE))
        section.on_open(show_sharing, [], [Canvas("parameters/sharing")])


def show_sharing() -> str:
    """Return the counts of every sharing mode at both embedding widths."""
    from explorer.analysis.parameters.shapes import sharing_modes
    from explorer.models.choice.family import layer_counts
    from explorer.views.parameters.shapes import sharing_canvas

    parts = layer_counts(BASE["albert"].architecture)
    norm = parts.pop("layer_norm") // 2
    with_norms = {name: count + norm for name, count in parts.items()}
    return sharing_canvas(
        {e: sharing_modes(e) for e in (128, 768)}, with_norms, strings.SHARING_TEXTS
    )


def show_builder() -> list[str]:
    """Return the form and the numbers of its first preset."""
    from explorer.views.parameters.shapes import build_canvas

    specs = (*BASE.values(), *LARGER.values())
    presets = [(spec.name, spec.architecture) for spec in specs]
    form = build_canvas(presets, strings.BUILD_TEXTS)
    return [form, built_shape(strings.first_shape(BASE["bert"].architecture))]


def on_shape(question: dict) -> str:
    """Return the counts of the form's shape, or why it is impossible."""
    with refuse_bad_input():
        shape = dict(question["shape"])
    return built_shape(shape)


def built_shape(values: dict[str, object]) -> str:
    """Return the counts of a shape as HTML; for a contradiction its message."""
    from explorer.analysis.parameters.shapes import Contradiction, built_model, seven_sizes
    from explorer.views.parameters.build import (
        built_finding,
        built_html,
        built_records,
        refused_html,
    )

    try:
        built = built_model(values)
    except Contradiction as error:
        return refused_html(str(error))
    html = built_html(built, seven_sizes(), strings.BUILT, strings.PART_NAMES)
    summary = built_finding(built, seven_sizes(), strings.BUILT)
    content = join(
        summary, with_save_menu("parameters/built", html, built_records(built, seven_sizes()))
    )
    return el("div", content, class_="pt-built", aria_live="polite")


def _each_loaded(
    state: PageState | None, measure: Callable[[ModelSpec, PageState], Value]
) -> tuple[list[tuple[ModelSpec, Value]], Iterable[str]]:
    """Measure each loaded network of the family; return values, and cards of missing models."""
    from explorer.models.hub import ModelUnavailable
    from explorer.views.markup import plain_card

    state = state or PageState()
    values, cards = [], []
    for spec in family_specs(state.family):
        try:
            values.append((spec, measure(spec, state)))
        except ModelUnavailable as error:
            cards.append(plain_card(spec.label, str(error), spec.key))
    return values, cards


TURN_S = 60.0
"""Timeout in seconds of one model's two passes."""
Peaks = dict[str, int | None]


def build_memory(state: gr.State) -> None:
    """Build the estimate of weights and one pass, and the button that measures it."""
    with fold("parameters", "memory", strings.MEMORY) as section:
        with gr.Row(elem_classes="pt-controls"):
            sizes = gr.Radio(
                strings.MEMORY_SIZES, value="base", label=strings.MEMORY_SIZES_LABEL, min_width=260
            )
            length = gr.Slider(8, 512, 128, step=8, label=strings.MEMORY_LENGTH, min_width=260)
            batch = gr.Slider(1, 8, 1, step=1, label=strings.MEMORY_BATCH, min_width=260)
            keeps = gr.Checkbox(label=strings.MEMORY_KEEPS, min_width=260)
        with gr.Row(elem_classes="lt-buttons"):
            measure = gr.Button(strings.MEMORY_MEASURE, variant="primary")
            stop = gr.Button(strings.MEMORY_STOP, visible=False)
        result, inputs = Chart("parameters/memory"), [sizes, length, batch, keeps]
    section.keep("memory", sizes=sizes, length=length, batch=batch, keeps=keeps)
    changes = [sizes.change, length.change, batch.change, keeps.change]
    section.on_open(restart_memory, inputs, [result, stop], also=changes)
    job_buttons({measure.click: PEAKS}, [state, *inputs], [result], stop)


def restart_memory(sizes: str, length: int, batch: int, keeps: bool) -> list[Any]:
    """Return the estimates; a measurement of these settings goes on, of others it stops."""
    place = (specs_of(sizes), int(length), int(batch), bool(keeps))

    def is_this(question: MemoryQuestion) -> bool:
        work = question.work
        return place == (question.specs, work.length, work.batch, work.looks)

    if supersede(PEAKS, unless=is_this):
        return [gr.skip(), gr.skip()]
    return [show_memory(sizes, length, batch, keeps), gr.Button(visible=False)]


def show_memory(sizes: str, length: int, batch: int, keeps: bool) -> str:
    """Return the estimates of the chosen sizes from meta tensors, nothing measured."""
    return draw_memory(specs_of(sizes), Workload(int(length), int(batch), looks=bool(keeps)), {})


@dataclass(frozen=True, slots=True)
class MemoryQuestion:
    """One pass of each of these models, whose peak memory is measured."""

    specs: Sequence[ModelSpec]
    work: Workload


def ask_peaks(
    state: PageState | None, sizes: str, length: int, batch: int, keeps: bool
) -> MemoryQuestion:
    """Return the passes that the controls describe, on the page's device."""
    device = state.device if state is not None else "cpu"
    clock = clock_on(device, "compute")
    work = Workload(int(length), int(batch), device, looks=bool(keeps), clock=clock)
    return MemoryQuestion(specs_of(sizes), work)


def specs_of(sizes: str) -> Sequence[ModelSpec]:
    """Return the models of one choice of sizes."""
    return tuple(LARGER.values()) if sizes == "larger" else family_specs(sizes)


def peaks_of(question: MemoryQuestion, cancel_token: CancelToken) -> Steps:
    """Measure the peak memory of one pass, model by model; yield all peaks so far."""
    from explorer.timing.protocol import pass_peak

    peaks: Peaks = {}
    with MEASUREMENT_LOCK.measure():
        for spec in question.specs:
            cancel_token.set_deadline(TURN_S)
            peaks = peaks | {spec.name: pass_peak(spec, question.work, cancel_token.check)}
            yield Progress(part=peaks)
    return peaks


def draw_peaks(question: MemoryQuestion, update: JobUpdate) -> list[Any]:
    """Return the bars with the peaks so far, and the job's place."""
    place = strings.MEMORY_PLACE.format(n=update.position) if update.position else ""
    place = strings.MEMORY_STOPPED if update.stopped else place
    return [draw_memory(question.specs, question.work, shown(update) or {}, place)]


PEAKS = Job("measure_memory", MEASUREMENTS, ask_peaks, peaks_of, draw_peaks)


def draw_memory(
    specs: Sequence[ModelSpec], work: Workload, measured: Mapping[str, int | None], place: str = ""
) -> str:
    """Return the finding at base size, the bars of the chosen sizes, and the method."""
    from explorer.analysis.parameters.shapes import shape_memory
    from explorer.timing.memory import resident_bytes
    from explorer.views.parameters.shapes import MemoryRow, memory_canvas, memory_records

    shape = (work.length, work.batch, work.looks)
    rows = [MemoryRow(s.key, s.name, shape_memory(s, *shape), measured.get(s.name)) for s in specs]
    bert, albert = (shape_memory(BASE[key], *shape) for key in ("bert", "albert"))
    sentence = strings.MEMORY_FINDING.format(
        times=quotient(bert.weight_bytes / albert.weight_bytes),
        peak_share=percent(albert.peak_bytes / bert.peak_bytes),
        length=work.length,
        batch=work.batch,
    )
    resident = resident_bytes() if measured else None
    process_note = strings.MEMORY_PROCESS.format(size=memory(resident)) if resident else ""
    compared = {
        "bert_weights_over_albert": bert.weight_bytes / albert.weight_bytes,
        "albert_pass_over_bert": albert.peak_bytes / bert.peak_bytes,
        "width": BASE["bert"].architecture.d_model,
    }
    sizes = " ".join(dict.fromkeys(spec.size or spec.name for spec in specs))
    chosen = {"sizes": sizes, "keeps": work.looks, "base": compared}
    numbers = memory_records(rows, {spec.name: spec.config for spec in specs}, chosen)
    notes = [
        *([place] if place else ()),
        strings.MEMORY_NOTE.format(kept=strings.MEMORY_KEPT[work.looks]),
        *([process_note] if process_note else ()),
        *([activation_note()] if albert.peak_bytes > bert.peak_bytes else ()),
    ]
    return memory_canvas(
        rows, numbers, strings.MEMORY_TEXTS, finding=sentence, note=" ".join(notes)
    )


def activation_note() -> str:
    """Return why ALBERT's pass takes more memory than BERT's."""
    names = {key: BASE[key].architecture.activation for key in ("albert", "bert")}
    return strings.MEMORY_ACTIVATION.format(**names)
