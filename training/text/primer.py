"""The primer: everyday facts, and the sentences in which models read them and are asked for them.

``assets/data/primer/`` holds plain tables. One row of a table of facts is a kind and its
arguments; ``wordings.tsv`` says each kind in several ways; ``kinds.tsv`` says what may be asked.
"""

import re
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from explorer.assets import DATA
from training.text.primer_words import Argument, said_as
from training.text.probe_frames import ProbeFrames

PRIMER = DATA / "primer"
NO_FACTS = ("kinds.tsv", "wordings.tsv")
SLOT = re.compile(r"\{(!?)([a-d])(?::(\w+))?\}")
STARTS = re.compile(r"(^|[.?!][\"”]? )[\"“]?$")
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Fact:
    """A row of the tables: capital, France, Paris."""

    kind: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """What all facts of a kind share.

    Attributes:
        asked: The arguments that held-out questions hide, as letters.
        one: The argument that the others determine ("b": a country has one capital), or none.
        both_ways: The arguments may change places (opposites).
        say: Wordings that are trained on.
        ask: Wordings that are never trained on.
    """

    asked: str
    one: str
    both_ways: bool
    say: tuple[str, ...]
    ask: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence and the words of it that may be hidden.

    Attributes:
        hidden: For each such word its spans of characters: what stands twice is hidden twice.
        words: Each of them as the letter of its argument and in lower case.
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
        """The sentence with one word hidden wherever it stands."""
        text = self.text
        for low, high in reversed(spans):
            text = f"{text[:low]}[MASK]{text[high:]}"
        return text


@dataclass(frozen=True, slots=True)
class PrimerQuestion:
    """A sentence in a wording that is never trained on, and every word that makes it true."""

    text: str
    accepted: tuple[str, ...]
    kind: str


@cache
def kinds() -> Mapping[str, Kind]:
    """Every kind by name, in the order of its table."""
    wordings: dict[tuple[str, str], list[str]] = defaultdict(list)
    for kind, use, text in rows("wordings.tsv"):
        wordings[kind, use].append(text)
    return {
        name: Kind(
            asked, one, both == "yes", tuple(wordings[name, "say"]), tuple(wordings[name, "ask"])
        )
        for name, asked, one, both in rows("kinds.tsv")
    }


@cache
def facts() -> tuple[Fact, ...]:
    """Every row of the tables of facts."""
    names = sorted(path.name for path in PRIMER.glob("*.tsv") if path.name not in NO_FACTS)
    return tuple(
        Fact(kind, tuple(map(Argument.parse, arguments)))
        for name in names
        for kind, *arguments in rows(name)
    )


def rows(name: str) -> Iterator[list[str]]:
    """The fields of each line of a table; the first line names the columns."""
    for line in (PRIMER / name).read_text("utf-8").splitlines()[1:]:
        yield line.split("\t")


def primer_sentences(seed: int = 0) -> tuple[Said, ...]:
    """Every fact in every trained wording; another seed brings other wrong words after "not".

    What the project's probe asks in the same words is left out.
    """
    probe = ProbeFrames.load()
    said = (one for fact in facts() for one in sayings(fact, kinds()[fact.kind].say, seed))
    return tuple(
        one
        for one in said
        if one.hidden
        and not probe.holds(one.text)
        and not any(probe.holds(one.masked(spans)) for spans in one.hidden)
    )


def held_out_questions() -> tuple[PrimerQuestion, ...]:
    """Every fact in the wordings that are never trained on, each asked argument hidden in turn."""
    probe, asked = ProbeFrames.load(), []
    for fact in facts():
        kind = kinds()[fact.kind]
        for said in sayings(fact, kind.ask, 0):
            asked += [
                PrimerQuestion(said.masked(spans), true_words(said.fact, slot, word), fact.kind)
                for spans, (slot, word) in zip(said.hidden, said.words, strict=True)
                if slot in kind.asked
            ]
    return tuple(
        one
        for one in dict.fromkeys(asked)
        if not any(
            probe.holds(one.text.replace("[MASK]", word)) for word in ("[MASK]", *one.accepted)
        )
    )


