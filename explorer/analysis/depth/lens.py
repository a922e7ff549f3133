"""Logit lens: the answer after each layer, for masks, every word, and any number of layers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from explorer.analysis.alignment import Groups
from explorer.analysis.measures import kl_of_logs, log_softmax, top_ids
from explorer.models.run import MaskedRow, Run, answer_id, named_only, read_only
from explorer.models.tokens import UNKNOWN, Tokens, spelling_of

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel


DIAL_LISTED = 5


@dataclass(frozen=True, slots=True, eq=False)
class DepthDial:
    """The answers at one mask after 1, 2, 3 ... applications of a shared layer."""

    trained_depth: int
    top_ids: np.ndarray
    """int64 [times, 5], likeliest first."""
    top: np.ndarray
    """float64 [times, 5], their probabilities."""
    kl: np.ndarray
    """float64 [times]: KL(usual || times) in nats; 0 at the usual depth."""


def depth_dial(run: Run, logits: np.ndarray) -> DepthDial:
    """Return one mask's answers from logits [times, vocabulary] after 1, 2, 3 ... applications."""
    shape, log_probs = run.spec.architecture, log_softmax(logits)
    top = top_ids(named_only(log_probs, run.vocabulary), DIAL_LISTED)
    usual = np.broadcast_to(log_probs[shape.n_layers - 1], log_probs.shape)
    return DepthDial(
        shape.n_layers,
        read_only(top),
        read_only(np.exp(np.take_along_axis(log_probs, top, -1))),
        read_only(kl_of_logs(usual, log_probs)),
    )


def dial_flops(run: Run, max_depth: int) -> tuple[int, ...]:
    """Return the encoder's FLOPs over a run's text for 1, 2 ... ``max_depth`` applications."""
    from explorer.analysis.parameters.shape import shape_flops

    shape, length = run.spec.architecture, len(run.tokens)
    return tuple(
        shape_flops(replace(shape, n_layers=times), length) for times in range(1, max_depth + 1)
    )


RUNNING = 5
"""The most words whose probabilities are drawn over the layers."""
LISTED = 5
"""The number of words listed at each layer."""


@dataclass(frozen=True, slots=True, eq=False)
class MaskLens:
    """A mask's predictions after each layer; row 0 is the embeddings."""

    position: int
    words: tuple[str, ...]
    """The words that are drawn, in readable spelling, the final answer first."""
    probabilities: np.ndarray
    """float64 [layer + 1, word], shares of the whole vocabulary."""
    rank: np.ndarray
    """int64 [layer + 1]: the rank of the final answer; 1 = no token is likelier."""
    kl: np.ndarray
    """float64 [layer + 1]: KL(final || layer) in nats; the last is 0."""
    top_ids: np.ndarray
    """int64 [layer + 1, 5], likeliest first."""
    top: np.ndarray
    """float64 [layer + 1, 5], their probabilities."""
    followed: "Mapping[str, FollowedWord]" = field(default_factory=dict)
    """Words that every model is asked about, by the key of the model whose answer each is."""

    @property
    def n_layers(self) -> int:
        """The number of layers: all rows but that of the embeddings."""
        return len(self.rank) - 1

    @property
    def decided_at(self) -> int:
        """The first row from which on no token is likelier than the final answer."""
        return _first_from(self.rank)


@dataclass(frozen=True, slots=True, eq=False)
class FollowedWord:
    """One word in one model at one mask, after each layer; row 0 is the embeddings."""

    piece: str
    """The word's token, in vocabulary spelling."""
    word: str
    """The token as readers spell it."""
    probabilities: np.ndarray
    """float64 [layer + 1]"""
    rank: np.ndarray
    """int64 [layer + 1]; 1 = no token is likelier."""

    @property
    def decided_at(self) -> int | None:
        """The first row from which on no token is likelier; None if it is not first at the end."""
        return _first_from(self.rank) if self.rank[-1] == 1 else None


def _first_from(rank: np.ndarray) -> int:
    """Return the first row from which on a rank is 1."""
    behind = np.flatnonzero(rank > 1)
    return int(behind[-1]) + 1 if behind.size else 0


def mask_lens(
    run: Run, mask: int, logits: np.ndarray, followed: Mapping[str, int] = MappingProxyType({})
) -> MaskLens:
    """Return the lens at one mask from the head's logits [layer + 1, vocabulary] there.

    ``followed`` holds the ids of words to follow besides, by any key.
    """
    log_probs = log_softmax(logits)
    top = top_ids(named_only(log_probs, run.vocabulary), LISTED)
    ids = drawn_ids(log_probs, top)
    spelling = spelling_of(run.vocabulary)
    return MaskLens(
        run.tokens.mask_positions[mask],
        tuple(spelling.word(run.vocabulary[i]) for i in ids),
        read_only(np.exp(log_probs[:, ids])),
        read_only(places(logits, np.full(len(logits), ids[0]))),
        read_only(kl_of_logs(np.broadcast_to(log_probs[-1], log_probs.shape), log_probs)),
        read_only(top),
        read_only(np.exp(np.take_along_axis(log_probs, top, -1))),
        {
            key: FollowedWord(
                run.vocabulary[i],
                spelling.word(run.vocabulary[i]),
                read_only(np.exp(log_probs[:, i])),
                read_only(places(logits, np.full(len(logits), i))),
            )
            for key, i in followed.items()
        },
    )


