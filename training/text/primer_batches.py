"""Batches of the primer: one sentence in each row, one of its words masked."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tokenizers import Tokenizer

from explorer.analysis.distillation.student import Batch
from training.recipe import Recipe
from training.text.batch import CLS, FIRST_PIECE, MASK, SEP, alike, one_text_each, padded
from training.text.primer import PrimerSentence

POOL = 2048  # fewest sentences that a batch is selected from


@dataclass(frozen=True, slots=True, eq=False)
class PrimerBatches:
    """Tokenised sentences of the primer, one row for every word that may be masked.

    Attributes:
        rows: Pieces of the sentences, the word replaced by the mask.
        words: Piece of the masked word; words of several pieces are left out.
    """

    rows: Sequence[np.ndarray]
    words: np.ndarray
    tokens_per_step: int

    @classmethod
    def of(
        cls, sentences: Sequence[PrimerSentence], tokenizer: Tokenizer, recipe: Recipe
    ) -> "PrimerBatches | None":
        """Tokenise every sentence with each word masked in turn; None if no word is one piece."""
        hidden = [(sentence, spans) for sentence in sentences for spans in sentence.hidden]
        texts = encoded(tokenizer, [sentence.masked(spans) for sentence, spans in hidden])
        words = encoded(tokenizer, [sentence.text[slice(*spans[0])] for sentence, spans in hidden])
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
        """Draw sentences of similar length; every occurrence of the word is masked."""
        pool = rng.integers(len(self.rows), size=max(POOL, self.tokens_per_step))
        lengths = np.array([len(self.rows[i]) for i in pool])
        chosen = pool[alike(rng, lengths, self.tokens_per_step)]
        ids = padded([self.rows[i] for i in chosen])
        rows, places = np.nonzero(ids == MASK)
        ids[rows, places] = self.words[chosen][rows]
        return one_text_each(ids, rows * ids.shape[1] + places)


def encoded(tokenizer: Tokenizer, texts: list[str]) -> list[list[int]]:
    """Return the ids of each text."""
    return [
        encoding.ids for encoding in tokenizer.encode_batch_fast(texts, add_special_tokens=False)
    ]
