"""Labels that models with heads of their own give to the text of the Tasks tab, and why."""

from explorer.analysis.tasks.entities import text_tags
from explorer.analysis.tasks.labels import PREDICTED, label_attribution, text_labels
from explorer.library.labels import ask_each, labels_of
from explorer.library.strings import labels_shared
from explorer.library.tasks import Specs, readable
from explorer.links.page_state import PageState
from explorer.models.tokens import clean_text
from explorer.refusal import Refusal
from explorer.ui.kit.canvas import with_save_menu
from explorer.ui.kit.errors import sentence_of
from explorer.ui.kit.strings import language_note
from explorer.ui.tasks import strings
from explorer.views.entities import entities_html, entities_records
from explorer.views.labels import text_labels_html, text_labels_records
from explorer.views.markup import Markup, join, note, plain_card, refusal_message


def with_own_head(state: PageState, *tasks: str) -> Specs:
    """Return the models that bring a head for one of the tasks, ``classes`` and ``tokens``.

    A sentiment head is none of these: Sentiment shows it.
    """
    return {
        key: spec
        for key, spec in state.ask.specs.items()
        if (head := spec.task_head) and head.task in tasks and not head.is_sentiment
    }


def show_entities(state: PageState, text: str) -> Markup | None:
    """Return the finding and the spans of the models with a token classifier; None without one.

    A refused text is shown as a message in their place.
    """
    specs = with_own_head(state, "tokens")
    if not specs:
        return None
    try:
        readable(text)
        segment = clean_text(text)
        found, missing = ask_each(specs, state.ask, text_tags, segment)
    except Refusal as error:
        return refusal_message(sentence_of(error))
    picture = with_save_menu(
        "tasks/entities",
        join(entities_html(found, specs, segment, strings.ENTITIES), note(strings.ENTITIES_NOTE)),
        entities_records(found, specs, segment),
    )
    return join(
        strings.entities_finding(found, specs),
        language_note(specs.values(), segment),
        picture,
        *(plain_card(specs[key].label, why, key) for key, why in missing.items()),
    )


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
        found, refused = ask_each(answered, state.ask, label_attribution, segment, PREDICTED)
    except Refusal as error:
        return refusal_message(sentence_of(error))
    picture = with_save_menu(
        "tasks/labels",
        join(text_labels_html(values, found, specs, strings.LABELS), note(strings.LABELS_NOTE)),
        text_labels_records(values, found, specs, segment),
    )
    names = {key: labels_of(spec) for key, spec in state.ask.specs.items() if labels_of(spec)}
    return join(
        strings.labels_finding(values, found, specs),
        language_note(specs.values(), segment),
        *(note(sentence) for sentence in labels_shared(names)),
        picture,
        *(plain_card(specs[key].label, why, key) for key, why in {**missing, **refused}.items()),
    )
