"""The page of all refusals: for each sentence the reason, and what to do."""

import re
from collections.abc import Mapping
from itertools import groupby

from explorer.assets import ASSETS, read_in
from explorer.refusal import Remedy, remedies
from explorer.views.markup import Markup, el, join

STYLE = ASSETS / "errors.css"


def errors_page(texts: Mapping[str, str]) -> Markup:
    """Build the document of all refusals, each row with the id that links point to.

    Args:
        texts: ``title``, ``lead``, and the table's heads ``sentence``, ``why``, ``what_to_do``.

    Raises:
        Broken: the table or the style sheet cannot be read.
    """
    heads = [texts[name] for name in ("sentence", "why", "what_to_do")]
    parts = [
        join(el("h2", section), _table(list(rows), heads))
        for section, rows in groupby(remedies().values(), lambda remedy: remedy.section)
    ]
    main = el("main", el("h1", texts["title"]), el("p", texts["lead"]), *parts)
    with read_in(STYLE):
        style = el("style", Markup(STYLE.read_text("utf-8")))
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("title", texts["title"]),
        style,
    )
    return join(Markup("<!doctype html>"), el("html", head, el("body", main), lang="en"))


def _table(rows: list[Remedy], heads: list[str]) -> Markup:
    top = el("tr", *(el("th", head, scope="col") for head in heads))
    body = [_row(remedy, heads) for remedy in rows]
    return el("table", el("thead", top), el("tbody", *body))


def _row(remedy: Remedy, heads: list[str]) -> Markup:
    _, why, what_to_do = heads
    return el(
        "tr",
        el("th", remedy.sentence, scope="row"),
        el("td", _formatted(remedy.why), data_label=why),
        el("td", _formatted(remedy.what_to_do), data_label=what_to_do),
        id=remedy.code,
    )


def _formatted(text: str) -> Markup:
    """Return a Markdown cell as markup: code between backticks, links as their text."""
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    parts = plain.split("`")
    return join(*(el("code", part) if i % 2 else part for i, part in enumerate(parts)))
