"""Training of a classifier on labelled rows: batches, schedule, loss curves and early stopping."""

import math
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from explorer.models.forward import EncodedText, padded
from explorer.models.loading import LoadedModel
from explorer.models.run import length_batches, read_only
from explorer.models.tuning.networks import decay_groups, restore, trained_weights
from explorer.refusal import Refusal, Sentence

BATCH_ROWS = 16
"""Rows of one step."""
MOST_TOKENS = 4_096
"""Tokens of one pass, padding included; a batch with more is computed in parts."""
WARM_UP = 0.1
"""Share of the steps in which the rate rises from 0; after them it falls to 0 in a line."""
ROUNDING = 1e-6
"""Difference of two accuracies in float32 that are equal."""
MAX_NORM = 1.0
"""Largest norm of the gradient, to which a larger one is scaled."""
PATIENCE, PATIENT = 2, 4
"""Epochs after the best one after which the training ends: at least two, and a quarter of a longer
plan."""
LEAST_EPOCHS, USUAL_STEPS = 5, 60
"""Epochs of a plan that names none, at least: on few rows as many as have so many steps."""
WIDTH = 768
"""Width of an encoder for which ``RATES`` are meant."""
RATES = {"full": 5e-5, "lora": 5e-4}
"""Peak learning rate of each method for the base sizes; narrower encoders take larger ones."""
POWERS = {"full": 2, "lora": 1}
"""Power of the inverse width with which the rate grows."""
NOT_FINITE = Sentence(
    "loss-not-a-number",
    "The loss of {label} was no number in step {n}: its weights hold values that are too large, or "
    "the learning rate {rate:g} is too high for it.",
)
Check = Callable[[], None]


class NotFinite(Refusal):
    """Refusal to go on with a training whose loss is infinite or not a number."""


@dataclass(frozen=True, slots=True)
class TuningPlan:
    """Settings of a training, the same for every model but for the peak rate."""

    method: str
    epochs: int
    rate: float
    """Peak learning rate."""

    def rate_at(self, step: int, steps: int) -> float:
        """Return the learning rate of a step from 0: linear warm-up, then linear decay to 0."""
        rising = math.ceil(WARM_UP * steps)
        if step < rising:
            return self.rate * (step + 1) / rising
        return self.rate * (steps - step) / max(1, steps - rising)


def usual_rate(method: str, width: int) -> float:
    """Return the peak learning rate of a method for an encoder of a width.

    For a width of 768 it is 5e-5 in full and 5e-4 for LoRA; of a narrower one the first grows with
    the square of 768 / width, the second with this ratio.
    """
    return RATES[method] * (WIDTH / width) ** POWERS[method]


def usual_epochs(n_rows: int) -> int:
    """Return the epochs of a plan that names none: five, or as many as have 60 steps."""
    return max(LEAST_EPOCHS, math.ceil(USUAL_STEPS / steps_of(n_rows, 1)))


@dataclass(frozen=True, slots=True, eq=False)
class EncodedRows:
    """Labelled rows as one model reads them."""

    texts: Sequence[EncodedText]
    truth: np.ndarray
    """int64 [row], indices of the labels."""
    label: str
    """Name of the model, for sentences about it."""
    pad_id: int
    has_segments: bool
    device: str
    dtype: str = "float32"
    """``bfloat16``: passes are computed in it, and weights stay in float32."""

    @classmethod
    def of(
        cls, loaded: LoadedModel, texts: Sequence[EncodedText], truth: np.ndarray, dtype: str
    ) -> "EncodedRows":
        """Return the rows for a loaded model."""
        has_segments = loaded.spec.architecture.n_segments > 1
        pad_id = int(loaded.tokenizer.pad_token_id)
        return cls(texts, truth, loaded.spec.label, pad_id, has_segments, loaded.device, dtype)

    def inputs(self, rows: Sequence[int]) -> dict[str, Tensor]:
        """Return the arguments of a network for some rows: one padded batch with its mask."""
        texts = [self.texts[row] for row in rows]
        tensors = [
            {"input_ids": torch.tensor([text.ids])}
            | ({"token_type_ids": torch.tensor([text.segments])} if self.has_segments else {})
            for text in texts
        ]
        return {name: value.to(self.device) for name, value in padded(tensors, self.pad_id).items()}

    def labels(self, rows: Sequence[int]) -> Tensor:
        """Return the labels of some rows: int64 [row]."""
        return torch.tensor(self.truth[list(rows)], device=self.device)

    def parts(self, rows: Sequence[int]) -> Iterator[list[int]]:
        """Yield the rows in parts of like length, each of at most ``MOST_TOKENS`` tokens."""
        lengths = [len(self.texts[row].ids) for row in rows]
        for part in length_batches(lengths, len(rows), MOST_TOKENS):
            yield [rows[place] for place in part]

    def precision(self) -> AbstractContextManager[Any]:
        """Return the context in which passes have the precision of these rows."""
        if self.dtype == "float32":
            return nullcontext()
        return torch.autocast(torch.device(self.device).type, torch.bfloat16)


