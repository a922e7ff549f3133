"""The answer after each layer: for one mask, for every word, for more or fewer layers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from explorer.analysis.alignment import Groups
from explorer.analysis.measures import kl_of_logs, log_softmax, top_ids
from explorer.models.run import MaskedRow, Run, read_only
from explorer.models.tokens import UNKNOWN, Tokens, spelling_of

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel


DIAL_LISTED = 5


@dataclass(frozen=True, slots=True, eq=False)
class DepthDial:
    """The answers at one mask after each number of applications, from 1 on."""

    usual: int
    top_ids: np.ndarray
    """int64 [times, 5], likeliest first."""
    top: np.ndarray
    """float64 [times, 5], their probabilities."""
    kl: np.ndarray
    """float64 [times]: KL(usual || times) in nats; 0 at the usual depth."""


def depth_dial(run: Run, logits: np.ndarray) -> DepthDial:
    """One mask's answers, from logits [times, vocabulary] after 1, 2, 3 ... applications."""
    shape, log_probs = run.spec.architecture, log_softmax(logits)
    top = top_ids(log_probs, DIAL_LISTED)
    usual = np.broadcast_to(log_probs[shape.n_layers - 1], log_probs.shape)
    return DepthDial(
        shape.n_layers,
        read_only(top),
        read_only(np.exp(np.take_along_axis(log_probs, top, -1))),
        read_only(kl_of_logs(usual, log_probs)),
    )


def dial_flops(run: Run, most: int) -> tuple[int, ...]:
    """Operations of the encoder's pass over a run's text after 1, 2 ... ``most`` applications."""
    from explorer.analysis.parameters.shape import shape_flops

    shape, length = run.spec.architecture, len(run.tokens)
    return tuple(
        shape_flops(replace(shape, n_layers=times), length) for times in range(1, most + 1)
    )


RUNNING = 5
"""The most words whose way to the answer is drawn."""
LISTED = 5
"""The words listed at each layer."""


@dataclass(frozen=True, slots=True, eq=False)
class MaskLens:
    """One mask read by the head at every depth; row 0 is the embeddings, the last the answer."""

    position: int
    words: tuple[str, ...]
    """The words in the running as a reader writes them, the final answer first."""
    probabilities: np.ndarray
    """float64 [layer + 1, word], shares of the whole vocabulary."""
    rank: np.ndarray
    """int64 [layer + 1]: the place of the final answer; 1 = no piece is likelier."""
    kl: np.ndarray
    """float64 [layer + 1]: KL(final || layer) in nats; the last is 0."""
    top_ids: np.ndarray
    """int64 [layer + 1, 5], likeliest first."""
    top: np.ndarray
    """float64 [layer + 1, 5], their probabilities."""

    @property
    def n_layers(self) -> int:
        """How many layers lie between the first row and the last."""
        return len(self.rank) - 1

    @property
    def decided_at(self) -> int:
        """The first row from which on no piece is ever likelier than the final answer."""
        behind = np.flatnonzero(self.rank > 1)
        return int(behind[-1]) + 1 if behind.size else 0


def mask_lens(run: Run, mask: int, logits: np.ndarray) -> MaskLens:
    """One mask of a run, from the head's logits [layer + 1, vocabulary] at its position."""
    log_probs = log_softmax(logits)
    top = top_ids(log_probs, LISTED)
    shown = in_the_running(log_probs, top)
    spelling = spelling_of(run.vocabulary)
    return MaskLens(
        run.tokens.mask_positions[mask],
        tuple(spelling.word(run.vocabulary[i]) for i in shown),
        read_only(np.exp(log_probs[:, shown])),
        read_only(places(logits, np.full(len(logits), shown[0]))),
        read_only(kl_of_logs(np.broadcast_to(log_probs[-1], log_probs.shape), log_probs)),
        read_only(top),
        read_only(np.exp(np.take_along_axis(log_probs, top, -1))),
    )


