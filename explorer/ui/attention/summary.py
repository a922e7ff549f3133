"""Attention fold: all of a model's attention in one matrix, in four ways."""

from collections.abc import Mapping

import gradio as gr
import numpy as np

from explorer.analysis.alignment import Alignment, word_attention
from explorer.inference.runs import call_on_model, get_runs
from explorer.links.page_state import PageState
from explorer.models.run import Run
from explorer.models.spelling import spelling_of
from explorer.ui.attention import folds_words as texts
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.folds import fold
from explorer.ui.kit.queues import LIGHT
from explorer.views.markup import note


def build_summary_fold(state: gr.State) -> None:
    """A choice of summaries, three matrices, and the formula one click away."""
    with fold("attention", "summary", texts.SUMMARY_QUESTION) as opened:
        kind = gr.Radio(
            [(label, key) for key, label in texts.SUMMARIES.items()],
            value="rollout",
            label=texts.SUMMARY_LABEL,
        )
        finding, picture, formula = gr.HTML(), Canvas("attention/summary"), gr.HTML()
    opened.on_open(show_summary, [state, kind], [finding, picture, formula])
    kind.change(
        plain_errors(show_summary),
        [state, kind],
        [finding, picture, formula],
        **LIGHT,
    )


def show_summary(state: PageState | None, kind: str) -> list[str]:
    """One summary of every model; only the gradient needs the networks again."""
    from explorer.analysis.alignment import align
    from explorer.analysis.attention.summary import drawn_on
    from explorer.views.attention.summary import attention_summary_canvas

    if state is None:
        return ["", "", ""]
    runs, _ = get_runs(state)
    if kind == "gradient" and not all(run.tokens.mask_positions for run in runs.values()):
        return [note(texts.NO_MASK), "", texts.formula_html(kind)]
    alignment = align({key: run.tokens for key, run in runs.items()})
    matrices = {
        key: between_words(summary(state, run, kind), alignment, key, kind)
        for key, run in runs.items()
    }
    specs = {key: run.spec for key, run in runs.items()}
    labels = {key: spec.label for key, spec in specs.items()}
    drawn = {key: drawn_on(matrix, alignment) for key, matrix in matrices.items()}
    canvas_texts = texts.SUMMARY | {"kind": texts.SUMMARIES[kind], "way": kind}
    return [
        texts.summary_finding(drawn, labels, kind),
        attention_summary_canvas(matrices, specs, alignment, details(runs, kind), canvas_texts),
        texts.formula_html(kind),
    ]


def summary(state: PageState, run: Run, kind: str) -> np.ndarray:
    """The summary between tokens: [query, key]."""
    from explorer.analysis.attention import summary as analysis
    from explorer.models.inside.gradients import attention_gradients
    from explorer.models.inside.values import value_norms

    if kind == "mean":
        return analysis.mean_attention(run.attention)
    if kind == "rollout":
        return analysis.attention_rollout(run.attention)
    if kind == "value":
        norms = call_on_model(value_norms, run.spec, state, run.hidden_states)
        return analysis.value_weighted(run.attention, norms)
    token, position = int(run.mask_logits[0].argmax()), run.tokens.mask_positions[0]
    gradient = call_on_model(attention_gradients, run.spec, state, run.tokens, position, token)
    return analysis.gradient_attention(run.attention, gradient)


def between_words(matrix: np.ndarray, alignment: Alignment, key: str, kind: str) -> np.ndarray:
    """Rows keep their sums; the gradient's cells are added up, so that the whole keeps its sum."""
    groups = alignment.groups[key]
    words = word_attention(matrix, groups)
    if kind == "gradient":
        return words * np.array([len(group) for group in groups])[:, None]
    return words


def details(runs: Mapping[str, Run], kind: str) -> dict[str, str]:
    """For the gradient, the word that is explained."""
    if kind != "gradient":
        return {}
    return {key: texts.PREDICTED.format(token=first_choice(run)) for key, run in runs.items()}


def first_choice(run: Run) -> str:
    """What the model puts in the first mask, as a reader would write it."""
    return spelling_of(run.vocabulary).text(run.vocabulary[int(run.mask_logits[0].argmax())])