def drawn_ids(log_probs: np.ndarray, top: np.ndarray) -> list[int]:
    """Return the ids to draw: the final top 3, then the layers' first choices, late ones first.

    Filled up from the final top list and sorted by final probability, the final answer first.
    """
    last, earlier = list(top[-1]), list(top[::-1, 0])
    ids = list(dict.fromkeys([*last[:3], *earlier, *last]))[:RUNNING]
    return [last[0], *sorted(ids[1:], key=lambda i: -log_probs[-1, i])]


def places(logits: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return the rank of one id in each row of logits: 1 + the number of larger ones."""
    logit = np.take_along_axis(logits, ids[:, None], -1)
    return 1 + (logits > logit).sum(-1)


@dataclass(frozen=True, slots=True)
class MaskedWord:
    """A word with all its tokens masked: a batch row for each token, and the tokens' ids."""

    rows: tuple[MaskedRow, ...]
    targets: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class EveryWord:
    """The rank of each hidden word at each layer."""

    rank: np.ndarray
    """int64 [layer + 1, word]: the worst rank of its tokens; 0 where the vocabulary lacks it."""
    known: np.ndarray
    """bool [word]: the text has a word there that the vocabulary can write. False at a typed
    [MASK], whose target is the model's own answer, which it cannot fail to give."""


def masked_words(run: Run, groups: Groups) -> tuple[MaskedWord, ...]:
    """Return each word with its tokens masked; a typed [MASK] has the model's answer as target."""
    targets = list(run.tokens.ids)
    for place, logits in zip(run.tokens.mask_positions, run.mask_logits, strict=True):
        targets[place] = answer_id(logits, run.vocabulary)
    return tuple(_masked_word(run, group, targets) for group in groups)


def _masked_word(run: Run, group: Sequence[int], targets: Sequence[int]) -> MaskedWord:
    ids = tuple(run.mask_id if i in group else piece for i, piece in enumerate(run.tokens.ids))
    rows = tuple(MaskedRow(ids, run.tokens.segments, position) for position in group)
    return MaskedWord(rows, tuple(targets[position] for position in group))


def every_word(run: Run, words: Sequence[MaskedWord], ranks: np.ndarray) -> EveryWord:
    """Return the words' ranks from those of their tokens, [row, layer + 1] in the words' order."""
    ranks_by_word, start = [], 0
    masks = set(run.tokens.mask_positions)
    for word in words:
        word_ranks = ranks[start : start + len(word.rows)]
        is_known = len(word_ranks) and all(run.vocabulary[i] not in UNKNOWN for i in word.targets)
        ranks_by_word.append(word_ranks.max(0) if is_known else np.zeros(ranks.shape[1], np.int64))
        start += len(word.rows)
    rank = np.stack(ranks_by_word, 1)
    is_written = np.array([not masks & {row.position for row in word.rows} for word in words], bool)
    return EveryWord(read_only(rank), read_only(is_written & (rank[-1] > 0)))


def shared_words(by_model: Mapping[str, EveryWord]) -> np.ndarray:
    """Return bool [word]: the words of the text that all models' vocabularies can write."""
    return np.all([words.known for words in by_model.values()], 0)


def batch_places(
    loaded: "LoadedModel", rows: Sequence[MaskedRow], targets: Sequence[int]
) -> np.ndarray:
    """Return the rank [row, layer + 1] of each row's target; the rows share one forward pass.

    The head reads one row at a time, because logits over a whole vocabulary are large.
    """
    from explorer.models.forward import row_states, state_logits

    pairs = zip(row_states(loaded, rows), targets, strict=True)
    ranks = [
        places(state_logits(loaded, states), np.full(len(states), target))
        for states, target in pairs
    ]
    return np.stack(ranks)


def word_states(states: np.ndarray, groups: Groups) -> np.ndarray:
    """Average states [layer + 1, position, d_model] to float32 [layer + 1, word, d_model]."""
    return np.stack([states[:, list(group)].mean(1) for group in groups], 1)


def states_together(
    loaded: "LoadedModel", texts: Sequence[tuple[Tokens, Groups]]
) -> list[np.ndarray]:
    """Run several texts in one pass without attentions; return each one's ``word_states``."""
    from explorer.models.forward import hidden_together

    states = hidden_together(loaded, [tokens for tokens, _ in texts])
    return [word_states(own, groups) for own, (_, groups) in zip(states, texts, strict=True)]


def sentence_states(loaded: "LoadedModel", tokens: Tokens, groups: Groups) -> np.ndarray:
    """Run a model and return its ``word_states`` alone."""
    from explorer.models.forward import run_model

    return word_states(run_model(loaded, tokens).hidden_states, groups)
