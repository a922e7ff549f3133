"""Two steps for a mini-albert in a new vocabulary: its words are settled, then it is tutored."""

import csv
import time
from pathlib import Path

import torch

from explorer.training.report.heldout import masked_accuracy
from explorer.training.steps.loop import COLUMNS, Progress, Run, best_device, train
from explorer.training.steps.pretrain import (
    VALIDATION_BATCHES,
    Setting,
    checkpointed,
    tokenizer_file,
    validation,
)
from explorer.training.steps.settle import collect, joined
from explorer.training.steps.settle import settle as settle_words
from explorer.training.steps.tutor import Lessons, TutorObjective, shared_words
from explorer.training.text.vocabulary import load_pieces

NAME = "mini-albert"


def lessons_of(setting: Setting) -> Lessons:
    """The same sentences in both vocabularies."""
    own, other = (setting.reading(kind, "train") for kind in ("albert", "bert"))
    seed = setting.recipe.seed + 5
    return Lessons(setting.sentences("albert", own.shard), (own, other), seed)


def tutor(setting: Setting) -> Progress:
    """Train mini-albert on mini-bert's guesses, in the words that both have."""
    taught = checkpointed(setting, "mini-bert").to(best_device())
    model, lessons = checkpointed(setting, NAME), lessons_of(setting)
    objective = TutorObjective(model, taught, shared_words(*lessons.readings))
    return train(
        Run(
            objective=objective,
            sampler=lessons,
            recipe=setting.recipe,
            budget=setting.budget,
            checkpoint=setting.place.checkpoint(NAME),
            log=setting.place.log(NAME),
            validate=validation(setting, "albert"),
            save_every=setting.save_every,
        )
    )


def settle(setting: Setting, before: str) -> Progress:
    """Collect states until the budget is spent, then settle the words that `before` lacked."""
    taught, model = (checkpointed(setting, name).eval() for name in ("mini-bert", NAME))
    lessons = lessons_of(setting)
    columns = shared_words(*lessons.readings)
    old = set(load_pieces(tokenizer_file(before, NAME)))
    new = torch.tensor([lessons.readings[0].names[i] not in old for i in columns[0].tolist()])
    progress, parts, began = Progress(), [], time.monotonic()
    while setting.budget.spent(progress) < 1:
        lesson = lessons.batch(progress.step)
        parts.append(collect(model, taught, lesson, columns))
        progress.step, progress.tokens = progress.step + 1, progress.tokens + lesson.tokens
        progress.seconds = time.monotonic() - began
    torch.manual_seed(setting.recipe.seed)
    after = settle_words(model, joined(parts), columns[0], new)[1]
    progress.seconds = time.monotonic() - began
    keep(setting, model, progress, after)
    return progress


def keep(setting: Setting, model: torch.nn.Module, progress: Progress, loss: float) -> None:
    """Write the checkpoint and the one row of the learning curve that such a run has."""
    weights = {f"model.{name}": weight for name, weight in model.state_dict().items()}
    counts = [progress.step, progress.tokens, progress.seconds]
    state = {"model": weights, "adam": {}, "progress": counts}
    torch.save(state, setting.place.checkpoint(NAME))
    shard = setting.shard("albert", "heldout")
    found = masked_accuracy(model, shard, setting.recipe, VALIDATION_BATCHES)
    speed = round(progress.tokens / max(progress.seconds, 1e-9))
    row = [progress.step, progress.tokens, round(progress.seconds, 1), speed]
    with Path(setting.place.log(NAME)).open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerow([*row, "0", f"{loss:.4f}", "", f"{found.top1:.4f}"])
