"""Batches for MLM with NSP or SOP: sentences packed into pairs, then 15% of the pieces masked.

A batch is a pure function of the seed, the rank and the step, so an interrupted run resumes with
exactly the batches it would have had.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch

from explorer.analysis.distillation.student import Batch
from explorer.analysis.distillation.triple_loss import IGNORED
from explorer.refusal import Refusal
from training.recipe import Recipe
from training.text.batch import CLS, PAD, SEP, alike
from training.text.corpus import Shard
from training.text.masking import mask_pieces
from training.text.pieces import Pieces

IN_ORDER, NOT_IN_ORDER = 0, 1
POOL = 8  # batches' worth of texts from which those of similar length are selected
LARGE, LARGE_POOL = 4096, 2  # above this many tokens a smaller pool suffices
ORDER_DRAWS = 8  # a window of 64 pieces holds two whole sentences once in four

Example = tuple[np.ndarray, np.ndarray, int]


class Source(Protocol):
    """Source of batches of another kind."""

    def batch(self, rng: np.random.Generator) -> Any:  # noqa: ANN401
        """Return the next batch."""


@dataclass(frozen=True, slots=True, eq=False)
class Sampler:
    """Sampler of batches from a shard; `task` is ``nsp`` or ``sop``.

    Attributes:
        pieces: Properties of the vocabulary's pieces; needed to mask whole words.
        sentences: Source of the batches of single sentences; none are drawn without it.
        primer: Source of the batches of the primer; none are drawn without it.
    """

    shard: Shard
    recipe: Recipe
    task: str
    seed: int
    rank: int = 0
    pieces: Pieces | None = None
    sentences: Source | None = None
    primer: Source | None = None

    def batch(self, step: int, length: int | None = None, late: bool = False) -> Any:  # noqa: ANN401
        """Return the batch of a step; its length is drawn unless given.

        Only a batch whose length is drawn can hold sentences of the primer or single sentences
        (more of them late in a run); and only then are texts of similar length grouped.
        """
        rng = np.random.default_rng((self.seed, self.rank, step))
        if length is not None:
            rows = self.recipe.tokens_per_step // length
            return self._packed(rng, [self._example(rng, length) for _ in range(rows)], length)
        if self.primer is not None and rng.random() < self.recipe.primer_share:
            return self.primer.batch(rng)
        share = self.recipe.late_sentence_share if late else self.recipe.sentence_share
        if self.sentences is not None and rng.random() < share:
            return self.sentences.batch(rng)
        lengths, shares = zip(*self.recipe.lengths, strict=True)
        length = int(rng.choice(lengths, p=np.array(shares) / sum(shares)))
        return self._of_like_length(rng, length)

    def _of_like_length(self, rng: np.random.Generator, length: int) -> Batch:
        tokens = self.recipe.tokens_per_step
        times = POOL if tokens <= LARGE else LARGE_POOL
        pool = [self._example(rng, length) for _ in range(times * tokens // length)]
        sizes = np.array(
            [len(first) + len(second) + 2 + bool(len(second)) for first, second, _ in pool]
        )
        chosen = alike(rng, sizes, tokens)
        return self._packed(rng, [pool[i] for i in chosen], int(sizes[chosen].max()))

    def _packed(self, rng: np.random.Generator, examples: Sequence[Example], length: int) -> Batch:
        """Pack examples into a batch and mask some of their pieces."""
        ids = np.full((len(examples), length), PAD, dtype=np.int64)
        types, mask = np.zeros_like(ids), np.zeros_like(ids)
        pairs = np.array([label for _, _, label in examples], dtype=np.int64)
        for row, (first, second, _) in enumerate(examples):
            text = np.concatenate([[CLS], first, [SEP], second, [SEP] if len(second) else []])
            ids[row, : len(text)] = text
            mask[row, : len(text)] = 1
            types[row, len(first) + 2 : len(text)] = 1
        hidden, labels = mask_pieces(rng, ids, self.recipe, self.pieces)
        arrays = (ids, types, mask, hidden, labels, pairs)
        return Batch(*(torch.from_numpy(array) for array in arrays))

    def _example(self, rng: np.random.Generator, length: int) -> Example:
        """Draw an example: first segment, second segment (empty for a single text), pair label."""
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
            return text[:split], self._other_document(rng, document, room - split), NOT_IN_ORDER
        follows = text[split:room]
        if len(follows) < self.recipe.shortest_segment:
            return text[:split], text[:0], IGNORED
        return text[:split], follows, IN_ORDER

    def _text(
        self, rng: np.random.Generator, max_pieces: int
    ) -> tuple[int, np.ndarray, np.ndarray]:
        """Draw a document, its text from the start of a sentence on, and the sentence ends."""
        shard = self.shard
        document = int(np.searchsorted(shard.documents, rng.integers(len(shard.words)), "right"))
        low, high = shard.documents[document - 1], shard.documents[document]
        start = low if rng.random() < self.recipe.opening_share else rng.integers(low, high)
        ends = shard.sentences[start + 1 : high + 1] - shard.sentences[start]
        text = shard.ids[shard.sentences[start] : shard.sentences[start] + max_pieces + 1]
        return document, text[: ends[-1]].astype(np.int64), ends

    def _splits(self, ends: np.ndarray, max_pieces: int) -> np.ndarray:
        """Return the sentence ends that leave room for a second segment (SOP: a whole sentence)."""
        shortest = self.recipe.shortest_segment
        splits = ends[(ends >= shortest) & (ends <= max_pieces - shortest)]
        if self.task == "sop" and len(splits):
            splits = splits[splits <= ends[ends <= max_pieces][-1] - shortest]
        return splits

    def _single(self, rng: np.random.Generator, text: np.ndarray) -> np.ndarray:
        """Return a single text, sometimes with its beginning repeated to teach copying."""
        share = self.recipe.repeated_share
        if not share or rng.random() >= share:
            return text
        again = int(rng.integers(len(text) // 4, len(text) // 2 + 1))
        return np.concatenate([text[:again], text])[: len(text)]

    def _swap(self, text: np.ndarray, ends: np.ndarray, split: int, is_swapped: bool) -> Example:
        """Return two runs of whole sentences: a truncated end would reveal which came second."""
        first, second = text[:split], text[split : ends[-1]]
        return (second, first, NOT_IN_ORDER) if is_swapped else (first, second, IN_ORDER)

    def _other_document(
        self, rng: np.random.Generator, document: int, max_pieces: int
    ) -> np.ndarray:
        """Draw pieces from the start of a sentence of another document."""
        shard, other = self.shard, document
        if len(shard.documents) < 3:
            raise Refusal("Next-sentence pairs need at least two documents.")
        while other == document:
            sentence = int(rng.integers(len(shard.words)))
            other = int(np.searchsorted(shard.documents, sentence, "right"))
        start = shard.sentences[sentence]
        stop = min(start + max_pieces, shard.sentences[shard.documents[other]])
        return shard.ids[start:stop].astype(np.int64)
