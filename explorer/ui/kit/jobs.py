"""Job behind a button: how it is started, shown, stopped and kept, the same everywhere."""

import inspect
import time
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import gradio as gr

from explorer import limits
from explorer.inference.cache import CACHE
from explorer.scheduling.cancel import CancelToken
from explorer.scheduling.job_queue import (
    MEASUREMENTS,
    JobQueue,
    JobUpdate,
    updates,
)
from explorer.ui.kit import strings
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.running import AT_ONCE, left_by_now, outputs_of_event, owner_of
from explorer.views.markup import Markup, note

LONG = JobQueue("long", limits.LONG.maximum)
"""Queue of sweeps and of strips of masked words, of which a few run at a time."""
Steps = Generator["Progress", None, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Progress:
    """Step of a job: parts done of all, and the result so far, which no later step changes."""

    done: int = 0
    n: int = 0
    part: Any = None


def stepped(steps: Generator[int, None, Any], n: int, cancel_token: CancelToken) -> Steps:
    """Run a computation that yields its parts done of ``n``; it can be stopped between them."""
    while True:
        try:
            yield Progress(next(steps), n)
        except StopIteration as end:
            return end.value
        cancel_token.check()


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """Work that a button or an opened fold starts."""

    name: str
    """Name of its event."""
    queue: JobQueue
    ask: Callable[..., Any]
    """Returns the question in the inputs; None if there is none. As a generator it may draw."""
    compute: Callable[[Any, CancelToken], Steps]
    """Yields progress and returns the result, in a thread of its own and at the job's turn."""
    draw: Callable[[Any, JobUpdate], list[Any]]
    """Returns the outputs' values for the question, as far as it is answered."""
    key: Callable[[Any], Hashable] | None = None
    """Returns the question's key in the cache; without it nothing is kept."""
    keeps: Callable[[Any], bool] = lambda _: True
    """Returns whether a result is kept in the cache: one that a time limit cut short is not."""
    ends_s: Callable[[Any], float] = lambda _: inf
    """Returns the seconds after the press at which the job ends, whatever it waits for."""

    @property
    def options(self) -> dict[str, Any]:
        """The event options: its own queue of Gradio's, which only shows the places in this one."""
        limit = limits.TIMED if self.queue is MEASUREMENTS else limits.OWN_LINE
        return {
            "concurrency_id": self.queue.name,
            "concurrency_limit": limit.maximum,
            "show_progress": "hidden",
        }

    def owner(self, request: gr.Request | None = None) -> Hashable:
        """Return the owner: the visitor of a measurement, else the visitor and the computation.

        A visitor has one job of an owner at a time.
        """
        visitor = owner_of(request)
        return visitor and (visitor if self.queue is MEASUREMENTS else (visitor, self.compute))


def job_buttons(
    starts: Mapping[Any, Job],
    inputs: Sequence[gr.components.Component],
    outputs: Sequence[gr.components.Component],
    stop: gr.Button,
    **options: Any,  # noqa: ANN401
) -> None:
    """Connect triggers, such as clicks, with jobs that are drawn in the same outputs.

    Args:
        starts: The job of each trigger, or of each tuple of triggers.
        inputs: Components whose values are the question.
        outputs: Components that the jobs draw in.
        stop: Button that is shown while a job runs, and stops it.
        options: Event options besides the job's own.
    """
    for triggers, job in starts.items():
        gr.on(
            list(triggers) if isinstance(triggers, tuple) else triggers,
            plain_errors(handler(job)),
            list(inputs),
            [*outputs, stop],
            api_visibility="private",
            **job.options | options,
        )
    stop_button(stop, *starts.values())


def stop_button(stop: gr.Button, *jobs: Job) -> None:
    """Connect a stop button with the visitor's jobs, which hide the button by their last update."""

    def stop_job(request: gr.Request) -> None:
        for job in jobs:
            job.queue.stop(job.owner(request))

    stop.click(stop_job, None, None, **AT_ONCE)


def supersede(job: Job, unless: Callable[[Any], bool] = lambda _: False) -> bool:
    """Stop the visitor's job if it draws in the event's components: the event draws there now.

    Args:
        job: A job that draws in them.
        unless: Returns whether the running job may go on, by its question.

    Returns:
        True if it goes on; then the event draws nothing.
    """
    queued = job.queue.drawn_in(job.owner(), outputs_of_event())
    if queued is None or unless(queued.question):
        return queued is not None
    queued.replaced = True
    queued.stop()
    return False


def handler(job: Job) -> Callable[..., Iterator[list[Any]]]:
    """Return the event's handler, whose last output is the stop button.

    Every value names the button's visibility: the browser applies a difference to a value that may
    not be drawn yet, and an update left out would take the one before it away.
    """

    def run(*inputs: Any) -> Iterator[list[Any]]:  # noqa: ANN401 - the components' values
        try:
            for values, is_running in _drawings(job, inputs):
                yield [*values, gr.Button(visible=is_running)]
        except Exception:
            outputs = outputs_of_event()
            earlier = job.queue.drawn_in(job.owner(), outputs)
            goes_on = earlier is not None and not earlier.ended.is_set()
            yield [*[gr.skip()] * (len(outputs) - 1), gr.Button(visible=goes_on)]
            raise

    run.__name__ = run.__qualname__ = job.name
    return run


def _drawings(job: Job, inputs: Sequence[Any]) -> Iterator[tuple[list[Any], bool]]:
    """Yield the outputs' values, and whether the job runs, at every change."""
    pressed = time.monotonic()
    question: Any = job.ask(*inputs)
    if inspect.isgenerator(question):
        question = yield from _without_stop(job, question)
    if question is None:
        return
    key = job.key(question) if job.key else None
    kept = CACHE.get(key) if key else None
    if kept is not None:
        supersede(job)
        yield job.draw(question, JobUpdate(0, None, done=True, result=kept)), False
        return
    queued = job.queue.start(
        lambda cancel_token: _kept(job, question, key, cancel_token),
        job.owner(),
        component_ids=outputs_of_event(),
        question=question,
    )
    queued.cancel_token.end_within(job.ends_s(question) - (time.monotonic() - pressed))
    for update in updates(queued, has_left=left_by_now()):
        values = job.draw(question, update)
        # A newer job in the same components, or a reset, draws there instead.
        if not queued.replaced:
            yield values, not update.done


def _without_stop(job: Job, asking: Generator[Any, Any, Any]) -> Generator[Any, None, Any]:
    """Yield what a question draws before its job can be stopped, and return the question."""
    while True:
        try:
            values = next(asking)
        except StopIteration as end:
            return end.value
        supersede(job)
        yield values, False


def _kept(job: Job, question: Any, key: Hashable, cancel_token: CancelToken) -> Steps:  # noqa: ANN401
    """Compute the result at the job's turn, unless another visitor's job has, and keep it."""
    result = CACHE.get(key) if key else None
    if result is None:
        result = yield from job.compute(question, cancel_token)
        if key and result is not None and not cancel_token.cancelled and job.keeps(result):
            CACHE.put(key, result)
    return result


def parts(results: Iterable[Any]) -> Steps:
    """Yield each of a job's growing results as progress, and return the last one."""
    result = None
    for result in results:
        yield Progress(part=result)
    return result


def shown(update: JobUpdate) -> Any:  # noqa: ANN401 - the job's result
    """Return a job's result, or as much of it as there is; None before the first part."""
    part = update.partial.part if update.partial else None
    return part if update.result is None else update.result


def status(update: JobUpdate, progress: str, stopped: str, n: int = 0) -> Markup | str:
    """Return a note: the job's place in the queue, its parts done, that it stopped; or nothing."""
    if update.position:
        return note(strings.PLACE.format(n=update.position))
    if update.done:
        return note(stopped) if update.stopped else ""
    step = update.partial or Progress(n=n)
    return note(progress.format(done=step.done, n=step.n))
