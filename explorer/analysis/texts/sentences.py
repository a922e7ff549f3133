"""Pseudo-log-likelihoods of whole sentences, and pairs of which one should be likelier."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from explorer.analysis.scoring import (
    Masked,
    by_word,
    masked_row,
    masked_sets,
    scored_positions,
)
from explorer.analysis.texts.comparison import Duel, Share, duels, share_of, shares_by_group
from explorer.models.run import MaskedRow
from explorer.models.tokens import Tokens

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel

SCORES: tuple[str, ...] = ("pll", "pll_word_l2r")
"""Salazar et al. 2020: each token masked alone. Kauf and Ivanova 2023: with each token, those to
its right within its word are masked too."""
HAS_MASK = "It has a [MASK]: sentences are scored whole."
NO_PIECE = "{label} reads no part of it."
TIE = 1e-4
"""Nats by which the good sentence must be likelier: rounding alone decides nothing."""


@dataclass(frozen=True, slots=True)
class SentencePlan:
    """Tokens of a sentence, of which each is masked in turn, by both methods."""

    tokens: Tokens
    mask_id: int

    def masked(self) -> tuple[Masked, ...]:
        """Return what is masked in each row of input: where both methods agree it is one row."""
        alone, within = masked_sets(self.tokens)
        return tuple(dict.fromkeys((*alone, *within)))

    def rows(self) -> tuple[tuple[MaskedRow, int], ...]:
        """Return the rows of input, with the id that each is asked for."""
        ids = self.tokens.ids
        return tuple(
            (masked_row(self.tokens, each, self.mask_id), ids[each[0]]) for each in self.masked()
        )


@dataclass(frozen=True, slots=True, eq=False)
class SentenceScore:
    """One model's pseudo-log-likelihoods of one sentence."""

    pll: float
    """Nats, the sum over tokens with each masked alone (Salazar et al. 2020)."""
    pll_word_l2r: float
    """Nats, the same with the rest of the word masked too (Kauf and Ivanova 2023)."""
    n_tokens: int
    words: np.ndarray
    """float64 [word], the sum of ``pll_word_l2r`` over the tokens of each word."""
    spans: tuple[tuple[int, int], ...]
    """Half-open character range of each word."""

    @property
    def n_words(self) -> int:
        """The number of words with a token of their own."""
        return int((self.words < 0).sum())

    def value(self, score: str) -> float:
        """Return the score of one of ``SCORES``."""
        return self.pll if score == "pll" else self.pll_word_l2r


@dataclass(frozen=True, slots=True, eq=False)
class SentencesSummary:
    """Headline of a list of plain sentences."""

    pseudo_perplexity: Mapping[str, float]
    """By model: exp(-sum of PLL / number of tokens), comparable within one vocabulary alone."""
    per_word: Mapping[str, float]
    """By model: pll_word_l2r a word in nats, whatever the vocabulary."""


@dataclass(frozen=True, slots=True, eq=False)
class PairsSummary:
    """Headline of a list of pairs: in how many is the good sentence the likelier one?"""

    good_first: Mapping[str, Share]
    by_group: Mapping[str, Mapping[str, Share]]
    duels: tuple[Duel, ...]
    disputed: tuple[int, ...]
    """Indices of the pairs in which the models differ."""


def row_plans(
    loaded: "LoadedModel", rows: Sequence[tuple[str, ...]], max_tokens: int
) -> list[list[SentencePlan] | str]:
    """Return the plans of the sentences of each row, or why one of them cannot be run."""
    return [_plans_or_why(loaded, sentences, max_tokens) for sentences in rows]


def _plans_or_why(
    loaded: "LoadedModel", sentences: tuple[str, ...], max_tokens: int
) -> list[SentencePlan] | str:
    from explorer.models.forward import readable_tokens

    tokens = [readable_tokens(loaded, text, max_tokens) for text in sentences]
    reasons = [
        each if isinstance(each, str) else NO_PIECE.format(label=loaded.spec.label)
        for each in tokens
        if isinstance(each, str) or not scored_positions(each)
    ]
    mask_id = int(loaded.tokenizer.mask_token_id)
    plans = [SentencePlan(each, mask_id) for each in tokens if not isinstance(each, str)]
    if any(plan.tokens.mask_positions for plan in plans):
        return HAS_MASK
    return reasons[0] if reasons else plans


def sentence_score(plan: SentencePlan, log_probs: np.ndarray) -> SentenceScore:
    """Return the scores from the log-probabilities float64 [row] of the plan's rows."""
    tokens, of_masked = plan.tokens, dict(zip(plan.masked(), log_probs, strict=True))
    alone, within = (np.array([of_masked[each] for each in part]) for part in masked_sets(tokens))
    by_token = np.zeros(len(tokens))
    by_token[list(scored_positions(tokens))] = within
    spans = tuple((word.start, word.end) for word in tokens.words)
    sums = float(alone.sum()), float(within.sum())
    return SentenceScore(*sums, len(alone), by_word(tokens, by_token), spans)


def sentences_summary(scores: Mapping[str, Sequence[SentenceScore]]) -> SentencesSummary:
    """Return the headline of a list of plain sentences."""
    perplexity, per_word = {}, {}
    for key, of_model in scores.items():
        n_tokens = sum(score.n_tokens for score in of_model)
        n_words = sum(score.n_words for score in of_model)
        total = sum(score.pll for score in of_model)
        perplexity[key] = float(np.exp(-total / n_tokens)) if n_tokens else float("nan")
        l2r = sum(score.pll_word_l2r for score in of_model)
        per_word[key] = l2r / n_words if n_words else float("nan")
    return SentencesSummary(perplexity, per_word)


def pairs_summary(margins: Mapping[str, np.ndarray], groups: Sequence[str]) -> PairsSummary:
    """Return the headline of pairs from each model's margins.

    Args:
        margins: By model float64 [pair], score of the good sentence minus that of the bad one.
        groups: The group of each pair; empty for none.
    """
    right = {key: margin > TIE for key, margin in margins.items()}
    votes = np.array(list(right.values()))
    disputed = np.flatnonzero(votes.any(0) & ~votes.all(0))
    return PairsSummary(
        {key: share_of(hits) for key, hits in right.items()},
        {key: shares_by_group(hits, groups) for key, hits in right.items()},
        duels(right),
        tuple(int(i) for i in disputed),
    )
