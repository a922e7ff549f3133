"""Command ``python -m training tasks``: an adapter and a card for each model and task."""

import csv
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import AutoTokenizer

from explorer.models.choice.family import family_specs
from explorer.models.hub import ModelUnavailable, checkpoint_path, checksum
from explorer.models.specs import ModelSpec
from explorer.models.task_heads.adapters import CARD, WEIGHTS
from explorer.refusal import Refusal
from training.machine import machine
from training.steps.loop import best_device
from training.tasks.card import write_card
from training.tasks.lessons import TASKS
from training.tasks.tune import (
    ALPHA,
    RANK,
    Lesson,
    TuningPlan,
    learn,
    order,
    seconds_a_step,
    trained,
    with_lora,
)

FULL_RATE = 1e-4
"""Learning rate of full fine-tuning: a tenth of LoRA's on SST-2."""
RUN = ("steps", "rate", "seconds", "machine", "base_sha256")
"""Fields of a card that a later adapter's card repeats for the run."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """Models, tasks and paths of a tuning run."""

    work: Path
    models: Path
    data: Path
    family: str
    tasks: tuple[str, ...]
    only: tuple[str, ...] = ()
    """Names of the models to tune; all of the family when empty."""
    full: tuple[str, ...] = ()
    """Models whose weights are also all tuned on SST-2, for comparison with LoRA in the card."""
    minutes: float | None = None
    """Time limit for training one model on one task."""
    start: Path | None = None
    """Exported models whose adapters training continues from; without them it starts fresh."""
    steps: int | None = None
    """Steps of every task; the task's own number when None."""
    workers: int = 0
    """Processes that draw batches ahead."""
    rate: float | None = None
    """Peak learning rate of every task; the task's own when None."""

    @property
    def specs(self) -> tuple[ModelSpec, ...]:
        """The specs of the models to tune."""
        specs = family_specs(self.family)
        unknown = set(self.only + self.full) - {spec.name for spec in specs}
        if unknown:
            raise Refusal(f"The {self.family} family has no {', '.join(sorted(unknown))}.")
        return tuple(spec for spec in specs if not self.only or spec.name in self.only)

    def weights(self, spec: ModelSpec) -> Path:
        """Return the folder of the frozen weights."""
        return checkpoint_path(spec) if spec.repo or spec.folder else self.models / spec.name

    def adapter(self, spec: ModelSpec, task: str) -> Path:
        """Return the output folder of an adapter."""
        return (spec.folder or self.models / spec.name) / "tasks" / task

    def before(self, spec: ModelSpec, task: str) -> Path | None:
        """Return the weights of the adapter to continue from, if there is one."""
        path = self.start and self.start / spec.name / "tasks" / task / WEIGHTS
        return path if path and path.exists() else None


def tune_family(tuning: Tuning) -> None:
    """Train every adapter that is missing; those that fit their weights and plan are kept."""
    tuning.work.mkdir(parents=True, exist_ok=True)
    for task in tuning.tasks:
        examples = TASKS[task].examples(tuning.data)
        lengths = [TASKS[task].length(example) for example in examples]
        plan = plan_of(tuning, task, examples, lengths)
        batches = order(lengths, plan)
        for spec in tuning.specs:
            sys.stdout.write(f"{spec.name}, {task}: {plan.steps} steps of {plan.rows}\n")
            try:
                tune_one(tuning, spec, plan, (examples, batches))
            except ModelUnavailable as error:
                sys.stdout.write(f"  {error}\n")


