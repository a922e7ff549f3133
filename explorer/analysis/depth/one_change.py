"""A second text for the reader to start from: the first with one word changed."""

from collections.abc import Iterator
from dataclasses import dataclass

from explorer.models.tokens import Word, clean_text, split_words

NOUNS = (
    "king queen ship dog cat bird horse boy girl car train boat house room door window table book "
    "letter river mountain island bank road street town village school church bridge hospital "
    "team player game song film album teacher nurse doctor soldier officer president minister "
    "writer artist friend mother father brother sister son daughter student year month week day "
    "hour night war battle train plane capital state government law party key tree flower star "
    "planet museum hotel novel winter summer storm machine engine computer number nation author"
)
"""Words whose plural takes an s; what stands only here is a beginning, not a dictionary."""
PAIRS = {
    "number": "man men, woman women, child children, city cities, country countries, army armies, "
    "company companies, family families, story stories, wife wives, leaf leaves, foot feet, "
    "is are, was were, has have, this these, one two, two three, three four, four five",
    "gender": "he she, him her, his her, himself herself, man woman, men women, boy girl, "
    "boys girls, king queen, father mother, son daughter, brother sister, husband wife, "
    "prince princess, uncle aunt, actor actress, lord lady, mr mrs",
    "negation": "always never, with without, everything nothing, everybody nobody, "
    "everyone nobody, every no, some no, all no, very not, also not, can cannot, a no, an no, "
    "the no",
    "name": "paris london berlin rome, france germany england italy spain, america africa asia "
    "europe, australia canada, french german english italian spanish, british american, "
    "john james william george, mary anne elizabeth margaret, monday tuesday sunday, "
    "january june july",
}
"""Words that may stand for each other, by what then changes; each line is tried from its left."""
KINDS = tuple(PAIRS)


@dataclass(frozen=True, slots=True)
class OneChange:
    """A text with one word changed."""

    kind: str
    """What the change is about, one of ``KINDS``."""
    was: str
    becomes: str
    text: str


def one_changes(text: str) -> Iterator[OneChange]:
    """Every change that the lists know, kind by kind, in the order of the words."""
    text = clean_text(text)
    for kind in KINDS:
        for word in split_words(text):
            for other in _OTHERS[kind].get(word.text.lower(), ()):
                yield _changed(text, word, kind, other)


def _changed(text: str, word: Word, kind: str, other: str) -> OneChange:
    becomes = other.capitalize() if word.text[0].isupper() else other
    return OneChange(kind, word.text, becomes, text[: word.start] + becomes + text[word.end :])


def _others(kind: str) -> dict[str, tuple[str, ...]]:
    lines = [line.split() for line in PAIRS[kind].split(",")]
    if kind == "number":
        lines += [[noun, f"{noun}s"] for noun in NOUNS.split()]
    found: dict[str, list[str]] = {}
    for line in lines:
        for word in line:
            found.setdefault(word, []).extend(other for other in line if other != word)
    return {word: tuple(dict.fromkeys(others)) for word, others in found.items()}


_OTHERS = {kind: _others(kind) for kind in KINDS}
