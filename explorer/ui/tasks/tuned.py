"""Tasks with a fine-tuned head: sentiment, question answering, and the scores of all of them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import gradio as gr

from explorer.library.tasks import Specs, ask_all, readable, tuned_family
from explorer.links.codec import LONGEST_LABELS, LONGEST_SPAN
from explorer.links.page_state import PageState
from explorer.models.choice.family import specs_by_key
from explorer.models.choice.labels import with_written_labels
from explorer.models.specs import distilled_pair
from explorer.models.tokens import MASK, SEPARATOR, plain_text
from explorer.refusal import Refusal
from explorer.ui.kit.canvas import with_save_menu
from explorer.ui.kit.errors import plain_errors, sentence_of
from explorer.ui.kit.folds import asks, fold
from explorer.ui.kit.running import LIGHT
from explorer.ui.kit.strings import EXAMPLES_LABEL, language_note
from explorer.ui.tasks import strings
from explorer.ui.tasks.labels import (
    choice_of_label,
    names_hint,
    show_labels,
    show_spans,
    with_own_head,
)
from explorer.views.markup import Markup, el, join, note, plain_card, refusal_message, script_json


def adapters_of(specs: Specs, task: str) -> dict[str, tuple[str, str]]:
    """Return by label the path of each model's adapter, see ``adapter_path``, and its checksum."""
    from explorer.models.task_heads.adapters import adapter_checksum, adapter_path

    adapters = {}
    for spec in specs.values():
        if spec.tuned_for == task:  # the checkpoint is the tuned model
            adapters[spec.label] = "", ""
            continue
        adapters[spec.label] = adapter_path(spec, task), adapter_checksum(spec, task)
    return adapters


def windows_of(specs: Specs) -> dict[str, tuple[int, int]]:
    """Return by label the length of a passage's windows, and their overlap, in tokens."""
    from explorer.models.task_heads.adapters import read_card
    from explorer.models.task_heads.windows import window_of

    return {
        spec.label: window_of(read_card(spec, "squad") or {}, spec.max_tokens)
        for spec in specs.values()
    }


FIRST_TEXT = strings.SENTIMENT_EXAMPLES[0][1]
FIRST_QUESTION = strings.QUESTION_EXAMPLES[0][1:]
CHOOSE = (
    "(chosen) => {{ const value = chosen === {nothing} ? '' : chosen ?? '';"
    " window.explorer.tell('choose', {{{field}: value}}); return value; }}"
)


def build_sentiment(state: gr.State) -> list[gr.components.Component]:
    """Build the text box with examples, what each head says, and the field for names of labels."""
    with asks("sentiment") as column:
        with gr.Row(elem_classes="asks-row"):
            text = gr.Textbox(
                FIRST_TEXT, label=strings.SENTIMENT_LABEL, max_lines=8, max_length=4000
            )
            classify = gr.Button(strings.CLASSIFY, variant="primary")
        chips = examples([label for label, _ in strings.SENTIMENT_EXAMPLES])
    spans = gr.HTML()
    choice = gr.Dropdown([], label=strings.WHICH_SPAN, visible="hidden", elem_classes="te-which")
    span = gr.Textbox(visible="hidden", max_length=LONGEST_SPAN)
    why = gr.HTML()
    which = gr.Dropdown([], label=strings.WHICH_LABEL, visible="hidden", elem_classes="te-which")
    label = gr.Textbox(visible="hidden", max_length=LONGEST_SPAN)
    html = gr.HTML()
    names = gr.Textbox(
        label=strings.LABEL_NAMES,
        info=strings.NAMES_NOTE,
        visible="hidden",
        max_length=LONGEST_LABELS,
    )
    drawn = [spans, choice, span, why, which, label, html]
    triggers, inputs = [text.submit, classify.click, names.submit], [state, text, names]
    chosen = [*inputs, span, label]
    events = [gr.on(triggers, plain_errors(show_classification), chosen, drawn, **LIGHT)]
    for chip, (_, example) in zip(chips, strings.SENTIMENT_EXAMPLES, strict=True):
        handler = plain_errors(tries(show_classification, example))
        events.append(chip.click(handler, [state, names], [text, *drawn], **LIGHT))
    hold(events, sentiment=text, labels=names)
    on_choice(choice, span, "span").then(plain_errors(show_span), [*inputs, span], [why], **LIGHT)
    on_choice(which, label, "label").then(
        plain_errors(show_label), [*inputs, label], [html], **LIGHT
    )
    return [column, text, names, *drawn]


def on_choice(choice: gr.Dropdown, box: gr.Textbox, field: str) -> gr.events.Dependency:
    """Put what is chosen into a hidden box, and into the link's field."""
    js_code = CHOOSE.format(nothing=script_json(strings.OWN_LABEL), field=field)
    return choice.input(None, [choice], [box], js=js_code, api_visibility="private")


