"""The primer: everyday facts, the sentences that train them, and the questions that test them.

``assets/data/primer/`` holds plain tables. One row of a table of facts is a kind and its
arguments; ``wordings.tsv`` phrases each kind in several ways; ``kinds.tsv`` names the arguments
that questions may mask.
"""

import re
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from explorer.assets import DATA
from training.text.primer_words import Argument, in_form
from training.text.probe_frames import ProbeFrames

PRIMER = DATA / "primer"
NO_FACTS = ("kinds.tsv", "wordings.tsv")
SLOT = re.compile(r"\{(!?)([a-d])(?::(\w+))?\}")
STARTS = re.compile(r"(^|[.?!][\"”]? )[\"“]?$")
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Fact:
    """A row of the fact tables: capital, France, Paris."""

    kind: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """The properties that all facts of a kind share.

    Attributes:
        masked_slots: The arguments that held-out questions mask, as letters.
        determined: The argument that the others determine ("b": a country has one capital), or
            none.
        both_ways: The arguments may be swapped (opposites).
        training_wordings: Wordings for training.
        held_out_wordings: Wordings held out for evaluation.
    """

    masked_slots: str
    determined: str
    both_ways: bool
    training_wordings: tuple[str, ...]
    held_out_wordings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PrimerSentence:
    """A sentence and its words that may be masked.

    Attributes:
        hidden: For each such word its character spans; every occurrence is masked.
        words: (letter of the argument, word in lower case) of each of them.
    """

    text: str
    fact: Fact
    hidden: tuple[tuple[Span, ...], ...]
    words: tuple[tuple[str, str], ...]

    @property
    def kind(self) -> str:
        """The name of the fact's kind."""
        return self.fact.kind

    def masked(self, spans: tuple[Span, ...]) -> str:
        """Return the sentence with every occurrence of one word masked."""
        text = self.text
        for low, high in reversed(spans):
            text = f"{text[:low]}[MASK]{text[high:]}"
        return text


@dataclass(frozen=True, slots=True)
class PrimerQuestion:
    """A sentence in a held-out wording, and every word that makes it true."""

    text: str
    accepted: tuple[str, ...]
    kind: str


@cache
def kinds() -> Mapping[str, Kind]:
    """Return every kind by name, in the order of the table."""
    wordings: dict[tuple[str, str], list[str]] = defaultdict(list)
    for kind, use, text in rows("wordings.tsv"):
        wordings[kind, use].append(text)
    return {
        name: Kind(
            masked_slots,
            determined,
            both == "yes",
            tuple(wordings[name, "say"]),
            tuple(wordings[name, "ask"]),
        )
        for name, masked_slots, determined, both in rows("kinds.tsv")
    }


@cache
def facts() -> tuple[Fact, ...]:
    """Return every row of the fact tables."""
    names = sorted(path.name for path in PRIMER.glob("*.tsv") if path.name not in NO_FACTS)
    return tuple(
        Fact(kind, tuple(map(Argument.parse, arguments)))
        for name in names
        for kind, *arguments in rows(name)
    )


def rows(name: str) -> Iterator[list[str]]:
    """Yield the fields of each line of a table; the header line is skipped."""
    for line in (PRIMER / name).read_text("utf-8").splitlines()[1:]:
        yield line.split("\t")


def primer_sentences(seed: int = 0) -> tuple[PrimerSentence, ...]:
    """Return every fact in every training wording; the seed selects the wrong words after "not".

    Sentences that the project's probe asks in the same words are left out.
    """
    probe = ProbeFrames.load()
    sentences = (
        sentence
        for fact in facts()
        for sentence in phrasings(fact, kinds()[fact.kind].training_wordings, seed)
    )
    return tuple(
        sentence
        for sentence in sentences
        if sentence.hidden
        and not probe.holds(sentence.text)
        and not any(probe.holds(sentence.masked(spans)) for spans in sentence.hidden)
    )


def held_out_questions() -> tuple[PrimerQuestion, ...]:
    """Return every fact in the held-out wordings, with each asked argument masked in turn."""
    probe, questions = ProbeFrames.load(), []
    for fact in facts():
        kind = kinds()[fact.kind]
        for sentence in phrasings(fact, kind.held_out_wordings, 0):
            questions += [
                PrimerQuestion(
                    sentence.masked(spans), true_words(sentence.fact, slot, word), fact.kind
                )
                for spans, (slot, word) in zip(sentence.hidden, sentence.words, strict=True)
                if slot in kind.masked_slots
            ]
    return tuple(
        question
        for question in dict.fromkeys(questions)
        if not any(
            probe.holds(question.text.replace("[MASK]", word))
            for word in ("[MASK]", *question.accepted)
        )
    )


