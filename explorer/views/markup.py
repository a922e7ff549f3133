"""The only module that builds markup: every string is escaped unless it is already Markup."""

import html
import json
import re
from collections.abc import Mapping, Sequence

from explorer.views.glossary import ENTRIES, TERMS, box_of

Attribute = str | int | float | bool | None


class Markup(str):
    """HTML that this module built; anything else is text and gets escaped."""

    __slots__ = ()


_VOID = {"br", "hr", "img", "input", "link", "meta"}


def el(tag: str, *children: "str | Markup | None", **attributes: Attribute) -> Markup:
    """One element: ``class_`` is class, ``data_x`` is data-x; ``None`` and ``False`` vanish."""
    opening = f"<{tag}{''.join(_attribute(n, v) for n, v in attributes.items())}>"
    return Markup(opening if tag in _VOID else f"{opening}{join(*children)}</{tag}>")


def join(*children: "str | Markup | None") -> Markup:
    """Children one after another, text escaped."""
    return Markup("".join(c if isinstance(c, Markup) else escape(c) for c in children if c))


def escape(text: str) -> Markup:
    """Text as HTML text."""
    return Markup(html.escape(text, quote=True))


def escape_message(text: str) -> Markup:
    """Text that the page shows as HTML and a program reads as it is: quotes stay quotes."""
    return Markup(html.escape(text, quote=False))


def script_json(value: object) -> str:
    """JSON that cannot end a script element early; NaN is refused."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _attribute(name: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = name.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{html.escape(str(value), quote=True)}"'


def plain(text: str) -> str:
    """What is read of markup or of text: for a label that can hold no element."""
    return html.unescape(re.sub("<[^>]*>", "", text)) if isinstance(text, Markup) else text


def finding(*sentence: "str | Markup") -> Markup:
    """The one line on top of a tab that says in words what the picture shows."""
    return el("p", *sentence, class_="finding")


def fold_link(shown: str, tab: str, fold: str) -> Markup:
    """Return a link to a fold of another tab; the browser follows it without leaving the page."""
    return el("a", shown, href=f"?tab={tab}&fold={fold}", data_fold=f"{tab}/{fold}")


def note(*sentence: "str | Markup", rest: "str | Markup" = "") -> Markup:
    """Build a quiet line: units, protocol, what a number is not.

    A line break in a text ends what is in sight, as ``rest`` does: the rest opens in place.
    """
    if len(sentence) == 1 and not isinstance(sentence[0], Markup):
        first, _, below = sentence[0].partition("\n")
        sentence, rest = (first,), rest or below
    if not rest:
        return el("p", *sentence, class_="note")
    return el("details", el("summary", *sentence), el("p", rest), class_="note")


def plain_card(title: str, sentence: str, model: str | None = None) -> Markup:
    """One plain card: what is not there, and why, in one sentence."""
    return el("section", el("h3", title), el("p", sentence), class_="card plain", data_model=model)


def plain_cards(cards: Mapping[str, tuple[str, str]]) -> Markup:
    """One card for each model that is not there: its label and why, by its key."""
    return join(*(plain_card(*card, key) for key, card in cards.items()))


def model_name(model: str, label: str, size: str = "") -> Markup:
    """A model's name in its own colour; of a size that the page need not show, with that."""
    return el("span", label, class_="model-name", data_model=model, data_size=size or None)


def word(text: str) -> Markup:
    """A word that a model predicted or a reader typed, set apart from the sentence around it.

    A sign alone gets quotation marks: “.” in a sentence would pass for its end.
    """
    return el("em", text if any(map(str.isalnum, text)) else f"“{text}”", class_="w")


def term(shown: str) -> Markup:
    """A word that the glossary explains: a button in the flow of the sentence."""
    return el("button", shown, type="button", class_="term", popovertarget=box_of(TERMS[shown]))


def explained(text: str, *terms: str) -> Markup:
    """A text in which each of these words is explained at the first place where it stands."""
    left = {word: term(word) for word in terms}
    parts = re.split(rf"(?<!\w)({'|'.join(map(re.escape, terms))})(?!\w)", text)
    return join(*(left.pop(part, part) if i % 2 else part for i, part in enumerate(parts)))


def meanings(more: Markup) -> Markup:
    """The boxes that the terms of the page open, one for each entry; ``more`` ends each."""
    return join(*(_meaning(entry, more) for entry in dict.fromkeys(TERMS.values())))


def _meaning(entry: str, more: Markup) -> Markup:
    said = el("p", el("strong", entry), ": ", ENTRIES[entry])
    return el("div", said, el("p", more), id=box_of(entry), class_="meaning", popover="auto")


def listed(items: Sequence[str | Markup]) -> Markup:
    """``a``, ``a and b``, ``a, b and c`` as one run of markup."""
    parts: list[str | Markup] = []
    for place, item in enumerate(items):
        if place:
            parts.append(" and " if place == len(items) - 1 else ", ")
        parts.append(item)
    return join(*parts)


def table(head: list[str], rows: "list[list[str | Markup]]", caption: str = "") -> Markup:
    """A plain table under its caption; a phone shows it row by row, each value under its name."""
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
