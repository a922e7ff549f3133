"""Masked rows: each model's first word, the given answer, and how far the models are apart."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.analysis.distillation.soft import shared_vocabulary
from explorer.analysis.predictions import SpanPlan, span_plan
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
from explorer.lists.rows import TextRow
from explorer.models.run import MaskedRow, named_only, read_only
from explorer.models.tokens import MASK, UNKNOWN, BadText, Word, put_into, spelling_of, word_id
from explorer.refusal import Sentence

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel

NO_CHANCE = np.float32(-1e4)
"""ln P in place of minus infinity, so that its product with P is 0."""
SMALLEST = np.float32(1e-38)
UNCLEAR = Sentence("row-masks-unclear", "It has {n} masks for {label}; exactly one is read.")


@dataclass(frozen=True, slots=True)
class WordPlan:
    """Rows of input for one word at a mask, of one model."""

    targets: tuple[int, ...] = ()
    """Ids of the word's pieces; empty where the vocabulary lacks it."""
    pieces: tuple[MaskedRow, ...] = ()
    """A row for each piece of a word of several: as many masks, filled from left to right. Empty
    where the word is one piece, which the text's own row scores."""


@dataclass(frozen=True, slots=True)
class MaskedPlan:
    """Rows of input for one masked text and its words, of one model."""

    row: MaskedRow
    """The text as it is given, read at its mask."""
    words: tuple[WordPlan, ...] = ()
    """The accepted answers, then the words that the text offers."""
    n_answers: int = 0
    """The number of accepted answers, which are the first of these words."""


@dataclass(frozen=True, slots=True, eq=False)
class MaskedAnswers:
    """One model's answers to rows with one mask each."""

    words: tuple[str, ...]
    """The likeliest piece at each mask, spelled as a word."""
    probabilities: np.ndarray
    """float64 [row], the probability of that piece."""
    log_probs: np.ndarray
    """float64 [row], log-probability of the given answer in nats: the sum over its pieces, filled
    from left to right; nan without an answer that the vocabulary can write. Of several accepted
    answers the one with the best rank counts."""
    ranks: np.ndarray
    """int64 [row], rank of the given answer: the worst of its pieces, each at its turn; 1 = first.
    0 without an answer that the vocabulary can write."""
    n_pieces: np.ndarray
    """int64 [row], pieces of the given answer; 0 where the vocabulary cannot write it."""
    offered: tuple[tuple[float, ...], ...]
    """By row the log-probability of each of ``TextRow.words``, in nats: accepted answers, then the
    words that the text offers (``[he|she]``); nan where the vocabulary cannot write one."""

    def right(self, k: int = 1) -> np.ndarray:
        """Return bool [row]: the given answer is among the first ``k``."""
        return (self.ranks > 0) & (self.ranks <= k)


@dataclass(frozen=True, slots=True, eq=False)
class MaskedReadings:
    """One model's raw numbers for a block of rows."""

    log_probs: np.ndarray
    """float32 [row, vocabulary] at the mask."""
    pieces: np.ndarray
    """float64 [row of a piece, 2]: log-probability and rank, for the plans' pieces in order."""


@dataclass(frozen=True, slots=True, eq=False)
class MaskedBlock:
    """Answers of all models to some rows, and the divergences of each two."""

    answers: Mapping[str, MaskedAnswers]
    divergence: Mapping[tuple[str, str], np.ndarray]
    """float64 [row]: Jensen-Shannon divergence in nats over the words that both vocabularies have,
    each distribution scaled to sum to 1 there; nan where they have none in common."""