def primer_words() -> tuple[str, ...]:
    """Return every word that is masked or accepted, in lower case; vocabularies keep each whole."""
    words = {word for fact in facts() for argument in fact.arguments for word in argument.words()}
    return tuple(sorted(words))


def phrasings(fact: Fact, wordings: tuple[str, ...], seed: int) -> Iterator[PrimerSentence]:
    """Yield a fact in each wording, in both orders of its arguments where both are true."""
    for arguments in orders(fact):
        for wording in wordings:
            yield fill_wording(Fact(fact.kind, arguments), wording, seed)


def orders(fact: Fact) -> tuple[tuple[Argument, ...], ...]:
    """Return the fact's arguments, and their reverse where that is as true."""
    swapped = (fact.arguments[::-1],) if kinds()[fact.kind].both_ways else ()
    return (fact.arguments, *swapped)


def fill_wording(fact: Fact, wording: str, seed: int) -> PrimerSentence:
    """Return a wording with the fact's arguments in its slots."""
    text, end = "", 0
    hidden: dict[str, list[Span]] = {}
    slots: dict[str, str] = {}
    for match in SLOT.finditer(wording):
        text += wording[end : match.start()]
        end = match.end()
        wrong, slot, form = match.groups()
        argument = wrong_word(fact, slot, f"{wording}{seed}") if wrong else argument_in(fact, slot)
        written, spans = in_form(argument, form)
        for low, high in () if wrong else spans:
            word = written[low:high].lower()
            hidden.setdefault(word, []).append((len(text) + low, len(text) + high))
            slots.setdefault(word, slot)
        text += capital(text, written)
    places = tuple(map(tuple, hidden.values()))
    return PrimerSentence(
        text + wording[end:], fact, places, tuple((slots[word], word) for word in hidden)
    )


def capital(before: str, written: str) -> str:
    """Return the written text, capitalised where it starts a sentence."""
    return written[0].upper() + written[1:] if STARTS.search(before) else written


def argument_in(fact: Fact, slot: str) -> Argument:
    """Return the argument of a slot."""
    return fact.arguments["abcd".index(slot)]


@cache
def columns() -> Mapping[tuple[str, str], Mapping[tuple[str, ...], tuple[Argument, ...]]]:
    """For each kind and slot, map the names of the other arguments to the arguments in the slot."""
    tables: dict[tuple[str, str], dict[tuple[str, ...], list[Argument]]] = {}
    for fact in facts():
        for arguments in orders(fact):
            for slot, argument in zip("abcd", arguments, strict=False):
                column = tables.setdefault((fact.kind, slot), {})
                column.setdefault(others(arguments, slot), []).append(argument)
    return {key: {k: tuple(v) for k, v in column.items()} for key, column in tables.items()}


@cache
def column(kind: str, slot: str) -> tuple[Argument, ...]:
    """Return every distinct argument in a slot of a kind."""
    distinct = {
        argument.name: argument for group in columns()[kind, slot].values() for argument in group
    }
    return tuple(distinct.values())


def others(arguments: tuple[Argument, ...], slot: str) -> tuple[str, ...]:
    """Return the names of the arguments that are not in this slot."""
    return tuple(argument.name for i, argument in enumerate(arguments) if "abcd"[i] != slot)


def true_words(fact: Fact, slot: str, word: str) -> tuple[str, ...]:
    """Return all words that the tables make true where this one is masked, alphabetically."""
    own = argument_in(fact, slot)
    words = list(own.fitting(word))
    for argument in columns()[fact.kind, slot][others(fact.arguments, slot)]:
        for candidate in argument.words():
            if argument.around(candidate) == own.around(word):
                words += argument.fitting(candidate)
    return tuple(sorted(set(words)))


def wrong_word(fact: Fact, slot: str, seed: str) -> Argument:
    """Return an argument of the same kind that is false here, chosen by a hash of the sentence."""
    correct = columns()[fact.kind, slot][others(fact.arguments, slot)]
    names = {
        name
        for argument in (*correct, *fact.arguments)
        for name in (argument.name, *argument.words())
    }
    candidates = column(fact.kind, slot)
    start = zlib.crc32(" ".join([seed, *(argument.text for argument in fact.arguments)]).encode())
    for step in range(len(candidates)):
        argument = candidates[(start + step) % len(candidates)]
        if argument.name not in names and not names.intersection(argument.words()):
            return argument
    raise ValueError(f"There is no wrong word for {fact}.")
