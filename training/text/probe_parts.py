"""The probe in two parts: facts that the primer teaches in other words, and all others."""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from typing import Any

from training.text.primer import Fact, facts
from training.text.primer_words import plural
from training.text.probe_frames import content_words, probe_sentences


def probe_parts() -> tuple[tuple[dict[str, Any], ...], tuple[dict[str, Any], ...]]:
    """Return the probe's sentences that ask a fact of the primer, and the others."""
    sentences = [
        (sentence, bool(facts_asked(sentence["text"], sentence["accepted"])))
        for sentence in probe_sentences()
    ]
    return (
        tuple(sentence for sentence, known in sentences if known),
        tuple(sentence for sentence, known in sentences if not known),
    )


def facts_asked(text: str, accepted: list[str]) -> tuple[Fact, ...]:
    """Return the facts that answer a sentence: one argument is accepted, the others occur in it."""
    words = {form for word in content_words(text) for form in lemmas(word)}
    return tuple(
        fact
        for answer in accepted
        for fact, rest in by_answer().get(answer, ())
        if rest and rest <= words
    )


@cache
def by_answer() -> Mapping[str, tuple[tuple[Fact, frozenset[str]], ...]]:
    """For each word that may be masked, map to its facts and the words of their other arguments."""
    table: dict[str, list[tuple[Fact, frozenset[str]]]] = defaultdict(list)
    for fact in facts():
        for argument in fact.arguments:
            for low, high in argument.spans:
                own = argument.text[low:high].lower()
                rest = [w for other in fact.arguments for w in content_words(other.text)]
                for word in argument.fitting(own):
                    table[word].append((fact, frozenset(rest) - {own}))
    return {word: tuple(known) for word, known in table.items()}


def lemmas(word: str) -> set[str]:
    """Return the words of the tables that a word of a sentence may be a form of."""
    return {word, *inflected().get(word, ())}


@cache
def inflected() -> Mapping[str, frozenset[str]]:
    """Map plurals and past tenses of the tables' words to their base forms."""
    bases: dict[str, set[str]] = defaultdict(set)
    for fact in facts():
        for argument in fact.arguments:
            for form in (plural(argument.name), f"{argument.name}ed", f"{argument.name}d"):
                bases[form].add(argument.name)
        if fact.kind == "verb":
            base, *forms = (argument.name for argument in fact.arguments[:3])
            for form in forms:
                bases[form].add(base)
    return {form: frozenset(names) for form, names in bases.items()}
