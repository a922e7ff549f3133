"""The page, the library, a shell and ``/texts`` read a file of each public form alike."""

import base64
import csv
import json
import re
import zlib
from itertools import chain

import pytest

import explorer
from explorer.library.command import main
from explorer.lists import library
from explorer.lists.ui.tab import list_in, read_list
from explorer.refusal import Refusal
from tests.endpoints import texts as endpoint
from tests.lists.formats import FORMATS

PAGE_ENDINGS = ("txt", "csv", "tsv", "jsonl", "json")
"""Endings of names that the page sends, as in ``assets/js/texts/ask.js``."""


class Reached(Exception):
    """Control has reached the models; carries the list that they would read."""


def to_the_models(texts, *_):
    raise Reached(texts)


def on_the_page(each, _folder):
    """The list that Run sends: the file comes back as the text of the box."""
    ending = each.name.rpartition(".")[2]
    how = {"name": f"list.{ending}" if ending in PAGE_ENDINGS else ""}
    opened = json.loads(read_list({"packed": packed(as_bytes(each)), "file": True, **how}))
    box = opened.get("text", "").replace("\r\n", "\n")
    return list_in({"packed": packed(box.encode()), **how})


def in_python(each, folder):
    """The list of the file that ``explorer.texts`` is given by its path."""
    return reached(lambda: explorer.texts(written(each, folder)))


def in_a_shell(each, folder):
    """The list of the file that a shell names."""
    return reached(lambda: refusing(main(["texts", str(written(each, folder))])))


def from_a_program(each, _folder):
    """The list of the rows that a program reads from the file and sends to the endpoint."""
    return reached(lambda: endpoint(rows_of(each)))


SURFACES = {
    "page": on_the_page,
    "library": in_python,
    "shell": in_a_shell,
    "endpoint": from_a_program,
}


def reached(ask):
    with pytest.raises(Reached) as found:
        ask()
    return found.value.args[0]


def refusing(code):
    assert code == 2
    raise Refusal("said on standard error")


def packed(content):
    deflate = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return base64.b64encode(deflate.compress(content) + deflate.flush()).decode()


def as_bytes(each):
    return each.content if isinstance(each.content, bytes) else each.content.encode()


def written(each, folder):
    path = folder / each.name
    path.write_bytes(as_bytes(each))
    return path


def rows_of(each):
    """Rows of a file as a program has them: objects with its columns, or its lines."""
    text = text_of(as_bytes(each))
    text = text[text.index("[") :] if each.name.endswith(".js") else text
    if text.startswith(("[{", "{", "[\n")):
        return [row.get("row", row.get("tweet", row)) for row in objects_of(text)]
    lines = [line for line in text.splitlines() if not line.startswith(("sep=", "# "))]
    if lines[0].startswith("| "):
        lines = [line.strip("| ").replace(" | ", "\t") for line in lines if "---" not in line]
    names = tuple(each.columns.values())
    has_header = any(re.search(rf'(?:^|[\t;,"]){re.escape(name)}', lines[0]) for name in names)
    is_numbered = any(name.startswith("column ") for name in names)
    return cells_of(lines, is_numbered) if has_header or is_numbered else lines


def objects_of(text):
    """Objects of a JSON file, or of one with an object on each line."""
    try:
        return rows_in(json.loads(text))
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()]


def text_of(content):
    if content.startswith(b"\xff\xfe"):
        return content.decode("utf-16")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def rows_in(value):
    """Rows of one JSON object: a list or several of them, of columns by number, or by name."""
    if isinstance(value, list) or "rows" in value:
        return value if isinstance(value, list) else value["rows"]
    if "columns" in value:
        return [dict(zip(value["columns"], row, strict=True)) for row in value["data"]]
    if "0" in value:
        return [*value.values()]
    if "data" not in value:
        columns = [column.values() for column in value.values()]
        return [dict(zip(value, row, strict=True)) for row in zip(*columns, strict=True)]
    data = value["data"]
    return data if isinstance(data, list) else [*chain(*data.values())]


def cells_of(lines, is_numbered):
    """Rows of a table; without a header its columns are called by their number."""
    sign = next(sign for sign in "\t;, " if sign in lines[0])
    is_literal = sign == "\t" and not lines[0].startswith('"')
    how = {"quoting": csv.QUOTE_NONE} if is_literal else {}
    how |= {"escapechar": "\\"} if any('\\"' in line for line in lines) else {}
    rows = [*csv.reader(lines, delimiter=sign, **how)]
    head = [""] * len(rows[0]) if is_numbered else rows.pop(0)
    head = [""] * (len(rows[0]) - len(head)) + head  # R gives the names of its rows none
    names = [name or f"column {place}" for place, name in enumerate(head, 1)]
    return [dict(zip(names, row, strict=True)) for row in rows]


@pytest.fixture(autouse=True)
def _before_the_models(monkeypatch):
    monkeypatch.setattr(library, "TextsQuestion", to_the_models)


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("each", FORMATS, ids=lambda each: each.source)
def test_every_form_is_read_alike_on_every_surface(each, surface, tmp_path):
    read = SURFACES[surface]
    if not each.columns:
        with pytest.raises(Refusal):
            read(each, tmp_path)
        return
    texts = read(each, tmp_path)
    found = (texts.kind, dict(texts.columns), len(texts.rows))
    first = texts.rows[0]
    assert found == (each.kind, each.columns, each.n_rows)
    assert (first.text, first.label, first.other) == (each.first, each.label, each.other)
