"""Overlapping windows of a passage, and yielding to other requests between two passes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from explorer.models.tokens import BadText, trim_span


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


def windows(tokenizer: object, question: str, passage: str, size: int, stride: int) -> list[Window]:
    """Return windows of at most ``size`` tokens; consecutive ones overlap by ``stride`` tokens.

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
    result: list[Window] = []
    first = 0
    for i, ids in enumerate(encoding["input_ids"]):
        sides: list[int | None] = encoding.sequence_ids(i)
        spans = tuple(
            trim_span(passage, *offsets) if side == 1 else None
            for side, offsets in zip(sides, encoding["offset_mapping"][i], strict=True)
        )
        # By the start of the passage: not every tokenizer returns segment ids for its second part.
        passage_start = next((k for k, side in enumerate(sides) if side == 1), len(ids))
        segments = tuple(int(k >= passage_start) for k in range(len(ids)))
        result.append(Window(tuple(ids), segments, spans, first))
        first += sides.count(1) - stride
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
