"""Parts of a text that a model cannot tell: unknown pieces, words that share a token, and gaps."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import category

from explorer.models.run import Run
from explorer.models.tokens import MASK, SEPARATOR, UNKNOWN, Tokens, bare_letters, spelling_of

INSTEAD = {
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    "„": '"',
    "«": '"',
    "»": '"',
    "–": "-",
    "—": "-",
    "−": "-",
    "…": "...",
}
"""Signs that many vocabularies lack, and the ones that they have in their place."""
INVISIBLE = ("Cf", "Cc", "Zs", "Mn")
"""Categories of characters that a reader cannot see by themselves."""


@dataclass(frozen=True, slots=True)
class UnknownPieces:
    """The pieces of a text that stand for anything outside a vocabulary."""

    n: int
    n_pieces: int
    """The pieces of the text, without those that the tokenizer added."""
    token: str
    """The piece: [UNK] or <unk>."""
    characters: tuple[str, ...]
    """The characters of the text that are in no piece, each once."""
    words: tuple[str, ...]
    """Parts of the text whose characters are all known, but not in this order."""


def unknown_pieces(run: Run) -> UnknownPieces:
    """Return the unknown pieces of a run's text, and the characters that they are due to."""
    tokens, known = run.tokens, _characters(run.vocabulary)
    places = [i for i, piece in enumerate(tokens.pieces) if piece in UNKNOWN]
    characters, words = dict[str, None](), dict[str, None]()
    for start, end in (tokens.spans[i] for i in places):
        part = tokens.text[start:end]
        lacking = [c for c in part if not _is_known(c, known, run.spec.lower_case)]
        characters |= dict.fromkeys(lacking)
        if part and not lacking:
            words[part] = None
    n_pieces = len(tokens) - sum(tokens.special)
    token = tokens.pieces[places[0]] if places else UNKNOWN[0]
    return UnknownPieces(len(places), n_pieces, token, tuple(characters), tuple(words))


def instead_of(run: Run, characters: Iterable[str]) -> dict[str, str]:
    """Return what to type for characters that a vocabulary lacks, where it has something like."""
    known = _characters(run.vocabulary)
    others = {c: INSTEAD[c] for c in characters if c in INSTEAD}
    return {c: other for c, other in others.items() if all(part in known for part in other)}


def is_invisible(character: str) -> bool:
    """Return whether a reader cannot see a character by itself."""
    return category(character) in INVISIBLE


def _is_known(character: str, known: frozenset[str], lower_case: bool) -> bool:
    if not lower_case:
        return character in known
    return all(c in known for c in bare_letters(character).lower())


@lru_cache(maxsize=8)
def _characters(vocabulary: tuple[str, ...]) -> frozenset[str]:
    """Return the characters that are a piece of their own, at the start of a word or inside."""
    spelling = spelling_of(vocabulary)
    bare = (
        piece.removeprefix(spelling.continues or "▁").removesuffix(spelling.ends)
        for piece in vocabulary
    )
    return frozenset(text for text in bare if len(text) == 1)


def joined_words(tokens: Tokens) -> tuple[tuple[str, ...], ...]:
    """Return the words that share one token, such as ``2010`` and its comma in ``▁2010,``.

    What is computed for the token counts for the first of them; the others have no token.
    """
    found = []
    for (start, end), special in zip(tokens.spans, tokens.special, strict=True):
        inside = [w.text for w in tokens.words if w.start < end and w.end > start]
        if not special and len(inside) > 1:
            found.append(tuple(inside))
    return tuple(dict.fromkeys(found))


def visible_places(tokens: Tokens) -> list[int]:
    """Return the places of a text's visible characters, without masks and separators."""
    words = (word for word in tokens.words if word.text not in (MASK, SEPARATOR))
    places = (place for word in words for place in range(word.start, word.end))
    return [place for place in places if not is_invisible(tokens.text[place])]


def skipped_characters(tokens: Tokens) -> tuple[str, ...]:
    """Return the visible characters of a text that are in no token, in their order.

    A tokenizer of formulas, for example, passes over whatever is no part of a formula.
    """
    covered = {place for start, end in tokens.spans for place in range(start, end)}
    return tuple(tokens.text[place] for place in visible_places(tokens) if place not in covered)
