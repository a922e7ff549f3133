"""Shared helpers for tests of sentences: reading them from markup, and grammar checks."""

import re
import sys

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from tests.markup import plain

law = settings(
    max_examples=40, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
LABELS = {"bert": "BERT", "distilbert": "DistilBERT", "albert": "ALBERT", "roberta": "RoBERTa"}
WORDS = st.sampled_from(["paris", "lyon", "rome", "oslo"])
TEXTS = (
    "Paris is the capital of [MASK].",
    "The river flows into the [MASK] Ocean.",
    "Berlin is the capital of [MASK].",
    "The dogs [MASK] very old.",
    "The film was directed [MASK] a young woman.",
    "He shook his [MASK] and said no.",
    "The quokka is a small [MASK] found only in Australia.",
    "The nurse said that [he|she] was tired.",
    "The first [MASK] of the United [MASK] was a general.",
    "[MASK] [MASK] [MASK] [MASK]",
    "The [MASK] and the [MASK] went to the [MASK] with a [MASK] and an old [MASK].",
    "The king was dead. [SEP] His son became the new [MASK].",
    "[MASK]",
    "[MASK].",
    "Yes",
    "Antidisestablishmentarianism is a [MASK] word.",
    "عاصمة فرنسا هي [MASK].",
    "法国的首都是 [MASK] 。",
    "😀 the [MASK] 😀",
    '<b>The [MASK] & "the" dog</b>',
    "The cat sat on the mat.",
    "The old man put his hand on the table and looked at the [MASK]. " * 4,
    "It was not [MASK], " + "and the water of the river was cold and dark, " * 12 + "he said.",
)
"""Texts that every headline is tested on: one word, no mask, several masks, scripts, long texts."""
LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
SINGULAR_IN_S = {"is", "has", "was", "as", "its", "this", "across", "loss", "less", "pass", "minus"}
COUNTED = "round|block|word|mask|head|layer|text|token|piece|sentence|model|check|step|thread|point"


PRINTED = r"\d\.\d+(?:×10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?"
"""Pattern of a printed probability: decimals, or with a power of ten."""


def number(printed: str) -> float:
    """Return the value of a printed probability; only 0 itself prints as zeros."""
    digits, _, power = printed.partition("×10")
    return float(digits) * 10.0 ** int(power.translate(LOWERED) or 0)


def close_shares():
    """Return a strategy of probabilities, many of which print alike to three decimals."""
    crowded = [0.0, 0.0004, 0.4996, 0.5, 0.5004, 0.9996, 1.0]
    return st.one_of(st.sampled_from(crowded), st.floats(0, 1))


def some_models(least=1, most=4):
    """Return a strategy of subsets of the models, in their fixed order."""
    return st.sets(st.sampled_from([*LABELS]), min_size=least, max_size=most).map(
        lambda keys: [key for key in LABELS if key in keys]
    )


def read(markup) -> str:
    """Return the text of a sentence's markup, after the grammar checks."""
    text = plain(markup).replace("\u00a0", " ")
    check_grammar(text)
    return text


def check_grammar(text: str) -> None:
    """Check singular and plural forms, and that no value is missing or malformed."""
    assert not re.search(r"\bnan\b|\binf\b|\bNone\b(?! of)|[{}]|  |,,| ,|\.\.(?!\.)", text), text
    assert not re.search(r"(?<![\d.])[-−]0\.?0*(?![\d.])", text), text
    for noun in re.findall(r"(?<![\d.,])\b1 ([a-z]+s)\b", text):
        assert noun in SINGULAR_IN_S, text
    for number, noun in re.findall(rf"(?<![\d.,])\b(\d[\d,]*(?<!,)) ({COUNTED})\b(?!-)", text):
        assert number == "1", f"{number} {noun}: {text}"


def names_in(text: str, labels=LABELS) -> list[str]:
    """Return the keys of the models that a text names, in order."""
    keys = {label: key for key, label in labels.items()}
    pattern = "|".join(sorted(map(re.escape, keys), key=len, reverse=True))
    return [keys[name] for name in re.findall(rf"(?<![\w-])({pattern})(?!\w)", text)]


def places_named(text: str, words) -> list[int]:
    """Return the indices of the words that a sentence names, read as "the 2nd and 4th dog".

    A word without an ordinal must occur once.
    """
    pattern = "|".join(sorted(map(re.escape, set(words)), key=len, reverse=True))
    places, ordinals = [], []
    for n, name in re.findall(rf"(\d+)(?:st|nd|rd|th)\b|(?<!\w)({pattern})(?!\w)", text):
        if n:
            ordinals.append(int(n))
            continue
        at = [i for i, word in enumerate(words) if word == name]
        assert ordinals or len(at) == 1, f"{name}: which of {len(at)}? {text}"
        places += [at[n - 1] for n in ordinals or [1]]
        ordinals = []
    return sorted(places)


def told(text: str, sentence: str) -> None:
    """Print one row of the table that ``pytest -s`` shows: a text, and its sentence."""
    sys.stdout.write(f"\n{text[:60]:60} | {sentence}")
