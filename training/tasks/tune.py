"""LoRA on a frozen network: batches of similar length, schedule, atomic checkpoints."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from explorer.models.specs import ModelSpec
from training.files import whole
from training.steps.loop import half_precision
from training.steps.prefetch import AHEAD

RANK, ALPHA = 8, 16
HEADS: dict[str, dict[str, tuple[str, ...]]] = {
    "sst2": {
        "bert": ("pooler", "classifier"),
        "distilbert": ("pre_classifier", "classifier"),
        "albert": ("pooler", "classifier"),
        "roberta": ("classifier",),
    },
    "squad": dict.fromkeys(("bert", "distilbert", "albert", "roberta"), ("qa_outputs",)),
}
"""Modules that are trained in full besides LoRA: the dense layer of the head, and its labels."""
CHUNK = 64
"""Number of batches whose examples are sorted by length together, to limit padding."""
REPORT_EVERY, SAVE_EVERY = 20.0, 60.0


@dataclass(frozen=True, slots=True)
class TuningPlan:
    """Hyperparameters of a task: the same for each model, so that only the models differ."""

    task: str
    steps: int
    rows: int
    rate: float
    seed: int = 7
    warm_up: float = 0.06

    def rate_at(self, step: int) -> float:
        """Return the learning rate of a step: linear warm-up, then linear decay to 0."""
        done = step / self.steps
        return self.rate * min(1.0, (step + 1) / max(1, self.warm_up * self.steps), 1 - done)


@dataclass(slots=True)
class Lesson:
    """A network in training, and its progress."""

    network: nn.Module
    batch: Callable[[list[Any]], Any]
    """Tensors of examples, as ``loss`` takes them; worker processes call it too."""
    loss: Callable[[nn.Module, Any], Tensor]
    plan: TuningPlan
    seconds: float = 0.0
    step: int = 0
    curve: list[tuple[int, float]] = field(default_factory=list)
    """(step, mean loss since the previous entry)."""


def with_lora(
    network: nn.Module, spec: ModelSpec, task: str, before: Path | None = None
) -> nn.Module:
    """Add LoRA (Hu et al. 2021) at queries and values; all else but the head is frozen.

    ``before`` holds an adapter to continue from; it may have been trained on earlier weights.
    """
    from peft import LoraConfig, get_peft_model, set_peft_model_state_dict

    targets = rf".*(?:{spec.kind.query}|{spec.kind.value})"
    config = LoraConfig(
        r=RANK,
        lora_alpha=ALPHA,
        lora_dropout=0.0,
        target_modules=targets,
        modules_to_save=list(HEADS[task][spec.key]),
    )
    adapted = get_peft_model(network, config)
    if before:
        set_peft_model_state_dict(adapted, load_file(before))
    return adapted


def order(lengths: Sequence[int], plan: TuningPlan) -> list[list[int]]:
    """Return the example indices of every step: shuffled, then grouped by similar length.

    Lengths are of the text, not of its tokens, so that every model sees the same batches.
    """
    rng = np.random.default_rng(plan.seed)
    batches: list[list[int]] = []
    while len(batches) < plan.steps:
        shuffled = rng.permutation(len(lengths))
        for start in range(0, len(shuffled), CHUNK * plan.rows):
            chunk = sorted(shuffled[start : start + CHUNK * plan.rows], key=lambda i: lengths[i])
            rows = [chunk[i : i + plan.rows] for i in range(0, len(chunk), plan.rows)]
            batches += [[int(i) for i in rows[place]] for place in rng.permutation(len(rows))]
    return batches[: plan.steps]


def trained(network: nn.Module) -> dict[str, Tensor]:
    """Return the trainable parameters."""
    return {n: p for n, p in network.named_parameters() if p.requires_grad}


class _Batches(Dataset):
    """Batches of a lesson by the indices of their examples."""

    def __init__(self, batch: Callable[[list[Any]], Any], examples: Sequence[Any]) -> None:
        self.batch, self.examples = batch, examples

    def __getitem__(self, rows: list[int]) -> Any:  # noqa: ANN401
        return self.batch([self.examples[i] for i in rows])


def drawn(
    lesson: Lesson, examples: Sequence[Any], batches: list[list[int]], workers: int = 0
) -> Iterator[Any]:
    """Yield batches in their order, drawn ahead by worker processes where there are any."""
    loader = DataLoader(
        _Batches(lesson.batch, examples),
        batch_size=None,
        sampler=batches,  # type: ignore[arg-type]  # any iterable does
        num_workers=workers,
        prefetch_factor=AHEAD if workers else None,
    )
    yield from loader


def learn(
    lesson: Lesson,
    examples: Sequence[Any],
    batches: list[list[int]],
    checkpoint: Path,
    workers: int = 0,
) -> None:
    """Train to the end of the plan, resuming from the checkpoint file if there is one."""
    parameters = trained(lesson.network)
    adam = torch.optim.AdamW(parameters.values(), lr=lesson.plan.rate, weight_decay=0.01)
    _resume(lesson, adam, checkpoint)
    last = saved = reported = time.monotonic()
    losses: list[float] = []
    # No dropout: some of these networks were pretrained without it.
    lesson.network.eval()
    for batch in drawn(lesson, examples, batches[lesson.step : lesson.plan.steps], workers):
        for group in adam.param_groups:
            group["lr"] = lesson.plan.rate_at(lesson.step)
        loss = _loss(lesson, batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters.values(), 1.0)
        adam.step()
        adam.zero_grad(set_to_none=True)
        losses.append(float(loss.detach()))
        now = time.monotonic()
        lesson.step, lesson.seconds, last = lesson.step + 1, lesson.seconds + now - last, now
        if now - reported > REPORT_EVERY or lesson.step == lesson.plan.steps:
            lesson.curve.append((lesson.step, float(np.mean(losses))))
            _say(lesson)
            reported, losses = now, []
        if now - saved > SAVE_EVERY or lesson.step == lesson.plan.steps:
            _save(lesson, adam, checkpoint)
            saved = now


def _loss(lesson: Lesson, batch: Any) -> Tensor:  # noqa: ANN401
    """Compute the loss of one step, in bfloat16 where the hardware multiplies in it."""
    device = next(lesson.network.parameters()).device
    with half_precision(device):
        return lesson.loss(lesson.network, moved(batch, device))


def moved(batch: Any, device: torch.device) -> Any:  # noqa: ANN401
    """Return a named tuple of tensors, and of tensors by name, on a device."""
    return type(batch)(
        *(
            {name: value.to(device) for name, value in part.items()}
            if isinstance(part, dict)
            else part.to(device)
            for part in batch
        )
    )


def seconds_a_step(lesson: Lesson, examples: Sequence[Any], batches: list[list[int]]) -> float:
    """Measure the mean time of a step; it leaves stray gradients in the lesson's network."""
    start, sample = time.monotonic(), batches[: max(3, min(12, len(batches)))]
    for batch in drawn(lesson, examples, sample):
        _loss(lesson, batch).backward()
    return (time.monotonic() - start) / len(sample)


