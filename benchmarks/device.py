"""``python -m benchmarks device``: an accelerator's numbers compared with the CPU's."""

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from explorer.models.choice.family import family_specs
from explorer.models.devices import device_name, resolve_device, synchronise
from explorer.models.forward import (
    inputs_of,
    row_logits,
    row_states,
    run_together,
    state_logits,
    tokenize,
)
from explorer.models.inside.activations import attention_gradients, queries_and_keys, value_norms
from explorer.models.inside.interventions import (
    ablated_logits,
    one_head_off,
    patched_logits,
    unrolled_states,
)
from explorer.models.loading import LoadedModel, load_model
from explorer.models.run import MaskedRow, Patch, Run
from explorer.models.task_heads.adapters import tuned_model
from explorer.models.task_heads.classifiers import (
    has_pair_head,
    log_odds,
    margin_slopes,
    margins,
    pair_logits,
    span_logits,
)
from explorer.timing.protocol import peak_bytes

DTYPES = ("float32", "bfloat16", "float16")
TEXTS = (
    "The capital of France is [MASK].",
    "The cat [MASK] on the [MASK] because it was tired.",
    "She opened the door.[SEP]Then she [MASK] in.",
    "أين هو [MASK]؟ Łódź, 東京 and a [MASK].",
    " ".join(["It was a long and quiet [MASK] by the river."] * 40),
)
SHAPES = ((1, 16), (1, 128), (8, 128), (32, 128))
"""(batch size, tokens) of the timed passes."""
ROUNDS = 30
ROUNDING = (1e-3, float("inf"), float("inf"), 1e-6)
"""Tolerances of float32, bfloat16, float16 and repeated float32; half precision has none."""


@dataclass(frozen=True, slots=True)
class Part:
    """A computation of the app: its name, and its numbers for a text."""

    name: str
    numbers: Callable[[LoadedModel, Run], np.ndarray]


def _rows(run: Run) -> list[MaskedRow]:
    ids, segments = tuple(run.tokens.ids), tuple(run.tokens.segments)
    return [MaskedRow(ids, segments, position) for position in run.tokens.mask_positions]


def _gradients(loaded: LoadedModel, run: Run) -> np.ndarray:
    position = run.tokens.mask_positions[0]
    return attention_gradients(loaded, run.tokens, position, int(run.mask_logits[0].argmax()))


def _patched(loaded: LoadedModel, run: Run) -> np.ndarray:
    patches = [Patch(layer, (1,)) for layer in range(run.spec.architecture.n_layers)]
    return patched_logits(loaded, run.tokens, patches, run.hidden_states[:, ::-1].copy())


def _ablated(loaded: LoadedModel, run: Run) -> np.ndarray:
    shape = run.spec.architecture
    return ablated_logits(loaded, run.tokens, one_head_off(shape.n_layers, shape.n_heads, 0))


def _pair(loaded: LoadedModel, run: Run) -> np.ndarray:
    return pair_logits(loaded, run.hidden_states[-1, 0]) if has_pair_head(loaded) else np.zeros(2)


def _unrolled(loaded: LoadedModel, run: Run) -> np.ndarray:
    shared = run.spec.architecture.n_stored_layers == 1
    return unrolled_states(loaded, run.tokens, 12) if shared else np.zeros(1)


def _answer(loaded: LoadedModel, _: Run) -> np.ndarray:
    logits = span_logits(tuned_model(loaded, "squad"), "Who was tired?", TEXTS[1])[1]
    return np.concatenate(logits)


PARTS = (
    Part("logits at the masks", lambda _, run: run.mask_logits),
    Part("attention", lambda _, run: run.attention),
    Part("hidden states", lambda _, run: run.hidden_states),
    Part("logits of every layer's state", lambda m, run: state_logits(m, run.hidden_states[:, 1])),
    Part("masked rows", lambda m, run: row_logits(m, _rows(run))),
    Part("states of masked rows", lambda m, run: row_states(m, _rows(run))),
    Part("attention gradients", _gradients),
    Part("patching", _patched),
    Part("a head switched off", _ablated),
    Part("queries and keys", lambda m, run: np.stack(queries_and_keys(m, run.tokens))),
    Part("norms of values", lambda m, run: value_norms(m, run.hidden_states)),
    Part("sentence pair", _pair),
    Part("12 applications of a shared layer", _unrolled),
    Part("sentiment", lambda m, _: margins(tuned_model(m, "sst2"), TEXTS[:2], log_odds(1))),
    Part(
        "integrated gradients",
        lambda m, _: margin_slopes(tuned_model(m, "sst2"), TEXTS[1], log_odds(1)).attributions,
    ),
    Part("answer to a question", _answer),
)


@dataclass(frozen=True, slots=True)
class Difference:
    """Deviation of a part on the device from the CPU, over all texts.

    Attributes:
        largest: Largest absolute difference; NaN if the part raised.
        first: Rows of numbers with the maximum at the same index, and all rows.
        bound: Largest tolerated difference.
        error: The exception in one line; empty without one.
    """

    part: str
    largest: float
    first: tuple[int, int]
    bound: float
    error: str = ""

    def __str__(self) -> str:
        if self.error:
            return f"RAISED {self.error}"
        sign = "" if self.largest <= self.bound else "TOO LARGE "
        return f"{sign}{self.largest:.1e} ({self.first[0]:,} of {self.first[1]:,})"