def plan_of(
    tuning: Tuning, task: str, examples: Sequence[Any], lengths: Sequence[int]
) -> TuningPlan:
    """Return the plan that all models of a family share; a time limit is for the slowest one.

    It is kept with the options it was made for: measured again, a time limit gives other steps.
    """
    path = tuning.work / f"{tuning.family}-{task}.plan.json"
    options = {"steps": tuning.steps, "rate": tuning.rate, "minutes": tuning.minutes}
    kept = json.loads(path.read_text("utf-8")) if path.exists() else {}
    if kept.get("options") == options:
        return TuningPlan(**kept["plan"])
    steps = tuning.steps or TASKS[task].steps
    rate = tuning.rate or TASKS[task].rate
    whole = TuningPlan(task, steps, TASKS[task].rows, rate)
    plan = whole
    if tuning.minutes is not None:
        slowest = 0.0
        for spec in family_specs(tuning.family):
            lesson = lesson_of(tuning, spec, whole)
            slowest = max(slowest, seconds_a_step(lesson, examples, order(lengths, whole)))
        steps = max(1, min(whole.steps, int(tuning.minutes * 60 / slowest)))
        plan = TuningPlan(task, steps, whole.rows, rate)
    path.write_text(json.dumps({"options": options, "plan": asdict(plan)}), "utf-8")
    return plan


def lesson_of(tuning: Tuning, spec: ModelSpec, plan: TuningPlan, lora: bool = True) -> Lesson:
    """Return a network with a head and, with LoRA, adapters, seeded or continued."""
    task, folder = TASKS[plan.task], tuning.weights(spec)
    torch.manual_seed(plan.seed)
    # Both heads have two outputs, whatever labels the config names or a head in the file has.
    network = task.network.from_pretrained(
        folder,
        num_labels=2,
        ignore_mismatched_sizes=True,
        local_files_only=True,
        dtype=torch.float32,
        attn_implementation="eager",
    )
    if lora:
        network = with_lora(network, spec, plan.task, tuning.before(spec, plan.task))
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    return Lesson(network.to(best_device()), partial(task.batch, tokenizer), task.loss, plan)


def tune_one(
    tuning: Tuning, spec: ModelSpec, plan: TuningPlan, data: tuple[Sequence[Any], list[list[int]]]
) -> None:
    """Train one adapter and write its card, unless it exists and fits its weights."""
    digest, folder = checksum(tuning.weights(spec)), tuning.adapter(spec, plan.task)
    if is_made(folder, digest, plan):
        sys.stdout.write("  is there\n")
        return
    run_name = f"{spec.name}-{plan.task}-{digest[:12]}"
    lesson = lesson_of(tuning, spec, plan)
    learn(lesson, *data, tuning.work / f"{run_name}.checkpoint", tuning.workers)
    halve(lesson.network)
    scores = scores_of(tuning, spec, lesson)
    report = {
        "model": spec.name,
        "task": plan.task,
        "base_sha256": digest,
        "rank": RANK,
        "alpha": ALPHA,
        **asdict(plan),
        "trained_parameters": sum(p.numel() for p in trained(lesson.network).values()),
        "examples_seen": sum(len(rows) for rows in data[1]),
        "goes_on": tuning.before(spec, plan.task) is not None,
        "earlier": earlier_runs(tuning.before(spec, plan.task)),
        "data": TASKS[plan.task].data,
        **TASKS[plan.task].max_tokens,
        "seconds": round(lesson.seconds, 1),
        "machine": machine(),
        "scores": scores,
        "full": full_tuning(tuning, spec, plan, data),
    }
    write_adapter(folder, lesson, report)
    sys.stdout.write(f"  {json.dumps(scores)}\n")


def earlier_runs(before: Path | None) -> list[dict[str, Any]]:
    """Return the runs behind the adapter that training continues from, by its card."""
    card = before and before.with_name(CARD)
    if not card or not card.exists():
        return []
    report = json.loads(card.read_text("utf-8"))
    return [*report.get("earlier", []), {key: report[key] for key in RUN}]


def is_made(folder: Path, digest: str, plan: TuningPlan) -> bool:
    """Return whether the existing adapter was trained on these weights with this plan."""
    if not ((folder / CARD).exists() and (folder / WEIGHTS).exists()):
        return False
    card = json.loads((folder / CARD).read_text("utf-8"))
    made = (card["base_sha256"], card["steps"], card["rate"])
    return made == (digest, plan.steps, plan.rate)


