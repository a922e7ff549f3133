"""Conversion of a typed text to tokens and words, and of vocabulary pieces back to text."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import category, normalize

from explorer.refusal import Refusal, Sentence

MASK = "[MASK]"
SEPARATOR = "[SEP]"
_MASK_AS_TYPED = re.compile(r"\[\s*mask\s*\]|<\s*mask\s*>", re.IGNORECASE)
_SEPARATOR_AS_TYPED = re.compile(r"\[\s*sep\s*\]", re.IGNORECASE)
_BRACKETS = re.compile(r"\[([^\[\]\n]{1,400})\]")
_CONTROL = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff\ud800-\udfff"
    r"\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069]"
)
"""Control characters, surrogates, zero width and direction overrides: invisible to a reader."""
_MARKS = "".join(c for c in map(chr, range(0x300, 0x20000)) if category(c).startswith("M"))
"""Combining marks: accents, vowel signs, points."""
_ATTACHED = rf"[{_MARKS}\U000e0100-\U000e01ef\u200c\u200d]"
"""Part of the word of the character before (UAX 29, rule WB4): marks, variants of a character, and
the zero-width joiners that Persian and Hindi write inside words."""
_LETTERS = rf"\w+(?:{_ATTACHED}+\w*)*"
WORD = re.compile(
    r"\[(?:MASK|SEP|CLS|UNK|PAD)\]"
    rf"|{_LETTERS}(?:['’]{_LETTERS})*|[^\w\s]{_ATTACHED}*"
)
"""A mask or another special token, a word, or one sign of punctuation."""


_HAN = r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd]"
"""Chinese characters, each of which BERT's tokenizer reads by itself."""
_RUNS = re.compile(rf"{_HAN}{_ATTACHED}*|(?:(?!{_HAN}).)+", re.DOTALL)
ATOM = re.compile(
    r"\[[^\[\]\s]{1,400}\]|Br|Cl|>>|>(?!>)|%[0-9]{2}|[BCNOPSFIbcnops]|[-=#+/\\:~@?*$().0-9]"
)
"""A part of a formula in SMILES, as models of chemistry tokenize it; or a mask.

No text has two ways to be read as such parts: a search through all of them would have no end.
"""
_CHUNK = re.compile(r"\S+")
_FORMULA = re.compile(
    r"(?=\S*(?:=|#|>>|[A-Za-z\])]\((?=[A-Z=#\[])|[A-Za-z]([0-9])\S*[A-Za-z]\1))"
    rf"(?:{ATOM.pattern}){{5,}}(?!\S)"
)
"""A run of at least five such parts with a bond, a branch, a ring or an arrow among them."""

EMPTY_TEXT = Sentence(
    "empty-text", "There is no text yet: type a sentence, for example with one [MASK] in it."
)
LONG_TEXT = Sentence(
    "text-too-long",
    "The text has {n:,} characters; {fits} tokens fit, which is about 2,000 characters. Please "
    "shorten it.",
)
MANY_TOKENS = Sentence(
    "too-many-tokens", "The text has {n:,} tokens for {label}; {fits} fit. Please shorten it."
)
MANY_IN_ROW = Sentence("row-too-many-tokens", "It has {n:,} tokens for {label}; {most} are read.")


class BadText(Refusal):
    """Refusal of a text that cannot be run; the message is the one sentence shown to the reader."""


@dataclass(frozen=True, slots=True)
class Word:
    """Word of a text: a run of letters, one punctuation mark, or ``[MASK]``."""

    text: str
    start: int
    end: int

    @property
    def is_mask(self) -> bool:
        """True for a mask to be filled."""
        return self.text == MASK


