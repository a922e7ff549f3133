"""Batches drawn ahead by other processes: a GPU reads a batch faster than one process draws it."""

import multiprocessing
from collections.abc import Iterator
from itertools import count
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

AHEAD = 4  # batches that wait in every process


class Drawn(Protocol):
    """A batch, of whatever kind its objective wants."""

    @property
    def ids(self) -> Tensor:
        """What the model reads."""

    @property
    def tokens(self) -> int:
        """How many pieces it reads."""

    def to(self, device: torch.device) -> Any:  # noqa: ANN401
        """The same on another device."""


class Draws(Protocol):
    """Where batches come from."""

    def batch(self, step: int, *, late: bool = False) -> Drawn:
        """The batch of a step."""


class Batches:
    """The batches of a run in the order of its steps, from ``first`` on.

    A batch is a function of its step, so it does not matter which process draws it. That a run
    has come to its end (``late``) shows in the batches that are not drawn yet.
    """

    def __init__(self, draws: Draws, first: int, workers: int = 0) -> None:
        self.late = multiprocessing.Value("b", False)
        drawing = _Drawing(draws, self.late)
        loader = DataLoader(
            drawing,
            batch_size=None,
            sampler=count(first),  # type: ignore[arg-type]  # any iterable does
            num_workers=workers,
            prefetch_factor=AHEAD if workers else None,
        )
        self.drawn: Iterator[Drawn] = iter(loader)

    def next(self, *, late: bool) -> Drawn:
        """The batch of the next step."""
        self.late.value = late
        return next(self.drawn)


class _Drawing(Dataset):
    def __init__(self, draws: Draws, late: Any) -> None:  # noqa: ANN401
        self.draws, self.late = draws, late

    def __getitem__(self, step: int) -> Drawn:
        return self.draws.batch(step, late=bool(self.late.value))
