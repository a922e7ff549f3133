"""Every surface of the page: what a tab shows, what its folds show, and what each endpoint says."""

from functools import cache

import gradio as gr

from explorer.models.specs import MODEL_KEYS

TEXTS = (
    "The [MASK] sat on the mat.",
    "The [MASK] sat on the [MASK].",
    "He was not bad.",
    "The cat sat. [SEP] It was a [MASK].",
)
"""One mask, two, none, and a pair."""
OPENED = {
    "predictions": 4,
    "attention": 3,
    "layer": 2,
    "depth": 4,
    "distillation": 2,
    "tasks": 2,
    "parameters": 7,
    "latency": 1,
    "claims": 3,
}
"""Folds that compute when they are opened; most of Latency's wait for a measurement."""


def shown(tab, state):
    """All that a tab shows."""
    return "".join(map(str, tab.show(state)))


@cache
def built(tab, _models):
    """A tab's page, the place of its state, and what it calls when a fold opens, by the fold's name."""
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
    """What each fold of a tab shows in the end when it is opened: its name and its values."""
    place, opened = built(tab, tuple(MODEL_KEYS))
    found = []
    for name, event in opened:
        if name in but:
            continue
        given = [state if p is place else getattr(p, "value", None) for p in event.inputs]
        answer = event.fn(*given)
        last = list(answer)[-1] if hasattr(answer, "__next__") else answer
        found.append((name, last if isinstance(last, list | tuple) else [last]))
    return found


def paired(*factors):
    """Rows in which every two values of two factors meet; the first two factors in full."""
    first, second, third = factors
    return [
        (one, two, third[(i + j) % len(third)])
        for i, one in enumerate(first)
        for j, two in enumerate(second)
    ]