def score_family(tuning: Tuning) -> None:
    """Score the existing adapters again; nothing is trained."""
    for task in tuning.tasks:
        for spec in tuning.specs:
            folder = tuning.adapter(spec, task)
            sys.stdout.write(f"{spec.name}, {task}\n")
            if (folder / CARD).exists() and (folder / WEIGHTS).exists():
                score_again(tuning, spec, folder)


def score_again(tuning: Tuning, spec: ModelSpec, folder: Path) -> None:
    """Write the card of an existing adapter with fresh scores.

    Raises:
        Refusal: The adapter was trained on other weights.
    """
    from peft import PeftModel

    report = json.loads((folder / CARD).read_text("utf-8"))
    if report["base_sha256"] != checksum(tuning.weights(spec)):
        raise Refusal(f"The adapter in {folder} was made on other weights of {spec.name}.")
    plan = TuningPlan(report["task"], report["steps"], report["rows"], report["rate"])
    base = lesson_of(tuning, spec, plan, lora=False)
    network = PeftModel.from_pretrained(base.network, folder).eval()
    report["scores"] = scores_of(tuning, spec, replace(base, network=network))
    (folder / CARD).write_text(json.dumps(report, indent=1), "utf-8")
    write_card(folder / "README.md", report)
    sys.stdout.write(f"  {json.dumps(report['scores'])}\n")


@torch.no_grad()
def halve(network: nn.Module) -> None:
    """Round the trained parameters to float16, as they are stored, before scoring."""
    for parameter in trained(network).values():
        parameter.copy_(parameter.half().float())


def scores_of(tuning: Tuning, spec: ModelSpec, lesson: Lesson) -> dict[str, Any]:
    """Return the tuned network's scores on the task's dev set."""
    tokenizer = AutoTokenizer.from_pretrained(tuning.weights(spec), local_files_only=True)
    return TASKS[lesson.plan.task].score(tokenizer, lesson.network, tuning.data)


def full_tuning(
    tuning: Tuning, spec: ModelSpec, plan: TuningPlan, data: tuple[Sequence[Any], list[list[int]]]
) -> dict[str, Any] | None:
    """Run the same steps with all weights trained, on SST-2 only and only for listed models."""
    if spec.name not in tuning.full or plan.task != "sst2":
        return None
    whole = TuningPlan(plan.task, plan.steps, plan.rows, FULL_RATE)
    lesson = lesson_of(tuning, spec, whole, lora=False)
    checkpoint = tuning.work / f"{spec.name}-full-{checksum(tuning.weights(spec))[:12]}.checkpoint"
    learn(lesson, *data, checkpoint, tuning.workers)
    return {
        "rate": whole.rate,
        "seconds": round(lesson.seconds, 1),
        "trained_parameters": sum(p.numel() for p in trained(lesson.network).values()),
        "scores": scores_of(tuning, spec, lesson),
    }


def write_adapter(folder: Path, lesson: Lesson, report: dict[str, Any]) -> None:
    """Write the adapter for peft, in float16, with its JSON card and its README."""
    fresh = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(fresh, ignore_errors=True)
    lesson.network.save_pretrained(fresh)
    # peft's own card contains local paths.
    (fresh / "README.md").unlink(missing_ok=True)
    config = json.loads((fresh / "adapter_config.json").read_text("utf-8"))
    config["base_model_name_or_path"] = report["model"]
    (fresh / "adapter_config.json").write_text(json.dumps(config, indent=1, sort_keys=True))
    halved = {name: value.half() for name, value in load_file(fresh / WEIGHTS).items()}
    save_file(halved, fresh / WEIGHTS)
    with (fresh / "curve.csv").open("w", newline="") as file:
        rows = [(step, f"{loss:.4f}") for step, loss in lesson.curve]
        csv.writer(file).writerows([("step", "loss"), *rows])
    (fresh / CARD).write_text(json.dumps(report, indent=1), "utf-8")
    write_card(fresh / "README.md", report)
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)
