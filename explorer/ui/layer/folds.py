"""Folds of Layer: steps of an answer, reduced contexts, an LSTM beside a layer."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import gradio as gr

from explorer import assets
from explorer.analysis.digits import percent, signed, time_ratio
from explorer.inference.cache import key_of_family
from explorer.inference.runs import Runs, call_on_model, gather, runs_with_mlm_head
from explorer.library.layer import FollowedWord, contexts_of, followed_word
from explorer.links.page_state import PageState, hidden_words
from explorer.models.choice.family import family_specs
from explorer.models.run import Run, answer_id
from explorer.models.specs import ModelSpec
from explorer.models.tokens import MASK, BadText, spelling_of, word_id
from explorer.refusal import Refusal
from explorer.scheduling.cancel import CancelToken
from explorer.scheduling.job_queue import MEASUREMENTS, JobQueue, JobUpdate
from explorer.scheduling.measurement_lock import MEASUREMENT_LOCK
from explorer.ui.kit.asked import with_runs
from explorer.ui.kit.canvas import Chart, ran_with, with_save_menu
from explorer.ui.kit.folds import fold
from explorer.ui.kit.jobs import Job, Progress, Steps, job_buttons, parts, shown, status
from explorer.ui.layer import strings
from explorer.views.markup import (
    Markup,
    finding,
    join,
    listed,
    model_name,
    note,
    table,
    why_missing,
)
from explorer.views.markup import word as as_word

if TYPE_CHECKING:
    from explorer.analysis.layer import AnswerSteps, ContextAnswers, RecurrentPoint


def build_job(state: gr.State, label: str, chart: Chart, job: Job) -> None:
    """Build a start and a stop button, a sentence and the chart, not rendered yet, of a job."""
    with gr.Row(elem_classes="lt-buttons ly-press"):
        start = gr.Button(label, variant="primary", scale=0, min_width=280)
        stop = gr.Button(strings.STOP, visible=False, scale=0, min_width=90)
    job_buttons({start.click: job}, [state], [gr.HTML(), chart.render()], stop)


def build(state: gr.State) -> None:
    """Build the button that times an LSTM beside a layer, and its chart, in an accordion."""
    with gr.Accordion(strings.RECURRENT_MORE, open=False, elem_id="layer-more"):
        build_job(state, strings.TIME, Chart("layer/recurrent", render=False), RECURRENT)


def time_both(spec: ModelSpec, cancel_token: CancelToken) -> Steps:
    """Time layer and LSTM at several lengths."""
    from explorer.analysis.layer import LENGTHS, measure_recurrent

    with MEASUREMENT_LOCK.measure():
        return (yield from parts(measure_recurrent(spec, cancel_token, LENGTHS)))


def draw_both(spec: ModelSpec, update: JobUpdate) -> list[Any]:
    """Return the finding so far and the chart; no chart before the first point."""
    from explorer.analysis.layer import LENGTHS
    from explorer.views.layer.folds import recurrent_canvas

    points = shown(update) or ()
    if not points:
        return [status(update, strings.POINTS, strings.STOPPED, len(LENGTHS)), gr.skip()]
    progress_text = strings.POINTS.format(done=len(points), n=len(LENGTHS))
    progress = None if len(points) == len(LENGTHS) else note(progress_text)
    canvas = recurrent_canvas(points, spec.key, strings.RECURRENT)
    return [join(progress, *_found(points, spec)), canvas]


RECURRENT = Job(
    "time_both",
    MEASUREMENTS,
    lambda state: family_specs((state or PageState()).family)[0],
    time_both,
    draw_both,
)


def _found(points: "tuple[RecurrentPoint, ...]", spec: "ModelSpec") -> tuple[Markup, Markup]:
    """Return the finding at the shortest and the longest text, and a note on the conditions."""
    sentences = ""
    for point in dict.fromkeys((points[0], points[-1])):
        ratio, sentence = (
            point.ratio,
            strings.RECURRENT_LAST if sentences else strings.RECURRENT_FOUND,
        )
        low, high = time_ratio(ratio.low), time_ratio(ratio.high)
        ends = f"{low} to {high}" if ratio.is_sure else strings.NO_INTERVAL
        sentences += sentence.format(n=point.length, ratio=time_ratio(ratio.ratio), ends=ends)
    last = points[-1]
    conditions = strings.RECURRENT_NOTE.format(
        model=spec.label,
        d=spec.architecture.d_model,
        share=percent(last.flops[1] / last.flops[0]),
        n=last.length,
    )
    return finding(sentences, "."), note(conditions)


MAX_WORD = 60


def build_steps_fold(state: gr.State) -> None:
    """Build the box for another word, the finding, and a waterfall chart for each model."""
    with fold("layer", "steps", strings.STEPS_FOLD) as section:
        with gr.Row(elem_classes="ly-ask"):
            box = gr.Textbox(
                label=strings.STEP_WORD, max_lines=1, max_length=MAX_WORD, scale=4, min_width=240
            )
            button = gr.Button(strings.STEP_FIND, size="md", scale=0, min_width=110)
        outputs = [gr.HTML(), Chart("layer/steps")]
        section.keep("steps", word=box)
        section.on_open(show_steps, [state, box], outputs, also=[button.click, box.submit])


@with_runs
def show_steps(state: PageState, text_runs: Runs, typed: str | None = "") -> list[Any]:
    """Return finding and charts of the followed word's token, or a message."""
    from explorer.views.layer.folds import steps_canvas

    runs, missing = text_runs.with_mlm_head
    if not runs:
        return [why_missing(missing), ""]
    word = followed_word(runs, state.at)
    if word is None:
        return [note(strings.NO_WORD), ""]
    ids, unknown = answer_ids(runs, word, state, (typed or "").strip())
    runs = {key: runs[key] for key in ids}
    steps = steps_of(runs, word, state, ids)
    labels = {key: run.spec.label for key, run in runs.items()}
    names = {key: shown_word(runs[key], i) for key, i in ids.items()}
    constants = {
        "POSITIONS": {labels[key]: word.positions(key)[0] for key in runs},
        "IDS": {labels[key]: ids[key] for key in runs},
    }
    message = join(steps_finding(steps, labels, names), note(unknown) if unknown else None)
    return [message, steps_canvas(steps, labels, names, constants, strings.STEPS)]


