"""Fold of Depth: similarity of all layers of all models over the bundled sentences."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gradio as gr

from explorer.inference.cache import key_of_family
from explorer.inference.runs import call_on_model, get_runs
from explorer.inference.scheduling.cancel import CancelToken
from explorer.inference.scheduling.job_queue import JobQueue, JobUpdate
from explorer.library import depth as library
from explorer.links.page_state import PageState
from explorer.models.choice.family import teacher_of
from explorer.models.specs import ModelSpec, distilled_pair
from explorer.ui.depth import strings
from explorer.ui.kit.canvas import Chart
from explorer.ui.kit.folds import fold
from explorer.ui.kit.jobs import Job, Steps, status, stepped
from explorer.views.markup import Markup, note

if TYPE_CHECKING:
    from explorer.analysis.depth.states import LayerSimilarity


def build_fold(state: gr.State) -> None:
    """Build the heatmap, filled once all sentences were run, and its stop button."""
    with fold("depth", "similarity", strings.SIMILARITY_FOLD) as section:
        message = gr.HTML()
        stop = gr.Button(strings.SIMILARITY_STOP, size="sm", elem_classes="dk-stop", visible=False)
        outputs = [message, Chart("depth/similarity"), gr.HTML()]
        section.on_open_job(SIMILARITY, [state], outputs, stop)


@dataclass(frozen=True, slots=True)
class SimilarityQuestion:
    """Models whose layers are compared."""

    state: PageState
    specs: Mapping[str, ModelSpec]


def ask(state: PageState | None) -> Generator[list[Any], None, SimilarityQuestion | None]:
    """Return the page's models that can be loaded; draw that there are none."""
    if state is None:
        return None
    runs, _ = get_runs(state)
    if not runs:
        yield [note(strings.SIMILARITY_NO_MODEL), "", ""]
        return None
    return SimilarityQuestion(state, {key: run.spec for key, run in runs.items()})


def compare(question: SimilarityQuestion, cancel_token: CancelToken) -> Steps:
    """Run every sentence, and return the layer similarity."""
    steps = library.compared(question.specs, question.state)
    return stepped(steps, len(library.sentences()), cancel_token)


def draw(question: SimilarityQuestion, update: JobUpdate) -> list[Any]:
    """Return the job's progress, or the finding, the heatmap and the remark."""
    if update.result is None:
        texts = strings.SIMILARITY_PROGRESS, strings.SIMILARITY_STOPPED
        return [status(update, *texts, len(library.sentences())), gr.skip(), gr.skip()]
    return [*draw_similarity(update.result, question.specs, question.state)]


SIMILARITY = Job(
    "show_similarity",
    JobQueue("similarity"),
    ask,
    compare,
    draw,
    lambda question: key_of_family("similarity", question.specs, question.state),
)


def draw_similarity(
    found: "LayerSimilarity", specs: Mapping[str, ModelSpec], state: PageState
) -> tuple[str, str, str]:
    """Return the finding, the heatmap and the remark below them."""
    from explorer.analysis.depth.states import copied_rows
    from explorer.views.depth.states import similarity_canvas

    labels = {key: spec.label for key, spec in specs.items()}
    remark = note(strings.SIMILARITY_NOTE.format(n=f"{found.n_words:,}"))
    pair, pairs = distilled_pair(), []
    if pair[1] in specs and teacher_of(specs[pair[1]]) == specs.get(pair[0]):
        pairs = copied_rows(found.rows, pair, specs[pair[1]].initialised_from)
        remark = Markup(remark + lineage_of(specs, state))
    canvas = similarity_canvas(found, labels, pairs, library.sentences(), strings.SIMILARITY)
    return strings.similarity_finding(found, labels), canvas, remark


def lineage_of(specs: Mapping[str, ModelSpec], state: PageState) -> Markup:
    """Return from which teacher layers the student was initialised, by its weights."""
    from explorer.analysis.depth.states import weight_lineage
    from explorer.models.inside.activations import cosines_with

    teacher, student = (specs[key] for key in distilled_pair())
    cosines = call_on_model(cosines_with, student, state, teacher)
    lineage = weight_lineage(cosines, student.initialised_from)
    return strings.lineage_note(lineage, (teacher.label, student.label))
