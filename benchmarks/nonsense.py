"""Random values for the fuzzer, invalid and valid ones, drawn from a seed."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

LINK = {"v": "1", "text": "The cat sat on the [MASK].", "family": "mini"}
TEXTS = (
    "",
    " ",
    "[MASK]",
    "a [MASK] b [SEP] c [MASK]",
    "[MASK] " * 60,
    "good film",
    "word " * 700,
    "x" * 5_000,
    "<script>alert(1)</script> [MASK]",
    "\x00\x1b[31m\u202e\ud800 [MASK]",
    "漢字 😀 مرحبا [MASK]",
    "../../etc/passwd",
    "=1+1",
    "%s {0} ${x} [PAD][CLS]",
    "mini",
    "base",
    "bert",
    "albert-base-v2",
    "cpu",
    "cuda",
    "bfloat16",
    "latency",
    "attention",
)
NUMBERS = (
    *(0, 1, -1, 2, 3, 5, 12, 64, 512, 513, 2**31, 2**70, -(2**63)),
    *(0.5, -0.0, 1e-300, 1e308, float("nan"), float("inf"), float("-inf")),
)
KEYS = (
    *("params", "number", "keep", "shape", "off", "heads", "want", "model", "mask", "check"),
    *("press", "second", "layer", "head", "text", "place", "word", "position", "first", "x"),
)


class Nonsense:
    """Source of random values.

    Args:
        seed: The same seed gives the same values.
    """

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def one_of(self, values: Sequence[Any]) -> Any:  # noqa: ANN401
        """Draw one of these values."""
        return values[int(self.rng.integers(len(values)))]

    def chance(self, share: float) -> bool:
        """Return True with this probability."""
        return bool(self.rng.random() < share)

    def value(self, depth: int = 0) -> Any:  # noqa: ANN401
        """Draw any JSON value, or one of three numbers that JSON cannot hold."""
        kinds = ("text", "text", "number", "number", "none", "bool", "list", "dict", "nest")
        kind = self.one_of(kinds if depth < 3 else kinds[:6])
        if kind == "text":
            return self.one_of(TEXTS)
        if kind == "number":
            return self.one_of(NUMBERS)
        if kind == "list":
            return [self.value(depth + 1) for _ in range(int(self.rng.integers(5)))]
        if kind == "dict":
            return {self.one_of(KEYS): self.value(depth + 1) for _ in range(3)}
        nest: Any = {"none": None, "bool": self.chance(0.5)}.get(kind)
        if kind == "nest":
            for _ in range(int(self.one_of((5, 200)))):
                nest = [nest]
        return nest

    def like(self, value: Any) -> Any:  # noqa: ANN401
        """Draw a replacement of a value: often itself, or of its kind, or anything."""
        if self.chance(0.4):
            return value
        if isinstance(value, str) and self.chance(0.6):
            return self.one_of(TEXTS)
        if isinstance(value, int | float) and self.chance(0.6):
            return self.one_of(NUMBERS)
        return self.value()

    def question(self) -> str:
        """Draw a component's request: JSON with keys that some component uses, or invalid JSON."""
        if self.chance(0.1):
            return str(self.one_of(("", "{", "[" * 100_000, '"x"', "NaN", "[]", "null")))
        payload = {self.one_of(KEYS): self.value() for _ in range(int(self.rng.integers(5)))}
        if self.chance(0.7):
            payload |= {
                "params": LINK | {self.one_of(("tab", "fold", "layer")): self.one_of(TEXTS)}
            }
        if self.chance(0.5):
            payload |= {"number": self.like(1), "keep": self.like([])}
        return json.dumps(payload)

    def body(self, content: dict[str, Any]) -> str:
        """Return a request's body, sometimes changed, incomplete or truncated."""
        if self.chance(0.05):
            content = content | {self.one_of(tuple(content)): self.value()}
        if self.chance(0.03):
            content = {name: content[name] for name in list(content)[1:]}
        encoded = json.dumps(content)
        return encoded[: int(self.rng.integers(len(encoded)))] if self.chance(0.02) else encoded
