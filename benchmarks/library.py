"""``python -m benchmarks library``: the public functions on an accelerator against the CPU."""

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

import explorer
from benchmarks.device import one_line, write_report
from explorer.inference.cache import CACHE
from explorer.library.family import Family
from explorer.models.devices import device_name, resolve_device, synchronise
from explorer.models.loading import load_model

DTYPES = ("float32", "bfloat16", "float16")
TOLERANCE = 2e-3
"""Largest difference of float32: attributions and sums of log-probabilities add up rounding."""
CALLS = 100
MASKED = "The capital of France is [MASK]."
SENTENCE = "The cat sat on the mat because it was tired."
PASSAGE = "She was born in Vienna in 1901. In 1930 she moved to Paris, where she taught music."
GOOD = ("a warm and funny film", "I loved every minute of it", "one of the best of the year")
POOR = ("a cold and empty film", "I hated every minute of it", "one of the worst of the year")


def masked_rows() -> list[dict[str, str]]:
    """Return masked rows with answers."""
    rows = ((MASKED, "paris"), ("The opposite of hot is [MASK].", "cold"), ("A [MASK] sat.", "cat"))
    return [{"text": text, "answer": answer} for text, answer in rows]


def pair_rows() -> list[dict[str, str]]:
    """Return pairs of a good and a bad sentence."""
    pairs = (("The keys are here.", "The keys is here."), ("She sings.", "She sing."))
    return [{"good": good, "bad": bad} for good, bad in pairs]


def labelled_rows() -> list[dict[str, str]]:
    """Return labelled rows, enough for every fold."""
    return [
        {"text": f"{text}, said {name}", "label": label}
        for label, texts in (("good", GOOD), ("poor", POOR))
        for text in texts
        for name in ("he", "she", "the man", "my friend", "the paper", "our guide", "they")
    ]


Ask = Callable[[Family], explorer.Result]
FUNCTIONS: dict[str, Ask] = {
    "predict": lambda family: explorer.predict(MASKED, family),
    "attention": lambda family: explorer.attention(SENTENCE, family),
    "ablate": lambda family: explorer.ablate(MASKED, family, {"bert": [(0, 3), (1, 7)]}),
    "layer": lambda family: explorer.layer(SENTENCE, family, "albert", 1, 2, 3),
    "contexts": lambda family: explorer.contexts(MASKED, family),
    "depth": lambda family: explorer.depth(MASKED, family),
    "patch": lambda family: explorer.patch(MASKED, "The capital of Spain is [MASK].", family),
    "distillation": lambda family: explorer.distillation(MASKED, family),
    "pair": lambda family: explorer.pair("He opened the door.", "Then he went in.", family),
    "sentiment": lambda family: explorer.sentiment("a warm but not funny film", family),
    "question": lambda family: explorer.question("Where did she teach?", PASSAGE, family),
    "score": lambda family: explorer.score(SENTENCE, family),
    "attribute": lambda family: explorer.attribute(MASKED, family, "paris"),
    "texts, masked": lambda family: explorer.texts(masked_rows(), family),
    "texts, plain": lambda family: explorer.texts([SENTENCE, PASSAGE], family, "plain"),
    "texts, pairs": lambda family: explorer.texts(pair_rows(), family),
    "texts, labelled": lambda family: explorer.texts(labelled_rows(), family),
}


@dataclass(slots=True)
class Difference:
    """Deviation of a function's JSON from that of the CPU.

    Attributes:
        largest: Largest absolute difference of two numbers.
        numbers: How many numbers were compared.
        others: Words, labels and ranks that differ, and how many there are.
        error: The exception in one line; empty without one.
    """

    largest: float = 0.0
    numbers: int = 0
    others: list[int] = field(default_factory=lambda: [0, 0])
    error: str = ""

    def is_fine(self, bound: float) -> bool:
        """Return whether the function answered, with the same words and within the bound."""
        return not self.error and self.largest <= bound and not self.others[0]

    def __str__(self) -> str:
        if self.error:
            return f"RAISED {self.error}"
        differing, count = self.others
        return f"{self.largest:.1e} of {self.numbers:,} ({differing} of {count:,})"


def add_command(commands: Any) -> None:  # noqa: ANN401 - argparse's own type is private
    """Declare the command and its flags."""
    parser = commands.add_parser("library", help=__doc__)
    parser.set_defaults(run=run)
    parser.add_argument("--device", default="auto", help="cuda, mps; auto takes what is there")
    parser.add_argument("--functions", nargs="+", choices=FUNCTIONS, default=list(FUNCTIONS))
    parser.add_argument("--calls", type=int, default=CALLS, help="after which memory is compared")


