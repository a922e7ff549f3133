"""Attention tab: every head of the three models on one canvas, and the chosen ones side by side."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import gradio as gr

from explorer.inference.runs import Runs
from explorer.links.page_state import RUN_FIELDS, PageState
from explorer.models.choice.family import is_parent
from explorer.ui.attention import folds, strings
from explorer.ui.kit import strings as kit_strings
from explorer.ui.kit.asked import asked_page
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.strings import reading_note
from explorer.ui.kit.validation import refuse_bad_input
from explorer.views.markup import Markup, el, finding, join, note, plain_cards

if TYPE_CHECKING:
    from explorer.analysis.attention import HeadStatistics, WordHeads
    from explorer.models.specs import ModelSpec

ID = "attention"
LABEL = strings.LABEL
QUESTION = strings.QUESTION
READS = (*RUN_FIELDS, "teacher", "student")


def build(state: gr.State) -> list[gr.components.Component]:
    """Build the finding, the wall of heads and the folds; return the headline's components."""
    finding = gr.HTML()
    wall = Canvas("attention/wall", asks=exact_heads)
    folds.build_summary_fold(state)
    folds.build_ablation_fold(state)
    folds.build_bertviz_fold(state)
    return [finding, wall]


def show(state: PageState, text_runs: Runs) -> list[object]:
    """Return the headline's values for the state's text; cached runs are not computed again."""
    from explorer.analysis.attention import head_statistics, word_heads
    from explorer.views.attention.wall import attention_wall_canvas

    runs, missing = text_runs
    cards = {key: (error.spec.label, str(error)) for key, error in missing.items()}
    if not runs:
        return [plain_cards(cards), ""]
    heads = word_heads(runs)
    statistics = {
        key: head_statistics(attention, heads.alignment)
        for key, attention in heads.attention.items()
    }
    wall_texts = strings.wall_texts([run.spec for run in runs.values()])
    return [
        join(
            headline(heads, statistics, [run.spec for run in runs.values()], state),
            reading_note(runs.values()),
        ),
        attention_wall_canvas(runs, heads, statistics, cards, wall_texts),
    ]


def first(_: PageState, values: list[Any]) -> list[Markup]:
    """Return the headline's values as HTML."""
    from explorer.views.first.attention import attention_html
    from explorer.views.first.parts import canvas

    finding, wall = values
    return [finding, canvas("attention/wall", attention_html(json.loads(wall)) if wall else None)]


def headline(
    heads: "WordHeads",
    statistics: "Mapping[str, HeadStatistics]",
    specs: "Sequence[ModelSpec]",
    state: PageState,
) -> Markup:
    """Return the student's near-copies, if its teacher is here, and what all heads do.

    Heads are compared only where the student is known to be distilled from the teacher.
    """
    from explorer.analysis.attention import kept_heads

    labels = {spec.key: spec.label for spec in specs}
    n_words = len(heads.alignment.content)
    n_special = len(heads.alignment) - n_words
    first, neighbours = strings.attention_sentences(statistics, labels, n_words, n_special)
    chosen = el("div", note(strings.FIRST_HEAD.format(label=specs[0].label)), class_="aw-first")
    pair = related(specs, state)
    chosen = join(pair_choice(specs, state), chosen)
    if pair is None:
        return join(finding(first), note(neighbours) if neighbours else None, chosen)
    teacher, student = pair
    control = unrelated(specs, teacher, student)
    kept = kept_heads(
        heads.attention[teacher.key],
        heads.attention[student.key],
        heads.alignment,
        heads.attention[control.key] if control else None,
    )
    return join(
        strings.kept_finding(kept, teacher, student, control),
        strings.kept_list(kept, teacher, student, control),
        el("div", note(first, details=neighbours), class_="aw-shares"),
        chosen,
    )


def lineages(specs: "Sequence[ModelSpec]") -> "list[tuple[ModelSpec, ModelSpec]]":
    """Return each teacher among the models with each of its students."""
    return [
        (teacher, student)
        for student in specs
        for teacher in specs
        if student.kind.teacher and is_parent(teacher, student)
    ]


def related(specs: "Sequence[ModelSpec]", state: PageState) -> "tuple[ModelSpec, ModelSpec] | None":
    """Return the first teacher and its student among the models, or those that the link names."""
    pairs = [
        (teacher, student)
        for teacher, student in lineages(specs)
        if state.teacher in ("", teacher.key) and state.student in ("", student.key)
    ]
    return pairs[0] if pairs else None


def pair_choice(specs: "Sequence[ModelSpec]", state: PageState) -> Markup | str:
    """Return the choice of teacher and student where there are several, and why two are none."""
    pairs, by_key = lineages(specs), {spec.key: spec for spec in specs}
    is_named = bool({state.teacher, state.student} & by_key.keys())
    if not pairs or (len(pairs) == 1 and not is_named):
        return ""
    pair = related(specs, state) or (
        by_key.get(state.teacher, pairs[0][0]),
        by_key.get(state.student, pairs[0][1]),
    )
    columns = [spec.key for spec in specs if any(spec in two for two in pairs)]
    choice = kit_strings.pair_choice(by_key, columns, (pair[0].key, pair[1].key))
    return join(choice, kit_strings.lineage_note(*pair))


def unrelated(
    specs: "Sequence[ModelSpec]", teacher: "ModelSpec", student: "ModelSpec"
) -> "ModelSpec | None":
    """Return a model whose heads are a control: enough of them, and not made from another model.

    The bundled mini-ALBERT is none, because it was fitted to mini-BERT; nor is another column of
    the teacher or the student. Of a reader's own checkpoint nobody knows.
    """
    from explorer.analysis.attention import POOL
    from explorer.models.choice.family import parent_of

    def heads(spec: "ModelSpec") -> int:
        return spec.architecture.n_layers * spec.architecture.n_heads

    pair = (teacher.name, student.name)
    others = [spec for spec in specs if spec.name not in pair and not spec.is_own]
    fit = [s for s in others if parent_of(s) is None and heads(s) >= POOL * heads(student)]
    return fit[0] if fit else None


def exact_heads(question: dict) -> str:
    """Return the exact weights of at most 12 chosen heads that the browser does not have yet."""
    from explorer.analysis.alignment import align
    from explorer.views.attention.wall import exact_heads_canvas

    _, (runs, _) = asked_page(question)
    with refuse_bad_input():
        heads = [(str(key), int(layer), int(head)) for key, layer, head in question["heads"][:12]]
        for key, layer, head in heads:
            runs[key].attention[layer, head]
    return exact_heads_canvas(runs, align({key: run.tokens for key, run in runs.items()}), heads)
