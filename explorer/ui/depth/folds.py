"""Folds of Depth: similarity of layers, trajectories of word states, drift of a shared layer."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gradio as gr

from explorer.analysis.alignment import AlignedWord, Groups
from explorer.analysis.digits import enumerated
from explorer.inference.cache import key_of_family
from explorer.inference.runs import Runs, call_on_model
from explorer.library import depth as library
from explorer.library.strings import skipped_shares, texts_read, unknown_shares
from explorer.links.page_state import PageState
from explorer.models.choice.family import member, teacher_of
from explorer.models.run import Run
from explorer.models.specs import ModelSpec
from explorer.scheduling.cancel import CancelToken
from explorer.scheduling.job_queue import JobQueue, JobUpdate
from explorer.ui.depth import strings
from explorer.ui.kit.asked import with_runs
from explorer.ui.kit.canvas import Canvas, Chart
from explorer.ui.kit.folds import fold
from explorer.ui.kit.jobs import Job, Steps, status, stepped
from explorer.views.markup import Markup, el, join, note

if TYPE_CHECKING:
    from explorer.analysis.depth.states import LayerSimilarity

MAX_WORDS = 64


def build_similarity_fold(state: gr.State) -> None:
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


@with_runs
def ask(
    state: PageState | None, text_runs: Runs
) -> Generator[list[Any], None, SimilarityQuestion | None]:
    """Return the page's models that can be loaded; draw that there are none."""
    if state is None:
        return None
    runs, _ = text_runs
    if not runs:
        yield [note(strings.SIMILARITY_NO_MODEL), "", ""]
        return None
    return SimilarityQuestion(state, {key: run.spec for key, run in runs.items()})


def compare(question: SimilarityQuestion, cancel_token: CancelToken) -> Steps:
    """Run every sentence, and return the layer similarity."""
    steps = library.compared(question.specs, question.state.ask)
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
    lambda question: key_of_family("similarity", question.specs, question.state.ask),
    library.is_complete,
)


def draw_similarity(
    similarity: "LayerSimilarity", specs: Mapping[str, ModelSpec], state: PageState
) -> tuple[str, str, str]:
    """Return the finding, the heatmap and the remark below them."""
    from explorer.analysis.depth.states import copied_rows
    from explorer.views.depth.states import similarity_canvas

    labels = {key: spec.label for key, spec in specs.items()}
    read = texts_read(similarity, library.MAX_WORDS, library.SECONDS)
    remark = note(strings.SIMILARITY_NOTE.format(read=read))
    unknown, skipped = (
        {labels[key]: share for key, share in shares.items()}
        for shares in library.unread_shares(
            specs, state.ask, library.sentences()[: similarity.n_read]
        )
    )
    said = unknown_shares(unknown) + skipped_shares(skipped)
    remark = Markup(remark + note(" ".join(said))) if said else remark
    pairs = []
    if pair := copied_pair(specs):
        teacher, student = pair
        keys = (teacher.key, student.key)
        pairs = copied_rows(similarity.rows, keys, student.initialised_from)
        remark = Markup(remark + lineage_of(teacher, student, state))
    texts = library.sentences()[: similarity.n_read]
    canvas = similarity_canvas(similarity, labels, pairs, texts, strings.SIMILARITY)
    return strings.similarity_finding(similarity, labels), canvas, remark


def copied_pair(specs: Mapping[str, ModelSpec]) -> tuple[ModelSpec, ModelSpec] | None:
    """Return the first student whose teacher is here, after that teacher; None without one."""
    models = specs.values()
    pairs = ((member(teacher_of(spec), models), spec) for spec in models)
    return next(((teacher, student) for teacher, student in pairs if teacher), None)


def lineage_of(teacher: ModelSpec, student: ModelSpec, state: PageState) -> Markup:
    """Return from which teacher layers the student was initialised, by its weights."""
    from explorer.analysis.depth.states import weight_lineage
    from explorer.models.inside.activations import cosines_with

    cosines = call_on_model(cosines_with, student, state.ask, teacher)
    lineage = weight_lineage(cosines, student.initialised_from)
    return strings.lineage_note(lineage, (teacher.label, student.label))