def run(chosen: argparse.Namespace) -> int:
    """Print the report; return 1 if a function raised or exceeds its tolerance."""
    device = resolve_device(chosen.device)
    failed = write_report(report(device, chosen.functions))
    grown, hooks = after_calls(explorer.load("mini", device=device), chosen.calls)
    growth = "no figure on this device" if grown is None else f"{grown:,} bytes"
    sys.stdout.write(
        f"\nAfter {chosen.calls} more calls: memory grown by {growth}; hooks left {hooks}\n"
    )
    return int(failed or bool(grown) or bool(hooks))


def report(device: str, functions: list[str]) -> Iterator[str]:
    """Yield the lines of the report, as Markdown."""
    yield f"{device_name(device)}, torch {torch.__version__}, against the CPU in float32: the"
    yield "largest difference of the numbers of a function's JSON, and in brackets how many of its"
    yield "words, labels and ranks differ."
    yield ""
    yield "| function | " + " | ".join(DTYPES) + " | ms, float32 | ms, CPU |"
    yield "|---|" + "---:|" * (len(DTYPES) + 2)
    cpu = explorer.load("mini")
    others = [explorer.load("mini", device=device, dtype=dtype) for dtype in DTYPES]
    for name in functions:
        expected, cpu_ms = answered(FUNCTIONS[name], cpu)
        found = [answered(FUNCTIONS[name], other) for other in others]
        cells = [compared(expected, answer) for answer, _ in found]
        # Half precision has no bound: what it costs is stated.
        mark = "" if cells[0].is_fine(TOLERANCE) or cells[0].error else "TOO LARGE "
        times = f"{found[0][1]:.0f} | {cpu_ms:.0f}"
        yield f"| {name} | {mark}" + " | ".join(map(str, cells)) + f" | {times} |"


def answered(ask: Ask, family: Family) -> tuple[dict[str, Any] | Exception, float]:
    """Return a function's JSON or what it raised, and the milliseconds of a second, fresh call."""
    try:
        forget()
        ask(family)
        forget()
        begun = time.perf_counter()
        answer = ask(family).to_dict()
        return answer, 1000 * (time.perf_counter() - begun)
    except Exception as error:  # the command reports every failure
        return error, math.nan


def compared(expected: Any, actual: Any) -> Difference:  # noqa: ANN401
    """Return the difference of two answers, number by number."""
    for answer in (expected, actual):
        if isinstance(answer, Exception):
            return Difference(error=one_line(answer))
    difference = Difference()
    _compare(expected, actual, difference)
    return difference


def _compare(expected: Any, actual: Any, found: Difference) -> None:  # noqa: ANN401
    if isinstance(expected, dict) and isinstance(actual, dict) and set(expected) == set(actual):
        for name, value in expected.items():
            _compare(value, actual[name], found)
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for pair in zip(expected, actual, strict=True):
            _compare(*pair, found)
    elif isinstance(expected, float) and isinstance(actual, float):
        difference = abs(expected - actual) if expected != actual else 0.0
        difference = math.inf if math.isnan(difference) else difference
        found.largest, found.numbers = max(found.largest, difference), found.numbers + 1
    else:
        found.others[0] += int(expected != actual)
        found.others[1] += 1


def after_calls(family: Family, calls: int) -> tuple[int | None, int]:
    """Return the growth over some calls: of the device's memory, and of the hooks on modules.

    All functions are called once before, because transformers keeps some hooks of its own.
    """
    asks = list(FUNCTIONS.values())

    def ask(count: int) -> None:
        for number in range(count):
            forget()
            asks[number % len(asks)](family)
        forget()

    ask(len(asks))
    memory, hooks = allocated(family.device), hooks_of(family)
    ask(calls)
    after = allocated(family.device)
    grown = None if memory is None or after is None else after - memory
    return grown, hooks_of(family) - hooks


def forget() -> None:
    """Drop all kept runs and answers, so that the next call runs the networks."""
    CACHE.clear()


def allocated(device: str) -> int | None:
    """Return the bytes of all tensors on an accelerator; None on the CPU."""
    if device == "cpu":
        return None
    synchronise(device)
    return int(torch.accelerator.memory_allocated(torch.device(device).index))


def hooks_of(family: Family) -> int:
    """Return how many hooks are on the networks of a family."""
    networks = (
        load_model(spec, family.device, family.dtype).network for spec in family.specs.values()
    )
    return sum(map(hooks_on, networks))


def hooks_on(network: torch.nn.Module) -> int:
    """Return how many hooks are on the modules of a network."""
    kinds = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    return sum(len(getattr(module, kind)) for module in network.modules() for kind in kinds)
