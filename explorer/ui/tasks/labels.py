"""Labels that models with heads of their own give to the text of the Tasks tab, and why."""

from collections.abc import Mapping
from typing import Any

import gradio as gr

from explorer.analysis.tasks.entities import WordTags, text_tags
from explorer.analysis.tasks.labels import PREDICTED, text_labels
from explorer.library.labels import ask_each, labels_of, why_label
from explorer.library.strings import labels_shared
from explorer.library.tasks import Specs, readable
from explorer.links.page_state import PageState
from explorer.models.tokens import clean_text
from explorer.refusal import Refusal, brief
from explorer.ui.kit.canvas import with_save_menu
from explorer.ui.kit.errors import sentence_of
from explorer.ui.kit.strings import language_note
from explorer.ui.tasks import strings
from explorer.views.entities import entities_html, entities_records
from explorer.views.labels import (
    span_why_html,
    span_why_records,
    text_labels_html,
    text_labels_records,
)
from explorer.views.markup import Markup, join, note, plain_cards, refusal_message


def with_own_head(state: PageState, *tasks: str) -> Specs:
    """Return the models that bring a head for one of the tasks, ``classes`` and ``tokens``.

    A sentiment head is none of these: Sentiment shows it.
    """
    return {
        key: spec
        for key, spec in state.ask.specs.items()
        if (head := spec.task_head) and head.task in tasks and not head.is_sentiment
    }


def show_spans(state: PageState, text: str, chosen: str) -> list[Any]:
    """Return the spans of the models with a token classifier, and why one of them is labelled so.

    Args:
        state: The page's state.
        text: The text.
        chosen: A span, which no model needs to give: its first word and its label, ``3:PER``. The
            first one that a model gives if there is no such word or label.

    Returns:
        The spans, the choice of one, the chosen one, and its words' parts; nothing is visible
        without such a model. A refused text is shown as a message in place of the spans.
    """
    specs, nothing = with_own_head(state, "tokens"), gr.Dropdown(choices=[], visible="hidden")
    if not specs:
        return ["", nothing, "", ""]
    try:
        readable(text)
        segment = clean_text(text)
        found, missing = ask_each(specs, state.ask, text_tags, segment)
    except Refusal as error:
        return [refusal_message(sentence_of(error)), nothing, "", ""]
    drawn = show_entities(specs, found, segment, missing)
    offered = strings.offered_spans(found, specs, segment, asked_span(chosen, specs))
    if not offered:
        return [drawn, nothing, "", ""]
    chosen = chosen if chosen in offered else next(iter(offered))
    choices = [(label, value) for value, label in offered.items()]
    choice = gr.Dropdown(choices=choices, value=chosen, visible=True)
    return [drawn, choice, chosen, show_why(specs, state, segment, chosen)]


def asked_span(chosen: str, specs: Specs) -> tuple[int, str] | None:
    """Return the word and the label of ``3:PER``; None unless a model's head knows the label."""
    first, _, label = chosen.partition(":")
    known = {name for spec in specs.values() for name in labels_of(spec, "tokens")}
    is_place = first.isascii() and first.isdigit()
    return (int(first), label) if is_place and label in known else None


def show_entities(
    specs: Specs, found: Mapping[str, WordTags], segment: str, missing: Mapping[str, str]
) -> Markup:
    """Return the finding and the spans of the models with a token classifier."""
    names = {key: labels_of(spec, "tokens") for key, spec in specs.items()}
    picture = with_save_menu(
        "tasks/entities",
        join(entities_html(found, specs, segment, strings.ENTITIES), note(strings.ENTITIES_NOTE)),
        entities_records(found, specs, segment),
    )
    return join(
        strings.entities_finding(found, specs),
        language_note(specs.values(), segment),
        *(note(sentence) for sentence in labels_shared(names)),
        picture,
        missing_cards(specs, missing),
    )


def show_why(specs: Specs, state: PageState, segment: str, chosen: str) -> Markup:
    """Return the words that each model reads the label of a span's first word from."""
    first, _, label = chosen.partition(":")
    word = int(first)
    try:
        found, missing = why_label(specs, state.ask, segment, label, word)
    except Refusal as error:
        return refusal_message(sentence_of(error))
    picture = with_save_menu(
        "tasks/why",
        join(span_why_html(found, specs, word, strings.LABELS), note(strings.WHY_NOTE)),
        span_why_records(found, specs, word, segment),
    )
    return join(
        strings.why_finding(found, specs, word),
        picture,
        missing_cards(specs, missing),
    )


def missing_cards(specs: Specs, missing: Mapping[str, str]) -> Markup:
    """Return a card with the reason for each model that has no answer."""
    return plain_cards({key: (specs[key].label, why) for key, why in missing.items()})


def names_hint(specs: Specs) -> str:
    """Return how the labels of the models' heads are named: as they are now."""
    return brief(
        "; ".join(
            strings.NAMES_HINT.format(key=key, labels=",".join(spec.task_head.labels))
            for key, spec in specs.items()
            if spec.task_head
        ),
        strings.LONGEST_HINT,
    )


def offered_labels(state: PageState) -> tuple[str, ...]:
    """Return the labels of all heads that label a text, in the order of the columns."""
    heads = [labels_of(spec) for spec in with_own_head(state, "classes").values()]
    return tuple(dict.fromkeys(label for labels in heads for label in labels))


def choice_of_label(state: PageState) -> gr.Dropdown:
    """Return the choice of the label that is explained: each model's own first one, or another."""
    offered = offered_labels(state)
    choices = [(label, label) for label in (strings.OWN_LABEL, *offered)]
    chosen = state.label if state.label in offered else strings.OWN_LABEL
    return gr.Dropdown(choices=choices, value=chosen, visible=bool(offered) or "hidden")


def show_labels(state: PageState, text: str) -> Markup | None:
    """Return the finding, the labels' values and the words of the first; None without such heads.

    A refused text is shown as a message in their place.
    """
    specs = with_own_head(state, "classes")
    if not specs:
        return None
    try:
        readable(text)
        segment = clean_text(text)
        values, missing = ask_each(specs, state.ask, text_labels, segment)
        answered = {key: specs[key] for key in values}
        chosen = state.label if state.label in offered_labels(state) else ""
        found, refused = why_label(answered, state.ask, segment, chosen or PREDICTED)
    except Refusal as error:
        return refusal_message(sentence_of(error))
    picture = with_save_menu(
        "tasks/labels",
        join(text_labels_html(values, found, specs, strings.LABELS), note(strings.LABELS_NOTE)),
        text_labels_records(values, found, specs, segment),
    )
    names = {key: labels_of(spec) for key, spec in state.ask.specs.items() if labels_of(spec)}
    say = strings.chosen_label_finding if chosen else strings.labels_finding
    return join(
        say(values, found, specs),
        language_note(specs.values(), segment),
        *(note(sentence) for sentence in labels_shared(names)),
        picture,
        missing_cards(specs, {**missing, **refused}),
    )
