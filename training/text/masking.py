"""Masking: the pieces of a batch that MLM predicts, single or as n-grams of whole words."""

import numpy as np

from training.recipe import Recipe
from training.text.batch import FIRST_PIECE, MASK, PAD
from training.text.pieces import Pieces

STRIDE = 16  # the number of masked pieces is a multiple of it: few shapes, stable memory
DRAWS = 40  # positions tried for an n-gram before another length is drawn


def mask_pieces(
    rng: np.random.Generator, ids: np.ndarray, recipe: Recipe, pieces: Pieces | None
) -> tuple[np.ndarray, np.ndarray]:
    """Mask pieces in place (80% [MASK], 10% random, 10% unchanged); return positions and labels."""
    flat = ids.reshape(-1)
    words = np.flatnonzero(flat >= FIRST_PIECE)
    target = int(recipe.mask_share * np.count_nonzero(flat != PAD))
    number = min(max(STRIDE, target // STRIDE * STRIDE), len(words))
    if recipe.longest_ngram:
        if pieces is None:
            raise ValueError("Whole words cannot be hidden without knowing where they begin.")
        chosen = ngrams(rng, flat, pieces.starts(flat), number, recipe.longest_ngram)
    else:
        chosen = np.sort(rng.choice(words, size=number, replace=False))
    labels = flat[chosen].copy()
    draws = rng.random(len(chosen))
    flat[chosen[draws < 0.8]] = MASK
    swapped = chosen[draws >= 0.9]
    flat[swapped] = rng.integers(FIRST_PIECE, recipe.vocabulary, size=len(swapped))
    return chosen, labels


def ngrams(
    rng: np.random.Generator, flat: np.ndarray, starts: np.ndarray, number: int, longest: int
) -> np.ndarray:
    """Return the positions of about `number` pieces: n consecutive words, n drawn with weight 1/n.

    ALBERT's masking (Lan et al. 2020, section 4.1). An n-gram never contains a special piece, no
    piece is selected twice, and never more than `number` are.
    """
    bounds = np.append(np.flatnonzero(starts), len(flat))
    plain = np.append(flat[bounds[:-1]] >= FIRST_PIECE, False)
    lengths = np.arange(1, longest + 1)
    shares = (1 / lengths) / (1 / lengths).sum()
    free, chosen = plain.copy(), np.zeros(len(flat), dtype=bool)
    misses = 0
    while number > 0 and misses < DRAWS:
        n = int(rng.choice(lengths, p=shares))
        for first in rng.integers(0, len(bounds) - 1, size=DRAWS):
            low, high = bounds[first], bounds[min(first + n, len(bounds) - 1)]
            if free[first : first + n].sum() == n and high - low <= number:
                break
        else:
            misses += 1
            continue
        free[first : first + n] = False
        chosen[low:high] = True
        number -= high - low
    return np.flatnonzero(chosen)
