"""Run: everything one forward pass of one model over one text gives, as read-only arrays."""

from dataclasses import dataclass

import numpy as np

from explorer.models.specs import ModelSpec
from explorer.models.tokens import Tokens


def read_only(array: np.ndarray) -> np.ndarray:
    """The same array, refusing to be written to."""
    array.setflags(write=False)
    return array


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Run:
    """One forward pass: every tab reads it and no tab runs the model again."""

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
        """Bytes the run keeps in memory."""
        return self.hidden_states.nbytes + self.attention.nbytes + self.mask_logits.nbytes
