"""Fold of Depth on what training changed between two columns of one shape."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gradio as gr

from explorer.analysis.records import Records
from explorer.inference.cache import key_of_family
from explorer.library import changed as library
from explorer.library.depth import sentences
from explorer.links.page_state import PageState
from explorer.models.specs import ModelSpec
from explorer.models.tokens import clean_text
from explorer.refusal import Refusal
from explorer.scheduling.cancel import CancelToken
from explorer.scheduling.job_queue import JobQueue, JobUpdate
from explorer.ui.depth import strings
from explorer.ui.kit.canvas import Chart, ran_with
from explorer.ui.kit.folds import fold
from explorer.ui.kit.jobs import Job, Steps, status, stepped
from explorer.ui.kit.strings import pair_choice
from explorer.views.markup import Markup, finding, join, note

if TYPE_CHECKING:
    from explorer.library.changed import Changed

MAX_ROWS = 300
"""Most texts of a reader's own."""


@dataclass(frozen=True, slots=True)
class ChangeQuestion:
    """Two columns of one shape, and the texts that both read."""

    state: PageState
    specs: tuple[ModelSpec, ModelSpec]
    columns: tuple[str, ...]
    """The columns that share their shape with another."""
    texts: tuple[str, ...]
    with_head_before: bool
    """True if the head of the model before reads the states after."""


def build_fold(state: gr.State) -> None:
    """Build the choice of texts and of the head, and the four charts."""
    with fold("depth", "changed", strings.CHANGED_FOLD) as section:
        message = gr.HTML()
        with gr.Row():
            texts = gr.Textbox(
                label=strings.CHANGED_TEXTS, placeholder=strings.CHANGED_BUNDLED, max_lines=6
            )
            with gr.Column(min_width=200, scale=0):
                head = gr.Checkbox(label=strings.CHANGED_HEAD)
                run = gr.Button(strings.CHANGED_RUN, size="sm")
        stop = gr.Button(strings.SIMILARITY_STOP, size="sm", elem_classes="dk-stop", visible=False)
        section.keep("changed", head=head)
        outputs = [message, Chart("depth/changed"), gr.HTML()]
        again = [head.change, run.click]
        section.on_open_job(CHANGED, [state, texts, head], outputs, stop, also=again)


def alike(specs: Mapping[str, ModelSpec]) -> tuple[str, ...]:
    """Return the columns that have the shape of another one."""
    return tuple(
        key
        for key, spec in specs.items()
        if any(not library.differs(spec, other) for other in specs.values() if other is not spec)
    )


def pair_in(state: PageState) -> tuple[ModelSpec, ModelSpec] | None:
    """Return the columns of the link if they have one shape, else the first two that have."""
    specs = state.ask.specs
    columns = alike(specs)
    for before in (state.teacher, *columns):
        for after in (state.student, *columns):
            is_pair = before in columns and after in columns and before != after
            if is_pair and not library.differs(specs[before], specs[after]):
                return specs[before], specs[after]
    return None


def ask(
    state: PageState | None, texts: str, with_head_before: bool
) -> Generator[list[Any], None, ChangeQuestion | None]:
    """Return the two columns and the texts; draw why there are none."""
    if state is None:
        return None
    pair = pair_in(state)
    rows = tuple(line.strip() for line in (texts or "").splitlines() if line.strip())
    why = "" if pair else strings.CHANGED_NO_PAIR
    if len(rows) > MAX_ROWS:
        why = strings.CHANGED_MOST.format(n=MAX_ROWS)
    if pair is None or why:
        yield [note(why), "", ""]
        return None
    columns = alike(state.ask.specs)
    return ChangeQuestion(state, pair, columns, rows or sentences(), bool(with_head_before))


def compare(question: ChangeQuestion, cancel_token: CancelToken) -> Steps:
    """Run all texts through both models; a refusal is the result."""
    try:
        steps = library.compared(
            question.specs,
            question.state.ask,
            question.texts,
            reader=question.specs[0] if question.with_head_before else None,
        )
        return (yield from stepped(steps, 2 * len(question.texts), cancel_token))
    except Refusal as refusal:
        return refusal


def draw(question: ChangeQuestion, update: JobUpdate) -> list[Any]:
    """Return the job's progress, or the sentence, the charts and the remarks."""
    chosen = chosen_pair(question)
    n = 2 * len(question.texts)
    if update.result is None:
        told = status(update, strings.CHANGED_PROGRESS, strings.SIMILARITY_STOPPED, n)
        return [join(chosen, told), gr.skip(), gr.skip()]
    if isinstance(update.result, Refusal):
        return [join(chosen, note(str(update.result))), "", ""]
    found: Changed = update.result
    first, *others = found.sentences()
    return [join(chosen, finding(first)), canvas(found, question), remarks(others)]


def chosen_pair(question: ChangeQuestion) -> Markup | str:
    """Return the choice of the two columns."""
    keys = (question.specs[0].key, question.specs[1].key)
    return pair_choice(question.state.ask.specs, question.columns, keys)


def remarks(sentences: list[str]) -> Markup:
    """Return the sentences on states, heads and predictions, and how each is measured."""
    return join(*map(note, sentences), note(strings.CHANGED_NOTE))


def canvas(found: "Changed", question: ChangeQuestion) -> str:
    """Return the four charts, and their numbers with the controls."""
    from explorer.views.depth.changed import changed_canvas

    ran = {**ran_with(question.state), "text": None}
    labels = dict(zip(found.pair, found.labels, strict=True))
    constants = {
        "PAIR": [*found.labels],
        "READER": [labels[found.masks.head]] if found.masks else [],
        "TEXTS": [*map(clean_text, question.texts)],
    }
    records = Records(found.COLUMNS, found.rows(), ran, constants)
    states = (found.cka, found.shuffled_cka)
    return changed_canvas(
        (found.labels, found.pair), found.weights, states, found.heads, found.masks, records
    )


CHANGED = Job(
    "show_changed",
    JobQueue("changed"),
    ask,
    compare,
    draw,
    lambda question: (
        *key_of_family("changed", {spec.key: spec for spec in question.specs}, question.state.ask),
        question.texts,
        question.with_head_before,
    ),
)
