"""Batches of the primer: one of its sentences in each row, one word of it hidden."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tokenizers import Tokenizer

from explorer.analysis.distillation.student.objectives import Batch
from training.recipe import Recipe
from training.text.batch import CLS, FIRST_PIECE, MASK, SEP, alike, one_text_each, padded
from training.text.primer import Said

POOL = 2048  # sentences that a batch is chosen from, at the least


@dataclass(frozen=True, slots=True, eq=False)
class PrimerBatches:
    """The primer's sentences in a vocabulary, each once for every word of it that may be hidden.

    Attributes:
        rows: Their pieces, the word replaced by the mask.
        words: The piece of the word; where it is several the sentence is left out.
    """

    rows: Sequence[np.ndarray]
    words: np.ndarray
    tokens_per_step: int

    @classmethod
    def of(
        cls, said: Sequence[Said], tokenizer: Tokenizer, recipe: Recipe
    ) -> "PrimerBatches | None":
        """Every sentence with each of its words hidden in turn; None when no word is one piece."""
        hidden = [(one, spans) for one in said for spans in one.hidden]
        texts = encoded(tokenizer, [one.masked(spans) for one, spans in hidden])
        words = encoded(tokenizer, [one.text[slice(*spans[0])] for one, spans in hidden])
        rows = [
            (np.array([CLS, *text, SEP], dtype=np.int64), word[0])
            for text, word in zip(texts, words, strict=True)
            if len(word) == 1 and word[0] >= FIRST_PIECE and len(text) + 2 <= recipe.positions
        ]
        if not rows:
            return None
        return cls(
            [row for row, _ in rows],
            np.array([word for _, word in rows], dtype=np.int64),
            recipe.tokens_per_step,
        )

    def batch(self, rng: np.random.Generator) -> Batch:
        """Sentences of like length; a word that stands twice is hidden twice."""
        pool = rng.integers(len(self.rows), size=max(POOL, self.tokens_per_step))
        lengths = np.array([len(self.rows[i]) for i in pool])
        chosen = pool[alike(rng, lengths, self.tokens_per_step)]
        ids = padded([self.rows[i] for i in chosen])
        rows, places = np.nonzero(ids == MASK)
        ids[rows, places] = self.words[chosen][rows]
        return one_text_each(ids, rows * ids.shape[1] + places)


def encoded(tokenizer: Tokenizer, texts: list[str]) -> list[list[int]]:
    """The ids of each text."""
    return [one.ids for one in tokenizer.encode_batch_fast(texts, add_special_tokens=False)]