def add_command(commands: Any) -> None:  # noqa: ANN401 - argparse's own type is private
    """Declare the command and its flags."""
    parser = commands.add_parser("device", help=__doc__)
    parser.set_defaults(run=run)
    parser.add_argument("--device", default="auto", help="cuda, mps; auto takes what is there")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of every timing")
    parser.add_argument("--texts", type=int, default=len(TEXTS), help="read the first of them")


def run(chosen: argparse.Namespace) -> int:
    """Print the report; return 1 if a part raised or exceeds its tolerance."""
    device = resolve_device(chosen.device)
    return int(write_report(report(device, TEXTS[: chosen.texts], chosen.rounds)))


def write_report(lines: Iterable[str]) -> bool:
    """Print lines as they come; return whether one says that something raised or is too large."""
    failed = False
    for line in lines:
        failed = failed or "RAISED" in line or "TOO LARGE" in line
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    return failed


def one_line(error: Exception) -> str:
    """Return an exception's type and the first line of its message."""
    return f"{type(error).__name__}: {error}".splitlines()[0]


def report(device: str, texts: tuple[str, ...], rounds: int) -> Iterator[str]:
    """Yield the lines of the report, as Markdown."""
    yield f"{device_name(device)}, torch {torch.__version__}, against the CPU in float32:"
    yield "the largest difference and, in brackets, in how many rows of numbers the largest stands"
    yield "in the same place."
    yield ""
    yield "| model | part | " + " | ".join(DTYPES) + " | float32 twice |"
    yield "|---|---|" + "---:|" * (len(DTYPES) + 1)
    for spec in family_specs("mini"):
        cpu, target = load_model(spec), load_model(spec, device)
        others = [load_model(spec, device, dtype) for dtype in DTYPES]
        pairs = [(cpu, other) for other in others] + [(target, target)]
        columns = zip(pairs, ROUNDING, strict=True)
        for row in zip(*(compared(*pair, texts, bound) for pair, bound in columns), strict=True):
            yield f"| {spec.name} | {row[0].part} | " + " | ".join(map(str, row)) + " |"
    yield ""
    yield "| model | batch | tokens | device, ms | again / device | CPU, ms | peak, MiB |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for spec in family_specs("mini"):
        target, cpu = load_model(spec, device), load_model(spec)
        for batch, tokens in SHAPES:
            device_ms, repeated_ms, cpu_ms = timed([target, target, cpu], batch, tokens, rounds)
            times = f"{device_ms:.2f} | {repeated_ms / device_ms:.3f} | {cpu_ms:.2f}"
            yield f"| {spec.name} | {batch} | {tokens} | {times} | {_peak(target, batch, tokens)} |"


def compared(
    cpu: LoadedModel, other: LoadedModel, texts: tuple[str, ...], bound: float
) -> Iterator[Difference]:
    """Yield the difference of every part between two loaded models, possibly the same one."""
    tokens = [tokenize(cpu, text) for text in texts]
    pairs = [
        (run_together(cpu, [sentence])[0], run_together(other, [sentence])[0])
        for sentence in tokens
    ]
    for part in PARTS:
        try:
            yield Difference(part.name, *difference(part, cpu, other, pairs), bound)
        except Exception as error:  # the command reports every failure
            yield Difference(part.name, float("nan"), (0, 0), bound, one_line(error))


def difference(
    part: Part, cpu: LoadedModel, other: LoadedModel, pairs: list[tuple[Run, Run]]
) -> tuple[float, tuple[int, int]]:
    """Return the largest difference, and the matching maxima; each model continues its own run."""
    largest, same, rows = 0.0, 0, 0
    for run_cpu, run_other in pairs:
        expected = np.asarray(part.numbers(cpu, run_cpu), np.float64)
        actual = np.asarray(part.numbers(other, run_other), np.float64)
        # What is no number on one side alone is no small difference.
        apart = np.where(np.isnan(expected) & np.isnan(actual), 0, np.abs(expected - actual))
        largest = max(largest, float(np.nan_to_num(apart, nan=np.inf).max()))
        same_maximum = expected.argmax(-1) == actual.argmax(-1)
        same, rows = same + int(np.sum(same_maximum)), rows + int(np.size(same_maximum))
    return largest, (same, rows)


def timed(models: list[LoadedModel], batch: int, tokens: int, rounds: int) -> list[float]:
    """Return the median milliseconds of a forward pass of each model, interleaved."""
    inputs = []
    for loaded in models:
        encoded = inputs_of(loaded, tokenize(loaded, " ".join(["river"] * (tokens - 2))))
        inputs.append({name: value.expand(batch, -1) for name, value in encoded.items()})
    durations: list[list[float]] = [[] for _ in models]
    for _ in range(rounds + 3):
        for loaded, encoded, times in zip(models, inputs, durations, strict=True):
            times.append(_seconds(loaded, encoded))
    return [1000 * statistics.median(encoded[3:]) for encoded in durations]


def _peak(loaded: LoadedModel, batch: int, tokens: int) -> str:
    """Return the peak MiB of one pass beyond the weights; a dash if the device has no figure."""
    peak = peak_bytes(lambda: timed([loaded], batch, tokens, 1), loaded.device)
    return "–" if peak is None else f"{peak / 2**20:.1f}"


@torch.inference_mode()
def _seconds(loaded: LoadedModel, inputs: dict[str, torch.Tensor]) -> float:
    started = time.perf_counter()
    loaded.network.base_model(**inputs)
    if loaded.device != "cpu":
        synchronise(loaded.device)
    return time.perf_counter() - started
