"""Batches for MLM with NSP or SOP: sentences packed into pairs, then 15 % of the pieces hidden.

A batch is a pure function of the seed, the rank and the step, so a run that was cut off goes on
with exactly the batches it would have had.
"""

from dataclasses import dataclass

import numpy as np
import torch

from explorer.analysis.distillation.triple_loss import IGNORED
from explorer.training.recipe import Recipe
from explorer.training.text.batch import CLS, PAD, SEP, Batch
from explorer.training.text.corpus import Shard
from explorer.training.text.masking import hide
from explorer.training.text.sentences import Sentences

SHORTEST = 4  # a segment of fewer pieces makes no pair
IN_ORDER, NOT_IN_ORDER = 0, 1
ORDER_DRAWS = 8  # a window of 64 pieces holds two whole sentences once in four

Example = tuple[np.ndarray, np.ndarray, int]


@dataclass(frozen=True, slots=True, eq=False)
class Sampler:
    """Draws batches from a shard; `task` is ``nsp`` or ``sop``.

    Attributes:
        sentences: Where the batches of single sentences come from; none are drawn without it.
    """

    shard: Shard
    recipe: Recipe
    task: str
    seed: int
    rank: int = 0
    sentences: Sentences | None = None

    def batch(self, step: int, length: int | None = None, late: bool = False) -> Batch:
        """The batch of a step; its length is drawn unless given.

        Only a batch whose length is drawn can be one of single sentences; late in a run more are.
        """
        rng = np.random.default_rng((self.seed, self.rank, step))
        if length is None:
            share = self.recipe.late_sentence_share if late else self.recipe.sentence_share
            if self.sentences is not None and rng.random() < share:
                return self.sentences.batch(rng)
            lengths, shares = zip(*self.recipe.lengths, strict=True)
            length = int(rng.choice(lengths, p=np.array(shares) / sum(shares)))
        rows = self.recipe.tokens_per_step // length
        ids = np.full((rows, length), PAD, dtype=np.int64)
        types = np.zeros((rows, length), dtype=np.int64)
        mask = np.zeros((rows, length), dtype=np.int64)
        pairs = np.full(rows, IGNORED, dtype=np.int64)
        for row in range(rows):
            first, second, pairs[row] = self._example(rng, length)
            text = np.concatenate([[CLS], first, [SEP], second, [SEP] if len(second) else []])
            ids[row, : len(text)] = text
            mask[row, : len(text)] = 1
            types[row, len(first) + 2 : len(text)] = 1
        pieces = None if self.sentences is None else self.sentences.pieces
        hidden, labels = hide(rng, ids, self.recipe, pieces)
        arrays = (ids, types, mask, hidden, labels, pairs)
        return Batch(*(torch.from_numpy(array) for array in arrays))

    def _example(self, rng: np.random.Generator, length: int) -> Example:
        """First segment, second segment (empty for a single text) and the pair's label."""
        room = length - 3
        for _ in range(ORDER_DRAWS if self.task == "sop" else 1):
            document, text, ends = self._text(rng, room)
            splits = self._splits(ends, room)
            if len(splits):
                break
        if not len(splits) or rng.random() < self.recipe.single_share:
            return self._single(rng, text), text[:0], IGNORED
        split = int(rng.choice(splits))
        backwards = bool(rng.random() < 0.5)
        if self.task == "sop":
            return self._swap(text, ends[ends <= room], split, backwards)
        if backwards:
            return text[:split], self._elsewhere(rng, document, room - split), NOT_IN_ORDER
        follows = text[split:room]
        if len(follows) < SHORTEST:
            return text[:split], text[:0], IGNORED
        return text[:split], follows, IN_ORDER

    def _text(self, rng: np.random.Generator, room: int) -> tuple[int, np.ndarray, np.ndarray]:
        """A document, its text from the start of a sentence on, and where its sentences end."""
        shard = self.shard
        document = int(np.searchsorted(shard.documents, rng.integers(len(shard.words)), "right"))
        low, high = shard.documents[document - 1], shard.documents[document]
        start = low if rng.random() < 0.25 else rng.integers(low, high)
        ends = shard.sentences[start + 1 : high + 1] - shard.sentences[start]
        text = shard.ids[shard.sentences[start] : shard.sentences[start] + room + 1]
        return document, text[: ends[-1]].astype(np.int64), ends

    def _splits(self, ends: np.ndarray, room: int) -> np.ndarray:
        """Sentence ends that leave room for a second segment; SOP's must be a whole sentence."""
        splits = ends[(ends >= SHORTEST) & (ends <= room - SHORTEST)]
        if self.task == "sop" and len(splits):
            splits = splits[splits <= ends[ends <= room][-1] - SHORTEST]
        return splits

    def _single(self, rng: np.random.Generator, text: np.ndarray) -> np.ndarray:
        """A text alone, sometimes with its beginning said twice, so that copying is learned."""
        share = self.recipe.repeated_share
        if not share or rng.random() >= share:
            return text
        again = int(rng.integers(len(text) // 4, len(text) // 2 + 1))
        return np.concatenate([text[:again], text])[: len(text)]

    def _swap(self, text: np.ndarray, ends: np.ndarray, split: int, backwards: bool) -> Example:
        """Two runs of whole sentences: a cut end would betray which one came second."""
        first, second = text[:split], text[split : ends[-1]]
        return (second, first, NOT_IN_ORDER) if backwards else (first, second, IN_ORDER)

    def _elsewhere(self, rng: np.random.Generator, document: int, room: int) -> np.ndarray:
        """Pieces from the start of a sentence of another document."""
        shard, other = self.shard, document
        if len(shard.documents) < 3:
            raise ValueError("Next-sentence pairs need at least two documents.")
        while other == document:
            sentence = int(rng.integers(len(shard.words)))
            other = int(np.searchsorted(shard.documents, sentence, "right"))
        start = shard.sentences[sentence]
        stop = min(start + room, shard.sentences[shard.documents[other]])
        return shard.ids[start:stop].astype(np.int64)
