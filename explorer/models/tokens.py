"""From what a reader types to tokens and words, and from a vocabulary's pieces back to letters."""

import re
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import category, normalize

from explorer.refusal import Refusal

MASK = "[MASK]"
SEPARATOR = "[SEP]"
_MASK_AS_TYPED = re.compile(r"\[\s*mask\s*\]|<\s*mask\s*>", re.IGNORECASE)
_SEPARATOR_AS_TYPED = re.compile(r"\[\s*sep\s*\]", re.IGNORECASE)
_BRACKETS = re.compile(r"\[([^\[\]\n]{1,400})\]")
_CONTROL = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff\ud800-\udfff"
    r"\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069]"
)
"""Control, half surrogates, zero width and direction overrides: nothing a reader would see."""
_LETTER = r"[\w\u0300-\u036f]"
"""Letters, digits and the accents written after them."""
_WORD = re.compile(rf"\[(?:MASK|SEP|CLS|UNK|PAD)\]|{_LETTER}+(?:['’]{_LETTER}+)*|[^\w\s]")


class BadText(Refusal):
    """The text cannot be run; the message is the one sentence the reader sees."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word as a reader sees it: a run of letters, one punctuation mark, or ``[MASK]``."""

    text: str
    start: int
    end: int

    @property
    def is_mask(self) -> bool:
        """Whether the word is a mask to be filled."""
        return self.text == MASK


@dataclass(frozen=True, slots=True)
class Tokens:
    """What one model's tokenizer made of a text; every tuple is parallel to ``ids``."""

    text: str
    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    """As the vocabulary writes them: ``##ing``, ``▁the``."""
    spans: tuple[tuple[int, int], ...]
    """Half-open character ranges in ``text``; ``(0, 0)`` for added tokens."""
    special: tuple[bool, ...]
    """True for tokens the tokenizer added: [CLS], [SEP]."""
    segments: tuple[int, ...]
    """0 for the first sentence, 1 for the second."""
    words: tuple[Word, ...]
    word_index: tuple[int, ...]
    """The word each token belongs to; -1 for added tokens."""
    mask_positions: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class MaskChoices:
    """A place where the reader offers words to choose from, written ``[he|she]``."""

    start: int
    end: int
    alternatives: tuple[str, ...]


def plain_text(text: str) -> str:
    """What was typed, without control characters, with every mask and separator in one spelling."""
    text = _CONTROL.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return _SEPARATOR_AS_TYPED.sub(SEPARATOR, _MASK_AS_TYPED.sub(MASK, text)).strip()


def clean_text(text: str) -> str:
    """The text as it is run: plain, and each ``[he|she]`` is a mask."""
    return hide_choices(plain_text(text))


def _alternatives(inside: str) -> tuple[str, ...]:
    """The words between the bars; none unless there are at least two and none is empty."""
    parts = tuple(part.strip() for part in inside.split("|"))
    return parts if len(parts) > 1 and all(parts) else ()


def hide_choices(text: str) -> str:
    """The text with a mask in place of every choice."""
    return _BRACKETS.sub(lambda m: MASK if _alternatives(m.group(1)) else m.group(), text)


def find_choices(text: str) -> tuple[MaskChoices, ...]:
    """The choices in a plain text, in reading order."""
    found = ((m, _alternatives(m.group(1))) for m in _BRACKETS.finditer(text))
    return tuple(MaskChoices(m.start(), m.end(), words) for m, words in found if words)


def choose(text: str, choice: MaskChoices, alternative: str) -> tuple[str, Word]:
    """The text with one alternative put in its place and every other choice hidden."""
    before = hide_choices(text[: choice.start])
    chosen = Word(alternative, len(before), len(before) + len(alternative))
    return before + alternative + hide_choices(text[choice.end :]), chosen


def put_into(text: str, gap: Word, word: str) -> tuple[str, Word]:
    """The text with a word in place of a gap, and where it stands."""
    filled = text[: gap.start] + word + text[gap.end :]
    return filled, Word(word, gap.start, gap.start + len(word))


def spell_masks(text: str, mask: str) -> tuple[str, tuple[int, ...]]:
    """The text with a model's own mask, and where each place of that lies in ``text``.

    The end of the new text counts as a place; inside a mask, all places are its start.
    """
    parts, places, at = text.split(MASK), list[int](), 0
    for number, part in enumerate(parts):
        if number:
            places += [at] * len(mask)
            at += len(MASK)
        places += range(at, at + len(part))
        at += len(part)
    return mask.join(parts), (*places, at)


def split_words(text: str) -> tuple[Word, ...]:
    """The words of a text, by the text alone, so that all models share them."""
    return tuple(Word(m.group(), m.start(), m.end()) for m in _WORD.finditer(text))


def mask_word(text: str, word: Word) -> str:
    """The text with one word replaced by ``[MASK]``."""
    return text[: word.start] + MASK + text[word.end :]


def trim_span(text: str, start: int, end: int) -> tuple[int, int]:
    """A span without the white space at its ends (SentencePiece counts the space before a word)."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def word_of_span(words: tuple[Word, ...], start: int) -> int:
    """The word a token that starts at this character belongs to: the first that ends after it."""
    return next((i for i, word in enumerate(words) if word.end > start), len(words) - 1)


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
