"""Cloze evaluation: answers on our own probe, and on held-out single sentences.

Both imitate a visitor: one short sentence, one masked word. The second also measures the share of
top predictions that repeat a content word of the sentence.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedTokenizerBase

from explorer.analysis.distillation.student import Batch, run_batch
from explorer.analysis.distillation.triple_loss import IGNORED
from explorer.assets import DATA
from training.report.heldout import HELDOUT_SEED
from training.text.batch import CLS, MASK, PAD, SEP
from training.text.corpus import Shard
from training.text.pieces import Pieces

PROBE = DATA / "probe.json"
SHORTEST, LONGEST = 6, 30
ROWS = 32
# Function words: any sentence may repeat them, so such a prediction is not counted.
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
    """A text as ids, the position of its mask, the accepted words, and its other words."""

    ids: tuple[int, ...]
    mask_position: int
    accepted: frozenset[str]
    other_words: frozenset[str]


@dataclass(frozen=True, slots=True)
class Answers:
    """Shares of the texts: an accepted word first, one among five, a content word repeated.

    Attributes:
        first: For each text, an accepted word came first.
        right: For each text, an accepted word was among the top five.
    """

    top1: float
    top5: float
    repeats: float
    first: tuple[bool, ...]
    right: tuple[bool, ...]


def read_probe() -> list[dict[str, Any]]:
    """Return the probe's sentences: kind, text, accepted words."""
    return json.loads(PROBE.read_text(encoding="utf-8"))["sentences"]


def probe_questions(
    tokenizer: PreTrainedTokenizerBase, sentences: Sequence[dict]
) -> list[ClozeQuestion]:
    """Tokenise the probe's sentences into questions."""
    questions = []
    for sentence in sentences:
        ids = tokenizer(sentence["text"])["input_ids"]
        text = sentence["text"].replace(tokenizer.mask_token, " ").lower()
        words = "".join(c if c.isalnum() else " " for c in text).split()
        accepted = frozenset(sentence["accepted"])
        questions.append(ClozeQuestion(tuple(ids), ids.index(MASK), accepted, frozenset(words)))
    return questions


def probe_figures(model: nn.Module, tokenizer: PreTrainedTokenizerBase) -> dict[str, Any]:
    """Evaluate a model on the probe.

    An answer is one piece that is a whole word; an accepted word of several pieces cannot be given.
    """
    sentences = read_probe()
    names = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    result = answers(model, probe_questions(tokenizer, sentences), names)
    kinds: dict[str, list[bool]] = {}
    for sentence, right in zip(sentences, result.right, strict=True):
        kinds.setdefault(sentence["kind"], []).append(right)
    return {
        "probe_top1": result.top1,
        "probe_top5": result.top5,
        "probe_repeats": result.repeats,
        "probe_count": len(sentences),
        "probe_kinds": {kind: sum(right) / len(right) for kind, right in kinds.items()},
    }


@torch.no_grad()
def answers(model: nn.Module, questions: Sequence[ClozeQuestion], names: Sequence[str]) -> Answers:
    """Predict the masked words, in batches of similar length."""
    words = whole_words(names)
    first, right, repeated = (np.zeros(len(questions), dtype=bool) for _ in range(3))
    order = sorted(range(len(questions)), key=lambda i: len(questions[i].ids))
    for start in range(0, len(order), ROWS):
        chosen = order[start : start + ROWS]
        best = (
            run_batch(model, batch_of([questions[i] for i in chosen]))
            .words.topk(5)
            .indices.tolist()
        )
        for i, ids in zip(chosen, best, strict=True):
            predictions = [words[piece] for piece in ids]
            first[i] = predictions[0] in questions[i].accepted
            right[i] = bool(questions[i].accepted.intersection(predictions))
            repeated[i] = repeats(predictions[0], questions[i].other_words)
    return Answers(
        top1=float(first.mean()),
        top5=float(right.mean()),
        repeats=float(repeated.mean()),
        first=tuple(first.tolist()),
        right=tuple(right.tolist()),
    )


