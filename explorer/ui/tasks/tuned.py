"""Tasks with a fine-tuned head: sentiment and question answering."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

import gradio as gr

from explorer.assets import ROOT
from explorer.inference.runs import call_on_model, gather
from explorer.links.page_state import PageState
from explorer.models.choice.family import family_specs, specs_by_key
from explorer.models.specs import ModelSpec
from explorer.models.tokens import MASK, SEPARATOR, BadText, plain_text
from explorer.refusal import Refusal
from explorer.ui.kit.errors import plain_errors, sentence_of
from explorer.ui.kit.export import with_save_menu
from explorer.ui.kit.folds import asks
from explorer.ui.kit.running import LIGHT
from explorer.ui.kit.strings import EXAMPLES_LABEL, language_note
from explorer.ui.tasks import strings as texts
from explorer.views.markup import Markup, el, join, note, plain_card

Answer = TypeVar("Answer")
Specs = dict[str, ModelSpec]


def tuned_family(state: PageState, task: str) -> tuple[Specs, dict[str, str]]:
    """The models of a family that can do a task by key, and why the others cannot.

    Where any is missing its weights, that is the sentence; else how to make the adapter.
    """
    from explorer.models.hub import ModelUnavailable
    from explorer.models.task_heads.adapters import NotTuned, card_of

    found: Specs = {}
    lacking: dict[str, str] = {}
    for spec in family_specs(state.family):
        try:
            call_on_model(card_of, spec, state, task)
            found[spec.key] = spec
        except (NotTuned, ModelUnavailable) as error:
            lacking[spec.key] = str(error)
    return found, lacking


def ask_all(
    specs: Mapping[str, ModelSpec],
    state: PageState,
    ask: Callable[..., Answer],
    *question: str,
) -> dict[str, Answer]:
    """What every model says of one question; an answer that is kept runs no network."""
    jobs = [partial(call_on_model, ask, spec, state, *question) for spec in specs.values()]
    return dict(zip(specs, gather(jobs), strict=True))


def readable(text: str) -> str:
    """A text as the sentiment heads read it: one stretch, without [SEP].

    Raises:
        BadText: there is no word in it.
    """
    found = " ".join(plain_text(text).replace(SEPARATOR, " ").split())
    if not any(map(str.isalnum, found)):
        raise BadText(texts.NO_TEXT)
    return found


def adapters_of(specs: Specs, task: str) -> dict[str, tuple[str, str]]:
    """Where each model's adapter lies, for who stands in the repository, and its checksum."""
    from explorer.models.task_heads.adapters import adapter_checksum, adapter_folder

    found = {}
    for spec in specs.values():
        if spec.tuned_for == task:  # the checkpoint is the tuned model
            found[spec.label] = "", ""
            continue
        folder = adapter_folder(spec, task)
        at = folder.relative_to(ROOT) if folder.is_relative_to(ROOT) else folder
        found[spec.label] = at.as_posix(), adapter_checksum(spec, task)
    return found


def windows_of(specs: Specs) -> dict[str, tuple[int, int]]:
    """Tokens of the stretches in which each model reads a passage, and of what two share."""
    from explorer.models.task_heads.adapters import read_card

    cards = {spec.label: read_card(spec, "squad") or {} for spec in specs.values()}
    return {label: (card["window"], card["stride"]) for label, card in cards.items()}


FIRST_TEXT = texts.SENTIMENT_EXAMPLES[0][1]
FIRST_QUESTION = texts.QUESTION_EXAMPLES[0][1:]


def build_sentiment(state: gr.State) -> list[gr.components.Component]:
    """A text box with examples, and the words with their bars."""
    with asks("sentiment") as column:
        with gr.Row(elem_classes="asks-row"):
            text = gr.Textbox(FIRST_TEXT, label=texts.SENTIMENT_LABEL, max_lines=8, max_length=4000)
            classify = gr.Button(texts.CLASSIFY, variant="primary")
        chips = examples([label for label, _ in texts.SENTIMENT_EXAMPLES])
    picture = gr.HTML()
    inputs, pressed = [state, text], [text.submit, classify.click]
    asked = [gr.on(pressed, plain_errors(show_sentiment), inputs, [picture], **LIGHT)]
    for chip, (_, example) in zip(chips, texts.SENTIMENT_EXAMPLES, strict=True):
        tried, shown = plain_errors(tries(show_sentiment, example)), [text, picture]
        asked.append(chip.click(tried, [state], shown, **LIGHT))
    hold(asked, sentiment=text)
    return [column, text, picture]


def examples(labels: Sequence[str]) -> list[gr.Button]:
    """A row of examples, as the page's own box has one."""
    with gr.Row(elem_classes="tries"):
        gr.HTML(el("span", EXAMPLES_LABEL, class_="lead"))
        return [gr.Button(label, elem_classes="chip") for label in labels]


def hold(asked: list[gr.events.Dependency], **boxes: gr.Textbox) -> None:
    """From now on the link holds what is asked, each box as the field of its name."""
    names = ", ".join(boxes)
    told = f"({names}) => {{ window.explorer.tell('choose', {{{names}}}); }}"
    for event in asked:
        event.then(None, list(boxes.values()), None, js=told, api_visibility="private")


