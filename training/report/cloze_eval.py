"""Whether a model's answers can be believed: on our own probe, and on held-out single sentences.

Both are what a visitor does: one short sentence, one word hidden. The second also asks how often
the first answer only says again a word of the sentence.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedTokenizerBase

from explorer.analysis.distillation.student.objectives import Batch, guess
from explorer.analysis.distillation.triple_loss import IGNORED
from explorer.assets import DATA
from training.report.heldout import HELDOUT_SEED
from training.text.batch import CLS, MASK, PAD, SEP
from training.text.corpus import Shard
from training.text.pieces import Pieces

PROBE = DATA / "probe.json"
SHORTEST, LONGEST = 6, 30
ROWS = 32
# Words that any sentence may say twice; to repeat one of them is no habit.
SMALL = """
a about after again all also an and any are as at be because been before being between both but by
can could did do does down during each even every for from had has have he her here him himself
his how i if in into is it its itself just like may me might more most much must my no nor not now
of off on once one only or other our out over own s said same she should so some such t than that
the their them themselves then there these they this those through to too two under until up upon
us very was we were what when where whether which while who whom whose why will with within
without would you your
"""
FUNCTION_WORDS = frozenset(SMALL.split())


@dataclass(frozen=True, slots=True)
class ClozeQuestion:
    """A text as ids, the place of its mask, the word that was there, and its other words."""

    ids: tuple[int, ...]
    place: int
    accepted: frozenset[str]
    others: frozenset[str]


@dataclass(frozen=True, slots=True)
class Answers:
    """Shares of the texts: an accepted word first, one among five, a content word said again.

    Attributes:
        first: Of each text, whether an accepted word came first.
        right: Whether one was among five.
    """

    top1: float
    top5: float
    repeats: float
    first: tuple[bool, ...]
    right: tuple[bool, ...]


def read_probe() -> list[dict[str, Any]]:
    """The probe's sentences: kind, text, accepted words."""
    return json.loads(PROBE.read_text(encoding="utf-8"))["sentences"]


def probe_asked(
    tokenizer: PreTrainedTokenizerBase, sentences: Sequence[dict]
) -> list[ClozeQuestion]:
    """The probe in a model's own pieces."""
    found = []
    for sentence in sentences:
        ids = tokenizer(sentence["text"])["input_ids"]
        said = sentence["text"].replace(tokenizer.mask_token, " ").lower()
        words = "".join(c if c.isalnum() else " " for c in said).split()
        accepted = frozenset(sentence["accepted"])
        found.append(ClozeQuestion(tuple(ids), ids.index(MASK), accepted, frozenset(words)))
    return found


def probe_figures(model: nn.Module, tokenizer: PreTrainedTokenizerBase) -> dict[str, Any]:
    """What a model answers on the probe.

    An answer is one piece that is a whole word; an accepted word of several pieces cannot be given.
    """
    sentences = read_probe()
    names = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    found = answers(model, probe_asked(tokenizer, sentences), names)
    kinds: dict[str, list[bool]] = {}
    for sentence, right in zip(sentences, found.right, strict=True):
        kinds.setdefault(sentence["kind"], []).append(right)
    return {
        "probe_top1": found.top1,
        "probe_top5": found.top5,
        "probe_repeats": found.repeats,
        "probe_count": len(sentences),
        "probe_kinds": {kind: sum(right) / len(right) for kind, right in kinds.items()},
    }


@torch.no_grad()
def answers(model: nn.Module, asked: Sequence[ClozeQuestion], names: Sequence[str]) -> Answers:
    """Ask a model; texts of like length together."""
    words = whole_words(names)
    first, right, again = (np.zeros(len(asked), dtype=bool) for _ in range(3))
    order = sorted(range(len(asked)), key=lambda i: len(asked[i].ids))
    for start in range(0, len(order), ROWS):
        chosen = order[start : start + ROWS]
        best = guess(model, batch_of([asked[i] for i in chosen])).words.topk(5).indices.tolist()
        for i, ids in zip(chosen, best, strict=True):
            given = [words[piece] for piece in ids]
            first[i] = given[0] in asked[i].accepted
            right[i] = bool(asked[i].accepted.intersection(given))
            again[i] = repeats(given[0], asked[i].others)
    return Answers(
        top1=float(first.mean()),
        top5=float(right.mean()),
        repeats=float(again.mean()),
        first=tuple(first.tolist()),
        right=tuple(right.tolist()),
    )


