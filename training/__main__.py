"""Make the bundled family: ``python -m training STEP --work FOLDER``."""

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path

import torch

from explorer.refusal import Refusal
from training.machine import offer
from training.recipe import FULL, MODELS, TINY, Place
from training.report.evaluate import PARTS, Evaluation, evaluate
from training.report.sentiment import Sentiment
from training.steps import pretrain
from training.steps.ablation import ablate
from training.steps.export import Export, export_family
from training.steps.loop import TrainingBudget
from training.steps.prepare import Source, prepare

STEPS = (
    "prepare",
    "teacher",
    "student",
    "fit",
    "albert",
    "export",
    "evaluate",
    "ablation",
    "tasks",
    "all",
)

TASKS = ("sst2", "squad")
ALL = tuple(step for step in STEPS if step not in ("ablation", "tasks", "all"))


def arguments() -> argparse.ArgumentParser:
    """Return the command-line parser."""
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument("step", choices=STEPS)
    parser.add_argument("--work", type=Path, default=Path("runs"), help="where a run keeps files")
    parser.add_argument("--corpus", help="text file (plain or .xz), or hub:owner/name[:config]")
    parser.add_argument("--documents", type=int, help="read only the first of them")
    parser.add_argument("--start", default="minilm", help="minilm, random or exported folder")
    parser.add_argument(
        "--new-vocabulary", action="store_true", help="prepare: both vocabularies anew"
    )
    parser.add_argument("--minutes", type=float, help="budget of this run")
    parser.add_argument("--tokens", type=int, help="budget of this run")
    parser.add_argument(
        "--threads", type=int, default=0, help="CPU threads; 0 lets the machine decide"
    )
    parser.add_argument("--models", type=Path, default=Path("assets/models"), help="exported to")
    parser.add_argument("--only", nargs="+", default=[], help="export, evaluate or tune these")
    parser.add_argument("--force", action="store_true", help="overwrite better weights")
    parser.add_argument(
        "--keep", type=float, default=0.0, help="export: share of --start's weights"
    )
    parser.add_argument("--batches", type=int, default=50, help="held-out batches to measure on")
    parser.add_argument("--parts", nargs="+", choices=tuple(PARTS), help="evaluate: these alone")
    parser.add_argument("--sst2", type=Path, help="folder of SST-2, to fine-tune on it")
    parser.add_argument("--sst2-examples", type=int, default=12_000)
    parser.add_argument("--tiny", action="store_true", help="toy sizes, to try the recipe")
    add_training(parser)
    add_tasks(parser)
    return parser


def add_training(parser: argparse.ArgumentParser) -> None:
    """Add the options that set the schedule and the batches of a run."""
    parser.add_argument("--more-to-come", action="store_true", help="keep the rate up to the end")
    parser.add_argument("--save-every", type=float, default=120.0, help="seconds")
    parser.add_argument("--workers", type=int, default=0, help="processes that draw batches ahead")
    parser.add_argument("--rate", type=float, help="peak learning rate, of tasks too")
    parser.add_argument("--cool-down", type=float, help="last part of the run, 0 to 1, to slow in")
    parser.add_argument("--tokens-per-step", type=int)
    parser.add_argument("--primer-share", type=float, help="share of the batches of the primer")


def add_tasks(parser: argparse.ArgumentParser) -> None:
    """Add the options of the step ``tasks``."""
    parser.add_argument("--family", help="tasks: whom to tune, as for app.py (default: mini)")
    parser.add_argument("--model", action="append", default=[], help="tasks: as for app.py")
    parser.add_argument("--data", type=Path, help="tasks: folder of SST-2 and SQuAD v1.1")
    parser.add_argument("--task", nargs="+", choices=TASKS, default=TASKS, help="tasks: for what")
    parser.add_argument(
        "--adapters", type=Path, help="tasks: exported models whose adapters to go on from"
    )
    parser.add_argument(
        "--steps",
        type=int,
        help="tasks: of a run, in place of the task's own; "
        "with other --steps, --rate or --minutes than before it starts again",
    )
    parser.add_argument(
        "--full", nargs="+", default=[], help="tasks: tune all weights of these too, on SST-2"
    )
    parser.add_argument(
        "--score", action="store_true", help="tasks: train nothing, score what is there again"
    )


def main(words: list[str] | None = None) -> int:
    """Run one step and return the exit status; invalid input is reported in one sentence."""
    options = arguments().parse_args(words)
    threads, line = offer(options.threads)
    torch.set_num_threads(threads)
    sys.stdout.write(f"{line}\n")
    try:
        run_step(options)
    except Refusal as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def run_step(options: argparse.Namespace) -> None:
    """Build the settings from the options and run the named step; ``all`` runs `ALL` in order."""
    if options.step == "tasks":
        tune(options)
        return
    if set(options.only) - set(MODELS):
        raise Refusal(f"--only takes {', '.join(MODELS)}.")
    changes = {
        "rate": options.rate,
        "cool_down": options.cool_down,
        "tokens_per_step": options.tokens_per_step,
        "primer_share": options.primer_share,
    }
    changes = {key: value for key, value in changes.items() if value is not None}
    recipe = replace(TINY if options.tiny else FULL, **changes)
    budget = TrainingBudget(options.minutes, options.tokens, options.more_to_come)
    place = Place(options.work)
    setting = pretrain.Setting(
        place, recipe, budget, options.start, options.save_every, options.workers
    )
    steps = ALL if options.step == "all" else (options.step,)
    for step in steps:
        take_step(step, setting, options)


def take_step(step: str, setting: pretrain.Setting, options: argparse.Namespace) -> None:
    """Run one step of the recipe."""
    export = Export(options.models, options.force, options.batches, options.keep)
    if step == "prepare":
        if not options.corpus:
            raise Refusal("The prepare step needs --corpus.")
        source = Source(options.corpus, options.documents, options.start, options.new_vocabulary)
        prepare(setting.paths, setting.recipe, source)
    elif step == "export":
        export_family(setting, export, options.only or MODELS)
    elif step == "evaluate":
        sentiment = Sentiment(options.sst2, options.sst2_examples) if options.sst2 else None
        evaluation = Evaluation(
            batches=options.batches, sentiment=sentiment, parts=options.parts or tuple(PARTS)
        )
        evaluate(setting, export, evaluation, options.only or MODELS)
    elif step == "ablation":
        ablate(setting, export)
    else:
        getattr(pretrain, step)(setting)


def tune(options: argparse.Namespace) -> None:
    """Train or score the adapters; the imports are local because only this step needs peft."""
    from explorer.models.choice.family import family_name, opened_family
    from explorer.models.choice.own import add_models
    from training.tasks.command import Tuning, score_family, tune_family

    if not options.data:
        raise Refusal("The tasks step needs --data, the folder of SST-2 and SQuAD v1.1.")
    sizes = add_models(options.model)
    family = options.family or (family_name(sizes) if sizes else None)
    tuning = Tuning(
        options.work / "tasks",
        options.models,
        options.data,
        opened_family(family) or "mini",
        tuple(options.task),
        tuple(options.only),
        tuple(options.full),
        options.minutes,
        options.adapters,
        options.steps,
        options.workers,
        options.rate,
    )
    (score_family if options.score else tune_family)(tuning)


if __name__ == "__main__":
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    raise SystemExit(main())