def examples(labels: Sequence[str]) -> list[gr.Button]:
    """Build a row of example buttons, like the one of the page's own box."""
    with gr.Row(elem_classes="tries"):
        gr.HTML(el("span", EXAMPLES_LABEL, class_="lead"))
        return [gr.Button(label, elem_classes="chip") for label in labels]


def hold(events: list[gr.events.Dependency], **boxes: gr.Textbox) -> None:
    """Write the values of the boxes into the link after each event, a field per box name."""
    names = ", ".join(boxes)
    js_code = f"({names}) => {{ window.explorer.tell('choose', {{{names}}}); }}"
    for event in events:
        event.then(None, list(boxes.values()), None, js=js_code, api_visibility="private")


def tries(show: Callable[..., Any], *example: str) -> Callable:
    """Return the handler of an example button: it fills the boxes and shows the answers."""

    def handler(state: PageState | None, *others: str) -> tuple[Any, ...]:
        shown = show(state, *example, *others)
        return *example, *(shown if isinstance(shown, list) else [shown])

    return handler


def sentiment_values(state: PageState) -> list[object]:
    """Return the section's values for the page's text, or an example if that has a mask."""
    plain = plain_text(state.text)
    own = with_own_head(state, "classes", "tokens")
    is_for_none = MASK in plain or "|" in plain or (SEPARATOR in plain and not own)
    text = state.sentiment or (FIRST_TEXT if is_for_none else plain)
    models, _ = tuned_family(state.ask, "sst2")
    named = own | {key: spec for key, spec in models.items() if spec.tuned_for == "sst2"}
    hint = names_hint(named)
    return [
        gr.Column(visible=bool(models | own)),
        text,
        gr.Textbox(value=state.labels, placeholder=hint, visible=bool(named) or "hidden"),
        *show_spans(state, text, state.span),
        *(choice_of_label(state), state.label),
        show_sentiment(state, text),
    ]


def show_classification(
    state: PageState | None, text: str, names: str, span: str = "", label: str = ""
) -> list[Any]:
    """Return what each head says of a text, with the reader's names for its labels."""
    if state is None:
        return [gr.skip()] * 7
    state = replace(state, labels=names, label=label)
    which = choice_of_label(state), label
    return [*show_spans(state, text, span), *which, show_sentiment(state, text)]


def show_label(state: PageState | None, text: str, names: str, label: str) -> Markup | str:
    """Return what each head says of a text, and why it gives a chosen label its value."""
    return "" if state is None else show_sentiment(replace(state, labels=names, label=label), text)


def show_span(state: PageState | None, text: str, names: str, span: str) -> Markup | str:
    """Return why a chosen span is labelled so."""
    return "" if state is None else show_spans(replace(state, labels=names), text, span)[-1]


def section(
    state: PageState | None, task: str, say: Callable[[Specs, PageState], tuple[Markup, Markup]]
) -> Markup | str:
    """Return the tuned models' answers (finding and picture), and cards of the others.

    A refused question is shown as a message in place of the answers.
    """
    if state is None:
        return ""
    specs, missing = tuned_family(state.ask, task)
    others = with_own_head(state, "classes", "tokens") if task == "sst2" else {}
    cards = cards_of(state, {key: why for key, why in missing.items() if key not in others})
    if not specs:
        return cards
    own_heads = [spec.label for spec in specs.values() if spec.tuned_for == task]
    try:
        message, picture = say(specs, state)
    except Refusal as error:
        return join(refusal_message(sentence_of(error)), cards)
    return join(
        message,
        picture,
        cards,
        *(note(strings.BROUGHT.format(label=label)) for label in own_heads),
    )


def show_sentiment(state: PageState | None, text: str) -> Markup | str:
    """Return the finding, the attributions, and the cards of models without an adapter."""
    from explorer.analysis.tasks.tuned import tuned_sentiment
    from explorer.views.labels import word_sentiment_html, word_sentiment_records

    def say(specs: Specs, state: PageState) -> tuple[Markup, Markup]:
        segment = readable(text)
        results = ask_all(specs, state.ask, tuned_sentiment, segment)
        picture = with_save_menu(
            "tasks/sentiment",
            join(
                word_sentiment_html(results, specs, strings.SENTIMENT),
                note(strings.SENTIMENT_NOTE),
            ),
            word_sentiment_records(results, specs, segment, adapters_of(specs, "sst2")),
        )
        message = join(
            strings.sentiment_finding(results, specs), language_note(specs.values(), segment)
        )
        return message, picture

    of_sentiment = section(state, "sst2", say)
    if state is None:
        return of_sentiment
    _, refused = with_written_labels(state.ask.specs, state.labels)
    return join(
        show_labels(state, text), of_sentiment, refusal_message(refused) if refused else None
    )