def shown_word(run: Run, token_id: int) -> str:
    """Return a token as readers spell it."""
    return spelling_of(run.vocabulary).word(run.vocabulary[token_id])


def answer_ids(
    runs: Mapping[str, Run], word: FollowedWord, state: PageState, typed: str
) -> tuple[dict[str, int], str]:
    """Return token ids by model: of the typed word, else of each head's own first word.

    The sentence returned beside them names the models, left out here, whose vocabularies lack
    the typed word.

    Raises:
        BadText: the typed word is a single token of no vocabulary.
    """
    if not typed or typed == MASK:
        return {key: _own_answer(run, word, state) for key, run in runs.items()}, ""
    all_ids = {key: word_id(r.vocabulary, typed, r.spec.lower_case) for key, r in runs.items()}
    labels = [runs[key].spec.label for key, token_id in all_ids.items() if token_id < 0]
    unknown = strings.UNKNOWN_WORD.format(word=typed, models=" or ".join(labels))
    ids = {key: token_id for key, token_id in all_ids.items() if token_id >= 0}
    if not ids:
        raise BadText(unknown)
    return ids, unknown if labels else ""


def _own_answer(run: Run, word: FollowedWord, state: PageState) -> int:
    from explorer.models.forward import state_logits

    last = run.hidden_states[-1, word.positions(run.spec.key)[0]]
    logits = call_on_model(state_logits, run.spec, state.ask, last)
    return answer_id(logits, run.vocabulary)


def steps_of(
    runs: Mapping[str, Run], word: FollowedWord, state: PageState, ids: Mapping[str, int]
) -> "dict[str, AnswerSteps]":
    """Compute the answer's steps in every model in parallel; the encoders do not run again."""
    jobs = [partial(_steps, run, word, state, ids[key]) for key, run in runs.items()]
    return dict(zip(runs, gather(jobs), strict=True))


def _steps(run: Run, word: FollowedWord, state: PageState, token_id: int) -> "AnswerSteps":
    from explorer.analysis.layer import answer_steps
    from explorer.models.forward import state_logits
    from explorer.models.inside.activations import block_states

    position = word.positions(run.spec.key)[0]
    states = call_on_model(block_states, run.spec, state.ask, run.hidden_states, position)
    return answer_steps(call_on_model(state_logits, run.spec, state.ask, states), token_id)


def steps_finding(
    by_model: "Mapping[str, AnswerSteps]", labels: Mapping[str, str], words: Mapping[str, str]
) -> Markup:
    """Return the three largest steps of every model."""
    parts = []
    for key, steps_of_model in by_model.items():
        steps = [
            strings.STEP.format(
                layer=layer + 1,
                block=strings.STEPS["blocks"][block],  # type: ignore[index]
                step=signed(step),
            )
            for layer, block, step in steps_of_model.largest
        ]
        name = model_name(key, labels[key])
        parts.append(join(name, " for ", as_word(words[key]), ": ", listed(steps)))
    return finding("Largest steps. ", *(join(part, ". ") for part in parts))


