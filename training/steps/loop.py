"""The training loop: a time or token budget, checkpoints that survive kill -9, a CSV log."""

import contextlib
import csv
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor, nn

from explorer.refusal import Refusal
from training.files import whole
from training.machine import multiplies_halves
from training.recipe import Recipe
from training.steps.prefetch import Batches, BatchSource

COLUMNS = ["step", "tokens", "seconds", "tokens_per_second", "rate", "loss", "top1", "heldout_top1"]
REPORT_EVERY = 20.0  # seconds


@dataclass(frozen=True, slots=True)
class TrainingBudget:
    """Length of a run; the learning rate reaches zero exactly when the budget is spent.

    Attributes:
        is_continued: A later run continues this one, so the learning rate does not decay.
    """

    minutes: float | None = None
    tokens: int | None = None
    is_continued: bool = False

    def spent(self, progress: "Progress") -> float:
        """Return the share of the budget that is used, from 0 to 1."""
        shares = [progress.seconds / (60 * self.minutes)] if self.minutes else []
        shares += [progress.tokens / self.tokens] if self.tokens else []
        if not shares:
            raise Refusal("A run needs a budget: minutes, tokens or both.")
        return min(1.0, max(shares))


@dataclass(slots=True)
class Progress:
    """Steps, tokens and seconds of a run so far; saved with every checkpoint."""

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class TrainingRun:
    """A training run: objective, data, budget and output paths.

    Attributes:
        workers: Processes that draw batches ahead; with 0 each is drawn when it is needed.
    """

    objective: nn.Module
    sampler: BatchSource
    recipe: Recipe
    budget: TrainingBudget
    checkpoint: Path
    log: Path
    validate: Callable[[nn.Module], float] | None = None
    save_every: float = 120.0
    workers: int = 0
    device: torch.device = field(default_factory=lambda: best_device())
    progress: Progress = field(default_factory=Progress)


def best_device() -> torch.device:
    """Return this process's GPU when there is one, else the CPU."""
    if not torch.cuda.is_available():
        return torch.device("cpu")
    return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))


def half_precision(device: torch.device) -> contextlib.AbstractContextManager:
    """Return a bfloat16 autocast where the hardware multiplies in it, else a disabled one."""
    fast = device.type == "cuda" or multiplies_halves()
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=fast)


def rate_at(spent: float, recipe: Recipe, is_continued: bool = False) -> float:
    """Return the learning rate at a share of the budget: linear up, constant, linear down to 0.

    Only the last part decays, so a run can be extended from a point before the decay.
    """
    up = spent / recipe.warm_up if recipe.warm_up else 1.0
    down = 1.0 if is_continued or not recipe.cool_down else (1 - spent) / recipe.cool_down
    return recipe.rate * max(0.0, min(up, 1.0, down))


