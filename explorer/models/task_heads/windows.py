"""Overlapping windows of a passage, and yielding to other requests between two passes."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from explorer.models.tokens import BadText, trim_span
from explorer.refusal import Sentence

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast


@dataclass(frozen=True, slots=True)
class Window:
    """Stretch of a passage after the question; the tuples are parallel to ``ids``."""

    ids: tuple[int, ...]
    segments: tuple[int, ...]
    spans: tuple[tuple[int, int] | None, ...]
    """Span of each token in the passage; None for the question and the added tokens. Several tokens
    may have one span: a vocabulary may split one character into pieces."""
    first: int = 0
    """Number of tokens of the passage before this window."""


def window_of(card: Mapping[str, Any], max_tokens: int) -> tuple[int, int]:
    """Return the tokens of a window, and of the overlap of two, that a model has positions for."""
    size = min(int(card["window"]), max_tokens)
    return size, int(card["stride"]) * size // int(card["window"])


def windows(
    tokenizer: "PreTrainedTokenizerFast", question: str, passage: str, size: int, stride: int
) -> list[Window]:
    """Return windows of at most ``size`` tokens; consecutive ones overlap by ``stride`` tokens.

    Raises:
        BadText: the question leaves no room for the passage.
    """
    taken = len(tokenizer(question, verbose=False)["input_ids"])
    added = [tokenizer.num_special_tokens_to_add(pair=is_pair) for is_pair in (False, True)]
    fits = size - stride - 1 - (added[1] - added[0])
    if taken > fits:
        raise BadText(
            Sentence(
                "question-too-long",
                f"The question has {taken} tokens; {fits} fit. Please shorten it.",
            )
        )
    # Cut here and not by the tokenizer: some versions of tokenizers drop all but two windows.
    encoding = tokenizer(question, passage, return_offsets_mapping=True, verbose=False)
    ids, sides = tuple(encoding["input_ids"]), encoding.sequence_ids(0)
    low = sides.index(1) if 1 in sides else len(sides)
    high = low + sides.count(1)
    spans = tuple(trim_span(passage, *offsets) for offsets in encoding["offset_mapping"][low:high])
    before, inside, after = ids[:low], ids[low:high], ids[high:]
    room = size - len(before) - len(after)
    result: list[Window] = []
    for first in range(0, max(1, len(inside) - stride), room - stride):
        part = slice(first, first + room)
        filled = before + inside[part] + after
        result.append(
            Window(
                filled,
                (0,) * low + (1,) * (len(filled) - low),
                (None,) * low + spans[part] + (None,) * len(after),
                first,
            )
        )
    return result


_let_others: ContextVar[Callable[[], None]] = ContextVar("let_others", default=lambda: None)


def yield_to_others() -> None:
    """Let waiting requests run first; call it with no lock held and outside torch modes."""
    _let_others.get()()


@contextmanager
def yielding_with(let_others: Callable[[], None]) -> Iterator[None]:
    """Set what ``yield_to_others`` calls in this thread; what it raises cancels the answer."""
    token = _let_others.set(let_others)
    try:
        yield
    finally:
        _let_others.reset(token)
