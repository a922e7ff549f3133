"""AppContext: settings of the whole process, decided when it starts."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class AppContext:
    """Settings of the whole process; one field for each thing that a start decides."""

    backend: Any = None
    """``Backend`` of ``explorer.inference`` that holds the weights; None is this process."""
    memory_limit: float = float("inf")
    """Bytes that all networks together may take."""
    tuned_folder: str = ""
    """Folder in which the page saves models that it fine-tunes; empty: it fine-tunes none."""
    is_local: bool = False
    """True if only this machine has the page, so that a sentence may name its folders."""
    tunes_for_all: bool = False
    """True if the start allows all visitors to fine-tune; otherwise only this machine may."""
    any_model: bool = False
    """True if visitors may type any repository of the model hub."""
    public_url: str = ""
    """Public address of the page; empty if unknown."""
    columns: tuple[str, ...] = ()
    """Columns that the start gave by names of its own; empty: those of the architectures."""
    has_left: Callable[[], Callable[[], bool]] = lambda: lambda: False
    """Called for a request; returns a function that says later whether its client has left."""
    program_address: Callable[[], str] = lambda: ""
    """Return the address of the program whose request is answered now; empty for a visitor."""
    is_timing: Callable[[], bool] = lambda: False
    """Return whether forward passes are timed at this moment."""
    answering: Callable[[], AbstractContextManager[None]] = nullcontext
    """Return what is held while a visitor's Compare is answered."""


_current = AppContext()


def context() -> AppContext:
    """Return the context of this process."""
    return _current


def configure(**changes: Any) -> None:  # noqa: ANN401 - the fields of the context
    """Replace fields of the context, for all threads."""
    global _current
    _current = replace(_current, **changes)