@dataclass(frozen=True, slots=True)
class Tokens:
    """The output of one model's tokenizer for a text; the tuples are parallel to ``ids``."""

    text: str
    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    """Vocabulary spelling: ``##ing``, ``▁the``."""
    spans: tuple[tuple[int, int], ...]
    """Half-open character ranges in ``text``; ``(0, 0)`` for added tokens."""
    special: tuple[bool, ...]
    """True for tokens that the tokenizer added: [CLS], [SEP]."""
    segments: tuple[int, ...]
    """0 for the first sentence, 1 for the second."""
    words: tuple[Word, ...]
    word_index: tuple[int, ...]
    """Index of the word of each token; -1 for added tokens."""
    mask_positions: tuple[int, ...]
    own_words: tuple[int, ...]
    """Number of the tokenizer's own word (``word_ids``) that each token is part of, counted over
    both sentences; -1 for added tokens. BERT's tokenizer splits ``dog's`` into three words;
    ALBERT's splits at spaces only, so that ``well-known`` and ``sings.`` are one word each."""

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class MaskChoices:
    """Alternatives that the reader offers for one mask, written ``[he|she]``."""

    start: int
    end: int
    alternatives: tuple[str, ...]


def plain_text(text: str) -> str:
    """Return the text without control characters, masks and separators in one spelling."""
    text = _CONTROL.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return _SEPARATOR_AS_TYPED.sub(SEPARATOR, _MASK_AS_TYPED.sub(MASK, text)).strip()


def clean_text(text: str) -> str:
    """Return the text as it is run: plain, and each ``[he|she]`` is a mask."""
    return hide_choices(plain_text(text))


def _alternatives(inside: str) -> tuple[str, ...]:
    """Return the words between the bars; none unless there are at least two, none empty."""
    parts = tuple(part.strip() for part in inside.split("|"))
    return parts if len(parts) > 1 and all(parts) else ()


def hide_choices(text: str) -> str:
    """Return the text with a mask in place of every choice."""
    return _BRACKETS.sub(
        lambda match: MASK if _alternatives(match.group(1)) else match.group(), text
    )


def find_choices(text: str) -> tuple[MaskChoices, ...]:
    """Return the choices in a plain text, in reading order."""
    brackets = ((match, _alternatives(match.group(1))) for match in _BRACKETS.finditer(text))
    return tuple(
        MaskChoices(match.start(), match.end(), words) for match, words in brackets if words
    )


def choose(text: str, choice: MaskChoices, alternative: str) -> tuple[str, Word]:
    """Return the text with one alternative inserted and every other choice masked, and its span."""
    before = hide_choices(text[: choice.start])
    chosen = Word(alternative, len(before), len(before) + len(alternative))
    return before + alternative + hide_choices(text[choice.end :]), chosen


def put_into(text: str, gap: Word, word: str) -> tuple[str, Word]:
    """Return the text with a word in place of a gap, and the span of the word."""
    filled = text[: gap.start] + word + text[gap.end :]
    return filled, Word(word, gap.start, gap.start + len(word))


def spell_masks(text: str, mask: str) -> tuple[str, tuple[int, ...]]:
    """Return the text with a model's own mask token, and the offset in ``text`` of each character.

    The offset of the end is included; inside a mask, all offsets are its start.
    """
    parts, offsets, offset = text.split(MASK), list[int](), 0
    for number, part in enumerate(parts):
        if number:
            offsets += [offset] * len(mask)
            offset += len(MASK)
        offsets += range(offset, offset + len(part))
        offset += len(part)
    return mask.join(parts), (*offsets, offset)


@lru_cache(maxsize=512)
def split_words(text: str) -> tuple[Word, ...]:
    """Return the words of a text, independent of the tokenizers, so that all models share them.

    Where a text has no spaces, a word is what tokenizers take by itself: a Chinese character, an
    atom or a sign of a formula such as ``CC(=O)OCC``.
    """
    return tuple(words_between(text, 0, len(text)))


def words_between(text: str, start: int, end: int) -> Iterator[Word]:
    """Yield the words of a text from one place to another."""
    for chunk in _CHUNK.finditer(text, start, end):
        is_formula = _FORMULA.fullmatch(text, *chunk.span())
        for match in (ATOM if is_formula else WORD).finditer(text, *chunk.span()):
            parts = (match,) if is_formula else _RUNS.finditer(text, *match.span())
            yield from (Word(part[0], part.start(), part.end()) for part in parts)


def sides_of(text: str) -> tuple[str, ...]:
    """Return the two texts of ``A [SEP] B``, or the one text where a side is empty."""
    first, separator, second = text.partition(SEPARATOR)
    return (first, second) if separator and first.strip() and second.strip() else (text,)


