"""Workload of a timed pass, within limits that no client can exceed."""

import math
from dataclasses import dataclass
from numbers import Integral
from typing import TypeGuard, cast

from explorer.models.specs import DEVICE, Architecture
from explorer.refusal import Refusal, Sentence

MAX_LENGTH = 512
MAX_BATCH = 32
MAX_REPEATS = 200
DTYPE_NAMES: tuple[str, ...] = ("float32", "bfloat16", "float16")
EVERY = "every"
"""Placeholder for a device: all devices of the machine, in the same rounds."""
CLOCKS: tuple[str, ...] = ("compute", "wait", "device")
"""``compute``: processor time of one thread. ``wait``: wall time with all cores.
``device``: the accelerator's own events."""
LARGEST_PRODUCT = 2e11
"""Maximum operations in one matrix product on a processor, which cannot be cancelled."""


def clock_on(device: str, clock: str) -> str:
    """Return the clock of a device: the chosen one on a processor, else its own."""
    return clock if device == "cpu" else "device"


BAD_DEVICE = Sentence(
    "device-not-written-so", "The device must be written as torch does: cpu, cuda, cuda:1, mps."
)
OTHER_CLOCK = Sentence(
    "other-clock", "The device clock is for accelerators, the other two for processors."
)
UNKNOWN = Sentence("not-one-of", "The {label} must be one of {known}.")
TOO_MUCH = Sentence(
    "pass-too-large",
    "{batch} texts of {length} tokens are too much for one pass on a processor here. Please choose "
    "a smaller batch or a shorter text.",
)
NO_ROOM = Sentence(
    "pass-over-memory",
    "This would need about {needed:.1f} GB and {free:.1f} GB are free. Please choose a smaller "
    "batch, a shorter text or a smaller model.",
)


class BadWorkload(Refusal):
    """Refusal of a workload that is not timed here; the message has the reason."""


@dataclass(frozen=True, slots=True)
class Workload:
    """Complete specification of a forward pass: no padding, eager attention, inference mode."""

    length: int = 32
    """Tokens per text, including [CLS] and [SEP]."""
    batch: int = 1
    device: str = "cpu"
    dtype: str = "float32"
    head: bool = False
    """Include the masked-LM head, at every position."""
    looks: bool = False
    """Include all attentions and hidden states in the output, as the inspection tabs need."""
    clock: str = "compute"

    def __post_init__(self) -> None:
        whole_number("The length", self.length, 2, MAX_LENGTH)
        whole_number("The batch", self.batch, 1, MAX_BATCH)
        if not isinstance(self.device, str) or not DEVICE.fullmatch(self.device):
            raise BadWorkload(BAD_DEVICE)
        _known("dtype", self.dtype, DTYPE_NAMES)
        _known("clock", self.clock, CLOCKS)
        if (self.clock == "device") != (self.device != "cpu"):
            raise BadWorkload(OTHER_CLOCK)

    @property
    def tokens(self) -> int:
        """The number of positions in one pass."""
        return self.length * self.batch


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether a value is a whole number of Python or numpy, and no bool."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def whole_number(label: str, value: object, low: int, high: int) -> int:
    """Return the value as an int if it is a whole number within limits.

    Raises:
        BadWorkload: it is not; the message has the limits.
    """
    fits = is_whole(value)
    if isinstance(value, float) and math.isfinite(value):
        fits = value == int(value)
    if not fits or not low <= cast(float, value) <= high:
        raise BadWorkload(
            Sentence(
                "not-a-whole-number-between",
                f"{label} must be a whole number from {low} to {high}.",
            )
        )
    return int(cast(float, value))


def _known(label: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise BadWorkload(UNKNOWN.format(label=label, known=", ".join(allowed)))


def pass_bytes(shape: Architecture, workload: Workload) -> int:
    """Return an upper estimate of the memory of one pass besides the weights, in bytes.

    The scores and probabilities of one layer, the FFN's inner values, a few hidden states, the
    logits; with ``looks`` every attention and hidden state is kept as well.
    """
    scores = workload.batch * shape.n_heads * workload.length**2
    inner = workload.tokens * (3 * shape.d_ffn + 8 * shape.d_model)
    logits = workload.tokens * shape.d_vocab * workload.head
    kept = (shape.n_layers * (scores + workload.tokens * shape.d_model)) * workload.looks
    return 4 * (3 * scores + inner + 2 * logits + kept)


def check_size(shape: Architecture, workload: Workload, free_bytes: int, weights: int) -> None:
    """Refuse a pass that would exceed the memory or could not be cancelled for seconds.

    Raises:
        BadWorkload: in one sentence, with what to change.
    """
    widest = max(shape.d_model * shape.d_ffn, shape.d_embedding * shape.d_vocab * workload.head)
    if workload.device == "cpu" and 2 * workload.tokens * widest > LARGEST_PRODUCT:
        raise BadWorkload(TOO_MUCH.format(batch=workload.batch, length=workload.length))
    needed = weights + pass_bytes(shape, workload)
    if needed > 0.8 * free_bytes:
        raise BadWorkload(NO_ROOM.format(needed=needed / 1e9, free=free_bytes / 1e9))