@dataclass(frozen=True, slots=True, eq=False)
class MaskedSummary:
    """Headline of a list of masked rows; rows without an answer count for agreement alone."""

    at_1: Mapping[str, Share]
    at_5: Mapping[str, Share]
    by_group: Mapping[str, Mapping[str, Share]]
    """By model, then by group: accuracy at 1."""
    duels: tuple[Duel, ...]
    agreement: Mapping[tuple[str, str], Share]
    """Rows in which two models have the same first word."""
    several_pieces: Mapping[str, int]
    """Rows whose answer is several pieces for a model."""
    unknown: Mapping[str, int]
    """Rows whose answer a model's vocabulary cannot write; it has them wrong."""
    mean_rank: Mapping[str, float]
    """Mean rank of the answers that a model's vocabulary can write; nan without any."""
    median_rank: Mapping[str, float]
    """Their median rank."""
    offered: tuple[str, str] | None = None
    """The first two words that each text with a choice offers, where they are the same in all."""
    ratio: Mapping[str, Mean] = field(default_factory=dict)
    """By model the mean of ln P(first) - ln P(second) of these words, in nats, over the texts in
    which every model can write both; empty without such words."""
    ratio_duels: tuple[MeanDuel, ...] = ()
    """Each two models by the difference of these values on the same texts."""


def masked_plans(
    loaded: "LoadedModel", rows: Sequence[tuple[str, tuple[str, ...], int]], max_tokens: int
) -> list[MaskedPlan | str]:
    """Return the plan of each text, or the sentence why it cannot be run.

    Args:
        loaded: The model.
        rows: Text, its words, and how many of them are accepted answers, which come first.
        max_tokens: Tokens that a text may have.
    """
    return [_plan(loaded, row, max_tokens) for row in rows]


def _plan(
    loaded: "LoadedModel", row: tuple[str, tuple[str, ...], int], max_tokens: int
) -> MaskedPlan | str:
    from explorer.models.forward import readable_tokens

    text, words, n_answers = row
    tokens = readable_tokens(loaded, text, max_tokens)
    if isinstance(tokens, str):
        return tokens
    if len(tokens.mask_positions) != 1:
        return UNCLEAR.format(n=len(tokens.mask_positions), label=loaded.spec.label)
    at_mask = MaskedRow(tokens.ids, tokens.segments, tokens.mask_positions[0])
    plans = tuple(_word_plan(loaded, tokens.text, word, max_tokens) for word in words)
    return MaskedPlan(at_mask, plans, n_answers)


def _word_plan(loaded: "LoadedModel", text: str, word: str, max_tokens: int) -> WordPlan:
    span = _span_of(loaded, text, word, max_tokens)
    if span is None:
        # A piece by itself is compared at the mask also where it would merge with its neighbour.
        piece = word_id(loaded.vocabulary, word, loaded.spec.lower_case)
        return WordPlan((piece,) if piece >= 0 else ())
    # One piece is read where the first word is read, so that rank 1 and the first word agree.
    return WordPlan(span.targets, span.rows if len(span.rows) > 1 else ())


def _span_of(loaded: "LoadedModel", text: str, answer: str, max_tokens: int) -> SpanPlan | None:
    """Return the plan of an answer in place of the mask; None where it cannot be written there."""
    from explorer.models.forward import readable_tokens

    start = text.index(MASK)
    filled, word = put_into(text, Word(MASK, start, start + len(MASK)), answer)
    tokens = readable_tokens(loaded, filled, max_tokens)
    if isinstance(tokens, str):
        return None
    try:
        plan = span_plan(tokens, word, int(loaded.tokenizer.mask_token_id))
    except BadText:
        return None
    is_unknown = any(loaded.vocabulary[i] in UNKNOWN for i in plan.targets)
    return None if is_unknown else plan


def masked_answers(
    plans: Sequence[MaskedPlan], readings: MaskedReadings, vocabulary: tuple[str, ...]
) -> MaskedAnswers:
    """Return a model's answers from its readings of the plans' rows."""
    spelling, log_probs = spelling_of(vocabulary), readings.log_probs
    first = named_only(log_probs, vocabulary).argmax(-1)
    scores, ranks = np.full(len(plans), np.nan), np.zeros(len(plans), np.int64)
    n_pieces, offered = np.zeros(len(plans), np.int64), []
    pieces = iter(readings.pieces)
    for place, plan in enumerate(plans):
        read = [_scored(word, log_probs[place], pieces) for word in plan.words]
        offered.append(tuple(nats for nats, _ in read))
        known = [n for n, (_, rank) in enumerate(read[: plan.n_answers]) if rank]
        if known:
            best = min(known, key=lambda n: (read[n][1], -read[n][0]))
            scores[place], ranks[place] = read[best]
            n_pieces[place] = len(plan.words[best].targets)
    likeliest = np.exp(log_probs[np.arange(len(plans)), first].astype(np.float64))
    return MaskedAnswers(
        tuple(spelling.word(vocabulary[i]) for i in first),
        read_only(likeliest),
        read_only(scores),
        read_only(ranks),
        read_only(n_pieces),
        tuple(offered),
    )


