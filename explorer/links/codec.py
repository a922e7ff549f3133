"""Encoding and decoding of links: written, read and repaired, older links included."""

import base64
import binascii
import json
import math
import re
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any
from urllib.parse import urlencode

from explorer.analysis.measures import TEMPERATURES
from explorer.inference.ask import DTYPES
from explorer.links.page_state import PageState, hidden_words, open_folds
from explorer.links.tabs import FOLDS, LENSES, MAX_DEPTHS, ORDERS, PARTS, TABS, VIEWS
from explorer.models.choice.family import (
    family_specs,
    in_columns,
    is_of_page,
    known_columns,
    of_one_family,
    read_family,
    sizes_of,
)
from explorer.models.specs import DEVICE, MAX_LAYERS
from explorer.models.tokens import MASK, clean_text, plain_text, split_words

MOVED: dict[str, dict[str, dict[str, str]]] = {
    "predictions": {"contrast": {"fold": "ask"}},
    "attention": {
        "pairs": {"tab": "tasks"},
        "bertviz": {"fold": "advanced"},
        "shared": {"tab": "depth", "fold": "moves"},
    },
    "depth": {"more": {"fold": "moves"}},
    "distillation": {
        "masking": {"fold": "losses"},
        "layers": {"tab": "depth", "fold": "similarity"},
    },
    "tasks": {"objectives": {"fold": "pairs"}, "choose": {"tab": "latency"}},
    "parameters": {"calls": {"fold": "sharing"}, "build": {"fold": "sizes"}},
    "latency": {
        "claim": {"fold": "sweep"},
        "limits": {"fold": "advanced"},
        "recorded": {"fold": "advanced"},
        "memory": {"tab": "parameters"},
    },
    "claims": {"retention": {"fold": "scores"}},
}
"""Renamed or moved folds: tab and name in older links, and their current values."""
LINK_VERSION = "1"
LINK_TEXT_LIMIT = MAX_WORD = 20_000
"""Maximum characters of each text of a link; a longer text is not linked."""
LINK_LONGEST = 1_900
"""Maximum encoded characters of a link's fields: with the address, 2,000 pass everywhere."""
LONGEST_LABELS = 4_000
LONGEST_SPAN = 200
LIST_LIMIT = 2_000
"""Maximum characters of a list of texts; a longer one is not linked."""
UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")
"""Characters that a link's list loses: control characters and halves of others."""
TEXTS: tuple[str, ...] = (
    *("text", "hidden", "other", "first", "second", "sentiment", "question", "passage", "labels"),
    "list",
)
"""Free texts of the reader: the fields that are packed."""
PACKED = "z"
"""Field of texts too long for a plain link: deflated, in base64url.

The browser writes the same with ``CompressionStream`` (assets/js/page/pack.js).
"""
LONGEST_PACKED = 4_000
LONGEST_UNPACKED = 200_000
"""Bytes: a malicious field may unpack to a thousand times its own length."""
_RAW = -zlib.MAX_WBITS
LONGEST_LOOK = 1_000
LONGEST_SEARCH = 80
_LOOK = re.compile(r"([a-z]+:[A-Za-z0-9.]+(,[a-z]+:[A-Za-z0-9.]+)*)?")
_FORM = re.compile(r"([a-z]+\.[a-z]+:[A-Za-z0-9.+-]+(,[a-z]+\.[a-z]+:[A-Za-z0-9.+-]+)*)?")
_TIMED = re.compile(
    r"((base|mini|larger|own)-([2-9]|[1-9]\d|[1-4]\d\d|50\d|51[0-2])-(1|2|4|8|16|32)-(encoder|head)-(compute|wait)"
    r"-(float32|bfloat16|float16)-(20|60|180))?"
)
ADDED = 3
"""Maximum special tokens of a text: [CLS], and [SEP] after each of two sentences."""
MAX_LAYER = MAX_HEAD = MAX_LAYERS - 1
_PAIR = ("teacher", "student")


def to_params(state: PageState) -> dict[str, str]:
    """Return all fields that differ from the default, the version and the family; texts in full."""
    # A page opens on the first column of its family.
    default = PageState(model=next(iter(sizes_of(state.family))))
    chosen = {
        f.name: _print(getattr(state, f.name))
        for f in fields(state)
        if f.name in LINKED and getattr(state, f.name) != getattr(default, f.name)
    }
    chosen["family"] = state.family
    return {"v": LINK_VERSION, **chosen}


def to_link(state: PageState) -> dict[str, str] | None:
    """Return the parameters of a link, texts packed if necessary; None if it is too long."""
    params = in_columns(to_params(state))
    if _fits(params):
        return params
    texts = {name: params.pop(name) for name in TEXTS if name in params}
    params[PACKED] = pack(texts)
    complete = all(len(text) <= LINK_TEXT_LIMIT for text in texts.values())
    return params if complete and _fits(params) else None


