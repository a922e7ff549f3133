"""How the vocabularies write their pieces, and what a reader is shown instead."""

from dataclasses import dataclass
from functools import lru_cache
from unicodedata import category, normalize

UNKNOWN = ("[UNK]", "<unk>")
"""What stands for letters that a vocabulary lacks."""


def _letters_of_bytes() -> dict[str, int]:
    """The letter that stands for each byte in a byte-level vocabulary (Radford et al. 2019)."""
    printable = (*range(33, 127), *range(161, 173), *range(174, 256))
    others = [byte for byte in range(256) if byte not in printable]
    shifted = {chr(256 + place): byte for place, byte in enumerate(others)}
    return {chr(byte): byte for byte in printable} | shifted


_BYTES = _letters_of_bytes()


@dataclass(frozen=True, slots=True)
class Spelling:
    """The marks by which a vocabulary tells the start of a word from its inside."""

    starts: str = ""
    """Before a piece that begins a word; empty where beginnings are not marked."""
    continues: str = ""
    """Before a piece that continues a word; empty where continuations are not marked."""
    is_bytes: bool = False
    """Whether each letter stands for a byte of UTF-8."""

    def begins(self, piece: str) -> bool:
        """Whether the piece is the start of a word."""
        if self.starts:
            return piece.startswith(self.starts)
        return not piece.startswith(self.continues)

    def text(self, piece: str) -> str:
        """The piece as a reader would write it: ``##ing`` is ing, ``▁the`` and ``Ġthe`` are the."""
        bare = piece.removeprefix(self.continues)
        if self.starts:
            bare = bare.replace(self.starts, " ")
        if self.is_bytes and all(letter in _BYTES or letter == " " for letter in bare):
            found = bytes(32 if letter == " " else _BYTES[letter] for letter in bare)
            bare = found.decode("utf-8", "replace")
        return bare.strip() or piece

    def word(self, piece: str) -> str:
        """The same; what only continues a word starts with an ellipsis, a lone space is ␣."""
        if piece == self.starts:
            return "␣"
        text = self.text(piece)
        return f"…{text}" if not self.begins(piece) and text[:1].isalnum() else text


WORDPIECE = Spelling(continues="##")
SENTENCEPIECE = Spelling(starts="▁")
BYTE_LEVEL = Spelling(starts="Ġ", is_bytes=True)


@lru_cache(maxsize=8)
def spelling_of(vocabulary: tuple[str, ...]) -> Spelling:
    """How a vocabulary is written, by the marks that stand in it."""
    for spelling in (SENTENCEPIECE, BYTE_LEVEL):
        if any(piece.startswith(spelling.starts) for piece in vocabulary):
            return spelling
    return WORDPIECE


def bare_letters(word: str) -> str:
    """The word without its accents, as the lower-case tokenizers read it: ``Café`` is Cafe."""
    return "".join(c for c in normalize("NFD", word) if category(c) != "Mn")


def word_id(vocabulary: tuple[str, ...], word: str, lower_case: bool) -> int:
    """The id of a whole word in a vocabulary; -1 where it is not one piece."""
    word = bare_letters(word).lower() if lower_case else word
    piece = spelling_of(vocabulary).starts + word
    return vocabulary.index(piece) if piece in vocabulary else -1
