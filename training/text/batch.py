"""Batches of texts of like length, and the ids that both vocabularies share."""

from collections.abc import Sequence

import numpy as np
import torch

from explorer.analysis.distillation.student.objectives import Batch
from explorer.analysis.distillation.triple_loss import IGNORED

PAD, UNKNOWN, CLS, SEP, MASK = range(5)  # both vocabularies begin with these
FIRST_PIECE = 5


def alike(rng: np.random.Generator, lengths: np.ndarray, tokens: int) -> np.ndarray:
    """Which of some texts make a batch: so many of like length that hardly anything is padded.

    Sorted by length the texts are cut into batches of so many tokens; one of them is drawn. The
    rest, of the shortest texts, is none of them.
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
    """Texts as the rows of one array."""
    ids = np.full((len(texts), max(map(len, texts))), PAD, dtype=np.int64)
    for row, text in enumerate(texts):
        ids[row, : len(text)] = text
    return ids


def one_text_each(ids: np.ndarray, hidden: np.ndarray) -> Batch:
    """A batch of rows that hold one text; what is hidden is always replaced by the mask."""
    flat = ids.reshape(-1)
    labels = flat[hidden].copy()
    mask = (ids != PAD).astype(np.int64)
    flat[hidden] = MASK
    pairs = np.full(len(ids), IGNORED, dtype=np.int64)
    arrays = (ids, np.zeros_like(ids), mask, hidden, labels, pairs)
    return Batch(*(torch.from_numpy(array) for array in arrays))
