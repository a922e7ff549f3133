"""The folds of the parameters tab: each answers one question and computes when it is opened."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

import gradio as gr

from explorer.models.specs import BASE, LARGER, ModelSpec, family_specs
from explorer.page_state import PageState
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.folds import fold
from explorer.ui.parameters import folds_words as texts
from explorer.views.markup import el, finding, join, note

if TYPE_CHECKING:
    from explorer.analysis.parameters.memory import ForwardMemory
    from explorer.models.loading import LoadedModel

Value = TypeVar("Value")
MAX_RUN_BYTES = 400 * 10**6
"""A visitor may not make the machine hold more than this for a demonstration."""


def build_savings(state: gr.State) -> None:
    """Waterfalls from BERT and the table of components."""
    with fold("parameters", "savings", texts.SAVINGS) as section:
        section.on_open(show_savings, [state], [gr.HTML()])


def show_savings(state: PageState | None) -> str:  # noqa: ARG001 - shapes alone
    """Both families' counts, exactly."""
    from explorer.analysis.parameters.family import family_members
    from explorer.views.parameters.savings import components_table, savings_html

    families = [family_members(family) for family in ("base", "mini")]
    base = families[0]
    share = {(m.spec.key, s.change): s.saved / _saved(m) for m in base for s in m.savings}
    sentence = texts.SAVINGS_FINDING.format(
        layers=base[0].spec.architecture.n_layers - base[1].spec.architecture.n_layers,
        layer_share=_percent(share["distilbert", "layers"], 1),
        sharing_share=_percent(share["albert", "sharing"], 1),
        factor_share=_percent(share["albert", "factorising"], 1),
    )
    return join(
        finding(sentence),
        savings_html(base, texts.STEPS),
        components_table([f for f in families if f], texts.PART_NAMES, texts.ROWS),
    )


def _percent(share: float, decimals: int) -> str:
    return f"{100 * share:.{decimals}f} %"


def _saved(member: object) -> int:
    return sum(step.saved for step in member.savings)  # type: ignore[attr-defined]


def build_calls(state: gr.State) -> None:
    """Layer calls on the loaded models."""
    with fold("parameters", "calls", texts.CALLS) as section:
        section.on_open(show_calls, [state], [gr.HTML()])


def show_calls(state: PageState | None) -> str:
    """Calls and tensors of the loaded family, and of the published shapes."""
    from explorer.analysis.parameters.applied import layer_calls, loaded_layer_calls
    from explorer.models.architectures import meta_network
    from explorer.views.parameters.calls import CallRow, calls_html

    measured, cards = _each_loaded(state, loaded_layer_calls)
    rows = [CallRow(s.key, s.name, calls, texts.LOADED) for s, calls in measured]
    shapes = [
        CallRow(
            spec.key,
            spec.name,
            layer_calls(meta_network(spec).base_model, spec.kind.output),
            texts.SHAPE_ONLY,
        )
        for spec in BASE.values()
    ]
    shown = [calls_html(r, texts.CALLS_EACH, texts.CALLS_CHIP) for r in (rows, shapes) if r]
    counted = [
        texts.CALLS_COUNT.format(label=r.label, calls=r.calls.calls, distinct=r.calls.distinct)
        for r in (*rows, *shapes)
    ]
    sentence = texts.CALLS_FINDING.format(calls=", ".join(counted))
    return join(finding(sentence), *cards, *shown, note(texts.CALLS_NOTE))


def build_sizes(state: gr.State) -> None:
    """The seven sizes in a table to sort and save."""
    with fold("parameters", "sizes", texts.SIZES) as section:
        section.on_open(show_sizes, [state], [Canvas("parameters/sizes")])


def show_sizes(state: PageState | None) -> str:  # noqa: ARG001 - shapes alone
    """Counted once; length, unit and order change in the browser."""
    from explorer.analysis.parameters.sizes import seven_sizes
    from explorer.views.parameters.sizes import sizes_canvas

    return sizes_canvas(seven_sizes(), texts.SIZES_TEXTS)


def build_embedding(state: gr.State) -> None:
    """The calculator, and the rank of the loaded embeddings."""
    with fold("parameters", "embedding", texts.EMBEDDING) as section:
        cards = gr.HTML()
        outputs = [Canvas("parameters/embedding"), Canvas("parameters/spectrum"), cards]
        section.on_open(show_embedding, [state], outputs)


def show_embedding(state: PageState | None) -> list[str]:
    """Pins for the calculator; singular values where the weights are there."""
    from explorer.analysis.parameters.embedding import loaded_spectrum
    from explorer.views.parameters.sizes import embedding_canvas, spectrum_canvas

    measured, cards = _each_loaded(state, loaded_spectrum)
    spectra = {spec.key: (spec.label, spectrum) for spec, spectrum in measured}
    pins = [(s.key, s.name, s.architecture) for s in (*BASE.values(), *LARGER.values())]
    lines = spectrum_canvas(spectra, texts.SPECTRUM_TEXTS) if spectra else ""
    return [embedding_canvas(pins, texts.EMBEDDING_TEXTS), lines, join(*cards)]


def build_sharing(state: gr.State) -> None:
    """Four ways to share, and any depth."""
    with fold("parameters", "sharing", texts.SHARING) as section:
        section.on_open(show_sharing, [state], [Canvas("parameters/sharing")])


