"""Progress of the long functions: silent, or as bars where a shell shows them."""

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")
_are_shown: ContextVar[bool] = ContextVar("are_shown", default=False)


@contextmanager
def bars() -> Iterator[None]:
    """Show a bar for what takes long inside this context."""
    token = _are_shown.set(True)
    try:
        yield
    finally:
        _are_shown.reset(token)


def each(items: Iterable[Item], total: int, what: str) -> Iterator[Item]:
    """Yield the items; with a bar where bars are shown."""
    if not _are_shown.get():
        yield from items
        return
    from tqdm import tqdm

    yield from tqdm(items, total=total, desc=what, leave=False, disable=None)


def result_of(steps: Generator[int, None, Item], total: int, what: str) -> Item:
    """Run a computation that yields how much of ``total`` is done; return its result."""
    from tqdm import tqdm

    # None: no bar where the standard error stream is no terminal.
    disable = None if _are_shown.get() else True
    with tqdm(total=total, desc=what, leave=False, disable=disable) as bar:
        while True:
            try:
                bar.update(next(steps) - bar.n)
            except StopIteration as end:
                return end.value
