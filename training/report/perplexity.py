"""Pseudo-perplexity of a masked model on held-out passages."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from explorer.analysis.distillation.student import Batch, run_batch
from training.report.cloze_eval import Reading
from training.text.batch import CLS, MASK, SEP
from training.text.corpus import Shard


def shared_passages(
    bert: Shard, albert: Shard, count: int, positions: int
) -> list[tuple[int, int]]:
    """Return passages for both vocabularies: leading sentences of documents that fit in both."""
    room = min(128, positions) - 2
    chosen = []
    for document in range(len(bert.documents) - 1):
        low, high = int(bert.documents[document]), int(bert.documents[document + 1])
        shortest = min(_fitting(shard, low, high, room) for shard in (bert, albert))
        if shortest > low:
            chosen.append((low, shortest))
        if len(chosen) == count:
            break
    return chosen


def _fitting(shard: Shard, low: int, high: int, room: int) -> int:
    """Return the last sentence boundary up to which the text from `low` fits."""
    ends = shard.sentences[low : high + 1] - shard.sentences[low]
    return low + int(np.searchsorted(ends, room, "right")) - 1


@dataclass(frozen=True, slots=True)
class PseudoPerplexity:
    """Pseudo-perplexity on held-out passages, with two ways of masking.

    Attributes:
        alone: Each piece masked alone (Salazar et al. 2020, arXiv 1910.14659): the other pieces of
            its word give it away, so that a vocabulary that splits more words looks better.
        onward: The rest of its word masked with it (Kauf and Ivanova 2023, arXiv 2305.10588).
        words: Number of words, separated by white space.
    """

    alone: float
    onward: float
    words: int


def pseudo_perplexity(
    model: nn.Module, reading: Reading, passages: list[tuple[int, int]]
) -> PseudoPerplexity:
    """Compute ``exp(-sum of log p(piece | what is not hidden) / words)``, both ways."""
    alone, onward, words, shard = 0.0, 0.0, 0, reading.shard
    for low, high in passages:
        ids = shard.ids[shard.sentences[low] : shard.sentences[high]].astype(np.int64)
        words += int(shard.words[low:high].sum())
        pieces, alone_ends = torch.from_numpy(ids), torch.arange(1, len(ids) + 1)
        ends = torch.from_numpy(word_ends(reading.pieces.starts(ids)))
        scores = piece_scores(model, pieces, alone_ends)
        alone += float(scores.sum())
        split = torch.nonzero(ends != alone_ends)[:, 0]  # the others' scores are the same both ways
        if len(split):
            scores[split] = piece_scores(model, pieces, ends, split)
        onward += float(scores.sum())
    return PseudoPerplexity(np.exp(-alone / words), np.exp(-onward / words), words)


def word_ends(starts: np.ndarray) -> np.ndarray:
    """Return the end of each piece's word, from the flags of word starts."""
    bounds = np.append(np.flatnonzero(starts), len(starts))
    return bounds[np.cumsum(starts)]


@torch.no_grad()
def piece_scores(
    model: nn.Module, pieces: Tensor, ends: Tensor, selected: Tensor | None = None, rows: int = 32
) -> Tensor:
    """Return the log probability of each selected piece, with it and all up to its end masked."""
    text = torch.cat([torch.tensor([CLS]), pieces, torch.tensor([SEP])])
    positions, chunks = torch.arange(len(text)), []
    for places in (torch.arange(len(pieces)) if selected is None else selected).split(rows):
        hidden = (positions > places[:, None]) & (positions <= ends[places, None])
        ids = torch.where(hidden, MASK, text)
        batch = Batch(
            ids=ids,
            types=torch.zeros_like(ids),
            mask=torch.ones_like(ids),
            masked_positions=torch.arange(len(places)) * len(text) + places + 1,
            labels=pieces[places],
            pairs=torch.full((len(places),), -100),
        ).to(next(model.parameters()).device)
        scores = run_batch(model, batch).words.float().log_softmax(-1)
        chunks.append(scores[torch.arange(len(places)), batch.labels].cpu())
    return torch.cat(chunks)
