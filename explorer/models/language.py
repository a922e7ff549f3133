"""Whether a text is English: all three models were trained on English alone."""

import re
from unicodedata import name

ENGLISH = """
the an of and is are were be been it its he she they we you that this these not at by for with
from as or but his her their has have had will would can there what who
"""
OTHERS = """
le la les un une des du de est sont et dans pour avec sur qui que nous vous ils elle ce cette pas
der das und ist nicht ein eine einen dem den von zu mit auf im für sich auch wir ich sind wurde
el los las una es en por con para del al se su muy está il lo gli di della delle che è sono nel
os um uma da dos das em não na são het een van niet zijn op voor dat och att det är av inte jag
się nie jest
"""
"""French, German, Spanish, Italian, Portuguese, Dutch, Swedish, Polish; no word of English."""
ENOUGH = 2
"""Fewer small words of another language may be a name or a quotation."""


def is_english(text: str) -> bool:
    """False where most letters are of another script, or its small words another language's.

    Cautious: a text of which nothing is known passes for English.
    """
    words = re.findall(r"[^\W\d_]+", re.sub(r"\[(MASK|SEP)\]", " ", text).lower())
    letters = "".join(words)
    if 2 * sum("LATIN" in name(letter, "") for letter in letters) < len(letters):
        return False
    foreign = _count(words, OTHERS)
    return foreign < ENOUGH or foreign <= _count(words, ENGLISH)


def _count(words: list[str], listed: str) -> int:
    known = set(listed.split())
    return sum(word in known for word in words)