def _say(lesson: Lesson) -> None:
    remaining = lesson.seconds / lesson.step * (lesson.plan.steps - lesson.step) / 60
    step, loss = lesson.curve[-1]
    sys.stdout.write(
        f"  step {step} of {lesson.plan.steps}, loss {loss:.3f}, {remaining:.1f} min left\n"
    )
    sys.stdout.flush()


def _save(lesson: Lesson, adam: torch.optim.Optimizer, path: Path) -> None:
    state = {
        "plan": asdict(lesson.plan),
        "weights": {n: p.detach().cpu() for n, p in trained(lesson.network).items()},
        "adam": adam.state_dict(),
        "progress": [lesson.step, lesson.seconds],
        "curve": lesson.curve,
    }
    with whole(path) as part:
        torch.save(state, part)


@torch.no_grad()
def _resume(lesson: Lesson, adam: torch.optim.Optimizer, path: Path) -> None:
    if not path.exists():
        return
    state = torch.load(path, weights_only=True)
    if state["plan"] != asdict(lesson.plan):
        return
    for name, parameter in trained(lesson.network).items():
        parameter.copy_(state["weights"][name])
    adam.load_state_dict(state["adam"])
    lesson.step, lesson.seconds = int(state["progress"][0]), float(state["progress"][1])
    lesson.curve = [(int(step), float(loss)) for step, loss in state["curve"]]
