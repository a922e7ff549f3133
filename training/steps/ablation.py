"""DistilBERT's Table 4 for our own models: the effect of each loss and of the initialisation."""

from dataclasses import replace
from typing import Any

import torch

from explorer.analysis.distillation.student import DistillObjective, copy_teacher
from explorer.analysis.distillation.triple_loss import WEIGHTS
from explorer.refusal import Refusal
from training.family import load_model, new_model
from training.report.card import write_card
from training.report.heldout import masked_accuracy
from training.steps.export import Export, checksum, read_results, write_results
from training.steps.loop import TrainingBudget, TrainingRun, train
from training.steps.pretrain import Setting
from training.text.batches import Sampler

FULL_LOSS = "full triple loss"
VARIANTS: dict[str, dict[str, float]] = {
    FULL_LOSS: WEIGHTS,
    "without L_ce": {**WEIGHTS, "ce": 0.0},
    "without L_cos": {**WEIGHTS, "cos": 0.0},
    "without L_mlm": {**WEIGHTS, "mlm": 0.0},
    "random initialisation": WEIGHTS,
}


def ablate(setting: Setting, export: Export) -> dict[str, Any]:
    """Train five students on the same batches; write their held-out masked accuracy.

    The budget applies to each student. A student that is already trained is not trained again.
    """
    if setting.budget.tokens is None:
        raise Refusal("The ablation compares equal steps: give --tokens, per student.")
    students = {name: ablated(setting, export, name) for name in VARIANTS}
    for figures in students.values():
        figures["change"] = figures["masked_top1"] - students[FULL_LOSS]["masked_top1"]
    results = read_results(export.results)
    results["ablation"] = {
        "students": students,
        "tokens_each": setting.budget.tokens,
        "protocol": "3-layer students of the exported mini-bert, the same batches and schedule "
        f"for each, {export.batches} held-out batches",
    }
    write_results(export.results, results)
    if "mini-distilbert" in results["models"]:
        write_card(export.folder / "mini-distilbert", results)
    return results["ablation"]


def student_id(setting: Setting, export: Export) -> str:
    """Return an id of a student's teacher weights and token budget, for file names."""
    weights = checksum(export.folder / "mini-bert" / "model.safetensors")
    return f"{weights[:8]}-{setting.budget.tokens}"


def ablated(setting: Setting, export: Export, name: str) -> dict[str, Any]:
    """Train one student and return its held-out figures."""
    torch.manual_seed(setting.recipe.seed + 2)
    teacher = load_model(export.folder / "mini-bert")
    model = new_model("mini-distilbert", setting.recipe)
    if name != "random initialisation":
        copy_teacher(teacher, model, setting.recipe.student_layers)
    objective = DistillObjective(model, teacher, setting.recipe.temperature, VARIANTS[name])
    slug = f"ablation-{student_id(setting, export)}-" + name.replace(" ", "-").lower()
    run = TrainingRun(
        objective=objective,
        sampler=Sampler(setting.shard("bert", "train"), setting.recipe, "nsp", 11),
        recipe=replace(setting.recipe, seed=11),
        budget=TrainingBudget(tokens=setting.budget.tokens),
        checkpoint=setting.paths.checkpoint(slug),
        log=setting.paths.log(slug),
    )
    objective.frozen[0].to(run.device)
    progress = train(run)
    shard = setting.shard("bert", "heldout")
    figures = masked_accuracy(model.eval(), shard, setting.recipe, export.batches)
    return {
        "masked_top1": figures.top1,
        "masked_loss": figures.loss,
        "steps": progress.step,
        "tokens": progress.tokens,
    }