def _scored(
    word: WordPlan, log_probs: np.ndarray, pieces: Iterator[np.ndarray]
) -> tuple[float, int]:
    """Return a word's log-probability and its rank; nan and 0 where there is none.

    Args:
        word: Its plan.
        log_probs: float32 [vocabulary] at the mask.
        pieces: Readings of all pieces of all plans in order, of which the word takes its own.
    """
    if word.pieces:
        read = [next(pieces) for _ in word.pieces]
        return float(sum(nats for nats, _ in read)), int(max(rank for _, rank in read))
    if not word.targets:
        return float("nan"), 0
    target = log_probs[word.targets[0]]
    return float(target), 1 + int((log_probs > target).sum())


def masked_block(
    plans: Mapping[str, Sequence[MaskedPlan]],
    readings: Mapping[str, MaskedReadings],
    vocabularies: Mapping[str, tuple[str, ...]],
) -> MaskedBlock:
    """Return all models' answers to a block of rows, and the divergences of each two."""
    answers = {
        key: masked_answers(plans[key], readings[key], vocabularies[key]) for key in readings
    }
    log_probs = {key: reading.log_probs for key, reading in readings.items()}
    divergence = shared_divergences(log_probs, vocabularies)
    return MaskedBlock(answers, divergence)


def joined_blocks(blocks: Sequence[tuple[Sequence[int], MaskedBlock]]) -> MaskedBlock:
    """Return one block of (indices, block) pairs, in the order of the indices.

    Of an index in several blocks the last one counts.
    """
    places = {row: place for place, row in enumerate(row for rows, _ in blocks for row in rows)}
    order = np.array([places[row] for row in sorted(places)], np.int64)

    def joined(arrays: Sequence[np.ndarray]) -> np.ndarray:
        return read_only(np.concatenate(arrays)[order])

    answers, divergence = {}, {}
    for key in blocks[0][1].answers:
        parts = [block.answers[key] for _, block in blocks]
        words = [word for part in parts for word in part.words]
        offered = [row for part in parts for row in part.offered]
        answers[key] = MaskedAnswers(
            tuple(words[place] for place in order),
            joined([part.probabilities for part in parts]),
            joined([part.log_probs for part in parts]),
            joined([part.ranks for part in parts]),
            joined([part.n_pieces for part in parts]),
            tuple(offered[place] for place in order),
        )
    for pair in blocks[0][1].divergence:
        divergence[pair] = joined([block.divergence[pair] for _, block in blocks])
    return MaskedBlock(answers, divergence)


def shared_divergences(
    log_probs: Mapping[str, np.ndarray], vocabularies: Mapping[str, tuple[str, ...]]
) -> dict[tuple[str, str], np.ndarray]:
    """Return JS float64 [row] of each two models over the words that both vocabularies have.

    It is nan where they have none in common. Each model's probabilities are computed once, and one
    logarithm for each two models; in float32, and summed in float64.

    Args:
        log_probs: By model float32 [row, vocabulary].
        vocabularies: By model the piece of each id.
    """
    pairs = {
        (a, b): shared_words(vocabularies[a], vocabularies[b])
        for a, b in combinations(log_probs, 2)
    }
    n_rows = len(next(iter(log_probs.values())))
    found = {pair: np.full(n_rows, np.nan) for pair in pairs}
    # Row by row: `python -m benchmarks texts` reads 4 % more rows a second than with whole blocks.
    for row in range(n_rows):
        logs = {key: np.maximum(each[row], NO_CHANCE) for key, each in log_probs.items()}
        read = {key: (each, np.exp(each)) for key, each in logs.items()}
        for pair, words in pairs.items():
            if words is None or len(words[0]):
                found[pair][row] = _divergence(read[pair[0]], read[pair[1]], words)
    return {pair: read_only(each) for pair, each in found.items()}


