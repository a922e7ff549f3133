"""Pseudo-log-likelihoods of whole sentences, and pairs of which one should be likelier."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from explorer.analysis.scoring import (
    Masked,
    by_word,
    masked_row,
    masked_sets,
    scored_positions,
)
from explorer.lists.comparison import (
    Duel,
    Mean,
    MeanDuel,
    Share,
    duels,
    mean_duels,
    mean_of,
    share_of,
    shares_by_group,
)
from explorer.lists.stereoset import Blank, BlankPlan, blank_plan
from explorer.models.run import MaskedRow, read_only
from explorer.models.tokens import UNKNOWN, Tokens, Word
from explorer.refusal import Sentence

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel

SCORES: tuple[str, ...] = ("pll", "pll_word_l2r")
"""Salazar et al. 2020: each token masked alone. Kauf and Ivanova 2023: with each token, those to
its right within its word are masked too. The word is that of the tokenizer (``word_ids``)."""
HAS_MASK = Sentence("row-has-mask", "It has a [MASK]: sentences are scored whole.")
NO_PIECE = Sentence("row-unreadable", "{label} reads no part of it.")
TIE = 1e-4
"""Nats by which the good sentence must be likelier: rounding alone decides nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class SentencePlan:
    """Tokens of a sentence, of which each is masked in turn, by both methods.

    They are held in two arrays: as the tuples of ``Tokens`` 2,000 long sentences of three models
    have over 1 GB of small objects.
    """

    table: np.ndarray
    """int32 [5, token]: id, segment, whether it was added, own word and word of each token."""
    spans: np.ndarray
    """int32 [word, 2]: half-open character range of each word."""
    mask_id: int
    n_unknown: int
    """The number of tokens that stand for a word outside the vocabulary."""

    @classmethod
    def of(cls, tokens: Tokens, mask_id: int) -> "SentencePlan":
        """Return the plan of a tokenized sentence."""
        rows = (tokens.ids, tokens.segments, tokens.special, tokens.own_words, tokens.word_index)
        spans = np.array([(word.start, word.end) for word in tokens.words], np.int32)
        n_unknown = sum(tokens.pieces[i] in UNKNOWN for i in scored_positions(tokens))
        table = read_only(np.array(rows, np.int32))
        return cls(table, read_only(spans.reshape(-1, 2)), mask_id, n_unknown)

    @property
    def n_tokens(self) -> int:
        """The number of tokens, [CLS] and [SEP] among them."""
        return self.table.shape[1]

    @property
    def tokens(self) -> Tokens:
        """The tokens, without their text and spelling."""
        ids, segments, special, own, word_index = self.table.tolist()
        words = tuple(Word("", start, end) for start, end in self.spans.tolist())
        added = tuple(map(bool, special))
        return Tokens(
            *("", tuple(ids), (), (), added, tuple(segments), words, tuple(word_index)),
            *((), tuple(own)),
        )

    def score(self, log_probs: np.ndarray) -> "SentenceScore":
        """Return the scores from the log-probabilities float64 [row]."""
        return sentence_score(self, log_probs)

    def rows(self) -> tuple[tuple[MaskedRow, int], ...]:
        """Return the rows of input, with the id that each is asked for."""
        tokens = self.tokens
        return tuple(
            (masked_row(tokens, each, self.mask_id), tokens.ids[each[0]])
            for each in _all_masked(tokens)
        )


def _all_masked(tokens: Tokens) -> tuple[Masked, ...]:
    alone, within = masked_sets(tokens)
    return tuple(dict.fromkeys((*alone, *within)))


@dataclass(frozen=True, slots=True, eq=False)
class SentenceScore:
    """One model's pseudo-log-likelihoods of one sentence."""

    pll: float
    """Nats, the sum over tokens with each masked alone (Salazar et al. 2020)."""
    pll_word_l2r: float
    """Nats, the same with the rest of the tokenizer's word masked too (Kauf and Ivanova 2023)."""
    n_tokens: int
    words: np.ndarray
    """float64 [word], the sum of ``pll_word_l2r`` over the tokens of each word."""
    spans: np.ndarray
    """int32 [word, 2]: half-open character range of each word."""
    n_unknown: int = 0
    """The number of tokens that stand for any word outside the vocabulary: [UNK]."""
    ids: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    """int32 [token]: ids of all tokens, [CLS] and [SEP] among them."""
    by_token: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """float64 [token], ln P of each token masked alone, in nats; 0 of [CLS] and [SEP]."""

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
    n_compared: int
    """The number of sentences in which no model reads an [UNK]; both scores are of these."""
    unknown: Mapping[str, int]
    """By model the number of sentences in which it reads an [UNK]."""


