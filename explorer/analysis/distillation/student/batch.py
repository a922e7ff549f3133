"""One training step's input."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """One step's input: ``[sequences, length]`` ids, types and mask, and what is to be guessed.

    Attributes:
        hidden: Flat positions of the pieces to guess, ``[guesses]``.
        labels: Their original ids, ``[guesses]``.
        pairs: 0 in order, 1 not (NSP: random; SOP: swapped), -100 for single texts.
    """

    ids: Tensor
    types: Tensor
    mask: Tensor
    hidden: Tensor
    labels: Tensor
    pairs: Tensor

    def to(self, device: torch.device) -> "Batch":
        """The same batch on another device."""
        return Batch(*(getattr(self, name).to(device) for name in self.__slots__))

    @property
    def tokens(self) -> int:
        """Pieces in the batch, padding not counted."""
        return int(self.mask.sum())