def show_sharing(state: PageState | None) -> str:  # noqa: ARG001 - shapes alone
    """Counts from real modules at both embedding widths."""
    from explorer.analysis.parameters.shape import layer_counts
    from explorer.analysis.parameters.sharing import sharing_modes
    from explorer.views.parameters.sizes import sharing_canvas

    parts = layer_counts(BASE["albert"].architecture)
    norm = parts.pop("layer_norm") // 2
    with_norms = {name: count + norm for name, count in parts.items()}
    return sharing_canvas(
        {e: sharing_modes(e) for e in (128, 768)}, with_norms, texts.SHARING_TEXTS
    )


def build_builder(state: gr.State) -> None:
    """A form for any shape and what it would cost."""
    with fold("parameters", "build", texts.BUILD) as section:
        form, result = Canvas("parameters/build"), gr.HTML()
        section.on_open(show_builder, [state], [form, result])
        form.on_question(on_shape, [], [result], show_progress="hidden", trigger_mode="always_last")


def show_builder(state: PageState | None) -> list[str]:  # noqa: ARG001 - shapes alone
    """The form and the first preset's numbers."""
    from explorer.views.parameters.sizes import build_canvas

    specs = (*BASE.values(), *LARGER.values())
    presets = [(spec.name, spec.architecture) for spec in specs]
    form = build_canvas(presets, texts.BUILD_TEXTS)
    return [form, built_shape(texts.first_shape(BASE["bert"].architecture))]


def on_shape(question: dict) -> str:
    """What the shape in the form costs, or why it cannot be."""
    return built_shape(dict(question["shape"]))


def built_shape(values: dict[str, object]) -> str:
    """Counts of a shape as HTML; a contradiction as its sentence."""
    from explorer.analysis.parameters.build import Contradiction, built_model
    from explorer.analysis.parameters.sizes import seven_sizes
    from explorer.views.parameters.build import built_html, refused_html

    try:
        built = built_model(values)
    except Contradiction as error:
        return refused_html(str(error))
    return built_html(built, seven_sizes(), texts.BUILT, texts.PART_NAMES)


def build_memory(state: gr.State) -> None:
    """Weights beside activations at a chosen length and batch."""
    with fold("parameters", "memory", texts.MEMORY) as section:
        with gr.Row(elem_classes="pt-controls"):
            length = gr.Slider(8, 512, 128, step=8, label=texts.MEMORY_LENGTH, min_width=260)
            batch = gr.Slider(1, 8, 1, step=1, label=texts.MEMORY_BATCH, min_width=260)
            keeps = gr.Checkbox(label=texts.MEMORY_KEEPS, min_width=260)
        result, inputs = gr.HTML(), [state, length, batch, keeps]
        section.on_open(show_memory, inputs, [result])
        gr.on(
            [length.release, batch.release, keeps.change],
            plain_errors(show_memory),
            inputs,
            result,
            api_visibility="private",
            show_progress="minimal",
            concurrency_id="infer",
            trigger_mode="always_last",
        )


def show_memory(state: PageState | None, length: int, batch: int, keeps: bool) -> str:
    """The loaded family really run, the published sizes followed on meta tensors."""
    from explorer.analysis.parameters.memory import shape_memory
    from explorer.views.parameters.memory import MemoryRow, memory_html

    counted = [
        MemoryRow(s.key, s.name, shape_memory(s, length, batch, keeps), texts.COUNTED)
        for s in BASE.values()
    ]
    measured, cards = _each_loaded(state, lambda m: affordable_memory(m, length, batch, keeps))
    rows = [MemoryRow(s.key, s.name, *memory) for s, memory in measured]
    memory = {row.key: row.memory for row in counted}
    bert, albert = memory["bert"], memory["albert"]
    sentence = texts.MEMORY_FINDING.format(
        weight_share=_percent(albert.weight_bytes / bert.weight_bytes, 1),
        peak_share=_percent(albert.peak_bytes / bert.peak_bytes, 0),
        length=length,
        batch=batch,
        width=BASE["bert"].architecture.d_model,
    )
    return join(
        finding(sentence),
        *_headed(texts.COUNTED_HEAD, memory_html(counted, texts.MEMORY_TEXTS)),
        *(_headed(texts.MEASURED_HEAD, memory_html(rows, texts.MEMORY_TEXTS)) if rows else ()),
        *cards,
        note(texts.MEMORY_NOTE.format(kept=texts.MEMORY_KEPT[bool(keeps)])),
    )


def affordable_memory(
    loaded: "LoadedModel", length: int, batch: int, keeps: bool
) -> "tuple[ForwardMemory, str]":
    """A real run's memory; a pass that would take too much is followed on meta tensors instead."""
    from explorer.analysis.parameters.memory import loaded_memory, shape_memory

    followed = shape_memory(loaded.spec, length, batch, keeps)
    if followed.peak_bytes > MAX_RUN_BYTES:
        return followed, texts.COUNTED
    return loaded_memory(loaded, length, batch, keeps), texts.MEASURED


def _headed(title: str, body: str) -> tuple[str, str]:
    return el("h3", title, class_="pt-published"), body


def _each_loaded(
    state: PageState | None, measure: "Callable[[LoadedModel], Value]"
) -> tuple[list[tuple[ModelSpec, Value]], Iterable[str]]:
    """What each loaded network of the family measures; a card for each that cannot be had."""
    from explorer.models.hub import ModelUnavailable
    from explorer.runs import get_loaded
    from explorer.timing.slot import SLOT
    from explorer.views.markup import plain_card

    state = state or PageState()
    values, cards = [], []
    for spec in family_specs(state.family):
        try:
            loaded = get_loaded(spec, state)
        except ModelUnavailable as error:
            cards.append(plain_card(spec.label, str(error), spec.key))
            continue
        with SLOT.infer():
            values.append((spec, measure(loaded)))
    return values, cards