@dataclass(frozen=True, slots=True, eq=False)
class PairsSummary:
    """Headline of a list of pairs: in how many is the good sentence the likelier one?"""

    good_first: Mapping[str, Share]
    by_group: Mapping[str, Mapping[str, Share]]
    duels: tuple[Duel, ...]
    disputed: tuple[int, ...]
    """Indices of the pairs in which the models differ."""
    mean_margin: Mapping[str, Mean]
    """By model the mean of the margins in nats, that is the mean log-ratio of the two sides."""
    margin_duels: tuple[MeanDuel, ...]
    """Each two models by the difference of their margins on the same pairs."""
    n_compared: int
    """The number of pairs in which no model reads an [UNK]; all of this is about these."""
    unknown: Mapping[str, int]
    """By model the number of pairs in which it reads an [UNK]."""


def row_plans(
    loaded: "LoadedModel", rows: Sequence[tuple[str | Blank, ...]], max_tokens: int
) -> list[list[SentencePlan | BlankPlan] | str]:
    """Return the plans of the sentences of each row, or why one of them cannot be run.

    A blank of StereoSet follows the sentences of its row.
    """
    return [_all_plans(loaded, of_row, max_tokens) for of_row in rows]


def _all_plans(
    loaded: "LoadedModel", of_row: tuple[str | Blank, ...], max_tokens: int
) -> list[SentencePlan | BlankPlan] | str:
    sentences = tuple(each for each in of_row if isinstance(each, str))
    plans = _plans_or_why(loaded, sentences, max_tokens)
    if isinstance(plans, str):
        return plans
    every: list[SentencePlan | BlankPlan] = [*plans]
    for blank in of_row:
        if isinstance(blank, Blank):
            plan = blank_plan(loaded, blank, max_tokens)
            if isinstance(plan, str):
                return plan
            every.append(plan)
    return every


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
    read = [each for each in tokens if not isinstance(each, str)]
    if any(each.mask_positions for each in read):
        return HAS_MASK
    return reasons[0] if reasons else [SentencePlan.of(each, mask_id) for each in read]


def sentence_score(plan: SentencePlan, log_probs: np.ndarray) -> SentenceScore:
    """Return the scores from the log-probabilities float64 [row] of the plan's rows."""
    tokens = plan.tokens
    of_masked = dict(zip(_all_masked(tokens), log_probs, strict=True))
    alone, within = (np.array([of_masked[each] for each in part]) for part in masked_sets(tokens))
    places = list(scored_positions(tokens))
    by_token, within_word = np.zeros(len(tokens)), np.zeros(len(tokens))
    by_token[places], within_word[places] = alone, within
    return SentenceScore(
        float(alone.sum()),
        float(within.sum()),
        len(alone),
        by_word(tokens, within_word),
        plan.spans,
        plan.n_unknown,
        read_only(plan.table[0].copy()),
        read_only(by_token),
    )


def sentences_summary(scores: Mapping[str, Sequence[SentenceScore]]) -> SentencesSummary:
    """Return the headline of a list of plain sentences.

    An [UNK] is as likely as all words together that a vocabulary lacks: a sentence with one says
    nothing of its words, and is compared by no model.
    """
    unknown = {key: np.array([s.n_unknown for s in each]) > 0 for key, each in scores.items()}
    read = np.flatnonzero(~np.any(list(unknown.values()), 0))
    perplexity, per_word = {}, {}
    for key, all_scores in scores.items():
        of_model = [all_scores[int(i)] for i in read]
        n_tokens = sum(score.n_tokens for score in of_model)
        n_words = sum(score.n_words for score in of_model)
        total = sum(score.pll for score in of_model)
        perplexity[key] = float(np.exp(-total / n_tokens)) if n_tokens else float("nan")
        l2r = sum(score.pll_word_l2r for score in of_model)
        per_word[key] = l2r / n_words if n_words else float("nan")
    counts = {key: int(each.sum()) for key, each in unknown.items()}
    return SentencesSummary(perplexity, per_word, len(read), counts)


def pairs_summary(
    margins: Mapping[str, np.ndarray],
    groups: Sequence[str],
    unknown: Mapping[str, np.ndarray],
) -> PairsSummary:
    """Return the headline of pairs from each model's margins.

    Args:
        margins: By model float64 [pair], score of the good sentence minus that of the bad one.
        groups: The group of each pair; empty for none.
        unknown: By model bool [pair], whether it reads an [UNK] in either sentence. What one model
            cannot read is compared by none.
    """
    read = np.flatnonzero(~np.any(list(unknown.values()), 0))
    right = {key: margin[read] > TIE for key, margin in margins.items()}
    votes, names = np.array(list(right.values())), [groups[int(i)] for i in read]
    disputed = read[votes.any(0) & ~votes.all(0)]
    return PairsSummary(
        {key: share_of(hits) for key, hits in right.items()},
        {key: shares_by_group(hits, names) for key, hits in right.items()},
        duels(right),
        tuple(int(i) for i in disputed),
        {key: mean_of(each[read]) for key, each in margins.items()},
        mean_duels({key: each[read] for key, each in margins.items()}),
        len(read),
        {key: int(each.sum()) for key, each in unknown.items()},
    )
