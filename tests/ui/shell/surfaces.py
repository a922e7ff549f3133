"""Every surface of the page: the tabs and their folds."""

from functools import cache

import gradio as gr

from explorer.context import context
from explorer.models.specs import MODEL_KEYS
from explorer.refusal import Refusal
from explorer.ui.kit.errors import Answered
from explorer.ui.shell.tabs import values_of

TEXTS = (
    "The [MASK] sat on the mat.",
    "The [MASK] sat on the [MASK].",
    "He was not bad.",
    "The cat sat. [SEP] It was a [MASK].",
)
"""Texts with one mask, two, none, and a sentence pair."""
OPENED = {
    "predictions": 5,
    "attention": 3,
    "layer": 2,
    "depth": 6,
    "distillation": 2,
    "texts": 0,
    "tasks": 2,
    "parameters": 7,
    "latency": 1,
    "claims": 3,
}
"""Number of folds that compute when they are opened; most of Latency's need a measurement."""


def shown(tab, state):
    """Return the markup of a tab."""
    return "".join(map(str, values_of(tab, state)))


@cache
def built(tab, _columns):
    """Return a tab's state component, and the events that open its folds, by the folds' names."""
    with gr.Blocks() as page:
        place = gr.State(None)
        with gr.Tab():
            tab.build(place)
    names = {i: part.elem_id for i, part in page.blocks.items() if getattr(part, "elem_id", None)}
    opened = []
    for event in page.fns.values():
        at = [names[i].split("-")[-1] for i, name in event.targets if name == "expand"]
        if at:
            opened.append((at[0], event))
    return place, opened


def folds(tab, state, but=()):
    """Return the final values of each fold of a tab when it is opened, or its refusal, with its name."""
    place, opened = built(tab, (*MODEL_KEYS, *context().columns))
    results = []
    for name, event in opened:
        if name in but:
            continue
        inputs = [state if p is place else getattr(p, "value", None) for p in event.inputs]
        try:
            answer = event.fn(*inputs)
            last = list(answer)[-1] if hasattr(answer, "__next__") else answer
        except Answered as error:
            if not isinstance(error.__cause__, Refusal):
                raise
            last = str(error)
        results.append((name, last if isinstance(last, list | tuple) else [last]))
    return results


def paired(*factors):
    """Return rows that cover every pair of values of two factors; the first two factors in full."""
    first, second, third = factors
    return [
        (one, two, third[(i + j) % len(third)])
        for i, one in enumerate(first)
        for j, two in enumerate(second)
    ]
