"""Batches drawn ahead by worker processes, because a GPU consumes them faster than one draws."""

import multiprocessing
from collections.abc import Iterator
from itertools import count
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

AHEAD = 4  # batches prefetched by every process


class TrainingBatch(Protocol):
    """A batch, of the kind that its objective expects."""

    @property
    def ids(self) -> Tensor:
        """The model's input ids."""

    @property
    def tokens(self) -> int:
        """The number of pieces in the batch."""

    def to(self, device: torch.device) -> Any:  # noqa: ANN401
        """Return the batch on another device."""


class BatchSource(Protocol):
    """Source of batches."""

    def batch(self, step: int, *, late: bool = False) -> TrainingBatch:
        """Return the batch of a step."""


class Batches:
    """The batches of a run in the order of its steps, from ``first`` on.

    A batch is a function of its step, so any process can draw it. The end phase of a run (``late``)
    shows only in batches that are not drawn yet.
    """

    def __init__(self, source: BatchSource, first: int, workers: int = 0) -> None:
        self.late = multiprocessing.Value("b", False)
        drawing = _StepDataset(source, self.late)
        loader = DataLoader(
            drawing,
            batch_size=None,
            sampler=count(first),  # type: ignore[arg-type]  # any iterable does
            num_workers=workers,
            prefetch_factor=AHEAD if workers else None,
        )
        self.batches: Iterator[TrainingBatch] = iter(loader)

    def next(self, *, late: bool) -> TrainingBatch:
        """Return the batch of the next step."""
        self.late.value = late
        return next(self.batches)


class _StepDataset(Dataset):
    def __init__(self, source: BatchSource, late: Any) -> None:  # noqa: ANN401
        self.source, self.late = source, late

    def __getitem__(self, step: int) -> TrainingBatch:
        return self.source.batch(step, late=bool(self.late.value))