def batch_of(questions: Sequence[ClozeQuestion]) -> Batch:
    """Return texts with their masks as a batch, padded to the longest."""
    longest = max(len(question.ids) for question in questions)
    ids = torch.tensor(
        [[*question.ids, *[PAD] * (longest - len(question.ids))] for question in questions]
    )
    hidden = torch.tensor(
        [row * longest + question.mask_position for row, question in enumerate(questions)]
    )
    pairs = torch.full((len(questions),), IGNORED)
    return Batch(
        ids, torch.zeros_like(ids), (ids != PAD).long(), hidden, torch.zeros_like(hidden), pairs
    )


def whole_words(names: Sequence[str]) -> list[str]:
    """Return the whole word of each piece; an empty string for pieces that continue a word."""
    marked = any(name.startswith("▁") for name in names)
    if marked:
        return [name[1:] if name.startswith("▁") else "" for name in names]
    return ["" if name.startswith(("##", "[")) else name for name in names]


def repeats(word: str, other_words: frozenset[str]) -> bool:
    """Return whether a word repeats a content word of the sentence."""
    return word in other_words and word not in FUNCTION_WORDS


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A shard with the data needed to decode its words."""

    shard: Shard
    pieces: Pieces
    names: Sequence[str]

    def words(self, sentence: int) -> list[tuple[str, int, int]]:
        """Return the words of a sentence, and the bounds of their pieces."""
        low, high = self.shard.sentences[sentence : sentence + 2]
        ids = self.shard.ids[low:high]
        starts = np.flatnonzero(self.pieces.starts(ids))
        ends = np.append(starts[1:], len(ids))
        texts = [self.names[i].removeprefix("##").replace("▁", "") for i in ids]
        bounds = zip(starts.tolist(), ends.tolist(), strict=True)
        return [("".join(texts[a:b]), a, b) for a, b in bounds]

    def single(self, sentence: int) -> dict[tuple[str, int], int]:
        """Return the positions of alphabetic words that are one piece, by word and occurrence."""
        seen: dict[str, int] = {}
        positions = {}
        for word, low, high in self.words(sentence):
            occurrence = seen.get(word, 0)
            seen[word] = occurrence + 1
            if high - low == 1 and word.isalpha():
                positions[word, occurrence] = low
        return positions

    def asked(self, sentence: int, word: str, occurrence: int) -> ClozeQuestion:
        """Return a sentence with one occurrence of a word masked."""
        low, high = self.shard.sentences[sentence : sentence + 2]
        words = self.words(sentence)
        index = [i for i, (text, _, _) in enumerate(words) if text == word][occurrence]
        ids = [CLS, *self.shard.ids[low:high].tolist(), SEP]
        place = words[index][1] + 1
        ids[place] = MASK
        others = frozenset(text for i, (text, _, _) in enumerate(words) if i != index)
        return ClozeQuestion(tuple(ids), place, frozenset([word]), others)


def single_sentences(readings: Sequence[Reading], count: int) -> list[tuple[int, str, int]]:
    """Draw held-out sentences with a word that is one piece in every vocabulary.

    Returns:
        (sentence, word, index of its occurrence), in a fixed random order.
    """
    rng = np.random.default_rng(HELDOUT_SEED)
    sentences: list[tuple[int, str, int]] = []
    for sentence in rng.permutation(len(readings[0].shard.sentences) - 1).tolist():
        chosen = _choice(rng, readings, sentence)
        if chosen:
            sentences.append((sentence, *chosen))
        if len(sentences) == count:
            break
    return sentences


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
    """Evaluate a model on held-out single sentences, with the true words' repetition rate."""
    questions = [reading.asked(*item) for item in chosen]
    result = answers(model, questions, reading.names)
    true_repeats = [repeats(next(iter(item.accepted)), item.other_words) for item in questions]
    return {
        "single_top1": result.top1,
        "single_top5": result.top5,
        "single_repeats": result.repeats,
        "single_true_repeats": sum(true_repeats) / len(true_repeats),
        "single_count": len(questions),
    }
