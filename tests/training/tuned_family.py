"""Adapters for the random family, untrained: random LoRA and heads, in the recipe's format."""

from pathlib import Path

import torch

from explorer.models.hub import checksum
from explorer.models.specs import ModelSpec
from training.tasks.command import Tuning, halve, lesson_of, write_adapter
from training.tasks.tune import ALPHA, RANK, TuningPlan, trained

SCORES = {
    "sst2": {"accuracy": {"value": 0.8, "interval": [0.77, 0.83], "count": 872, "guess": 0.51}},
    "squad": {
        "em": {"value": 0.3, "interval": [0.27, 0.33], "count": 1000, "guess": 0.0},
        "f1": {"value": 0.4, "interval": [0.37, 0.43], "count": 1000, "guess": 0.02},
    },
}


def tune_at_random(folder: Path, spec: ModelSpec, task: str) -> None:
    """Write an adapter with random weights beside the model in ``folder``."""
    tuning = Tuning(folder / "work", folder, folder, "mini", (task,))
    lesson = lesson_of(tuning, spec, TuningPlan(task, 1, 1, 1e-3))
    generator = torch.Generator().manual_seed(len(spec.name) + len(task))
    with torch.no_grad():
        for parameter in trained(lesson.network).values():
            parameter.normal_(0, 0.16, generator=generator)
    halve(lesson.network)
    report = {
        "model": spec.name,
        "task": task,
        "base_sha256": checksum(folder / spec.name),
        "rank": RANK,
        "alpha": ALPHA,
        "steps": 1,
        "rows": 1,
        "rate": 1e-3,
        "seed": 7,
        "warm_up": 0.0,
        "trained_parameters": sum(p.numel() for p in trained(lesson.network).values()),
        "examples_seen": 1,
        "data": "none",
        "window": 48,
        "stride": 12,
        "seconds": 1.0,
        "machine": "a test",
        "scores": SCORES[task],
        "full": None,
    }
    write_adapter(tuning.adapter(spec, task), lesson, report)