def batch_of(asked: Sequence[ClozeQuestion]) -> Batch:
    """Texts with their masks, padded to the longest."""
    longest = max(len(one.ids) for one in asked)
    ids = torch.tensor([[*one.ids, *[PAD] * (longest - len(one.ids))] for one in asked])
    hidden = torch.tensor([row * longest + one.place for row, one in enumerate(asked)])
    pairs = torch.full((len(asked),), IGNORED)
    return Batch(
        ids, torch.zeros_like(ids), (ids != PAD).long(), hidden, torch.zeros_like(hidden), pairs
    )


def whole_words(names: Sequence[str]) -> list[str]:
    """The word that each piece is all of, empty for pieces that go on with a word."""
    marked = any(name.startswith("▁") for name in names)
    if marked:
        return [name[1:] if name.startswith("▁") else "" for name in names]
    return ["" if name.startswith(("##", "[")) else name for name in names]


def repeats(word: str, others: frozenset[str]) -> bool:
    """Whether a word says a content word of the sentence again."""
    return word in others and word not in FUNCTION_WORDS


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A held-out shard with what is needed to read words off its pieces."""

    shard: Shard
    pieces: Pieces
    names: Sequence[str]

    def words(self, sentence: int) -> list[tuple[str, int, int]]:
        """The words of a sentence, and the places of their pieces."""
        low, high = self.shard.sentences[sentence : sentence + 2]
        ids = self.shard.ids[low:high]
        starts = np.flatnonzero(self.pieces.starts(ids))
        ends = np.append(starts[1:], len(ids))
        spelt = [self.names[i].removeprefix("##").replace("▁", "") for i in ids]
        bounds = zip(starts.tolist(), ends.tolist(), strict=True)
        return [("".join(spelt[a:b]), a, b) for a, b in bounds]

    def single(self, sentence: int) -> dict[tuple[str, int], int]:
        """Where the words of letters are that are one piece, by word and occurrence."""
        seen: dict[str, int] = {}
        found = {}
        for word, low, high in self.words(sentence):
            occurrence = seen.get(word, 0)
            seen[word] = occurrence + 1
            if high - low == 1 and word.isalpha():
                found[word, occurrence] = low
        return found

    def asked(self, sentence: int, word: str, occurrence: int) -> ClozeQuestion:
        """A sentence with one occurrence of a word hidden."""
        low, high = self.shard.sentences[sentence : sentence + 2]
        words = self.words(sentence)
        index = [i for i, (text, _, _) in enumerate(words) if text == word][occurrence]
        ids = [CLS, *self.shard.ids[low:high].tolist(), SEP]
        place = words[index][1] + 1
        ids[place] = MASK
        others = frozenset(text for i, (text, _, _) in enumerate(words) if i != index)
        return ClozeQuestion(tuple(ids), place, frozenset([word]), others)


def single_sentences(readings: Sequence[Reading], count: int) -> list[tuple[int, str, int]]:
    """Held-out sentences with a word that is one piece in every vocabulary: the same for all.

    Returns:
        (sentence, word, which of its occurrences), in a random order that is always the same.
    """
    rng = np.random.default_rng(HELDOUT_SEED)
    found: list[tuple[int, str, int]] = []
    for sentence in rng.permutation(len(readings[0].shard.sentences) - 1).tolist():
        chosen = _choice(rng, readings, sentence)
        if chosen:
            found.append((sentence, *chosen))
        if len(found) == count:
            break
    return found


def _choice(
    rng: np.random.Generator, readings: Sequence[Reading], sentence: int
) -> tuple[str, int] | None:
    for reading in readings:
        low, high = reading.shard.sentences[sentence : sentence + 2]
        if (
            not SHORTEST <= high - low <= LONGEST
            or not reading.pieces.ends[reading.shard.ids[high - 1]]
        ):
            return None
    common = set.intersection(*(set(reading.single(sentence)) for reading in readings))
    if not common:
        return None
    return sorted(common)[rng.integers(len(common))]


def single_figures(
    model: nn.Module, reading: Reading, chosen: Sequence[tuple[int, str, int]]
) -> dict[str, Any]:
    """What a model answers on held-out single sentences, and how often the truth repeats itself."""
    asked = [reading.asked(*one) for one in chosen]
    found = answers(model, asked, reading.names)
    true = [repeats(next(iter(one.accepted)), one.others) for one in asked]
    return {
        "single_top1": found.top1,
        "single_top5": found.top5,
        "single_repeats": found.repeats,
        "single_true_repeats": sum(true) / len(true),
        "single_count": len(asked),
    }