@dataclass(frozen=True, slots=True)
class Epoch:
    """End of a pass over all training rows."""

    step: int
    """Steps done."""
    train_loss: float
    """Mean loss of the epoch's steps, in nats a row."""
    loss: float
    """Loss on the rows for early stopping, in nats a row."""
    accuracy: float
    """Share of these rows that are right."""


@dataclass(frozen=True, slots=True)
class Curves:
    """Course of a training so far."""

    steps: int
    """Steps of the whole plan."""
    patience: int = PATIENCE
    """Epochs after the best one after which the training ends."""
    early: int = 1
    """Rows for early stopping."""
    losses: tuple[float, ...] = ()
    """Loss of each step that is done, in nats a row."""
    epochs: tuple[Epoch, ...] = ()

    @property
    def best(self) -> int:
        """The latest epoch, from 0, whose accuracy on the rows for early stopping is the highest.

        One that is lower by at most a standard error, sqrt(a (1 - a) / rows), counts as equal (the
        rule of one standard error, Breiman et al. 1984). The loss does not choose: it rises with
        the confidence of a model that answers better from epoch to epoch.
        """
        accuracies = np.array([epoch.accuracy for epoch in self.epochs])
        highest = accuracies.max()
        least = highest - math.sqrt(highest * (1 - highest) / self.early)
        return int(np.flatnonzero(accuracies >= least - ROUNDING)[-1])

    @property
    def is_over(self) -> bool:
        """True if the best epoch is as many epochs ago as the patience."""
        return len(self.epochs) - 1 - self.best >= self.patience


@dataclass(frozen=True, slots=True)
class TuningStep:
    """Progress of a training: its curves, and the seconds that its steps took."""

    curves: Curves
    seconds: float


def epoch_batches(rows: Sequence[int], seed: int, epoch: int) -> list[list[int]]:
    """Return the batches of an epoch: a random order by the seed, the same for every model."""
    order = np.random.default_rng((seed, epoch)).permutation(len(rows))
    shuffled = [int(rows[place]) for place in order]
    return [shuffled[i : i + BATCH_ROWS] for i in range(0, len(shuffled), BATCH_ROWS)]


def steps_of(n_rows: int, epochs: int) -> int:
    """Return the number of steps of a training."""
    return epochs * math.ceil(n_rows / BATCH_ROWS)


def adam(network: nn.Module, rate: float, device: str) -> torch.optim.AdamW:
    """Return AdamW for a network in one kernel where a device has it.

    On a processor it takes a third of the time of one operation after another, and each step of a
    miniature a fifth less.
    """
    is_one = torch.device(device).type in ("cpu", "cuda")
    return torch.optim.AdamW(decay_groups(network), lr=rate, fused=is_one)


