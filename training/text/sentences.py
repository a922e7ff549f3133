"""Batches of single sentences, as visitors type them, with one or two masked words.

A passage repeats most of its content words, so copying pays there; in a sentence it does not.
"""

from dataclasses import dataclass

import numpy as np

from explorer.analysis.distillation.student import Batch
from explorer.refusal import Refusal
from training.recipe import Recipe
from training.text.batch import CLS, SEP, alike, one_text_each, padded
from training.text.corpus import Shard
from training.text.pieces import Pieces

POOL = 1024  # fewest sentences that a batch is selected from


@dataclass(frozen=True, slots=True, eq=False)
class Sentences:
    """Sentences of a shard in groups of similar length, to limit padding.

    Attributes:
        groups: Indices of the sentences in each length group of the recipe, shortest first.
    """

    shard: Shard
    pieces: Pieces
    recipe: Recipe
    groups: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, shard: Shard, pieces: Pieces, recipe: Recipe) -> "Sentences":
        """Select every sentence that is short enough and ends with a sentence end.

        Raises:
            Refusal: The shard has no such sentence.
        """
        lengths = np.diff(shard.sentences)
        last = shard.ids[np.maximum(shard.sentences[1:] - 1, 0)]
        whole = pieces.ends[last]
        groups = [
            np.flatnonzero(whole & (lengths >= low) & (lengths <= high))
            for low, high in recipe.sentence_lengths
        ]
        filled = tuple(group for group in groups if len(group))
        if not filled:
            raise Refusal("The corpus holds no sentence of the lengths that are wanted.")
        return cls(shard, pieces, recipe, filled)

    def batch(self, rng: np.random.Generator) -> Batch:
        """Draw sentences of one length group and mask one or two whole words of each."""
        texts = [self.text(sentence) for sentence in self.drawn(rng)]
        ids = padded([np.array([CLS, *text, SEP]) for text in texts])
        hidden = []
        for row, text in enumerate(texts):
            hidden += [row * ids.shape[1] + 1 + place for place in self.choose(rng, text)]
        return one_text_each(ids, np.array(hidden, dtype=np.int64))

    def drawn(self, rng: np.random.Generator) -> list[int]:
        """Draw the indices of sentences of similar length that form a batch."""
        size = max(POOL, self.recipe.tokens_per_step // 2)
        pool = rng.choice(self.groups[rng.integers(len(self.groups))], size=size)
        lengths = self.shard.sentences[pool + 1] - self.shard.sentences[pool] + 2
        return pool[alike(rng, lengths, self.recipe.tokens_per_step)].tolist()

    def text(self, sentence: int) -> np.ndarray:
        """Return the pieces of a sentence."""
        low, high = self.shard.sentences[sentence : sentence + 2]
        return self.shard.ids[low:high].astype(np.int64)

    def choose(self, rng: np.random.Generator, text: np.ndarray) -> list[int]:
        """Draw the positions of one or two words to mask; signs are never masked.

        Common words are masked less often, and so are words of many pieces: a visitor's mask stands
        for one piece, and a row of masks is mostly a name that cannot be guessed.
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