def in_the_running(log_probs: np.ndarray, top: np.ndarray) -> list[int]:
    """The final answer, its two rivals, the late layers' first choices; then more rivals.

    By their final probability, so that the answer stands first.
    """
    last, earlier = list(top[-1]), list(top[::-1, 0])
    chosen = list(dict.fromkeys([*last[:3], *earlier, *last]))[:RUNNING]
    return [last[0], *sorted(chosen[1:], key=lambda i: -log_probs[-1, i])]


def places(logits: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """The place of one id in each row of logits: 1 + how many are larger; equals share a place."""
    own = np.take_along_axis(logits, ids[:, None], -1)
    return 1 + (logits > own).sum(-1)


@dataclass(frozen=True, slots=True)
class HiddenWord:
    """A word with all its pieces masked: a row for each piece, and what stood there."""

    rows: tuple[MaskedRow, ...]
    targets: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class EveryWord:
    """The place of each hidden word at each layer."""

    rank: np.ndarray
    """int64 [layer + 1, word]: the worst place of its pieces; 0 where no piece stands for it."""
    known: np.ndarray
    """bool [word]: whether a word of the text stands there that the model can read. Behind a typed
    [MASK] is only the model's own answer, which it cannot fail to give."""


def hidden_words(run: Run, groups: Groups) -> tuple[HiddenWord, ...]:
    """Each group of tokens masked alone; behind a mask is the model's own final answer."""
    targets = list(run.tokens.ids)
    for place, logits in zip(run.tokens.mask_positions, run.mask_logits, strict=True):
        targets[place] = int(logits.argmax())
    return tuple(_hidden(run, group, targets) for group in groups)


def _hidden(run: Run, group: Sequence[int], targets: Sequence[int]) -> HiddenWord:
    ids = tuple(run.mask_id if i in group else piece for i, piece in enumerate(run.tokens.ids))
    rows = tuple(MaskedRow(ids, run.tokens.segments, position) for position in group)
    return HiddenWord(rows, tuple(targets[position] for position in group))


def every_word(run: Run, words: Sequence[HiddenWord], ranks: np.ndarray) -> EveryWord:
    """The words from the places [row, layer + 1] of their pieces, in the order of their rows."""
    found, start = [], 0
    masks = set(run.tokens.mask_positions)
    for word in words:
        own = ranks[start : start + len(word.rows)]
        is_known = len(own) and all(run.vocabulary[i] not in UNKNOWN for i in word.targets)
        found.append(own.max(0) if is_known else np.zeros(ranks.shape[1], np.int64))
        start += len(word.rows)
    rank = np.stack(found, 1)
    written = np.array([not masks & {row.position for row in word.rows} for word in words], bool)
    return EveryWord(read_only(rank), read_only(written & (rank[-1] > 0)))


def shared_words(found: Mapping[str, EveryWord]) -> np.ndarray:
    """Bool [word]: the words of the text that all models can read."""
    return np.all([one.known for one in found.values()], 0)


def batch_places(
    loaded: "LoadedModel", rows: Sequence[MaskedRow], targets: Sequence[int]
) -> np.ndarray:
    """The place [row, layer + 1] of what stood at each row's gap; the rows share one pass.

    The head reads a row at a time: a vocabulary is wide.
    """
    from explorer.models.forward import state_logits
    from explorer.models.scoring import row_states

    pairs = zip(row_states(loaded, rows), targets, strict=True)
    return np.stack([row_places(state_logits(loaded, row), target) for row, target in pairs])


def row_places(logits: np.ndarray, target: int) -> np.ndarray:
    """The place of what stood there at every layer, from logits [layer + 1, vocabulary]."""
    return places(logits, np.full(len(logits), target))


def word_states(states: np.ndarray, groups: Groups) -> np.ndarray:
    """From [layer + 1, position, d_model] to float32 [layer + 1, word, d_model]."""
    return np.stack([states[:, list(group)].mean(1) for group in groups], 1)


def sentence_states(loaded: "LoadedModel", tokens: Tokens, groups: Groups) -> np.ndarray:
    """``word_states`` of a pass whose other results nobody keeps."""
    from explorer.models.forward import run_model

    return word_states(run_model(loaded, tokens).hidden_states, groups)