AT_ONCE = 6
"""Sentences that are read between two steps of the job."""


def build_contexts_fold(state: gr.State) -> None:
    """Build the table of the text's contexts, and the job over all bundled sentences."""
    with fold("layer", "contexts", strings.CONTEXTS_FOLD) as section:
        answers = gr.HTML()
        section.on_open(show_contexts, [state], [answers])
        label = strings.MANY.format(n=len(assets.sentences()))
        build_job(state, label, Chart("layer/held_out", render=False), HELD_OUT)
        build(state)


@with_runs
def show_contexts(state: PageState, text_runs: Runs) -> str:
    """Return the table of the six readings at the page's mask."""
    from explorer.views.layer.folds import context_records, context_rows

    runs, missing = text_runs.with_mlm_head
    if not runs:
        return why_missing(missing)
    n = min((len(run.tokens.mask_positions) for run in runs.values()), default=0)
    if not n:
        return note(strings.NO_MASK)
    mask = min(state.mask, n - 1)
    answers = {
        key: masks[mask] for key, masks in contexts_of(runs, state.ask, hidden_words(state)).items()
    }
    labels = {key: run.spec.label for key, run in runs.items()}
    head, rows = context_rows(answers, labels, strings.CONTEXTS)
    mask_note = strings.MASK_OF.format(i=mask + 1, n=n) if n > 1 else ""
    notes = join(note(mask_note, strings.CONTEXTS_NOTE), note(str(strings.CONTEXTS["upper"])))
    numbers = context_records(answers, labels, _constants(runs, answers, mask))
    return join(
        with_save_menu("layer/contexts", table(head, rows), numbers, is_picture=False), notes
    )


def _constants(
    runs: Mapping[str, Run], answers: "Mapping[str, ContextAnswers]", mask: int
) -> dict[str, object]:
    from explorer.models.inside.interventions import shuffled

    orders = {run.spec.label: list(shuffled(run.tokens)) for run in runs.values()}
    wanted = {run.spec.label: answers[key].wanted_id for key, run in runs.items()}
    return {"MASK": mask, "ORDERS": orders, "WANTED": wanted}


@dataclass(frozen=True, slots=True)
class HeldOutQuestion:
    """Models whose readings of all bundled sentences are scored."""

    state: PageState
    specs: Mapping[str, ModelSpec]
    missing: Mapping[str, Refusal]


def ask_scores(state: PageState | None) -> HeldOutQuestion | None:
    """Return the page's models that predict words.

    Raises:
        ModelUnavailable: not one of the models predicts words.
    """
    if state is None:
        return None
    runs, missing = runs_with_mlm_head(replace(state, text=assets.sentences()[0]["text"]).ask)
    if not runs:
        raise next(iter(missing.values()))
    return HeldOutQuestion(state, {key: run.spec for key, run in runs.items()}, missing)


def read_all(question: HeldOutQuestion, cancel_token: CancelToken) -> Steps:
    """Run every sentence, and return the scores by model key."""
    from explorer.analysis.layer import context_scores
    from explorer.models.inside.interventions import context_ranks

    ranks: dict[str, list[tuple[int, ...]]] = {key: [] for key in question.specs}
    for start in range(0, len(assets.sentences()), AT_ONCE):
        yield Progress(start, len(assets.sentences()))
        cancel_token.check()
        batch = assets.sentences()[start : start + AT_ONCE]
        jobs = [
            partial(
                call_on_model,
                context_ranks,
                spec,
                question.state.ask,
                sentence["text"],
                sentence["answer"],
            )
            for sentence in batch
            for spec in question.specs.values()
        ]
        results = iter(gather(jobs))
        for _ in batch:
            for key in question.specs:
                ranks[key].append(next(results))
    return context_scores(ranks)


def draw_scores(question: HeldOutQuestion, update: JobUpdate) -> list[Any]:
    """Return the job's progress, or the chart and why a model is not in it."""
    from explorer.views.layer.folds import held_out_canvas

    n, scores = len(assets.sentences()), update.result
    if scores is None:
        return [status(update, strings.PROGRESS, strings.STOPPED, n), gr.skip()]
    labels = {key: question.specs[key].label for key in scores}
    # The page may show other models by the time that a file is saved.
    header = {"text": None, "sentences": n} | ran_with(question.state)
    chart = held_out_canvas(scores, labels, strings.CONTEXTS, header)
    return [why_missing(question.missing) if question.missing else "", chart]


HELD_OUT = Job(
    "score_sentences",
    JobQueue("contexts"),
    ask_scores,
    read_all,
    draw_scores,
    lambda question: key_of_family("contexts", question.specs, question.state.ask),
)
