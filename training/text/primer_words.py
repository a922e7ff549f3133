"""Arguments of the primer's facts: their words that may be masked, and their forms."""

import re
from dataclasses import dataclass

Span = tuple[int, int]
ARTICLES = ("a ", "an ", "the ")
MARKED = re.compile(r"_([^_]+)_")
HEARD_AS_VOWEL = ("hour", "honest", "heir", "honor", "honour", "mp3", "x-")
HEARD_AS_CONSONANT = ("uni", "use", "usu", "eu", "one", "once", "ewe", "uk", "ura", "uto")
PLURALS = {
    "man": "men", "woman": "women", "child": "children", "foot": "feet", "tooth": "teeth",
    "goose": "geese", "mouse": "mice", "ox": "oxen", "sheep": "sheep", "fish": "fish",
    "deer": "deer", "wolf": "wolves", "calf": "calves", "leaf": "leaves", "knife": "knives",
    "wife": "wives", "life": "lives", "shelf": "shelves", "thief": "thieves", "loaf": "loaves",
    "half": "halves", "elf": "elves", "hero": "heroes", "potato": "potatoes", "tomato": "tomatoes",
    "salmon": "salmon", "trout": "trout", "fireman": "firemen", "policeman": "policemen",
    "fisherman": "fishermen", "postman": "postmen", "grandchild": "grandchildren",
    "buffalo": "buffaloes",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument that fills a slot of a wording.

    Attributes:
        text: Spelling in the middle of a sentence: "the Nile", "a dog", "milk".
        synonyms: Other words that are accepted as answers but never written.
        spans: Character spans of the words that may be masked.
    """

    text: str
    synonyms: tuple[str, ...]
    spans: tuple[Span, ...]

    @classmethod
    def parse(cls, field: str) -> "Argument":
        """Parse a field of a table.

        A single word, after its article if it has one, may be masked; ``word*`` may not. Of several
        words those in underscores may. ``first/second`` is written "first" and accepts both.
        """
        field, *also = field.split("/")
        if "_" in field:
            return cls(MARKED.sub(r"\1", field), tuple(also), marked_spans(field))
        text = field.removesuffix("*")
        start = article(text)
        whole = text == field and " " not in text[start:]
        return cls(text, tuple(also), ((start, len(text)),) if whole else ())

    @property
    def name(self) -> str:
        """The text without article, in lower case; identifies an argument."""
        return self.text[article(self.text) :].lower()

    def words(self) -> tuple[str, ...]:
        """Return the words that may be masked and the other accepted ones, in lower case."""
        own = [self.text[low:high].lower() for low, high in self.spans]
        return (*own, *(word.lower() for word in self.synonyms if own))

    def fitting(self, word: str) -> tuple[str, ...]:
        """Return the words that are correct where this one is masked; the word itself first."""
        return (word, *map(str.lower, self.synonyms)) if len(self.spans) == 1 else (word,)

    def around(self, word: str) -> str | None:
        """Return the rest of the text with this word masked; None if it does not occur."""
        start = article(self.text)
        for low, high in self.spans:
            if self.text[low:high].lower() == word:
                return f"{self.text[start:low]}_{self.text[high:]}".lower()
        return None


def marked_spans(field: str) -> tuple[Span, ...]:
    """Return the spans of the words in underscores, once the underscores are removed."""
    matches = MARKED.finditer(field)
    return tuple((m.start() - 2 * i, m.end() - 2 * i - 2) for i, m in enumerate(matches))


def article(text: str) -> int:
    """Return the length of the text's article, with the space after it."""
    return next((len(prefix) for prefix in ARTICLES if text.startswith(prefix)), 0)


def in_form(argument: Argument, form: str | None) -> tuple[str, tuple[Span, ...]]:
    """Return an argument in a form: as written, ``an``, ``the``, ``bare`` or ``s`` (plural).

    A plural has no spans, so it is never masked.
    """
    if form is None:
        return argument.text, argument.spans
    start = article(argument.text)
    bare = argument.text[start:]
    if form == "s":
        return plural(bare), ()
    before = {"an": f"{a_or_an(bare)} ", "the": "the ", "bare": ""}[form]
    shift = len(before) - start
    return before + bare, tuple((low + shift, high + shift) for low, high in argument.spans)


def a_or_an(text: str) -> str:
    """Return the indefinite article for a text, by its pronunciation."""
    word = text.lower()
    if word.startswith(HEARD_AS_VOWEL):
        return "an"
    return "an" if word[0] in "aeiou" and not word.startswith(HEARD_AS_CONSONANT) else "a"


def plural(text: str) -> str:
    """Return the plural of a noun; of several words only the last changes."""
    *before, word = text.split(" ")
    if word in PLURALS:
        many = PLURALS[word]
    elif re.search(r"(s|x|z|ch|sh)$", word):
        many = f"{word}es"
    elif re.search(r"[^aeiou]y$", word):
        many = f"{word[:-1]}ies"
    else:
        many = f"{word}s"
    return " ".join([*before, many])