def mask_word(text: str, word: Word) -> str:
    """Return the text with one word replaced by ``[MASK]``."""
    return text[: word.start] + MASK + text[word.end :]


def trim_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span without surrounding white space (SentencePiece includes a leading space)."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def word_of_span(ends: Sequence[int], start: int) -> int:
    """Return the index of the word of a token starting at ``start``: the first ending after it.

    Args:
        ends: The end of each word, in ascending order.
        start: Offset of the token's first character.
    """
    return min(bisect_right(ends, start), len(ends) - 1)


UNKNOWN = ("[UNK]", "<unk>")
"""Tokens that stand for letters outside a vocabulary."""


def _letters_of_bytes() -> dict[str, int]:
    """Return the byte of each letter of a byte-level vocabulary (Radford et al. 2019)."""
    printable = (*range(33, 127), *range(161, 173), *range(174, 256))
    others = [byte for byte in range(256) if byte not in printable]
    shifted = {chr(256 + place): byte for place, byte in enumerate(others)}
    return {chr(byte): byte for byte in printable} | shifted


_BYTES = _letters_of_bytes()


@dataclass(frozen=True, slots=True)
class Spelling:
    """Markers by which a vocabulary tells the start of a word from its inside."""

    starts: str = ""
    """Prefix of a piece that begins a word; empty where beginnings are not marked."""
    continues: str = ""
    """Prefix of a piece that continues a word; empty where continuations are not marked."""
    ends: str = ""
    """Suffix of a piece that ends a word; empty where ends are not marked."""
    is_bytes: bool = False
    """True where each letter stands for a byte of UTF-8."""

    def begins(self, piece: str) -> bool:
        """Return whether the piece is the start of a word."""
        if self.starts:
            return piece.startswith(self.starts)
        return not (self.continues and piece.startswith(self.continues))

    def text(self, piece: str) -> str:
        """Return the piece as plain text: ``##ing`` is ing, ``▁the`` and ``the</w>`` are the."""
        bare = piece.removeprefix(self.continues).removesuffix(self.ends)
        if self.starts:
            bare = bare.replace(self.starts, " ")
        if self.is_bytes and all(letter in _BYTES or letter == " " for letter in bare):
            decoded = bytes(32 if letter == " " else _BYTES[letter] for letter in bare)
            bare = decoded.decode("utf-8", "replace")
        return bare.strip() or piece

    def word(self, piece: str) -> str:
        """Return the text of a piece; a lone space is ␣.

        A continuation starts with an ellipsis. Where ends are marked, a piece without one has an
        ellipsis behind it.
        """
        if piece == self.starts:
            return "␣"
        text = self.text(piece)
        if self.ends and not piece.endswith(self.ends) and text[-1:].isalnum():
            return f"{text}…"
        return f"…{text}" if not self.begins(piece) and text[:1].isalnum() else text


WORDPIECE = Spelling(continues="##")
SENTENCEPIECE = Spelling(starts="▁")
BYTE_LEVEL = Spelling(starts="Ġ", is_bytes=True)
WORD_ENDS = Spelling(ends="</w>")
"""Markers of the end of each word, as in the vocabulary of HerBERT."""


@lru_cache(maxsize=8)
def spelling_of(vocabulary: tuple[str, ...]) -> Spelling:
    """Return the markers of a vocabulary, detected from its pieces."""
    for spelling in (SENTENCEPIECE, BYTE_LEVEL):
        if any(piece.startswith(spelling.starts) for piece in vocabulary):
            return spelling
    is_ended = any(piece.endswith(WORD_ENDS.ends) for piece in vocabulary)
    return WORD_ENDS if is_ended else WORDPIECE


def bare_letters(word: str) -> str:
    """Return the word without accents, as lower-case tokenizers read it: ``Café`` is Cafe."""
    return "".join(c for c in normalize("NFD", word) if category(c) != "Mn")


def word_id(vocabulary: tuple[str, ...], word: str, lower_case: bool) -> int:
    """Return the id of a whole word in a vocabulary; -1 where it is not one piece."""
    word = bare_letters(word).lower() if lower_case else word
    spelling = spelling_of(vocabulary)
    piece = spelling.starts + word + spelling.ends
    return vocabulary.index(piece) if piece in vocabulary else -1
