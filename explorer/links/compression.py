"""Compression of texts too long for a plain link: deflated, in base64url, in one field.

The browser writes the same with ``CompressionStream`` (assets/js/page/pack.js).
"""

import base64
import binascii
import json
import zlib
from collections.abc import Collection, Mapping

PACKED = "z"
"""Name of that field."""
LONGEST_PACKED = 4_000
LONGEST_UNPACKED = 200_000
"""Bytes: a malicious field may unpack to a thousand times its own length."""
_RAW = -zlib.MAX_WBITS


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
