"""Attention tab: every head of the three models on one wall, and the chosen one side by side."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import gradio as gr

from explorer.inference.runs import get_runs
from explorer.links.codec import from_page
from explorer.links.page_state import RUN_FIELDS, PageState
from explorer.ui.attention import folds
from explorer.ui.attention import strings as texts
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.strings import reading_note
from explorer.ui.kit.validation import link_in, refuse_bad_input
from explorer.views.markup import Markup, finding, join, note, plain_cards

if TYPE_CHECKING:
    from explorer.analysis.attention import HeadStatistics, WordHeads
    from explorer.models.specs import ModelSpec

ID = "attention"
LABEL = texts.LABEL
QUESTION = texts.QUESTION
READS = RUN_FIELDS


def build(state: gr.State) -> list[gr.components.Component]:
    """The finding and the wall; below, the deeper questions as folds."""
    finding = gr.HTML()
    wall = Canvas("attention/wall", asks=exact_heads)
    folds.build_summary_fold(state)
    folds.build_ablation_fold(state)
    folds.build_bertviz_fold(state)
    return [finding, wall]


def show(state: PageState) -> list[object]:
    """The headline's values for the state's text; no model runs if it was computed before."""
    from explorer.analysis.attention import head_statistics, word_heads
    from explorer.views.attention import attention_wall_canvas

    runs, missing = get_runs(state)
    cards = {key: (error.spec.label, str(error)) for key, error in missing.items()}
    if not runs:
        return [plain_cards(cards), ""]
    heads = word_heads(runs)
    statistics = {
        key: head_statistics(attention, heads.alignment)
        for key, attention in heads.attention.items()
    }
    said = texts.wall_texts([run.spec for run in runs.values()])
    return [
        join(
            headline(heads, statistics, [run.spec for run in runs.values()]),
            reading_note({run.spec.label: run.tokens for run in runs.values()}),
        ),
        attention_wall_canvas(runs, heads, statistics, cards, said),
    ]


def headline(
    heads: "WordHeads", statistics: "Mapping[str, HeadStatistics]", specs: "Sequence[ModelSpec]"
) -> Markup:
    """Say what the student kept of the teacher, where both are here, then what all heads do."""
    from explorer.analysis.attention import kept_heads

    labels = {spec.key: spec.label for spec in specs}
    n_words = len(heads.alignment.content)
    first, neighbours = texts.attention_sentences(statistics, labels, n_words)
    chosen = texts.FIRST_HEAD.format(label=specs[0].label)
    here = {spec.key: spec for spec in specs}
    pairs = [(here[s.kind.teacher], s) for s in specs if s.kind.teacher in here]
    if not pairs:
        return join(finding(first), note(neighbours) if neighbours else None, note(chosen))
    teacher, student = pairs[0]
    kept = kept_heads(heads.attention[teacher.key], heads.attention[student.key], heads.alignment)
    return join(
        texts.kept_finding(kept, teacher, student),
        texts.kept_list(kept, teacher, student),
        note(first, rest=neighbours),
        note(chosen),
    )


def exact_heads(question: dict) -> str:
    """The exact numbers of the heads that the reader keeps, when they are not in the browser."""
    from explorer.analysis.alignment import align
    from explorer.views.attention import exact_heads_canvas

    state, _ = from_page(link_in(question), PageState())
    runs, _ = get_runs(state)
    with refuse_bad_input():
        asked = [(str(key), int(layer), int(head)) for key, layer, head in question["heads"][:12]]
        for key, layer, head in asked:
            runs[key].attention[layer, head]
    return exact_heads_canvas(runs, align({key: run.tokens for key, run in runs.items()}), asked)