def primer_words() -> tuple[str, ...]:
    """Every word that is hidden or accepted, in lower case: the vocabularies keep each whole."""
    words = {word for fact in facts() for one in fact.arguments for word in one.words()}
    return tuple(sorted(words))


def sayings(fact: Fact, wordings: tuple[str, ...], seed: int) -> Iterator[Said]:
    """A fact in each of these wordings, in both orders where it reads both ways."""
    for arguments in orders(fact):
        for wording in wordings:
            yield say(Fact(fact.kind, arguments), wording, seed)


def orders(fact: Fact) -> tuple[tuple[Argument, ...], ...]:
    """The fact's arguments as they stand, and the other way round where that is as true."""
    swapped = (fact.arguments[::-1],) if kinds()[fact.kind].both_ways else ()
    return (fact.arguments, *swapped)


def say(fact: Fact, wording: str, seed: int) -> Said:
    """A wording with the fact's arguments in its slots."""
    text, end = "", 0
    hidden: dict[str, list[Span]] = {}
    slots: dict[str, str] = {}
    for match in SLOT.finditer(wording):
        text += wording[end : match.start()]
        end = match.end()
        wrong, slot, form = match.groups()
        argument = wrong_word(fact, slot, f"{wording}{seed}") if wrong else of(fact, slot)
        written, spans = said_as(argument, form)
        for low, high in () if wrong else spans:
            word = written[low:high].lower()
            hidden.setdefault(word, []).append((len(text) + low, len(text) + high))
            slots.setdefault(word, slot)
        text += capital(text, written)
    places = tuple(map(tuple, hidden.values()))
    return Said(text + wording[end:], fact, places, tuple((slots[word], word) for word in hidden))


def capital(before: str, written: str) -> str:
    """A text as it is written after another: with a capital where a sentence starts."""
    return written[0].upper() + written[1:] if STARTS.search(before) else written


def of(fact: Fact, slot: str) -> Argument:
    """The argument a slot stands for."""
    return fact.arguments["abcd".index(slot)]


@cache
def columns() -> Mapping[tuple[str, str], Mapping[tuple[str, ...], tuple[Argument, ...]]]:
    """For each kind and slot: the arguments that stand there, by the names of those beside them."""
    found: dict[tuple[str, str], dict[tuple[str, ...], list[Argument]]] = {}
    for fact in facts():
        for arguments in orders(fact):
            for slot, one in zip("abcd", arguments, strict=False):
                column = found.setdefault((fact.kind, slot), {})
                column.setdefault(others(arguments, slot), []).append(one)
    return {key: {k: tuple(v) for k, v in column.items()} for key, column in found.items()}


@cache
def column(kind: str, slot: str) -> tuple[Argument, ...]:
    """Every argument that stands in a slot of a kind, once."""
    found = {one.name: one for ones in columns()[kind, slot].values() for one in ones}
    return tuple(found.values())


def others(arguments: tuple[Argument, ...], slot: str) -> tuple[str, ...]:
    """The names of the arguments that are not in this slot."""
    return tuple(one.name for i, one in enumerate(arguments) if "abcd"[i] != slot)


def true_words(fact: Fact, slot: str, word: str) -> tuple[str, ...]:
    """Every word that the tables make true where this one is hidden, in the alphabet's order."""
    own = of(fact, slot)
    found = list(own.fitting(word))
    for one in columns()[fact.kind, slot][others(fact.arguments, slot)]:
        for other in one.words():
            if one.around(other) == own.around(word):
                found += one.fitting(other)
    return tuple(sorted(set(found)))


def wrong_word(fact: Fact, slot: str, seed: str) -> Argument:
    """An argument of the same kind that is not true here, chosen by the sentence itself."""
    true = columns()[fact.kind, slot][others(fact.arguments, slot)]
    names = {name for one in (*true, *fact.arguments) for name in (one.name, *one.words())}
    candidates = column(fact.kind, slot)
    start = zlib.crc32(" ".join([seed, *(one.text for one in fact.arguments)]).encode())
    for step in range(len(candidates)):
        one = candidates[(start + step) % len(candidates)]
        if one.name not in names and not names.intersection(one.words()):
            return one
    raise ValueError(f"There is no wrong word for {fact}.")