Words = tuple[np.ndarray, np.ndarray] | None
"""Ids of the words that two vocabularies share, in each; None where all ids are the same."""


@lru_cache(maxsize=16)
def shared_words(first: tuple[str, ...], second: tuple[str, ...]) -> Words:
    """Return the ids of the words that two vocabularies share; None of equal vocabularies."""
    if first == second:
        return None
    partner = shared_vocabulary(first, second).partner
    shared = np.flatnonzero(partner >= 0)
    # Two tokens of the first vocabulary may have one partner; the first represents it.
    _, firsts = np.unique(partner[shared], return_index=True)
    kept = shared[firsts]
    return read_only(kept), read_only(partner[kept])


def _divergence(
    first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray], words: Words
) -> float:
    """Return JS of two models' (ln P, P) over shared words, each P scaled to sum to 1 there."""
    logs, shares = [], []
    for side, (log_p, p) in enumerate((first, second)):
        log_p, p = (log_p, p) if words is None else (log_p[words[side]], p[words[side]])
        total = p.sum(dtype=np.float64)
        logs.append(log_p - np.float32(np.log(total)))
        shares.append(p * np.float32(1 / total))
    middle = np.log(np.maximum((shares[0] + shares[1]) / 2, SMALLEST))
    terms = shares[0] * (logs[0] - middle) + shares[1] * (logs[1] - middle)
    return max(float(terms.sum(dtype=np.float64)) / 2, 0.0)


def masked_summary(answers: Mapping[str, MaskedAnswers], rows: Sequence[TextRow]) -> MaskedSummary:
    """Return the headline of a list from each model's answers to all rows."""
    has_answer, groups = np.array([bool(row.answer) for row in rows]), [row.group for row in rows]
    offered, ratios = offered_ratios(answers, rows)
    right = {key: each.right()[has_answer] for key, each in answers.items()}
    kept = [group for group, is_kept in zip(groups, has_answer, strict=True) if is_kept]
    words = {key: np.array(each.words, object) for key, each in answers.items()}
    return MaskedSummary(
        {key: share_of(hits) for key, hits in right.items()},
        {key: share_of(each.right(5)[has_answer]) for key, each in answers.items()},
        {key: shares_by_group(hits, kept) for key, hits in right.items()},
        duels(right),
        {(a, b): share_of(words[a] == words[b]) for a, b in combinations(words, 2)},
        {key: int((each.n_pieces > 1).sum()) for key, each in answers.items()},
        {key: int((has_answer & (each.n_pieces == 0)).sum()) for key, each in answers.items()},
        {key: _of_ranks(each, np.mean) for key, each in answers.items()},
        {key: _of_ranks(each, np.median) for key, each in answers.items()},
        offered,
        {key: mean_of(values) for key, values in ratios.items()},
        mean_duels(ratios),
    )


def offered_ratios(
    answers: Mapping[str, MaskedAnswers], rows: Sequence[TextRow]
) -> tuple[tuple[str, str] | None, dict[str, np.ndarray]]:
    """Return the two words that all texts with a choice offer first, and each model's log-ratios.

    The ratios are float64 [text], ln P(first) - ln P(second) in nats, of the texts in which every
    model can write both words. None and nothing where the texts offer different words.
    """
    pairs = {row.choices[:2] for row in rows if row.choices}
    if len(pairs) != 1:
        return None, {}
    first, second = pairs.pop()
    places = [place for place, row in enumerate(rows) if row.choices]
    at = {place: [rows[place].words.index(word) for word in (first, second)] for place in places}
    ratios = {
        key: np.array([each.offered[n][at[n][0]] - each.offered[n][at[n][1]] for n in places])
        for key, each in answers.items()
    }
    known = np.all([np.isfinite(values) for values in ratios.values()], 0)
    return (first, second), {key: values[known] for key, values in ratios.items()}


def _of_ranks(answers: MaskedAnswers, middle: Callable[[np.ndarray], Any]) -> float:
    """Return the mean or median of the ranks that there are; nan without any."""
    ranks = answers.ranks[answers.ranks > 0]
    return float(middle(ranks)) if len(ranks) else float("nan")