class Tuning:
    """A network in training: iterate over ``run``; what it has learned can be read at any time."""

    def __init__(
        self, network: nn.Module, rows: EncodedRows, plan: TuningPlan, seed: int = 0
    ) -> None:
        self.network, self._rows, self._plan, self._seed = network, rows, plan, seed
        self._adam = adam(network, plan.rate, rows.device)
        self._best: dict[str, Tensor] = {}
        self.curves, self.seconds = Curves(0), 0.0

    def run(
        self, train: Sequence[int], early: Sequence[int], check: Check = lambda: None
    ) -> Generator[TuningStep, None, None]:
        """Train, and yield after every step; at the end the network has the best epoch's weights.

        Args:
            train: Rows to train on.
            early: Rows on which the best epoch is chosen and the training is stopped early.
            check: Called before each step; what it raises ends the training.

        Raises:
            NotFinite: the loss is infinite or not a number.
        """
        steps = steps_of(len(train), self._plan.epochs)
        patience = max(PATIENCE, self._plan.epochs // PATIENT)
        self.curves = Curves(steps, patience, len(early))
        try:
            for epoch in range(self._plan.epochs):
                for batch in epoch_batches(train, self._seed, epoch):
                    check()
                    self._timed_step(batch)
                    yield TuningStep(self.curves, self.seconds)
                self._end_epoch(early)
                yield TuningStep(self.curves, self.seconds)
                if self.curves.is_over:
                    break
        finally:
            self._adam.zero_grad(set_to_none=True)
            self.network.eval()
            restore(self.network, self._best)

    def _timed_step(self, batch: Sequence[int]) -> None:
        begun, done = time.perf_counter(), len(self.curves.losses)
        loss = self.step(batch, self._plan.rate_at(done, self.curves.steps))
        self.seconds += time.perf_counter() - begun
        if not math.isfinite(loss):
            raise NotFinite(
                NOT_FINITE.format(label=self._rows.label, n=done + 1, rate=self._plan.rate)
            )
        losses = (*self.curves.losses, loss)
        self.curves = replace(self.curves, losses=losses)

    def step(self, batch: Sequence[int], rate: float) -> float:
        """Train on a batch at a learning rate; return its mean loss before, in nats a row."""
        for group in self._adam.param_groups:
            group["lr"] = rate
        self.network.train()
        loss = 0.0
        # Dropout follows the seed; the caller's own random numbers go on as if none were drawn.
        with torch.random.fork_rng(devices=_accelerators(self._rows.device)):
            torch.manual_seed(self._seed * 1_000_003 + len(self.curves.losses))
            for part in self._rows.parts(batch):
                with self._rows.precision():
                    logits = self.network(**self._rows.inputs(part)).logits
                part_loss = cross_entropy(logits.float(), self._rows.labels(part))
                part_loss = part_loss * (len(part) / len(batch))
                part_loss.backward()
                loss += float(part_loss.detach())
        nn.utils.clip_grad_norm_(trained_weights(self.network).values(), MAX_NORM)
        self._adam.step()
        self._adam.zero_grad(set_to_none=True)
        return loss

    def _end_epoch(self, early: Sequence[int]) -> None:
        begun, before = time.perf_counter(), self.curves
        done = before.epochs[-1].step if before.epochs else 0
        logits = logits_of(self.network, self._rows, early)
        truth = torch.tensor(self._rows.truth[list(early)])
        loss = float(cross_entropy(logits, truth))
        right = float((logits.argmax(-1) == truth).float().mean())
        mean = float(np.mean(before.losses[done:]))
        epoch = Epoch(len(before.losses), mean, loss, right)
        self.curves = replace(before, epochs=(*before.epochs, epoch))
        if self.curves.best == len(self.curves.epochs) - 1:
            weights = trained_weights(self.network)
            self._best = {name: value.detach().clone() for name, value in weights.items()}
        self.seconds += time.perf_counter() - begun


@torch.inference_mode()
def logits_of(network: nn.Module, rows: EncodedRows, asked: Sequence[int]) -> Tensor:
    """Return a classifier's logits for some rows: float32 [row, label], on the processor."""
    network.eval()
    asked = [int(row) for row in asked]
    places = {row: place for place, row in enumerate(asked)}
    found: list[Tensor | None] = [None] * len(asked)
    for part in rows.parts(asked):
        with rows.precision():
            logits = network(**rows.inputs(part)).logits.float().cpu()
        for row, values in zip(part, logits, strict=True):
            found[places[row]] = values
    return torch.stack([values for values in found if values is not None])


def predicted(network: nn.Module, rows: EncodedRows, asked: Sequence[int]) -> np.ndarray:
    """Return the label with the largest logit of some rows: int64 [row]."""
    return read_only(logits_of(network, rows, asked).argmax(-1).numpy())


def _accelerators(device: str) -> list[int]:
    """Return the indices of the accelerators whose random numbers a device uses."""
    found = torch.device(device)
    return [found.index or 0] if found.type == "cuda" else []