def tries(show: Callable[..., Markup | str], *example: str) -> Callable:
    """The handler of an example: what it is, and what is said of it."""

    def handler(state: PageState | None) -> tuple[Markup | str, ...]:
        return *example, show(state, *example)

    return handler


def sentiment_values(state: PageState) -> list[object]:
    """What the section shows for the page's text, or for an example where that has a gap."""
    plain = plain_text(state.text)
    own = FIRST_TEXT if MASK in plain or SEPARATOR in plain or "|" in plain else plain
    text = state.sentiment or own
    models, _ = tuned_family(state, "sst2")
    return [gr.Column(visible=bool(models)), text, show_sentiment(state, text)]


def section(
    state: PageState | None, task: str, say: Callable[[Specs, PageState], tuple[Markup, ...]]
) -> Markup | str:
    """What the tuned models say (finding, picture, remark), and cards of those that are not tuned.

    A question that cannot be asked is refused in its place.
    """
    if state is None:
        return ""
    specs, lacking = tuned_family(state, task)
    cards = cards_of(state, lacking)
    if not specs:
        return cards
    own = [spec.label for spec in specs.values() if spec.tuned_for == task]
    try:
        said, picture, remark = say(specs, state)
    except Refusal as error:
        return join(el("p", sentence_of(error), class_="message", role="alert"), cards)
    return join(
        said, picture, cards, remark, *(note(texts.BROUGHT.format(label=one)) for one in own)
    )


def show_sentiment(state: PageState | None, text: str) -> Markup | str:
    """The finding, the columns and the cards of those that are not tuned."""
    from explorer.analysis.tasks.tuned import judged
    from explorer.views.tasks import word_sentiment_html, word_sentiment_numbers

    def say(specs: Specs, state: PageState) -> tuple[Markup, ...]:
        read = readable(text)
        found = ask_all(specs, state, judged, read)
        picture = with_save_menu(
            "tasks/sentiment",
            word_sentiment_html(found, specs, texts.SENTIMENT),
            word_sentiment_numbers(found, specs, read, adapters_of(specs, "sst2")),
        )
        said = join(texts.sentiment_finding(found, specs), language_note(read))
        return said, picture, note(texts.SENTIMENT_NOTE)

    return section(state, "sst2", say)


def build_question(state: gr.State) -> list[gr.components.Component]:
    """A question and a passage with examples, and every model's answer."""
    with asks("question") as column:
        with gr.Row(elem_classes="asks-row"):
            question = gr.Textbox(FIRST_QUESTION[0], label=texts.QUESTION_LABEL, max_length=4000)
            passage = gr.Textbox(
                FIRST_QUESTION[1],
                label=texts.PASSAGE_LABEL,
                lines=2,
                max_lines=12,
                max_length=1_100_000,
            )
            find = gr.Button(texts.ASK, variant="primary")
        chips = examples([label for label, *_ in texts.QUESTION_EXAMPLES])
    picture = gr.HTML()
    asked = [
        gr.on(
            [question.submit, passage.submit, find.click],
            plain_errors(show_question),
            [state, question, passage],
            [picture],
            **LIGHT,
        )
    ]
    for chip, (_, *example) in zip(chips, texts.QUESTION_EXAMPLES, strict=True):
        tried, shown = plain_errors(tries(show_question, *example)), [question, passage, picture]
        asked.append(chip.click(tried, [state], shown, **LIGHT))
    hold(asked, question=question, passage=passage)
    return [column, question, passage, picture]


def question_values(state: PageState) -> list[object]:
    """What the section shows for the question that was asked last, or for an example."""
    models, _ = tuned_family(state, "squad")
    asked = state.question or FIRST_QUESTION[0], state.passage or FIRST_QUESTION[1]
    return [gr.Column(visible=bool(models)), *asked, show_question(state, *asked)]


def show_question(state: PageState | None, question: str, passage: str) -> Markup | str:
    """The answers, the strips over the passage, and the cards of those that are not tuned."""
    from explorer.analysis.tasks.tuned import answered
    from explorer.models.task_heads.classifiers import read_passage
    from explorer.views.tasks import answer_spans_html, answer_spans_numbers

    def say(specs: Specs, state: PageState) -> tuple[Markup, ...]:
        read = read_passage(passage)
        found = ask_all(specs, state, answered, question, read)
        asked, adapters = (plain_text(question), read), adapters_of(specs, "squad")
        picture = with_save_menu(
            "tasks/question",
            answer_spans_html(found, specs, read, texts.SENTIMENT_QUESTION),
            answer_spans_numbers(found, specs, asked, adapters, windows_of(specs)),
        )
        said = join(texts.question_finding(found, specs, read), language_note(asked[0], read))
        return said, picture, note(texts.QUESTION_NOTE)

    return section(state, "squad", say)


def cards_of(state: PageState, lacking: dict[str, str]) -> Markup | str:
    """One card for each model that cannot be asked, and why."""
    specs = specs_by_key(state.family)
    cards = [plain_card(specs[key].label, why, key) for key, why in lacking.items()]
    return el("div", *cards, class_="columns") if cards else ""
