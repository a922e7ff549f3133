"""Fold: BertViz's three views of the chosen model."""

import gradio as gr

from explorer.inference.runs import call_on_model, get_run
from explorer.links.page_state import PageState
from explorer.models.choice.family import family_specs
from explorer.ui.attention import bertviz_words as texts
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.folds import fold
from explorer.ui.kit.queues import QUIET
from explorer.views.attention.bertviz import LIMITS, bertviz_payload
from explorer.views.markup import note


def build_fold(state: gr.State) -> None:
    """A choice of model and view, and the closed frame that BertViz draws in."""
    with fold("attention", "advanced", texts.QUESTION) as bertviz:
        with gr.Row(elem_classes="bv-choices"):
            model = gr.Radio(texts.MODELS, value="bert", label=texts.MODEL_LABEL)
            view = gr.Radio(texts.VIEWS, value="head", label=texts.VIEW_LABEL)
        said = gr.HTML()
        frame = Canvas("attention/bertviz")
        gr.HTML(note(texts.CREDIT))
        inputs, outputs = [state, model, view], [said, frame]
        bertviz.on_open(show_view, inputs, outputs)
        gr.on(
            [model.input, view.input],
            plain_errors(show_view),
            inputs,
            outputs,
            **QUIET,
            trigger_mode="always_last",
        )


def show_view(state: PageState | None, model: str, view: str) -> tuple[str, str]:
    """One view of one model, or the sentence that says why it is not drawn."""
    if state is None:
        return "", ""
    spec = next(spec for spec in family_specs(state.family) if spec.key == model)
    run = get_run(spec, state)
    if len(run.tokens) > LIMITS[view]:
        return texts.too_long(spec.label, len(run.tokens), LIMITS[view]), ""
    vectors = None
    if view == "neuron":
        from explorer.models.inside.neurons import queries_and_keys

        vectors = call_on_model(queries_and_keys, spec, state, run.tokens)
    payload = bertviz_payload(run, view, texts.title(spec.label, view), vectors)
    said = texts.view_finding(model, spec.label, view)
    return said, payload
