"""The probe in two parts: what the primer teaches in other words, and what it does not."""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from typing import Any

from training.text.primer import Fact, facts
from training.text.primer_words import plural
from training.text.probe_frames import content_words, probe_sentences


def probe_parts() -> tuple[tuple[dict[str, Any], ...], tuple[dict[str, Any], ...]]:
    """The probe's sentences that ask a fact of the primer, and the others."""
    asked = [(one, bool(facts_asked(one["text"], one["accepted"]))) for one in probe_sentences()]
    return (
        tuple(one for one, known in asked if known),
        tuple(one for one, known in asked if not known),
    )


def facts_asked(text: str, accepted: list[str]) -> tuple[Fact, ...]:
    """The facts that answer a sentence: one argument is accepted, the others stand in it."""
    words = {form for word in content_words(text) for form in lemmas(word)}
    return tuple(
        fact
        for answer in accepted
        for fact, rest in by_answer().get(answer, ())
        if rest and rest <= words
    )


@cache
def by_answer() -> Mapping[str, tuple[tuple[Fact, frozenset[str]], ...]]:
    """For each word that may be hidden: its facts, each with the words of the other arguments."""
    found: dict[str, list[tuple[Fact, frozenset[str]]]] = defaultdict(list)
    for fact in facts():
        for one in fact.arguments:
            for low, high in one.spans:
                own = one.text[low:high].lower()
                rest = [w for other in fact.arguments for w in content_words(other.text)]
                for word in one.fitting(own):
                    found[word].append((fact, frozenset(rest) - {own}))
    return {word: tuple(known) for word, known in found.items()}


def lemmas(word: str) -> set[str]:
    """The words of the tables that a word of a sentence may be a form of."""
    return {word, *inflected().get(word, ())}


@cache
def inflected() -> Mapping[str, frozenset[str]]:
    """Plurals and pasts of everything the tables name, and what each is a form of."""
    found: dict[str, set[str]] = defaultdict(set)
    for fact in facts():
        for one in fact.arguments:
            for form in (plural(one.name), f"{one.name}ed", f"{one.name}d"):
                found[form].add(one.name)
        if fact.kind == "verb":
            base, *forms = (one.name for one in fact.arguments[:3])
            for form in forms:
                found[form].add(base)
    return {form: frozenset(names) for form, names in found.items()}
