"""Fold of Depth on one word in two sentences: how close its vectors are at every layer."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr

from explorer.analysis.alignment import AlignedWord
from explorer.inference.ask import Ask
from explorer.inference.runs import get_runs
from explorer.library import vectors as library
from explorer.library.vectors import ModelVectors, Unrelated
from explorer.links.codec import LINK_TEXT_LIMIT
from explorer.links.page_state import PageState
from explorer.models.run import Run
from explorer.models.tokens import plain_text
from explorer.refusal import Refusal
from explorer.scheduling.cancel import CancelToken
from explorer.scheduling.job_queue import JobQueue, JobUpdate
from explorer.ui.depth import strings
from explorer.ui.kit.canvas import Chart
from explorer.ui.kit.folds import fold
from explorer.ui.kit.jobs import Job, Steps, status, stepped
from explorer.views.markup import Markup, el, join, note

MAX_LETTERS = 60
"""Upper limit of a word."""


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """A word in its sentence, and its vectors."""

    text: str
    word: AlignedWord
    at: int
    """The word's number among those that all models read."""
    times: int
    """Number of its occurrences in the sentence; this is the first one."""
    models: Mapping[str, ModelVectors]


@dataclass(frozen=True, slots=True, eq=False)
class MeaningQuestion:
    """Two uses of a word, and the models that read both."""

    ask: Ask
    labels: Mapping[str, str]
    uses: tuple[Use, Use]


def build_fold(state: gr.State) -> None:
    """Build the boxes for two sentences and a word in each, and a chart for each model."""
    with fold("depth", "meaning", strings.MEANING_FOLD) as section:
        boxes: list[gr.Textbox] = []
        for label, (sentence, its_word) in zip(
            strings.MEANING_SENTENCES, strings.MEANING_EXAMPLE, strict=True
        ):
            with gr.Row():
                limits: dict[str, Any] = {"max_lines": 3, "max_length": LINK_TEXT_LIMIT}
                options: dict[str, Any] = {"placeholder": sentence, "min_width": 240, **limits}
                boxes.append(gr.Textbox(label=label, scale=4, **options))
                boxes.append(
                    gr.Textbox(
                        label=strings.MEANING_WORD,
                        placeholder=its_word,
                        max_lines=1,
                        max_length=MAX_LETTERS,
                        min_width=140,
                    )
                )
        with gr.Row():
            run = gr.Button(strings.CHANGED_RUN, size="sm", elem_classes="dk-stop")
            stop = gr.Button(
                strings.SIMILARITY_STOP, size="sm", elem_classes="dk-stop", visible=False
            )
        first, word, second, other = boxes
        section.keep_texts(first=first, second=second).keep("meaning", word=word, other=other)
        outputs = [gr.HTML(), Chart("depth/meaning"), gr.HTML()]
        again = [run.click, *(box.submit for box in boxes)]
        section.on_open_job(MEANING, [state, *boxes], outputs, stop, also=again)


def ask(state: PageState | None, *typed: str) -> Generator[list[Any], None, MeaningQuestion | None]:
    """Run both sentences and find the words; draw why they cannot be compared."""
    if state is None:
        return None
    try:
        found = read(state, typed)
    except Refusal as refusal:
        found = str(refusal)
    if isinstance(found, str):
        yield [note(found), "", ""]
        return None
    return found


def read(state: PageState, typed: Sequence[str]) -> MeaningQuestion | str:
    """Return both uses of a word, or why there are none; an empty box means its example.

    Raises:
        Refusal: a model cannot read a sentence.
    """
    examples = [part for example in strings.MEANING_EXAMPLE for part in example]
    given = [plain_text(box or "") or part for box, part in zip(typed, examples, strict=True)]
    texts, words = given[::2], given[1::2]
    runs = [get_runs(replace(state.ask, text=text))[0] for text in texts]
    if not all(runs):
        return strings.SIMILARITY_NO_MODEL
    uses = []
    for word, sentence, models in zip(words, strings.MEANING_SENTENCES, runs, strict=True):
        use = use_of(models, word, sentence)
        if isinstance(use, str):
            return use
        uses.append(use)
    specs = {key: run.spec for key, run in runs[0].items() if key in runs[1]}
    labels = {key: spec.label for key, spec in specs.items()}
    ask_of_both = replace(state.ask, text=texts[0], specs=specs)
    return MeaningQuestion(ask_of_both, labels, (uses[0], uses[1]))


def use_of(runs: Mapping[str, Run], word: str, sentence: str) -> Use | str:
    """Return the first use of a word in a sentence, in upper or lower case, or why there is none.

    Raises:
        Refusal: the models read no word of the sentence.
    """
    tokens = {key: run.tokens for key, run in runs.items()}
    words, _ = next(iter(library.places_of(tokens, "words").values()))
    found = [at for at, one in enumerate(words) if one.text.casefold() == word.casefold()]
    if not found:
        return strings.no_such_word(word, sentence, [one.text for one in words])
    text = next(iter(tokens.values())).text
    return Use(text, words[found[0]], found[0], len(found), library.pooled(runs, "words"))


def compare(question: MeaningQuestion, cancel_token: CancelToken) -> Steps:
    """Run the unrelated sentences, and return the cosines of their words."""
    steps = library.unrelated(question.ask, "words")
    return stepped(steps, library.UNRELATED, cancel_token)


def draw(question: MeaningQuestion, update: JobUpdate) -> list[Any]:
    """Return the job's progress, or the finding, the charts and the remarks."""
    if update.result is None:
        texts = strings.MEANING_PROGRESS, strings.SIMILARITY_STOPPED
        return [status(update, *texts, library.UNRELATED), gr.skip(), gr.skip()]
    return [*draw_meaning(question, update.result)]


MEANING = Job(
    "show_meaning",
    JobQueue("meaning"),
    ask,
    compare,
    draw,
    lambda question: library.key_of_control(question.ask, "words"),
)


def draw_meaning(question: MeaningQuestion, control: Unrelated) -> tuple[str, str, str]:
    """Return the finding above both sentences, a chart for each model, and the remarks."""
    from explorer.views.depth.meaning import meaning_canvas

    first, second = question.uses
    sides, places = (first.models, second.models), (first.at, second.at)
    found = library.beside_unrelated(sides, places, control)
    compared = {key: (one.cosine, one.unrelated, one.low, one.high) for key, one in found.items()}
    words = (first.word.text, second.word.text)
    uses = [(use.text, use.word.start, use.word.end) for use in question.uses]
    said = [strings.closeness(question.labels[key], one) for key, one in found.items()]
    return (
        join(strings.meaning_finding(words, compared, question.labels), shown(question.uses)),
        meaning_canvas(compared, question.labels, uses, control.places, strings.MEANING),
        join(
            note(" ".join(said)),
            *map(note, repeated(question.uses)),
            note(strings.MEANING_NOTE.format(n=len(control.places))),
        ),
    )


def shown(uses: tuple[Use, Use]) -> Markup:
    """Return both sentences, the words that are compared marked."""
    lines = [
        el(
            "li",
            use.text[: use.word.start],
            el("mark", use.text[use.word.start : use.word.end]),
            use.text[use.word.end :],
            dir="auto",
        )
        for use in uses
    ]
    return el("ol", *lines, class_="dv-uses")


def repeated(uses: tuple[Use, Use]) -> list[str]:
    """Return which sentences have their word more than once."""
    return [
        strings.MEANING_REPEATED.format(sentence=sentence, word=use.word.text, n=use.times)
        for sentence, use in zip(strings.MEANING_SENTENCES, uses, strict=True)
        if use.times > 1
    ]
