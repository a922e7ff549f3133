"""Batches of what visitors type: one sentence alone, one or two of its words hidden.

A passage says most of its content words again, so copying pays there; a sentence does not.
"""

from dataclasses import dataclass

import numpy as np
import torch

from explorer.analysis.distillation.triple_loss import IGNORED
from explorer.training.recipe import Recipe
from explorer.training.text.batch import CLS, MASK, PAD, SEP, Batch
from explorer.training.text.corpus import Shard
from explorer.training.text.pieces import Pieces


@dataclass(frozen=True, slots=True, eq=False)
class Sentences:
    """The sentences of a shard in groups of like length, so that little is padded.

    Attributes:
        groups: Numbers of the sentences of each of the recipe's lengths, shortest first.
    """

    shard: Shard
    pieces: Pieces
    recipe: Recipe
    groups: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, shard: Shard, pieces: Pieces, recipe: Recipe) -> "Sentences":
        """Every sentence that is short enough and ends like one.

        Raises:
            ValueError: The shard holds none.
        """
        lengths = np.diff(shard.sentences)
        last = shard.ids[np.maximum(shard.sentences[1:] - 1, 0)]
        whole = pieces.ends[last]
        groups = [
            np.flatnonzero(whole & (lengths >= low) & (lengths <= high))
            for low, high in recipe.sentence_lengths
        ]
        found = tuple(group for group in groups if len(group))
        if not found:
            raise ValueError("The corpus holds no sentence of the lengths that are wanted.")
        return cls(shard, pieces, recipe, found)

    def batch(self, rng: np.random.Generator) -> Batch:
        """Sentences of one length group, each with one or two whole words hidden."""
        group = self.groups[rng.integers(len(self.groups))]
        longest = int(np.diff(self.shard.sentences)[group].max())
        rows = max(1, self.recipe.tokens_per_step // (longest + 2))
        chosen = rng.choice(group, size=rows, replace=rows > len(group))
        texts = [self.text(int(sentence)) for sentence in chosen]
        ids = np.full((rows, max(map(len, texts)) + 2), PAD, dtype=np.int64)
        hidden = []
        for row, text in enumerate(texts):
            ids[row, : len(text) + 2] = [CLS, *text, SEP]
            hidden += [row * ids.shape[1] + 1 + place for place in self.choose(rng, text)]
        return one_text_each(ids, np.array(hidden, dtype=np.int64))

    def text(self, sentence: int) -> np.ndarray:
        """The pieces of a sentence."""
        low, high = self.shard.sentences[sentence : sentence + 2]
        return self.shard.ids[low:high].astype(np.int64)

    def choose(self, rng: np.random.Generator, text: np.ndarray) -> list[int]:
        """The places of one or two words; signs are never hidden.

        Common words are hidden less often, and so are words of many pieces: a visitor's mask
        stands for one piece, and a row of masks is mostly a name that nobody could guess.
        """
        starts = np.flatnonzero(self.pieces.starts(text))
        ends = np.append(starts[1:], len(text))
        words = np.flatnonzero(~self.pieces.signs[text[starts]])
        if not len(words):
            return [0]
        weights = self.pieces.weights[text[starts[words]]] / (ends - starts)[words] ** 2
        number = min(len(words), 1 + int(rng.random() < self.recipe.second_share))
        picked = rng.choice(words, size=number, replace=False, p=weights / weights.sum())
        return sorted(i for word in picked for i in range(starts[word], ends[word]))


def one_text_each(ids: np.ndarray, hidden: np.ndarray) -> Batch:
    """A batch of rows that hold one text; what is hidden is always replaced by the mask."""
    flat = ids.reshape(-1)
    labels = flat[hidden].copy()
    mask = (ids != PAD).astype(np.int64)
    flat[hidden] = MASK
    pairs = np.full(len(ids), IGNORED, dtype=np.int64)
    arrays = (ids, np.zeros_like(ids), mask, hidden, labels, pairs)
    return Batch(*(torch.from_numpy(array) for array in arrays))
