"""Detection of English: all three models were trained on English alone.

There is no word list: a word counts by its log-probability under the unigram vocabulary of the
bundled ALBERT, which was trained on English text, relative to the cost of a word of its length
under an unknown language. Words that may be names are left out.
"""

import json
import re
from functools import cache
from unicodedata import name

from explorer.assets import ASSETS, read_in

VOCABULARY = ASSETS / "models" / "mini-albert" / "tokenizer.json"
LETTER, WORD = 2.0, 3.0
"""Nats that a letter and a word cost under an unknown language."""
TWO_LETTERS = 6.0
"""Nats that a word of two letters costs: less than its letters, because every language has its
own frequent ones (la, un, de)."""
WHOLE, CUT = 5.0, 1.0
"""Upper bound of a word score: as one piece, and cut into several."""
AGAINST, LONG = 4.0, 16.0
"""Bound of a word's score against English, and that bound times its letters: chemical names are
long and in no vocabulary."""
ACCENTED = -2.0
"""Upper bound of the score of a word with an accented letter."""
LIMIT = -1.55
"""Score under which a text is taken for another language."""
FEWEST = 2
"""Fewest words to decide by: a single word may be a name."""
FREQUENT = -8.0
"""Log-probability above which a capitalised first word counts: The, She, We; not Paris."""
SHORT = 3
"""Letters beyond which a single word with a negative score is ignored, unless the score is the
lowest possible: the word may be rare, or a name."""
PARTICLE, PARTICLES = 3, 2
"""Letters, and number, of the small words inside a name: van, de la, ob der."""
BEGINNING = 2000
"""Characters that are examined: a passage may be very long."""
_MARKS = re.compile(r"\[(MASK|SEP)\]")
_ITEMS = re.compile(r"[^\W\d_]+|[^\w\s]|\d+")
_ENDS = ".?!"


def is_english(text: str) -> bool:
    """Return False where most letters are of another script or the words of another language.

    Names do not count: a capitalised word counts only at the start of a sentence, and only for
    English. A text without evidence passes for English.
    """
    bare = _MARKS.sub(" . ", text[:BEGINNING])
    words = re.findall(r"[^\W\d_]+", bare)
    letters = "".join(words)
    if 2 * sum("LATIN" in name(letter, "") for letter in letters) < len(letters):
        return False
    return len(words) < FEWEST or english_score(text) >= LIMIT


def english_score(text: str) -> float:
    """Return the summed evidence for English of the words of a text, in nats; names excluded."""
    bare = _MARKS.sub(" . ", text[:BEGINNING])
    items = _ITEMS.findall(bare.lower() if bare.upper() == bare else bare)
    speaking = [
        (item.lower(), item.islower() and not _is_particle(items, place))
        for place, item in enumerate(items)
        if item.islower() or _begins(items, place)
    ]
    scores = [(word, counts, word_score(word)) for word, counts in speaking]
    against = {word: score for word, counts, score in scores if counts and score < 0}
    if len(against) == 1:
        against = {w: v for w, v in against.items() if len(w) <= SHORT or v == -AGAINST}
    return sum(score for *_, score in scores if score > 0) + sum(against.values())


def _begins(items: list[str], place: int) -> bool:
    """Return whether a capitalised word begins a sentence and is frequent in English."""
    if not items[place][0].isupper() or (place and items[place - 1] not in _ENDS):
        return False
    return _log_probability(f"▁{items[place].lower()}") > FREQUENT


def _is_particle(items: list[str], place: int) -> bool:
    """Return whether a word is a particle of a name: a short word between capitalised ones."""
    start, end = place, place + 1
    while start and items[start - 1].islower():
        start -= 1
    while end < len(items) and items[end].islower():
        end += 1
    if not start or end == len(items) or end - start > PARTICLES:
        return False
    between = items[start - 1][0].isupper() and items[end][0].isupper()
    return between and all(len(item) <= PARTICLE for item in items[start:end])


def word_score(word: str) -> float:
    """Return the score of a lower-case word, in nats: above 0 for English, below 0 against it."""
    if len(word) == 1:
        return 0.0 if word.isascii() else ACCENTED
    whole = WHOLE if f"▁{word}" in _log_probabilities() else CUT
    most, least = whole if word.isascii() else ACCENTED, -min(AGAINST, LONG / len(word))
    cost = TWO_LETTERS if len(word) == 2 else LETTER * len(word) + WORD
    score = _log_probability(f"▁{word}") + cost
    return max(least, min(most, score))


def _log_probability(marked: str) -> float:
    """Return the log-probability of the likeliest way to cut a word into pieces (Viterbi)."""
    log_probabilities = _log_probabilities()
    best, longest = [0.0], _longest_piece()
    for end in range(1, len(marked) + 1):
        cuts = (
            best[start] + log_probabilities[marked[start:end]]
            for start in range(max(0, end - longest), end)
            if marked[start:end] in log_probabilities
        )
        best.append(max(cuts, default=float("-inf")))
    return best[-1]


@cache
def _longest_piece() -> int:
    return max(map(len, _log_probabilities()))


@cache
def _log_probabilities() -> dict[str, float]:
    with read_in(VOCABULARY):
        pieces = json.loads(VOCABULARY.read_text("utf-8"))["model"]["vocab"]
        return {str(piece): float(value) for piece, value in pieces}
