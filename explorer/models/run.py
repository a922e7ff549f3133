"""Run, one forward pass of one model over one text; and batches of rows that share a pass."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

import numpy as np

from explorer.models.specs import ModelSpec
from explorer.models.tokens import Tokens, spelling_of, word_id


def read_only(array: np.ndarray) -> np.ndarray:
    """Return the same array, made read-only."""
    array.setflags(write=False)
    return array


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Result of one forward pass: every tab reads it and none runs the model again."""

    spec: ModelSpec
    tokens: Tokens
    hidden_states: np.ndarray
    """float32 [layer + 1, pos, d_model]; index 0 is the embedding output."""
    attention: np.ndarray
    """float32 [layer, head, query, key], after softmax: rows sum to 1."""
    mask_logits: np.ndarray
    """float32 [mask, vocabulary], the MLM head at ``tokens.mask_positions`` only."""
    vocabulary: tuple[str, ...]
    """The piece of each id; shared between runs, not copied."""
    mask_id: int
    """The id of the model's mask token."""
    device: str
    dtype: str

    def __post_init__(self) -> None:
        n_layers, n_pos = self.spec.architecture.n_layers, len(self.tokens)
        if self.attention.shape[0] != n_layers or self.attention.shape[2:] != (n_pos, n_pos):
            raise ValueError(
                f"attention of {self.spec.name} has shape {self.attention.shape}, "
                f"expected {n_layers} layers of {n_pos} x {n_pos}"
            )
        if self.hidden_states.shape[:2] != (n_layers + 1, n_pos):
            raise ValueError(f"hidden states of {self.spec.name}: {self.hidden_states.shape}")

    @property
    def n_bytes(self) -> int:
        """The bytes of the arrays of the run."""
        return self.hidden_states.nbytes + self.attention.nbytes + self.mask_logits.nbytes


BATCH_TOKENS = 1024
"""Tokens per batch: under two seconds for a base model on one thread, so progress is shown."""
MAX_PATCHES = 64
"""Patches per batch: the logits of each span the whole vocabulary, for every mask."""
READINGS: tuple[str, ...] = ("both", "left", "right", "no_order", "shuffled", "alone")
"""Context on both sides as trained; left only; right only; all position ids equal; the other words
shuffled; and no attention between words."""


@dataclass(frozen=True, slots=True)
class MaskedRow:
    """Input ids of one row of a batch and the position of the wanted logits."""

    ids: tuple[int, ...]
    segments: tuple[int, ...]
    position: int


@dataclass(frozen=True, slots=True)
class Patch:
    """Patch of a pass: at these positions one layer's states are replaced by another text's."""

    layer: int
    """0 is the embeddings; the state after the last layer needs no pass."""
    positions: tuple[int, ...]


def batches(
    rows: Sequence[MaskedRow], tokens: int = BATCH_TOKENS
) -> Iterator[tuple[MaskedRow, ...]]:
    """Yield rows in their order, in batches of equal length, so that nothing is padded."""
    for length, group in groupby(rows, key=lambda row: len(row.ids)):
        rows_of_length, size = list(group), max(1, tokens // length)
        for start in range(0, len(rows_of_length), size):
            yield tuple(rows_of_length[start : start + size])


def length_batches(
    lengths: Sequence[int], most: int = 16, tokens: int = BATCH_TOKENS
) -> Iterator[tuple[int, ...]]:
    """Yield the indices of texts, the shortest first, in batches of like length.

    A batch has at most ``most`` texts, and at most ``tokens`` tokens with its padding, unless one
    text alone has more.
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda index: lengths[index]):
        if batch and (len(batch) == most or lengths[index] * (len(batch) + 1) > tokens):
            yield tuple(batch)
            batch = []
        batch.append(index)
    if batch:
        yield tuple(batch)


HALF_MULTIPLE = 8
"""Lengths in bfloat16 are padded to a multiple of it."""
HALF_BATCH = {"cpu": (32, 512), "": (64, 4096)}
"""Rows, and tokens with their padding, of a batch in bfloat16, on the processor and elsewhere: on
the processor 512 tokens take a fifth less time each than 256."""
HEAD_ROWS = 64
"""Rows that a head reads at once: each takes 0.4 of the time that it takes of 16 at once, because
the weights are read from memory once for all."""


def half_tokens(length: int, most: int) -> int:
    """Return the tokens of a row in bfloat16 with its padding, at most ``most``."""
    return min(most, -(-length // HALF_MULTIPLE) * HALF_MULTIPLE)


def half_rows(n_tokens: int, device: str) -> int:
    """Return the rows of every batch in bfloat16 whose rows have a number of tokens."""
    most, tokens = HALF_BATCH.get(device, HALF_BATCH[""])
    return max(1, min(most, tokens // n_tokens))


def half_batches(lengths: Sequence[int], most: int, device: str) -> Iterator[tuple[int, ...]]:
    """Yield the indices of rows in batches of one padded length, see ``half_rows``.

    Args:
        lengths: Tokens of each row.
        most: Tokens that the model can read.
        device: Where they run.
    """
    padded = [half_tokens(length, most) for length in lengths]
    for n_tokens in sorted(set(padded)):
        rows, size = [i for i, n in enumerate(padded) if n == n_tokens], half_rows(n_tokens, device)
        for start in range(0, len(rows), size):
            yield tuple(rows[start : start + size])


def patch_batches(
    patches: Sequence[Patch], length: int, n_layers: int, tokens: int = BATCH_TOKENS
) -> Iterator[tuple[Patch, ...]]:
    """Yield patches sorted by layer, in batches of bounded cost: the layers that follow each."""
    waiting = sorted(patches, key=lambda patch: patch.layer)
    while waiting:
        cost, size = 0.0, 0
        for patch in waiting[:MAX_PATCHES]:
            cost += length * (n_layers - patch.layer) / n_layers
            if size and cost > tokens:
                break
            size += 1
        yield tuple(waiting[:size])
        waiting = waiting[size:]


@lru_cache(maxsize=8)
def nameless_ids(vocabulary: tuple[str, ...]) -> np.ndarray:
    """Return the ids without a piece: rows that pad a vocabulary, or that its tokenizer lacks."""
    return read_only(np.array([i for i, piece in enumerate(vocabulary) if not piece], np.int64))


def named_only(values: np.ndarray, vocabulary: tuple[str, ...]) -> np.ndarray:
    """Return values [..., id] with -inf for ids without a piece, which are in no list of words."""
    nameless = nameless_ids(vocabulary)
    if not nameless.size:
        return values
    named = values.copy()
    named[..., nameless] = -np.inf
    return named


def answer_id(logits: np.ndarray, vocabulary: tuple[str, ...]) -> int:
    """Return the likeliest id of logits [vocabulary] that has a piece."""
    return int(named_only(logits, vocabulary).argmax())


def typeable_answers(runs: Mapping[str, Run], mask: int) -> dict[str, str]:
    """Return each model's answer at a mask as a word; not one that no reader can type.

    A piece that continues a word is none: as a word of its own it is another token.
    """
    answers = {}
    for key, run in runs.items():
        own = answer_id(run.mask_logits[mask], run.vocabulary)
        word = spelling_of(run.vocabulary).word(run.vocabulary[own])
        if word_id(run.vocabulary, word, run.spec.lower_case) == own:
            answers[key] = word
    return answers
