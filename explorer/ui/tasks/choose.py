"""Fold: the models held against the reader's limits, by what was measured here."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import gradio as gr

from explorer import assets
from explorer.analysis.measures import share_interval
from explorer.analysis.tasks.choose import Candidate, Figure, advice
from explorer.models.kinds import distilled_pair
from explorer.models.specs import ModelSpec
from explorer.models.spelling import spelling_of
from explorer.page_state import PageState
from explorer.runs import device_of, get_run, get_runs, in_rounds
from explorer.timing.line import MEASUREMENTS, Update
from explorer.timing.stop import StopSign
from explorer.timing.workload import MAX_LENGTH, Workload, clock_on
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.folds import fold
from explorer.ui.kit.queues import AT_ONCE, QUIET
from explorer.ui.kit.running import running, stop_comes, stop_goes, stops
from explorer.ui.kit.words import PLACE
from explorer.ui.tasks import choose_words as texts
from explorer.ui.tasks.asking import specs_of
from explorer.ui.tasks.kept import cards_of
from explorer.views.markup import Markup, join, note

if TYPE_CHECKING:
    from explorer.analysis.latency.family import FamilyLatency

BUDGET_S = 10.0
Figures = Mapping[str, Figure]


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """What one press found, and of whom."""

    names: tuple[str, ...]
    """Of the models; of another family nothing here is known."""
    workload: Workload
    milliseconds: Figures
    shares: Mapping[str, Figures]
    """By the score's name."""


def build_fold(state: gr.State) -> None:
    """Three limits and a score, a press that measures, two charts and a table."""
    with fold("tasks", "choose", texts.FOLD) as opened:
        with gr.Row(elem_classes="lt-controls"):
            limits = [gr.Number(0, label=label, minimum=0) for label in (texts.SIZE, texts.TIME)]
            score = gr.Dropdown([(v, k) for k, v in texts.SCORES.items()], label=texts.SCORE)
            least = gr.Number(0, label=texts.LEAST, minimum=0, maximum=100)
        with gr.Row(elem_classes="lt-buttons"):
            measure = gr.Button(texts.MEASURE, size="sm")
            stop = gr.Button(texts.STOP, size="sm", visible=False)
        standing, said, kept = gr.HTML(), gr.HTML(), gr.State(None)
        picture, rows = Canvas("tasks/choose"), gr.HTML()
        asked, drawn = [state, kept, *limits, score, least], [said, picture, rows]
        opened.on_open(show_choice, asked, drawn, show_progress="hidden")
        events = [*(box.change for box in limits), score.change, least.change, kept.change]
        gr.on(events, plain_errors(show_choice), asked, drawn, trigger_mode="always_last", **QUIET)
        stop_comes(stop, measure)
        line = QUIET | {"concurrency_id": "measure"}
        event = measure.click(plain_errors(measure_all), [state], [standing, kept], **line)
        stop.click(stopped, None, [standing], cancels=[event], **AT_ONCE)
        stop_goes(stop, event)


def stopped(request: gr.Request) -> Markup:
    """End the reader's own measurement."""
    stops(MEASUREMENTS)(request)
    return note(texts.STOPPED)


def show_choice(
    state: PageState | None,
    kept: Measured | None,
    *wishes: Any,  # noqa: ANN401 - two limits, the score's name and its limit
) -> list[Markup | str]:
    """The advice by what is known now; no model runs."""
    from explorer.views.tasks.choose import choose_canvas, choose_table

    if state is None:
        return ["", "", ""]
    size, time, score, least = wishes
    specs, limits = specs_of(state), texts.limits_from(size, time, least)
    if kept is not None and kept.names != tuple(spec.name for spec in specs.values()):
        kept = None
    candidates = candidates_of(state, kept, score)
    found = advice(candidates, limits)
    titles = texts.TITLES | {"score": texts.TITLES["score"].format(score=texts.SCORES[score])}
    return [
        texts.choose_finding((found, limits), candidates, specs),
        choose_canvas(specs, candidates, (found, limits), titles),
        join(choose_table(specs, candidates, texts.verdicts(found), texts.HEAD), note(texts.NOTE)),
    ]


def candidates_of(state: PageState, kept: Measured | None, score: str) -> dict[str, Candidate]:
    """Size from the shapes, score from the cards or the press, time from the press."""
    from explorer.analysis.latency.family import stored_parameters

    times = kept.milliseconds if kept else {}
    scores = card_scores(state, score) if score not in texts.RUN_HERE else {}
    if kept:
        scores |= kept.shares.get(score, {})
    n_bytes = 4 if state.dtype == "float32" else 2
    found = {}
    for key, spec in specs_of(state).items():
        size = stored_parameters(spec) * n_bytes / 1e6
        found[key] = Candidate(Figure(size, size, size), times.get(key), scores.get(key))
    return found