def pack(texts: Mapping[str, str]) -> str:
    """Return the texts by name as the value of one field."""
    deflate = zlib.compressobj(9, wbits=_RAW)
    plain = json.dumps(dict(texts), ensure_ascii=False, separators=(",", ":")).encode()
    packed = deflate.compress(plain) + deflate.flush()
    return base64.urlsafe_b64encode(packed).rstrip(b"=").decode()


def unpack(packed: str) -> dict[str, str] | None:
    """Return the texts by name; None for any input that ``pack`` cannot have written."""
    try:
        texts = json.loads(_inflated(packed))
    except (ValueError, RecursionError, zlib.error):
        return None
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        return None
    return texts


def _inflated(packed: str) -> bytes:
    if len(packed) > LONGEST_PACKED:
        raise ValueError("too long for a link")
    try:
        raw = base64.b64decode(packed + "=" * (-len(packed) % 4), altchars=b"-_", validate=True)
    except binascii.Error as error:
        raise ValueError("no base64url") from error
    inflate = zlib.decompressobj(_RAW)
    plain = inflate.decompress(raw, LONGEST_UNPACKED)
    if not inflate.eof:
        raise ValueError("cut off, or too much")
    return plain


def with_texts(
    params: Mapping[str, str], names: Collection[str]
) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Return a link's parameters with packed texts unpacked, and the field if it is unreadable.

    A text in the link itself takes precedence.
    """
    if PACKED not in params:
        return params, ()
    texts = unpack(str(params[PACKED]))
    unpacked = {name: text for name, text in (texts or {}).items() if name in names}
    return {**unpacked, **params}, (PACKED,) if texts is None else ()


def default_params() -> dict[str, str]:
    """Return the default of each field of a link."""
    return {name: _print(getattr(PageState(), name)) for name in LINKED}


def from_params(
    params: Mapping[str, str], default: PageState | None = None
) -> tuple[PageState, tuple[str, ...]]:
    """Return the state that a link encodes, and the names of the fields that had to be repaired.

    Never fails: unknown keys are ignored and an invalid value becomes the default.
    """
    return _read(params, default or PageState(), _READERS)


def from_page(params: Mapping[str, str], default: PageState) -> tuple[PageState, tuple[str, ...]]:
    """Return the state that the page sends: link fields, full texts, device and dtype."""
    return _read(params, default, _READERS | _PAGE_READERS)


def _read(
    params: Mapping[str, str], default: PageState, readers: "Readers"
) -> tuple[PageState, tuple[str, ...]]:
    unpacked, unreadable = with_texts(params, TEXTS)
    params, unknown = of_one_family(_with_moved_folds(unpacked))
    read = {name: read(params[name]) for name, read in readers.items() if name in params}
    state = replace(default, **{name: value for name, value in read.items() if value is not None})
    fitting = replace(state, **_repairs(state, default))
    invalid = [name for name, value in read.items() if value != getattr(fitting, name)]
    return fitting, (*invalid, *unknown, *unreadable)


def _fits(params: Mapping[str, str]) -> bool:
    return len(urlencode(params)) <= LINK_LONGEST


def _with_moved_folds(params: Mapping[str, str]) -> Mapping[str, str]:
    """Return a link with each fold that has moved under its current tab and name.

    If the folds are on two tabs now, those on the tab of the last one opened stay.
    """
    tab, folds = (str(params.get(name, "")) for name in ("tab", "fold"))
    moved = MOVED.get(tab, {})
    if not moved.keys() & set(folds.split(",")):
        return params
    current = [{"tab": tab, "fold": fold, **moved.get(fold, {})} for fold in folds.split(",")]
    here = [place["fold"] for place in current if place["tab"] == current[-1]["tab"]]
    return {**params, "tab": current[-1]["tab"], "fold": ",".join(dict.fromkeys(here))}


def _repairs(state: PageState, default: PageState) -> dict[str, Any]:
    """Return values for the fields that are valid alone but not in this state."""
    shapes = {spec.key: spec.architecture for spec in family_specs(state.family)}
    repairs: dict[str, Any] = {}
    if state.model not in shapes:
        repairs["model"] = default.model if default.model in shapes else next(iter(shapes))
    repairs |= {part: "" for part in _PAIR if getattr(state, part) not in ("", *shapes)}
    if state.teacher and state.student == state.teacher:
        repairs["student"] = ""
    shape = shapes[repairs.get("model", state.model)]
    if state.layer >= shape.n_layers:
        repairs["layer"] = min(default.layer, shape.n_layers - 1)
    if state.head >= shape.n_heads:
        repairs["head"] = min(default.head, shape.n_heads - 1)
    if state.word >= 0 and not _can_be_hidden(state.text, state.word):
        repairs["word"] = -1
    if state.hidden and len(hidden_words(state)) > clean_text(state.text).count(MASK):
        repairs["hidden"] = ""
    if not set(open_folds(state)) <= {*FOLDS[state.tab], *PARTS.get(state.tab, ())}:
        repairs["fold"] = ""
    return repairs | _place_repairs(state)


def _place_repairs(state: PageState) -> dict[str, Any]:
    """Return defaults for the places in the text, and in Depth, that this state does not have."""
    shapes = [spec.architecture for spec in family_specs(state.family)]
    deepest = max((shape.n_layers for shape in shapes if shape.shares_layers), default=0)
    text = clean_text(state.text)
    fits = {
        "times": state.times <= MAX_DEPTHS * deepest,
        "mask": state.mask < max(1, text.count(MASK)),
        "at": state.at < len(split_words(text)),
        "lit": state.lit < len(split_words(text)) + ADDED,
    }
    return {name: getattr(PageState(), name) for name, is_valid in fits.items() if not is_valid}


def _can_be_hidden(text: str, word: int) -> bool:
    words = split_words(clean_text(text))
    return word < len(words) and (words[word].is_mask or words[word].text[0].isalnum())


def _print(value: object) -> str:
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _read_text(raw: str) -> str | None:
    return plain_text(str(raw)) or None if len(raw) <= LINK_TEXT_LIMIT else None


def _read_list(raw: str) -> str | None:
    """Return the rows of a list as they are written: line breaks and tabs divide them."""
    rows = str(raw).replace("\r\n", "\n").replace("\r", "\n")
    return UNPRINTABLE.sub("", rows) if len(rows) <= LIST_LIMIT else None


def _read_hidden(raw: str) -> str | None:
    words = plain_text(str(raw)) if len(raw) <= LINK_TEXT_LIMIT else "["
    return None if set("[]\n") & set(words) else words


def _read_short(longest: int, raw: str) -> str | None:
    return plain_text(str(raw)) if len(raw) <= longest else None


def _one_of(allowed: Sequence[str], raw: str) -> str | None:
    return raw if raw in allowed else None


def _read_index(limit: int, raw: str) -> int | None:
    try:
        value = int(str(raw)[:9])
    except ValueError:
        return None
    return value if 0 <= value <= limit else None


def _read_fold(raw: str) -> str | None:
    names = str(raw).split(",") if len(raw) <= LINK_LONGEST and raw else []
    return ",".join(names) if len(set(names)) == len(names) and set(names) <= _ALL_FOLDS else None


def _matching(pattern: re.Pattern[str], raw: str) -> str | None:
    return raw if len(raw) <= LONGEST_LOOK and pattern.fullmatch(str(raw)) else None


def _read_temperature(raw: str) -> float | None:
    try:
        value = float(str(raw)[:32])
    except ValueError:
        return None
    low, high = TEMPERATURES
    return value if math.isfinite(value) and low <= value <= high else None


def _read_family(value: object) -> str | None:
    family = read_family(value)
    return family if family and is_of_page(family) else None


def _read_model(raw: str) -> str | None:
    return raw if raw in known_columns() else None


_ALL_FOLDS = {name for names in (*FOLDS.values(), *PARTS.values()) for name in names}
Readers = dict[str, Callable[[str], Any]]
_READERS: Readers = {
    "text": _read_text,
    "family": _read_family,
    "tab": partial(_one_of, TABS),
    "model": _read_model,
    "layer": partial(_read_index, MAX_LAYER),
    "head": partial(_read_index, MAX_HEAD),
    "order": partial(_one_of, ORDERS),
    "lit": partial(_read_index, MAX_WORD),
    "view": partial(_one_of, VIEWS),
    "temperature": _read_temperature,
    "word": partial(_read_index, MAX_WORD),
    "mask": partial(_read_index, MAX_WORD),
    "times": partial(_read_index, MAX_DEPTHS * MAX_LAYER),
    "at": partial(_read_index, MAX_WORD),
    "lens": partial(_one_of, LENSES),
    "other": _read_text,
    "first": _read_text,
    "second": _read_text,
    "sentiment": _read_text,
    "question": _read_text,
    "passage": _read_text,
    "labels": partial(_read_short, LONGEST_LABELS),
    "label": partial(_read_short, LONGEST_SPAN),
    "span": partial(_read_short, LONGEST_SPAN),
    "hidden": _read_hidden,
    "list": _read_list,
    "fold": _read_fold,
    "search": partial(_read_short, LONGEST_SEARCH),
    "form": partial(_matching, _FORM),
    "look": partial(_matching, _LOOK),
    "timed": partial(_matching, _TIMED),
    **dict.fromkeys(_PAIR, _read_model),
}
"""Reader of each field of a link; None means that the value must be repaired."""
_PAGE_READERS: Readers = {
    **dict.fromkeys(("text", "sentiment", "question", "passage"), plain_text),
    "device": lambda raw: raw if DEVICE.fullmatch(str(raw)) else None,
    "dtype": partial(_one_of, DTYPES),
}
"""Readers of the page's other fields: full texts, refused later if they cannot be run."""
LINKED: tuple[str, ...] = tuple(_READERS)
"""Fields of a link; the browser receives them from here."""
