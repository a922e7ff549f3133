"""Batches of what visitors type: one sentence alone, one or two of its words hidden.

A passage says most of its content words again, so copying pays there; a sentence does not.
"""

from dataclasses import dataclass

import numpy as np

from explorer.analysis.distillation.student.objectives import Batch
from explorer.refusal import Refusal
from training.recipe import Recipe
from training.text.batch import CLS, SEP, alike, one_text_each, padded
from training.text.corpus import Shard
from training.text.pieces import Pieces

POOL = 1024  # sentences that a batch is chosen from, at the least


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
            Refusal: The shard holds none.
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
            raise Refusal("The corpus holds no sentence of the lengths that are wanted.")
        return cls(shard, pieces, recipe, found)

    def batch(self, rng: np.random.Generator) -> Batch:
        """Sentences of one length group, each with one or two whole words hidden."""
        texts = [self.text(sentence) for sentence in self.drawn(rng)]
        ids = padded([np.array([CLS, *text, SEP]) for text in texts])
        hidden = []
        for row, text in enumerate(texts):
            hidden += [row * ids.shape[1] + 1 + place for place in self.choose(rng, text)]
        return one_text_each(ids, np.array(hidden, dtype=np.int64))

    def drawn(self, rng: np.random.Generator) -> list[int]:
        """The numbers of sentences of like length that make a batch."""
        size = max(POOL, self.recipe.tokens_per_step // 2)
        pool = rng.choice(self.groups[rng.integers(len(self.groups))], size=size)
        lengths = self.shard.sentences[pool + 1] - self.shard.sentences[pool] + 2
        return pool[alike(rng, lengths, self.recipe.tokens_per_step)].tolist()

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