def card_scores(state: PageState, task: str) -> dict[str, Figure]:
    """What the cards of the adapters say."""
    from explorer.analysis.tasks.kept import tuned_scores

    cards, _ = cards_of(state, task)
    found = tuned_scores(cards, task, distilled_pair()[0])
    return {key: Figure(one.value, one.low, one.high) for key, one in found.items()}


def measure_all(state: PageState | None, request: gr.Request | None = None) -> Iterator[list[Any]]:
    """The sentences read by every model, then the models timed; what was found, at the end."""
    from explorer.analysis.latency.family import measure_family, plan_for

    if state is None:
        return
    runs, _ = get_runs(state)
    specs, sentences = tuple(run.spec for run in runs.values()), assets.sentences()
    words: dict[str, list[str]] = {spec.key: [] for spec in specs}
    for done, answers in enumerate(read_sentences(specs, state)):
        for key, word in answers.items():
            words[key].append(word)
        if done % 6 == 0:
            yield [note(texts.READING.format(done=done, n=len(sentences))), gr.skip()]
    workload = workload_of(state, max(len(run.tokens) for run in runs.values()))

    def job(sign: StopSign) -> Iterator[Any]:
        yield from measure_family(specs, workload, plan_for(workload, BUDGET_S), sign)

    shares = shares_of(words, [one["answer"] for one in sentences])
    draw = partial(drawn, state, workload, shares)
    yield from running(MEASUREMENTS, job, request, draw)


def workload_of(state: PageState, n_tokens: int) -> Workload:
    """One text of this length where the page runs."""
    device = device_of(state)
    length = min(max(n_tokens, 2), MAX_LENGTH)
    return Workload(length, 1, device, state.dtype, clock=clock_on(device, "compute"))


def read_sentences(specs: tuple[ModelSpec, ...], state: PageState) -> Iterator[dict[str, str]]:
    """Every model's first word for the gap of each of the page's sentences, one after the other."""
    states = [replace(state, text=one["text"]) for one in assets.sentences()]
    queues = {spec.key: [partial(first_word, spec, one) for one in states] for spec in specs}
    yield from in_rounds(queues)


def first_word(spec: ModelSpec, state: PageState) -> str:
    """The likeliest piece for the first gap, as a word."""
    run = get_run(spec, state)
    piece = run.vocabulary[int(run.mask_logits[0].argmax())]
    return spelling_of(run.vocabulary).word(piece).casefold()


def shares_of(words: Mapping[str, list[str]], answers: list[str]) -> dict[str, dict[str, Figure]]:
    """Hidden words found, and first words that are BERT's, with 95 % intervals (Wilson 1927)."""
    teacher = distilled_pair()[0]
    own = [answer.casefold() for answer in answers]
    found = {"right": {key: share(said, own) for key, said in words.items()}}
    if teacher in words:
        found["agreement"] = {key: share(said, words[teacher]) for key, said in words.items()}
        found["agreement"][teacher] = Figure(1.0, 1.0, 1.0)
    return found


def share(said: list[str], expected: list[str]) -> Figure:
    """How many of them are the same."""
    hits = sum(a == b for a, b in zip(said, expected, strict=True))
    return Figure(hits / len(said), *share_interval(hits, len(said)))


def drawn(
    state: PageState,
    workload: Workload,
    shares: Mapping[str, Figures],
    update: Update,
) -> list[Any]:
    """How the timing stands; at its end all that was found."""
    if update.place:
        return [note(PLACE.format(n=update.place)), gr.skip()]
    result: FamilyLatency | None = update.shot
    rounds = result.latency.n_rounds if result else 0
    if not update.done or result is None or not rounds:
        said = texts.NOT_TIMED if update.done else texts.TIMING.format(n=rounds + 1)
        return [note(texts.STOPPED if update.stopped else said), gr.skip()]
    rows = zip(result.rows, result.summary.models, strict=True)
    times = {row.spec.key: Figure(m.median_ms, m.low_ms, m.high_ms) for row, m in rows}
    names = tuple(spec.name for spec in specs_of(state).values())
    said = texts.timed_said(workload, rounds, len(assets.sentences()))
    return [note(said), Measured(names, workload, times, shares)]
