"""Pseudo-log-likelihood of a text, by two definitions, and attribution of a masked answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.models.run import MaskedRow, read_only
from explorer.models.tokens import UNKNOWN, Tokens

Masked = tuple[int, frozenset[int]]
"""Position of a scored token, and the positions that are masked meanwhile."""


@dataclass(frozen=True, slots=True, eq=False)
class TextScore:
    """One model's pseudo-log-likelihood of a text, by two definitions; nats."""

    model: str
    label: str
    pieces: tuple[str, ...]
    """Scored tokens, in vocabulary spelling; without those that the tokenizer added."""
    positions: tuple[int, ...]
    alone: np.ndarray
    """float64 [token]: ln P with the token alone masked (Salazar et al. 2020)."""
    within_word: np.ndarray
    """float64 [token]: ln P with the token and the later tokens of its word masked (Kauf and
    Ivanova 2023); the word is the tokenizer's own."""

    @property
    def pll(self) -> float:
        """The sum of ``alone``."""
        return float(self.alone.sum())

    @property
    def pll_word_l2r(self) -> float:
        """The sum of ``within_word``."""
        return float(self.within_word.sum())

    @property
    def n_unknown(self) -> int:
        """The number of tokens that stand for letters outside the vocabulary."""
        return sum(piece in UNKNOWN for piece in self.pieces)


def scored_positions(tokens: Tokens) -> tuple[int, ...]:
    """Return the positions of the tokens of the text itself."""
    return tuple(i for i, is_added in enumerate(tokens.special) if not is_added)


def masked_sets(tokens: Tokens) -> tuple[tuple[Masked, ...], tuple[Masked, ...]]:
    """Return what is masked for each scored token, by either definition.

    The words are the tokenizer's own, as in minicons, the reference implementation of the second.
    """
    positions = scored_positions(tokens)
    of_word: dict[int, list[int]] = {}
    for i in positions:
        of_word.setdefault(tokens.own_words[i], []).append(i)
    alone = tuple((i, frozenset({i})) for i in positions)
    within = tuple(
        (i, frozenset(j for j in of_word[tokens.own_words[i]] if j >= i)) for i in positions
    )
    return alone, within


def masked_row(tokens: Tokens, masked: Masked, mask_id: int) -> MaskedRow:
    """Return the row of input in which some positions are masked."""
    position, positions = masked
    ids = list(tokens.ids)
    for i in positions:
        ids[i] = mask_id
    return MaskedRow(tuple(ids), tokens.segments, position)


def text_score(
    model: str, label: str, tokens: Tokens, log_probabilities: Mapping[Masked, float]
) -> TextScore:
    """Build a text's score from the ln P of every set of masked positions."""
    alone, within = masked_sets(tokens)
    positions = scored_positions(tokens)
    values = (
        read_only(np.array([log_probabilities[masked] for masked in part], np.float64))
        for part in (alone, within)
    )
    return TextScore(model, label, tuple(tokens.pieces[i] for i in positions), positions, *values)


@dataclass(frozen=True, slots=True, eq=False)
class Attribution:
    """Attribution of one model's masked answer to the words of the text, by two methods; nats."""

    model: str
    label: str
    target: str
    """The attributed token, in vocabulary spelling."""
    answer: str
    """The attributed token, spelled as a word."""
    words: tuple[str, ...]
    at: int
    """Index among ``words`` of the mask whose answer is attributed."""
    log_probability: float
    """ln P(target) on the text."""
    baseline: float
    """ln P(target) on the text with every token masked, where the path of the integral begins."""
    integrated_gradients: np.ndarray
    """float64 [word]: parts of ``log_probability - baseline``; 0 at the mask itself."""
    leave_one_out: np.ndarray
    """float64 [word]: decrease of ln P(target) when the word is masked; 0 at every mask."""
    n_points: int = 0
    """The number of points of the integral's path; more where the gradient changes abruptly."""

    @property
    def completeness_error(self) -> float:
        """The error of the gradients' sum against ``log_probability - baseline``."""
        explained = self.log_probability - self.baseline
        return float(abs(self.integrated_gradients.sum() - explained))


def by_word(tokens: Tokens, values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return the sum of the tokens' values for each word, float64 [word], read-only."""
    per_word = np.zeros(len(tokens.words))
    for word, value in zip(tokens.word_index, values, strict=True):
        if word >= 0:
            per_word[word] += value
    return read_only(per_word)


def words_masked(tokens: Tokens, at: int) -> tuple[tuple[int, Masked], ...]:
    """Return for each word but the masks its index, and what is masked when it is left out.

    ``at`` is the position of the mask whose answer is scored.
    """
    places: dict[int, set[int]] = {}
    for position, word in enumerate(tokens.word_index):
        if word >= 0 and position not in tokens.mask_positions:
            places.setdefault(word, set()).add(position)
    return tuple((word, (at, frozenset(indices))) for word, indices in sorted(places.items()))
