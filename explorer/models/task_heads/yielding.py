"""An answer of many passes: between two of them, others may have theirs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

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