@dataclass(frozen=True, slots=True)
class TrackedWords:
    """Words of a text and their token positions in each available model."""

    runs: Mapping[str, Run]
    groups: Mapping[str, Groups]
    words: Sequence[AlignedWord]


def build_moves_folds(state: gr.State) -> None:
    """Build the folds of trajectories with the shared layer's heads, and of all states."""
    with fold("depth", "moves", strings.MOVES_FOLD) as section:
        travel, message = Canvas("depth/travel"), gr.HTML()
        heads, remark = Canvas("depth/film"), gr.HTML()
        section.on_open(show_moves, [state], [travel, message, heads, remark])
        gr.HTML(el("h3", strings.CLOUD_TITLE, class_="dt-title"))
        message, cloud = gr.HTML(), Chart("depth/projection")
        section.on_open(show_projection, [state], [message, cloud])


@with_runs
def followed(_state: PageState, text_runs: Runs) -> TrackedWords | Markup:
    """Return the first words of the text in every model, or a message if there are none."""
    from explorer.analysis.alignment import align

    runs, _ = text_runs.with_mlm_head
    if not runs:
        return note(strings.SIMILARITY_NO_MODEL)
    alignment = align({key: run.tokens for key, run in runs.items()})
    indices = alignment.readable[:MAX_WORDS]
    if not indices:
        return note(strings.NO_WORD)
    groups = {key: tuple(alignment.groups[key][i] for i in indices) for key in runs}
    return TrackedWords(runs, groups, [alignment.words[i] for i in indices])


def show_moves(state: PageState) -> list[str]:
    """Return the trajectories of the words and the shared heads, from the cached hidden states."""
    from explorer.analysis.depth.states import word_trajectory
    from explorer.views.depth.states import travel_canvas

    words = followed(state)
    if not isinstance(words, TrackedWords):
        return ["", words, "", ""]
    travels = {key: word_trajectory(run, words.groups[key]) for key, run in words.runs.items()}
    labels = {key: run.spec.label for key, run in words.runs.items()}
    canvas = travel_canvas(travels, labels, words.groups, words.words, strings.MOVES)
    return [canvas, *show_shared(state)]


def show_projection(state: PageState) -> list[str]:
    """Return the projection of the states of all models with the first one's width."""
    from explorer.analysis.depth.lens import word_states
    from explorer.analysis.depth.states import state_projection
    from explorer.views.depth.states import projection_canvas

    words = followed(state)
    if not isinstance(words, TrackedWords):
        return [words, ""]
    width = next(iter(words.runs.values())).hidden_states.shape[-1]
    same_width = {k: run for k, run in words.runs.items() if run.hidden_states.shape[-1] == width}
    states = {k: word_states(run.hidden_states, words.groups[k]) for k, run in same_width.items()}
    labels = {key: run.spec.label for key, run in same_width.items()}
    others = enumerated(run.spec.label for key, run in words.runs.items() if key not in labels)
    return [
        note(strings.OTHER_WIDTH.format(models=others)) if others else "",
        projection_canvas(
            state_projection(states), labels, words.groups, words.words, strings.PROJECTION
        ),
    ]


@with_runs
def show_shared(_state: PageState, text_runs: Runs) -> list[str]:
    """Return the drift of the first shared layer's heads over its applications."""
    from explorer.analysis.alignment import align, word_attention
    from explorer.analysis.depth.states import shared_drift
    from explorer.views.depth.states import SHOWN, shared_drift_canvas

    runs, _ = text_runs.with_mlm_head
    shapes = ((run, run.spec.architecture) for run in runs.values())
    run = next((run for run, shape in shapes if shape.n_stored_layers < shape.n_layers), None)
    if run is None:
        return [note(strings.NO_SHARED), "", ""]
    alignment = align({key: other.tokens for key, other in runs.items()})
    attention = word_attention(run.attention, alignment.groups[run.spec.key])
    drift = shared_drift(attention, alignment)
    return [
        join(
            el("h3", strings.SHARED_TITLE, class_="dt-title"),
            strings.shared_finding(drift, run.spec),
        ),
        shared_drift_canvas(drift, attention, run.spec, alignment, strings.SHARED),
        note(strings.SHARED_NOTE.format(model=run.spec.label, n=SHOWN)),
    ]
