"""What each model puts in the gaps of a text, how sure it is, and where the models agree."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from explorer.analysis.measures import entropy, log_softmax, top_ids
from explorer.models.run import Run, read_only
from explorer.models.spelling import UNKNOWN, spelling_of

TOP_K = (1, 50)
"""The fewest and the most words listed for a mask."""


@dataclass(frozen=True, slots=True, eq=False)
class MaskPredictions:
    """What one model puts in each mask: the ``k`` likeliest pieces and the mass outside them."""

    model: str
    label: str
    positions: tuple[int, ...]
    """Token positions of the masks, in reading order."""
    ids: np.ndarray
    """int64 [mask, k], likeliest first."""
    tokens: tuple[tuple[str, ...], ...]
    """As the vocabulary writes them: ``##ing``, ``▁the``."""
    words: tuple[tuple[str, ...], ...]
    """As a reader writes them; equal words are equal here, whatever the vocabulary."""
    probabilities: np.ndarray
    """float64 [mask, k], shares of the whole vocabulary."""
    remaining: np.ndarray
    """float64 [mask], the mass outside the ``k``."""
    entropy: np.ndarray
    """float64 [mask], nats, over the whole vocabulary."""
    d_vocab: int


@dataclass(frozen=True, slots=True)
class WordFound:
    """Where one model's answer for a mask has a word; numbers only where it is one known piece."""

    n_pieces: int
    """0 where no piece is the word's own."""
    is_unknown: bool
    """Whether the vocabulary lacks the word or a part of it."""
    id: int = -1
    probability: float = float("nan")
    rank: int = 0
    """1 = no piece of the vocabulary is likelier."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Who answers what in one mask: models by their first answer, largest group first."""

    groups: tuple[tuple[str, tuple[str, ...]], ...]
    """(word, model keys) pairs."""
    probabilities: Mapping[str, float]
    """Each model's probability of its own first answer."""

    @property
    def is_unanimous(self) -> bool:
        """Whether every model gives the same first answer."""
        return len(self.groups) == 1


def mask_predictions(run: Run, top_k: int = 10) -> MaskPredictions:
    """What a model puts in each mask: softmax over the whole vocabulary, likeliest first.

    ``top_k`` is brought into 1 to 50 (and under the size of the vocabulary).
    """
    log_probs = log_softmax(run.mask_logits)
    probs = np.exp(log_probs)
    k = min(max(int(top_k), TOP_K[0]), TOP_K[1], probs.shape[-1])
    ids = top_ids(log_probs, k)
    outside = probs.copy()
    np.put_along_axis(outside, ids, 0.0, -1)
    pieces = tuple(tuple(run.vocabulary[i] for i in row) for row in ids)
    spelling = spelling_of(run.vocabulary)
    return MaskPredictions(
        run.spec.key,
        run.spec.label,
        run.tokens.mask_positions,
        read_only(ids),
        pieces,
        tuple(tuple(spelling.word(piece) for piece in row) for row in pieces),
        read_only(np.take_along_axis(probs, ids, -1)),
        read_only(outside.sum(-1)),
        read_only(entropy(probs)),
        probs.shape[-1],
    )


def word_found(run: Run, mask: int, pieces: tuple[int, ...]) -> WordFound:
    """Where a model's answer for a mask has the word that its tokenizer writes as these pieces."""
    unknown = not pieces or any(run.vocabulary[i] in UNKNOWN for i in pieces)
    if unknown or len(pieces) > 1:
        return WordFound(len(pieces), unknown)
    log_probs = log_softmax(run.mask_logits[mask])
    of_word = log_probs[pieces[0]]
    rank = 1 + int((log_probs > of_word).sum())
    return WordFound(1, False, pieces[0], float(np.exp(of_word)), rank)


def agreement(predictions: Mapping[str, MaskPredictions], mask: int) -> Agreement:
    """Where the models agree on one mask: the same first answer, compared as readers' words."""
    groups: dict[str, list[str]] = {}
    for key, result in predictions.items():
        groups.setdefault(result.words[mask][0], []).append(key)
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    return Agreement(
        tuple((word, tuple(keys)) for word, keys in ordered),
        {key: float(result.probabilities[mask, 0]) for key, result in predictions.items()},
    )