def optimiser(objective: nn.Module, recipe: Recipe) -> torch.optim.Optimizer:
    """Return AdamW without weight decay for biases and LayerNorms."""
    trained = [p for p in objective.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in trained if p.ndim > 1], "weight_decay": recipe.decay},
        {"params": [p for p in trained if p.ndim < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=recipe.rate, betas=(0.9, 0.98), eps=1e-6, fused=True)


def train(run: TrainingRun) -> Progress:
    """Train until the budget is spent, resuming from the checkpoint if there is one."""
    run.objective.to(run.device).train()
    adam = optimiser(run.objective, run.recipe)
    resume(run, adam)
    objective, adam, device = distributed(run, adam)
    batches = Batches(run.sampler, run.progress.step, run.workers)
    clock, averages = Clock(), Averages()
    while (spent := run.budget.spent(run.progress)) < 1:
        late = spent >= 1 - run.recipe.cool_down and not run.budget.is_continued
        batch = batches.next(late=late)
        for group in adam.param_groups:
            group["lr"] = (
                rate_at(spent, run.recipe, run.budget.is_continued) or run.recipe.rate * 1e-3
            )
        with half_precision(device):
            parts = objective(batch.to(device))
        update(objective, adam, parts["loss"])
        tokens, seconds = agreed(batch.tokens, clock.step(), device)
        count(run.progress, averages, tokens, seconds, parts)
        if clock.due("save", run.save_every):
            report(run, averages, run.validate)
            save(run, adam)
            averages = Averages()
        elif clock.due("report", REPORT_EVERY):
            report(run, averages, None)
            averages = Averages()
    report(run, averages, run.validate)
    save(run, adam)
    return run.progress


class Clock:
    """Wall time between steps, and timers of periodic actions."""

    def __init__(self) -> None:
        self.last = time.monotonic()
        self.done: dict[str, float] = {}

    def step(self) -> float:
        """Return the seconds since the previous step, whatever was done in between."""
        before, self.last = self.last, time.monotonic()
        return self.last - before

    def due(self, action: str, interval: float) -> bool:
        """Return whether an action is due again; its first interval starts now."""
        since = self.done.setdefault(action, self.last)
        if self.last - since < interval:
            return False
        self.done[action] = self.last
        return True


def count(
    progress: Progress,
    averages: "Averages",
    tokens: int,
    seconds: float,
    parts: dict[str, Tensor],
) -> None:
    """Add a finished step's tokens and seconds to the progress and the averages."""
    progress.step += 1
    progress.tokens += tokens
    progress.seconds += seconds
    averages.add(parts, tokens, seconds)


def agreed(tokens: int, seconds: float, device: torch.device) -> tuple[int, float]:
    """Return the tokens of all processes and their mean time, so that all stop at the same step."""
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world == 1:
        return tokens, seconds
    both = torch.tensor([float(tokens), seconds / world], dtype=torch.float32, device=device)
    torch.distributed.all_reduce(both)
    return int(both[0]), float(both[1])


def update(objective: nn.Module, adam: torch.optim.Optimizer, loss: Tensor) -> None:
    """Take one optimiser step, with gradients clipped to norm 1."""
    loss.backward()
    torch.nn.utils.clip_grad_norm_(objective.parameters(), 1.0)
    adam.step()
    adam.zero_grad(set_to_none=True)


def distributed(run: TrainingRun, adam: torch.optim.Optimizer) -> tuple:
    """Prepare model and optimiser under ``accelerate launch``; else return them unchanged."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return run.objective, adam, run.device
    from accelerate import Accelerator  # an optional dependency, for several processes only

    accelerator = Accelerator()
    objective, adam = accelerator.prepare(run.objective, adam)
    return objective, adam, accelerator.device


class Averages:
    """Means of the loss parts since the last report.

    Sums stay on the device, because reading a number in every step would synchronise with the GPU.
    """

    def __init__(self) -> None:
        self.sums: dict[str, Tensor] = {}
        self.counts: dict[str, int] = {}
        self.steps, self.tokens, self.seconds = 0, 0, 0.0

    def add(self, parts: dict[str, Tensor], tokens: int, seconds: float) -> None:
        """Add one step."""
        for name, value in parts.items():
            self.sums[name] = self.sums.get(name, 0.0) + value.detach().float()
            self.counts[name] = self.counts.get(name, 0) + 1
        self.steps, self.tokens = self.steps + 1, self.tokens + tokens
        self.seconds += seconds

    def mean(self, name: str) -> float:
        """Return the mean of one part over the steps that had it; NaN before the first."""
        return float(self.sums[name]) / self.counts[name] if name in self.counts else float("nan")


def report(
    run: TrainingRun, averages: Averages, validate: Callable[[nn.Module], float] | None
) -> None:
    """Print a progress line and append a row to the CSV log."""
    if int(os.environ.get("RANK", "0")) or not averages.steps:
        return
    heldout = validate(run.objective) if validate else None
    speed = averages.tokens / averages.seconds
    spent = run.budget.spent(run.progress)
    remaining = run.progress.seconds * (1 - spent) / max(spent, 1e-9)
    parts = " ".join(f"{name} {averages.mean(name):.3f}" for name in averages.sums)
    sys.stdout.write(
        f"step {run.progress.step} tokens {run.progress.tokens:,} {speed:,.0f} tokens/s "
        f"{parts} {remaining / 60:.1f} min left"
        + (f" held-out top-1 {heldout:.4f}\n" if heldout is not None else "\n")
    )
    sys.stdout.flush()
    is_new = not run.log.exists()
    with run.log.open("a", newline="") as file:
        writer = csv.writer(file)
        if is_new:
            writer.writerow(COLUMNS)
        numbers: list[float | str] = [
            run.progress.step,
            run.progress.tokens,
            round(run.progress.seconds, 1),
        ]
        numbers += [round(speed), f"{rate_at(spent, run.recipe, run.budget.is_continued):.3g}"]
        numbers += [f"{averages.mean('loss'):.4f}", f"{averages.mean('top1'):.4f}"]
        writer.writerow([*numbers, "" if heldout is None else f"{heldout:.4f}"])


def save(run: TrainingRun, adam: torch.optim.Optimizer) -> None:
    """Write the state as the run's checkpoint."""
    if int(os.environ.get("RANK", "0")):
        return
    state = {
        "model": run.objective.state_dict(),
        "adam": adam.state_dict(),
        "progress": [run.progress.step, run.progress.tokens, run.progress.seconds],
    }
    with whole(run.checkpoint) as part:
        torch.save(state, part)


def resume(run: TrainingRun, adam: torch.optim.Optimizer) -> None:
    """Load the checkpoint, if there is one; log rows of later steps are dropped."""
    if not run.checkpoint.exists():
        return
    state = torch.load(run.checkpoint, map_location=run.device, weights_only=True)
    run.objective.load_state_dict(state["model"])
    adam.load_state_dict(state["adam"])
    run.progress = Progress(*state["progress"])
    if run.log.exists() and not int(os.environ.get("RANK", "0")):
        rows = list(csv.reader(run.log.open(newline="")))
        valid = rows[:1] + [row for row in rows[1:] if int(row[0]) <= run.progress.step]
        with run.log.open("w", newline="") as file:
            csv.writer(file).writerows(valid)
