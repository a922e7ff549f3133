"""Settings, sentences and reports of a live training run (without torch)."""

import random
import re
from dataclasses import dataclass

import numpy as np

from explorer.analysis.measures import TEMPERATURES
from explorer.assets import DATA, sentences
from explorer.refusal import Refusal, Sentence

STARTS = ("copied", "random")
LIMITS = {
    "layers": (1, 3), "steps": (10, 400), "temperature": TEMPERATURES, "ce": (0.0, 10.0),
    "mlm": (0.0, 10.0), "cos": (0.0, 10.0), "seed": (0, 2**31),
}  # fmt: skip
PARTS = ("loss", "ce", "mlm", "cos")
PLAIN = DATA / "plain_sentences.txt"
"""Sentences without a hidden word, one per line, written for this explorer."""
MADE_UP = 60


class BadSettings(Refusal):
    """Settings out of range; the message is shown to the reader."""


@dataclass(frozen=True, slots=True)
class LiveSettings:
    """The reader's settings of a run."""

    layers: int = 3
    start: str = "copied"
    """``copied``: initialised from teacher layers; ``random``: from random weights."""
    steps: int = 120
    temperature: float = 2.0
    ce: float = 5.0
    mlm: float = 2.0
    cos: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name, (low, high) in LIMITS.items():
            if not low <= getattr(self, name) <= high:
                raise BadSettings(
                    Sentence(
                        "not-a-number-between", f"{name} must be a number from {low:g} to {high:g}."
                    )
                )
        if self.start not in STARTS:
            raise BadSettings(Sentence("bad-start", "A student starts either copied or random."))
        if not self.ce + self.mlm + self.cos > 0:
            raise BadSettings(
                Sentence(
                    "no-weight-of-losses", "At least one of the three weights must be above 0."
                )
            )

    @property
    def weights(self) -> dict[str, float]:
        """The weights of the three losses, by name."""
        return {"ce": self.ce, "mlm": self.mlm, "cos": self.cos}


@dataclass(frozen=True, slots=True)
class LiveAgreement:
    """Agreement of student and teacher on held-out sentences."""

    same_first: float
    """Share of masks with the same top-1 prediction."""
    shared_five: float
    """Mean overlap of both top-5 lists, as a share."""
    found: float
    """Share of masks at which the student's top-1 prediction is the hidden word."""


@dataclass(frozen=True, slots=True, eq=False)
class WatchedSentence:
    """The reader's sentence: token ids, the mask's position, and the ids of the watched words."""

    ids: tuple[int, ...] = ()
    position: int = 0
    words: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class LiveReport:
    """Progress of a run: mean losses, agreement, and probabilities in the reader's sentence."""

    step: int
    parts: dict[str, float]
    """Means since the last report: ``loss`` (weighted), ``ce``, ``mlm``, ``cos``; empty at 0."""
    agreement: LiveAgreement | None
    """None between evaluations."""
    soft: np.ndarray | None
    """float32 [word], the student's probabilities of the watched words at the run's temperature;
    None without watched words."""


def listed(words: str) -> tuple[str, ...]:
    """Split words or phrases at bars and line breaks."""
    return tuple(word.strip() for word in words.replace("\n", "|").split("|"))


PEOPLE = listed("""the old man|the young woman|a small child|my brother|her sister|the teacher
the doctor|the king|the queen|a soldier|the captain|the farmer|the writer|an officer|the judge
his wife|the students|two men|the boys|our friends|the president|a stranger""")
PLACES = listed("""the garden|the house|the city|the river|the village|the church|the school
the hotel|the station|the island|the forest|the market|the castle|the sea|the hospital|the bridge
the park|the university|the mountain|the street|the theatre|the lake""")
THINGS = listed("""a book|the letter|some water|an old car|the money|a piece of bread|the door
a red flower|the picture|a black horse|the paper|a gun|her hand|the key|the first prize|a song
the crown|his last hope|the map|a new dress|the boat|an answer""")
ACTS = listed("""found|lost|bought|sold|wanted|carried|took|saw|gave away|remembered|forgot
needed""")
MOVES = listed("""walked to|ran from|lived near|came back to|waited at|looked at|left
returned to""")
TIMES = listed("""in the morning|at night|after the war|last year|every day|in the summer
for three years|before the storm|on the same day|in the end|many years ago
at the beginning of the month""")
STATES = listed("""tired|happy|cold|dark|beautiful|dead|very old|quiet|alone|afraid|famous|poor""")
FIELDS = listed("law|music|history|art|science|medicine|war|trade|language|religion")
PATTERNS = (
    "{person} {move} {place} {time}.",
    "{time}, {person} {act} {thing}.",
    "{person} {act} {thing} and {move} {place}.",
    "{place} was {state} {time}.",
    "{person} was {state}, but {other} {act} {thing}.",
    "when {person} {move} {place}, it was {state}.",
    "{person} said that {other} {act} {thing}.",
    "{thing} was found near {place} {time}.",
    "{person} studied {field} and {move} {place}.",
    "there was a book about {field} in {place}.",
    "{person} and {other} {move} {place} {time}.",
    "nobody knew why {person} {act} {thing}.",
    "{place} is known for its {field}.",
    "did {person} see {other} at {place}?",
)


@dataclass(frozen=True, slots=True)
class HiddenSentence:
    """A sentence with one ``[MASK]`` and the hidden word."""

    text: str
    answer: str

    @property
    def whole(self) -> str:
        """The sentence with its hidden word."""
        return self.text.replace("[MASK]", self.answer)


def bundled_sentences() -> tuple[HiddenSentence, ...]:
    """Return the sentences bundled with the explorer."""
    return tuple(HiddenSentence(item["text"], item["answer"]) for item in sentences())


def split_sentences() -> tuple[tuple[str, ...], tuple[HiddenSentence, ...]]:
    """Return the training sentences (plain and half of the bundled ones) and the held-out half."""
    bundled, plain = bundled_sentences(), PLAIN.read_text("utf-8").split("\n")
    whole = tuple(sentence.whole for sentence in bundled[::2])
    return whole + tuple(line for line in plain if line), bundled[1::2]


def questions_of(sentence: HiddenSentence) -> tuple[tuple[str, str], ...]:
    """Return two (text, answer) pairs: the sentence, and it with its longest other word masked."""
    words = re.findall(r"[a-z]+", sentence.text.replace("[MASK]", ""))
    longest = max(words, key=len)
    other = re.sub(rf"\b{longest}\b", "[MASK]", sentence.whole, count=1)
    return (sentence.text, sentence.answer), (other, longest)


def made_up_sentences(number: int = MADE_UP, seed: int = 0) -> tuple[str, ...]:
    """Generate simple sentences from patterns; the same seed gives the same sentences."""
    rng = random.Random(seed)
    return tuple(_random_sentence(rng) for _ in range(number))


def _random_sentence(rng: random.Random) -> str:
    text = rng.choice(PATTERNS).format(
        person=rng.choice(PEOPLE), other=rng.choice(PEOPLE), place=rng.choice(PLACES),
        thing=rng.choice(THINGS), act=rng.choice(ACTS), move=rng.choice(MOVES),
        time=rng.choice(TIMES), state=rng.choice(STATES), field=rng.choice(FIELDS),
    )  # fmt: skip
    return text[0].upper() + text[1:]