def build_question(state: gr.State) -> list[gr.components.Component]:
    """Build the boxes for question and passage with examples, and the answers."""
    with asks("question") as column:
        with gr.Row(elem_classes="asks-row"):
            question = gr.Textbox(FIRST_QUESTION[0], label=strings.QUESTION_LABEL, max_length=4000)
            passage = gr.Textbox(
                FIRST_QUESTION[1],
                label=strings.PASSAGE_LABEL,
                lines=2,
                max_lines=12,
                max_length=1_100_000,
            )
            find = gr.Button(strings.ASK, variant="primary")
        chips = examples([label for label, *_ in strings.QUESTION_EXAMPLES])
    html = gr.HTML()
    events = [
        gr.on(
            [question.submit, passage.submit, find.click],
            plain_errors(show_question),
            [state, question, passage],
            [html],
            **LIGHT,
        )
    ]
    for chip, (_, *example) in zip(chips, strings.QUESTION_EXAMPLES, strict=True):
        handler, outputs = plain_errors(tries(show_question, *example)), [question, passage, html]
        events.append(chip.click(handler, [state], outputs, **LIGHT))
    hold(events, question=question, passage=passage)
    return [column, question, passage, html]


def question_values(state: PageState) -> list[object]:
    """Return the section's values for the last question, or for an example."""
    models, _ = tuned_family(state.ask, "squad")
    inputs = state.question or FIRST_QUESTION[0], state.passage or FIRST_QUESTION[1]
    return [gr.Column(visible=bool(models)), *inputs, show_question(state, *inputs)]


def show_question(state: PageState | None, question: str, passage: str) -> Markup | str:
    """Return the answers, their spans in the passage, and cards of untuned models."""
    from explorer.analysis.tasks.tuned import tuned_answer
    from explorer.models.task_heads.classifiers import read_passage
    from explorer.views.tasks import answer_spans_html, answer_spans_records

    def say(specs: Specs, state: PageState) -> tuple[Markup, Markup]:
        read_text = read_passage(passage)
        results = ask_all(specs, state.ask, tuned_answer, question, read_text)
        inputs, adapters = (plain_text(question), read_text), adapters_of(specs, "squad")
        picture = with_save_menu(
            "tasks/question",
            join(
                answer_spans_html(results, specs, read_text, strings.SENTIMENT_QUESTION),
                note(strings.QUESTION_NOTE),
            ),
            answer_spans_records(results, specs, inputs, adapters, windows_of(specs)),
        )
        message = join(
            strings.question_finding(results, specs, read_text),
            language_note(specs.values(), inputs[0], read_text),
        )
        return message, picture

    return section(state, "squad", say)


def cards_of(state: PageState, lacking: dict[str, str]) -> Markup | str:
    """Return a card with the reason for each model without a head for the task."""
    specs = specs_by_key(state.family)
    cards = [plain_card(specs[key].label, reason, key) for key, reason in lacking.items()]
    return el("div", *cards, class_="columns") if cards else ""


def build_fine_tuning_fold(state: gr.State) -> None:
    """Build the tables of measured and of printed scores."""
    with fold("tasks", "tuned", strings.FOLD) as section:
        html = gr.HTML()
        section.on_open(show_kept, [state], [html])


def show_kept(state: PageState) -> Markup | str:
    """Return each task's table with its training schedule, and the papers' table below."""
    measured = [part for task in strings.NAMES for part in task_parts(state, task)]
    return join(*measured, printed(), note(strings.printed_note()))


def task_parts(state: PageState, task: str) -> list[Markup]:
    """Return one task's table of scores, its schedule, and the models without an adapter."""
    from explorer.analysis.tasks.scores import fitting_cards, tuned_scores
    from explorer.views.tasks import tuned_records, tuned_table

    specs = specs_by_key(state.family)
    cards, missing = fitting_cards(specs, task)
    if not cards:
        return [note(strings.NAMES[task], ": ", *(f"{reason} " for reason in missing.values()))]
    scores = tuned_scores(cards, task, distilled_pair()[0])
    html = tuned_table(scores, cards, specs, strings.HEAD, strings.NAMES[task])
    numbers = tuned_records(scores, cards, specs, task)
    parts = [with_save_menu(f"tasks/{task}", html, numbers, is_picture=False)]
    parts += [note(strings.how_learned(card)) for card in list(cards.values())[:1]]
    full_notes = [
        strings.full_said(specs[k].label, card, task) for k, card in cards.items() if card["full"]
    ]
    return [*parts, *map(note, full_notes), *map(note, missing.values())]


def printed() -> Markup:
    """Return the papers' own figures for the same tasks."""
    from explorer.analysis.tasks.scores import printed_shares
    from explorer.views.tasks import printed_records, printed_table

    shares = printed_shares()
    html = printed_table(shares, strings.PRINTED_HEAD, strings.PRINTED)
    return with_save_menu("tasks/printed", html, printed_records(shares), is_picture=False)
