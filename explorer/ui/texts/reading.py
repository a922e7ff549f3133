"""Lists as the page sends them: packed bytes, and how their columns are to be read."""

import base64
import binascii
import zlib
from collections.abc import Mapping
from typing import Any

from explorer import assets
from explorer.analysis.texts.labelled import usable
from explorer.analysis.texts.reading import MOST_BYTES, decoded, read_table
from explorer.analysis.texts.rows import KINDS, RawTable, TextList, recognised, text_list
from explorer.refusal import Refusal
from explorer.ui.kit import strings as kit
from explorer.ui.kit.validation import refuse_bad_input
from explorer.ui.texts import strings
from explorer.views.markup import script_json

ROLES: Mapping[str, tuple[str, ...]] = {
    "masked": ("text", "answer", "group"),
    "plain": ("text", "group"),
    "pairs": ("good", "bad", "group"),
    "labelled": ("text", "label"),
}
"""Columns of each kind that a reader may choose."""


def read_list(asked: dict[str, Any]) -> str:
    """Return how a list is read, or the sentence why it is not, as JSON.

    A bundled list, or a file, comes back as text for the box.
    """
    source: dict[str, Any] = {}
    try:
        if "list" in asked:
            source = {"text": bundled(asked["list"])}
            table = read_table(source["text"], "list.csv")
        else:
            table = table_in(asked)
            source = {"text": decoded(unpacked(asked)[:MOST_BYTES])} if asked.get("file") else {}
        return script_json(source | _described(table, asked))
    except Refusal as refusal:
        return script_json(source | {"error": str(refusal)})


def list_in(asked: Mapping[str, Any]) -> TextList:
    """Return the list of a question, its kind and its columns as they were chosen.

    Raises:
        Refusal: it cannot be read.
    """
    with refuse_bad_input():
        kind, columns = str(asked.get("kind") or ""), dict(asked.get("columns") or {})
    return text_list(
        table_in(asked), kind, {str(role): str(name) for role, name in columns.items()}
    )


def table_in(asked: Mapping[str, Any]) -> RawTable:
    """Return the cells of the list in a question.

    Raises:
        Refusal: it is empty, or no text.
    """
    content, name = unpacked(asked), str(asked.get("name") or "")
    is_file = bool(name or asked.get("file"))
    return read_table(content if is_file else content.decode("utf-8", "ignore"), name)


def unpacked(asked: Mapping[str, Any]) -> bytes:
    """Return the bytes of a list, of more than the limit one byte more.

    Raises:
        Refusal: they are not what the page sends.
    """
    with refuse_bad_input():
        packed = str(asked["packed"])
    try:
        inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        return inflate.decompress(base64.b64decode(packed, validate=True), MOST_BYTES + 1)
    except (ValueError, binascii.Error, zlib.error) as error:
        raise Refusal(kit.NOT_OFFERED) from error


def bundled(name: object) -> str:
    """Return the content of a bundled list.

    Raises:
        Refusal: there is none of that name.
    """
    found = next((each["content"] for each in assets.text_lists() if each["name"] == name), None)
    if found is None:
        raise Refusal(kit.NOT_OFFERED)
    return found


def _described(table: RawTable, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the kind, the columns of its roles and what is not read; or why nothing is."""
    found: dict[str, Any] = {"names": list(table.names), "kinds": list(KINDS)}
    with refuse_bad_input():
        kind, columns = str(asked.get("kind") or ""), dict(asked.get("columns") or {})
    try:
        texts = text_list(table, kind, {str(k): str(v) for k, v in columns.items()})
        texts = usable(texts) if texts.kind == "labelled" else texts
    except Refusal as refusal:
        known = recognised(table) | columns
        roles = ROLES.get(kind, ("text",))
        chosen = {role: known.get(role, "") for role in roles}
        return found | {"error": str(refusal), "kind": kind, "columns": chosen}
    chosen = {role: texts.columns.get(role, "") for role in ROLES[texts.kind]}
    return found | {
        "said": strings.recognised(texts),
        "left_out": strings.left_out_said(texts.left_out),
        "kind": texts.kind,
        "columns": chosen,
        "n_rows": len(texts.rows),
    }
