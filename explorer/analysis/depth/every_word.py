"""At which layers a model knows a word that is hidden from it: every word of a text in its turn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from explorer.analysis.alignment import Groups
from explorer.analysis.depth.lens import places
from explorer.models.rows import MaskedRow
from explorer.models.run import Run, read_only
from explorer.models.spelling import UNKNOWN

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel


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
