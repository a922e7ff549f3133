"""Fine-tuning of all models on the list that was answered last: its button, job and answer."""

import shutil
import tempfile
from collections.abc import Generator
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gradio as gr

from explorer import limits
from explorer.context import context
from explorer.links.page_state import PageState
from explorer.lists.rows import TextList
from explorer.lists.ui import strings
from explorer.models.choice.family import specs_by_key
from explorer.refusal import Refusal
from explorer.scheduling.cancel import CancelToken
from explorer.scheduling.job_queue import JobQueue, JobUpdate
from explorer.ui.kit import strings as kit
from explorer.ui.kit.canvas import Canvas, Chart, ran_with, read_question
from explorer.ui.kit.jobs import Job, Progress, Steps, job_buttons, shown
from explorer.ui.kit.running import address_of_asker, is_passed_on
from explorer.views.markup import join, note, refusal_message

if TYPE_CHECKING:
    from explorer.lists.apart import TuningAnswer
    from explorer.lists.tuned import TuningProgress

GIGABYTE = 1e9
EPOCHS, SEEDS = 0, 3
"""Options of a page: the usual epochs for so many rows, and seeds."""
KEPT = 8
"""Folders of models that a page for many visitors keeps."""
OWN_NETWORK = "::/64"
"""Network of the loopback address of IPv6, under which its clients are counted."""
PREFIX = "tuned-"
"""Beginning of the names of the folders of a page's models."""


@dataclass(frozen=True, slots=True, eq=False)
class TuningAsked:
    """A list to fine-tune on, and with which models."""

    texts: TextList
    state: PageState
    method: str


@dataclass(frozen=True, slots=True, eq=False)
class TuningShown:
    """State of a fine-tuning, as far as it is known."""

    progress: "TuningProgress | None" = None
    answer: "TuningAnswer | None" = None
    refused: str = ""


def build(form: Canvas, state: gr.State) -> None:
    """Build the button, the choice of the method, and what shows the training."""
    with gr.Column(elem_id="texts-tuning"):
        with gr.Row(elem_classes="tx-tune"):
            start = gr.Button(strings.TUNE, size="md", scale=0, min_width=350)
            method = gr.Radio(
                [(label, key) for key, label in strings.TUNING_METHODS.items()],
                value="full",
                show_label=False,
                container=False,
            )
            stop = gr.Button(strings.STOP, size="md", scale=0, min_width=80, visible=False)
        gr.HTML(note(strings.TUNE_NOTE))
        outputs = [gr.HTML(), Chart("texts/tuning")]
    job_buttons(
        {start.click: TUNING},
        [form, state, method],
        outputs,
        stop,
        js="(_, state, method) => [window.explorer.question('texts/ask'), state, method]",
    )


def ask(
    sent: str, state: PageState | None, method: str
) -> Generator[list[Any], None, TuningAsked | None]:
    """Return the list of the last answer; if it cannot be trained on, draw why."""
    from explorer.lists.tuned import enough
    from explorer.lists.ui.tab import list_in
    from explorer.models.tuning.networks import check_method

    try:
        is_own = is_this_machine(address_of_asker()) and not is_passed_on()
        if not (context().tunes_for_all or is_own):
            raise Refusal(strings.TUNING_IS_OFF)
        check_method(method)
        texts = enough(list_in(read_question(str(sent))))
        if len(texts.rows) > limits.TUNING_ROWS.maximum:
            raise Refusal(limits.TUNING_ROWS.sentence(f"{len(texts.rows):,}"))
        return TuningAsked(texts, state or PageState(), method)
    except Refusal as refusal:
        yield [refusal_message(str(refusal)), ""]
        return None


def is_this_machine(address: str) -> bool:
    """Return whether a client is on this machine; visitors of a page behind a proxy are not."""
    if address in ("", OWN_NETWORK):
        return True
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


def tune(asked: TuningAsked, cancel: CancelToken) -> Steps:
    """Train in a process of its own; a stopped training has its finished seeds and its models."""
    from explorer.lists.apart import TuningAnswer, TuningProcess, TuningRequest
    from explorer.lists.tuned import TuningOptions

    yield Progress(part=TuningShown())
    try:
        request = TuningRequest(
            asked.texts,
            asked.state.ask,
            asked.state.family,
            TuningOptions(asked.method, EPOCHS, SEEDS),
            limits.TUNING_TIME.maximum,
            new_folder(Path(context().tuned_folder)),
        )
        last = TuningShown()
        with TuningProcess(request, limits.TUNING_MEMORY.maximum * GIGABYTE) as process:
            for answer in process.answers(cancel, context().is_timing):
                if isinstance(answer, TuningAnswer):
                    return TuningShown(last.progress, answer)
                last = TuningShown(answer)
                yield Progress(part=last)
        return last
    except Refusal as refusal:
        return TuningShown(refused=str(refusal))


def new_folder(parent: Path) -> Path:
    """Return a new folder for the models of one fine-tuning.

    Raises:
        Refusal: none can be made there.
    """
    from explorer.models.tuning.networks import NOT_WRITTEN

    try:
        parent.mkdir(parents=True, exist_ok=True)
        make_room(parent)
        return Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    except OSError as error:
        raise Refusal(NOT_WRITTEN.format(name=parent)) from error


def make_room(folder: Path) -> None:
    """Remove the oldest models that a page for many visitors saved; a reader's own stay."""
    if context().is_local:
        return
    saved = sorted(folder.glob(f"{PREFIX}*"), key=lambda path: path.stat().st_mtime)
    for path in saved[: -KEPT + 1]:
        shutil.rmtree(path, ignore_errors=True)


def draw(asked: TuningAsked, update: JobUpdate) -> list[Any]:
    """Return the training's progress and curves, or its scores and where its models are."""
    from explorer.lists.views import tuned

    known: TuningShown = shown(update) or TuningShown()
    if update.position:
        return [note(kit.PLACE.format(n=update.position)), ""]
    if known.refused:
        return [refusal_message(known.refused), ""]
    header = ran_with(asked.state) | {"models": True, "state": {"method": asked.method}}
    if known.answer is None:
        stopped = note(strings.TUNING_STOPPED) if update.done else None
        if known.progress is None:
            return [stopped or note(strings.TUNING_BEGINS), ""]
        return [
            join(tuned.progress_html(known.progress), stopped),
            tuned.live_charts(known.progress, header),
        ]
    answer, where = known.answer, None
    if answer.folders:
        before = {key: spec.name for key, spec in specs_by_key(asked.state.family).items()}
        where = tuned.places_html(answer.folders, before, is_local=context().is_local)
    ended = note(strings.TUNING_ENDED[answer.ended]) if answer.ended != "done" else None
    return [
        join(ended, tuned.tuned_html(answer.result, strings.SUMMARY), where),
        tuned.charts(tuned.curves_of(answer.result), answer.result.labels, header),
    ]


TUNING = Job(
    "fine_tune", JobQueue("tuning", limits.TUNING.maximum, patience_s=30.0), ask, tune, draw
)
