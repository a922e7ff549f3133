"""Overlapping windows of a passage, and yielding to others between two passes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from explorer.models.tokens import BadText, trim_span


@dataclass(frozen=True, slots=True)
class Window:
    """One stretch of a passage behind the question; the tuples are parallel to ``ids``."""

    ids: tuple[int, ...]
    segments: tuple[int, ...]
    spans: tuple[tuple[int, int] | None, ...]
    """Where each token stands in the passage; None for the question and the added tokens. Several
    tokens may stand in one place: a vocabulary may write one character in pieces."""
    first: int = 0
    """How many tokens of the passage come before this stretch."""


def windows(tokenizer: object, question: str, passage: str, size: int, stride: int) -> list[Window]:
    """The passage in windows of at most ``size`` tokens that share ``stride`` with the next.

    Raises:
        BadText: the question leaves no room for the passage.
    """
    taken = len(tokenizer(question, verbose=False)["input_ids"])  # type: ignore[operator]
    if size - taken - 1 <= stride:
        raise BadText(
            f"The question has {taken} tokens; {size - stride - 2} fit. Please shorten it."
        )
    encoding = tokenizer(  # type: ignore[operator]
        question,
        passage,
        truncation="only_second",
        max_length=size,
        stride=stride,
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
        return_token_type_ids=True,
        verbose=False,
    )
    found: list[Window] = []
    first = 0
    for i, ids in enumerate(encoding["input_ids"]):
        sides: list[int | None] = encoding.sequence_ids(i)
        spans = tuple(
            trim_span(passage, *place) if side == 1 else None
            for side, place in zip(sides, encoding["offset_mapping"][i], strict=True)
        )
        # Counted by where the passage begins: not every tokenizer gives its second side's segment.
        begin = next((k for k, side in enumerate(sides) if side == 1), len(ids))
        segments = tuple(int(k >= begin) for k in range(len(ids)))
        found.append(Window(tuple(ids), segments, spans, first))
        first += sides.count(1) - stride
    return found


_let_others: ContextVar[Callable[[], None]] = ContextVar("let_others", default=lambda: None)


def yield_to_others() -> None:
    """Let whoever needs a single pass go first; to be said with no lock held, in no torch mode."""
    _let_others.get()()


@contextmanager
def yielding_with(let_others: Callable[[], None]) -> Iterator[None]:
    """What ``give_way`` does meanwhile in this thread; what it raises ends the answer."""
    token = _let_others.set(let_others)
    try:
        yield
    finally:
        _let_others.reset(token)
