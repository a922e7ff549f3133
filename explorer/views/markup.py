"""HTML builder: every string is escaped unless it is already ``Markup``."""

import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from explorer.analysis.digits import ordinal
from explorer.refusal import Sentence, code_of, remedies
from explorer.views.glossary import ENTRIES, TERMS, box_of

Attribute = str | int | float | bool | None


class Markup(str):
    """HTML built by this module; any other string is escaped as text."""

    __slots__ = ()


_VOID = {"br", "hr", "img", "input", "link", "meta"}


def el(tag: str, *children: "str | Markup | None", **attributes: Attribute) -> Markup:
    """Build an element: ``class_`` is class, ``data_x`` data-x; None and False are left out."""
    opening = f"<{tag}{''.join(_attribute(n, v) for n, v in attributes.items())}>"
    return Markup(opening if tag in _VOID else f"{opening}{join(*children)}</{tag}>")


def join(*children: "str | Markup | None") -> Markup:
    """Concatenate children, escaping text."""
    return Markup("".join(c if isinstance(c, Markup) else escape(c) for c in children if c))


def escape(text: str) -> Markup:
    """Escape text for HTML."""
    return Markup(html.escape(text, quote=True))


def escape_message(text: str) -> Markup:
    """Escape text except for quotes, because API clients read the message as plain text."""
    return Markup(html.escape(text, quote=False))


