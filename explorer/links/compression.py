"""Texts too long for a link as they are: deflated, in base64url, in one field.

The browser writes the same with ``CompressionStream`` (assets/js/page/pack.js).
"""

import base64
import binascii
import json
import zlib
from collections.abc import Collection, Mapping

PACKED = "z"
"""That field."""
LONGEST_PACKED = 4_000
LONGEST_UNPACKED = 200_000
"""Bytes: a field of a link may be made to unpack to a thousand times its own length."""
_RAW = -zlib.MAX_WBITS


def pack(texts: Mapping[str, str]) -> str:
    """The texts by name as the value of one field."""
    deflate = zlib.compressobj(9, wbits=_RAW)
    plain = json.dumps(dict(texts), ensure_ascii=False, separators=(",", ":")).encode()
    packed = deflate.compress(plain) + deflate.flush()
    return base64.urlsafe_b64encode(packed).rstrip(b"=").decode()


def unpack(packed: str) -> dict[str, str] | None:
    """The texts by name; None for whatever ``pack`` cannot have written."""
    try:
        texts = json.loads(_inflated(packed))
    except (ValueError, RecursionError, zlib.error):
        return None
    if not isinstance(texts, dict) or not all(isinstance(one, str) for one in texts.values()):
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
    """A link's parameters with its packed texts in their places, and the field if it is unreadable.

    A text that stands in the link itself counts.
    """
    if PACKED not in params:
        return params, ()
    texts = unpack(str(params[PACKED]))
    found = {name: text for name, text in (texts or {}).items() if name in names}
    return {**found, **params}, (PACKED,) if texts is None else ()
