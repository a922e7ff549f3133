"""Workload: what is timed, in limits that no client can talk the machine out of."""

import math
from dataclasses import dataclass
from typing import cast

from explorer.models.specs import DEVICE, Architecture
from explorer.refusal import Refusal

MAX_LENGTH = 512
MAX_BATCH = 32
MAX_REPEATS = 200
DTYPE_NAMES: tuple[str, ...] = ("float32", "bfloat16", "float16")
EVERY = "every"
"""In the place of a device: all that the machine has, in the same rounds."""
CLOCKS: tuple[str, ...] = ("compute", "wait", "device")
"""``compute``: processor time of one thread. ``wait``: all cores, the clock on the wall.
``device``: the accelerator's own events."""
LARGEST_PRODUCT = 2e11
"""Operations in one matrix product on a processor: the longest stretch nobody can interrupt."""


def clock_on(device: str, clock: str) -> str:
    """The clock that times a device: the one chosen on a processor, its own on any other."""
    return clock if device == "cpu" else "device"


class BadWorkload(Refusal):
    """The work asked for is not one that is timed here; the message says which is."""


@dataclass(frozen=True, slots=True)
class Workload:
    """One forward pass, said completely: no padding, eager attention, inference mode."""

    length: int = 32
    """Tokens per text, the two special ones included."""
    batch: int = 1
    device: str = "cpu"
    dtype: str = "float32"
    head: bool = False
    """Also the masked-word head, at every position."""
    looks: bool = False
    """Also hand out every attention and hidden state, as the tabs that look inside need."""
    clock: str = "compute"

    def __post_init__(self) -> None:
        whole_number("The length", self.length, 2, MAX_LENGTH)
        whole_number("The batch", self.batch, 1, MAX_BATCH)
        if not isinstance(self.device, str) or not DEVICE.fullmatch(self.device):
            raise BadWorkload("The device must be written as torch does: cpu, cuda, cuda:1, mps.")
        _known("dtype", self.dtype, DTYPE_NAMES)
        _known("clock", self.clock, CLOCKS)
        if (self.clock == "device") != (self.device != "cpu"):
            raise BadWorkload("The device clock is for accelerators, the other two for processors.")

    @property
    def tokens(self) -> int:
        """Positions in one pass."""
        return self.length * self.batch


def whole_number(what: str, value: object, low: int, high: int) -> int:
    """A whole number within limits.

    Raises:
        BadWorkload: it is not; the sentence says the limits.
    """
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if isinstance(value, float) and math.isfinite(value):
        is_whole = value == int(value)
    if not is_whole or not low <= cast(float, value) <= high:
        raise BadWorkload(f"{what} must be a whole number from {low} to {high}.")
    return int(cast(float, value))


def _known(what: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise BadWorkload(f"The {what} must be one of {', '.join(allowed)}.")


def pass_bytes(shape: Architecture, workload: Workload) -> int:
    """Memory one pass may need on top of the weights, estimated from above.

    The scores and probabilities of one layer, the FFN's inner values, a few hidden states, the
    logits; with ``looks`` every attention and hidden state is kept as well.
    """
    scores = workload.batch * shape.n_heads * workload.length**2
    inner = workload.tokens * (3 * shape.d_ffn + 8 * shape.d_model)
    logits = workload.tokens * shape.d_vocab * workload.head
    kept = (shape.n_layers * (scores + workload.tokens * shape.d_model)) * workload.looks
    return 4 * (3 * scores + inner + 2 * logits + kept)


def check_size(shape: Architecture, workload: Workload, free_bytes: int, weights: int) -> None:
    """Refuse a pass that would fill the memory or could not be stopped for seconds.

    Raises:
        BadWorkload: in one sentence, with what to change.
    """
    widest = max(shape.d_model * shape.d_ffn, shape.d_embedding * shape.d_vocab * workload.head)
    if workload.device == "cpu" and 2 * workload.tokens * widest > LARGEST_PRODUCT:
        raise BadWorkload(
            f"{workload.batch} texts of {workload.length} tokens are too much for one pass on a "
            "processor here. Please choose a smaller batch or a shorter text."
        )
    needed = weights + pass_bytes(shape, workload)
    if needed > 0.8 * free_bytes:
        raise BadWorkload(
            f"This would need about {needed / 1e9:.1f} GB and {free_bytes / 1e9:.1f} GB are free. "
            "Please choose a smaller batch, a shorter text or a smaller model."
        )