def script_json(value: object) -> str:
    """Return JSON that cannot end a script element; NaN raises ``ValueError``.

    A dataclass becomes an object of its fields.
    """
    text = json.dumps(
        value, allow_nan=False, separators=(",", ":"), ensure_ascii=False, default=asdict
    )
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _attribute(name: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = name.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{html.escape(str(value), quote=True)}"'


def plain(text: str) -> str:
    """Return the plain text of markup, for a label that cannot contain elements."""
    return html.unescape(re.sub("<[^>]*>", "", text)) if isinstance(text, Markup) else text


def finding(*sentence: "str | Markup") -> Markup:
    """Build the sentence above a chart that states its result."""
    return el("p", *sentence, class_="finding")


def fold_link(text: str, tab: str, fold: str) -> Markup:
    """Return a link to a fold of another tab; the browser follows it without leaving the page."""
    return el("a", text, href=f"?tab={tab}&fold={fold}", data_fold=f"{tab}/{fold}")


def note(*sentence: "str | Markup", details: "str | Markup" = "") -> Markup:
    """Build a note below a chart or table: units, protocol, limits of a number.

    Text after a line break, like ``details``, is collapsed and opens in place.
    """
    if len(sentence) == 1 and not isinstance(sentence[0], Markup):
        first, _, below = sentence[0].partition("\n")
        sentence, details = (first,), details or below
    if not details:
        return el("p", *sentence, class_="note")
    return el("details", el("summary", *sentence), el("p", details), class_="note")


def why_missing(missing: Mapping[str, Exception]) -> Markup:
    """Build the note that says why models are not available."""
    return note(" ".join(map(str, missing.values())))


REFUSALS, WHAT_TO_DO = "refusals", "What to do"
"""Path of the page of all refusals, and the text of a link to one of its rows."""


def refusal_message(sentence: str, kind: str = "") -> Markup:
    """Build the message of a refused request, with a link to what can be done."""
    classes = f"message {kind}".strip()
    return el("p", sentence, remedy_link(sentence), class_=classes, role="alert")


def remedy_link(sentence: str) -> Markup | None:
    """Return a link to a refusal's row on the page of all refusals; None if it has no row."""
    code = code_of(sentence)
    if code not in remedies():
        return None
    link = el("a", WHAT_TO_DO, href=f"{REFUSALS}#{code}", target="_blank")
    return join(" ", link)


def plain_card(title: str, sentence: str, model: str | None = None) -> Markup:
    """Build a card for something unavailable: its title and the reason in one sentence."""
    reason = el("p", sentence, remedy_link(sentence))
    return el("section", el("h3", title), reason, class_="card plain", data_model=model)


def card_of(card: Mapping[str, Any], sentence: str) -> Markup:
    """Build the card of an unavailable model from a picture's data.

    Args:
        card: ``key``, ``label``, the reason, and ``code``, which identifies its remedy.
        sentence: The name of the reason in ``card``.
    """
    return plain_card(card["label"], Sentence(card["code"], card[sentence]), card["key"])


def plain_cards(cards: Mapping[str, tuple[str, str]]) -> Markup:
    """Build a card for each unavailable model, from (label, reason) by model key."""
    return join(*(plain_card(*card, key) for key, card in cards.items()))


def model_name(model: str, label: str, size: str = "") -> Markup:
    """Build a model's name in its colour, with ``data-size`` where a size is given."""
    return el("span", label, class_="model-name", data_model=model, data_size=size or None)


def word(text: str) -> Markup:
    """Mark a predicted or typed word within a sentence.

    Punctuation alone gets quotation marks, because “.” would read as the end of the sentence. A
    browser that translates the page leaves the word as the model has it.
    """
    quoted = text if any(map(str.isalnum, text)) else f"“{text}”"
    return el("em", quoted, class_="w", translate="no")


def term(text: str) -> Markup:
    """Build an inline button that opens a word's glossary entry."""
    return el("button", text, type="button", class_="term", popovertarget=box_of(TERMS[text]))


def explained(text: str, *terms: str) -> Markup:
    """Return a text with each term's first occurrence as a button to its glossary entry."""
    buttons = {word: term(word) for word in terms}
    parts = re.split(rf"(?<!\w)({'|'.join(map(re.escape, terms))})(?!\w)", text)
    return join(*(buttons.pop(part, part) if i % 2 else part for i, part in enumerate(parts)))


def meanings(more: Markup) -> Markup:
    """Build the boxes of all glossary entries in ``TERMS``; ``more`` ends each box."""
    return join(*(_meaning(entry, more) for entry in dict.fromkeys(TERMS.values())))


def _meaning(entry: str, more: Markup) -> Markup:
    definition = el("p", el("strong", entry), ": ", ENTRIES[entry])
    return el("div", definition, el("p", more), id=box_of(entry), class_="meaning", popover="auto")


def filled(text: str, **values: "str | Markup") -> Markup:
    """Return a sentence whose ``{holes}`` hold these values; what is no markup is escaped."""
    parts = re.split(r"\{(\w+)\}", text)
    return join(*(values[part] if i % 2 else part for i, part in enumerate(parts)))


def listed(items: Sequence[str | Markup]) -> Markup:
    """Join items as ``a``, ``a and b`` or ``a, b and c``."""
    parts: list[str | Markup] = []
    for place, item in enumerate(items):
        if place:
            parts.append(" and " if place == len(items) - 1 else ", ")
        parts.append(item)
    return join(*parts)


def words_at(words: Sequence[str], places: Iterable[int]) -> Markup:
    """Name words of a text by their indices; a repeated word gets its ordinal: the 2nd *dog*."""
    chosen: dict[str, list[int]] = {}
    for place in places:
        chosen.setdefault(words[place], []).append(words[: place + 1].count(words[place]))
    names = [
        word(text)
        if words.count(text) == 1
        else join("the ", listed([ordinal(n) for n in numbers]), " ", word(text))
        for text, numbers in chosen.items()
    ]
    return listed(names)


def semicolons(items: Iterable[str | Markup]) -> Markup:
    """Join items as ``a; b; c``."""
    return join(*[part for item in items for part in ("; ", item)][1:])


def table(head: list[str], rows: "list[list[str | Markup]]", caption: str = "") -> Markup:
    """Build a table with a caption; on a phone every row is stacked, each value with its name."""
    top = el("tr", *(el("th", cell, scope="col") for cell in head))
    body = [el("tr", el("th", row[0], scope="row"), *map(_cell, row[1:], head[1:])) for row in rows]
    scroller = el(
        "div",
        el("table", el("thead", top), el("tbody", *body)),
        class_="table stacks",
        tabindex="0",
        role="region",
        aria_label=plain(caption) or head[0],
    )
    return el("figure", el("figcaption", caption) if caption else None, scroller, class_="tabled")


def _cell(cell: "str | Markup", name: str) -> Markup:
    return el("td", cell, data_label=name)
