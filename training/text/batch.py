"""Batches of texts of similar length, and the special ids that both vocabularies share."""

from collections.abc import Sequence

import numpy as np
import torch

from explorer.analysis.distillation.student import Batch
from explorer.analysis.distillation.triple_loss import IGNORED

PAD, UNKNOWN, CLS, SEP, MASK = range(5)  # both vocabularies begin with these
FIRST_PIECE = 5


def alike(rng: np.random.Generator, lengths: np.ndarray, tokens: int) -> np.ndarray:
    """Return the indices of texts of similar length that form one batch with little padding.

    The texts, sorted by length, are cut into batches of about ``tokens`` tokens, and one of the
    batches is drawn at random. The incomplete batch of the shortest texts is never drawn.
    """
    order = np.lexsort((rng.random(len(lengths)), -lengths))
    batches, start = [order], 0
    while start < len(order):
        number = max(1, tokens // int(lengths[order[start]]))
        batches.append(order[start : start + number])
        start += number
    whole = batches[1:-1] or batches[:1]
    return whole[rng.integers(len(whole))]


def padded(texts: Sequence[np.ndarray]) -> np.ndarray:
    """Return the texts as the rows of one array, padded."""
    ids = np.full((len(texts), max(map(len, texts))), PAD, dtype=np.int64)
    for row, text in enumerate(texts):
        ids[row, : len(text)] = text
    return ids


def one_text_each(ids: np.ndarray, hidden: np.ndarray) -> Batch:
    """Return a batch of single-text rows; hidden pieces are always replaced by the mask."""
    flat = ids.reshape(-1)
    labels = flat[hidden].copy()
    mask = (ids != PAD).astype(np.int64)
    flat[hidden] = MASK
    pairs = np.full(len(ids), IGNORED, dtype=np.int64)
    arrays = (ids, np.zeros_like(ids), mask, hidden, labels, pairs)
    return Batch(*(torch.from_numpy(array) for array in arrays))
