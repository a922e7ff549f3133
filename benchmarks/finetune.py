"""``python -m benchmarks finetune``: fine-tuning on few rows, against a loop in plain torch."""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from transformers import AutoModelForSequenceClassification, AutoTokenizer

import explorer
from benchmarks.click import span
from benchmarks.texts import rounds_of
from explorer import assets
from explorer.analysis.latency.ratio import paired_ratio
from explorer.models.choice.family import family_specs
from explorer.models.forward import encoded_texts
from explorer.models.hub import checkpoint_path
from explorer.models.loading import load_model
from explorer.models.specs import ModelSpec
from explorer.models.tuning.networks import classifier_on, decay_groups, with_lora
from explorer.models.tuning.training import (
    BATCH_ROWS,
    EncodedRows,
    Tuning,
    TuningPlan,
    epoch_batches,
    predicted,
    steps_of,
    usual_epochs,
    usual_rate,
)
from explorer.timing.memory import resident_bytes

GOAL_SECONDS, GOAL_STEPS, GOAL_MEMORY, GOAL_POINTS = 60, 0.9, 1.15, 1.0
SHARE = 0.75
"""Share of a row's words that are from the half of the vocabulary of its label."""
EARLY = 6
"""One in so many rows of SST-2 is for early stopping."""
SIDES = ("explorer", "loop")


def add_command(commands: Any) -> None:  # noqa: ANN401 - argparse's own type is private
    """Declare the command and its flags."""
    parser = commands.add_parser("finetune", help=__doc__)
    parser.set_defaults(run=run)
    parser.add_argument("--family", default="mini")
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--words", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=9, help="of steps, of both in turn")
    parser.add_argument("--data", type=Path, help="folder with SST-2: compare on 500 of its rows")
    parser.add_argument("--seeds", type=int, default=3, help="at least 3")
    parser.add_argument("--peak-of", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--model", default="", help=argparse.SUPPRESS)


def run(chosen: argparse.Namespace) -> int:
    """Print seconds, steps a second, peak memory and accuracies, with their goals."""
    rows = made_up_rows(chosen.rows, chosen.words)
    specs = family_specs(chosen.family)
    if chosen.peak_of:
        spec = next(spec for spec in specs if spec.name == chosen.model)
        sys.stdout.write(f"{peak_of(chosen.peak_of, spec, rows)}\n")
        return 0
    if chosen.data:
        compare_on_sst2(chosen.data, specs, chosen.seeds)
        return 0
    for spec in specs:
        steps(spec, rows, chosen.rounds)
        memory(spec, chosen)
    seconds(chosen, rows)
    return 0


def made_up_rows(count: int, words: int) -> list[dict[str, str]]:
    """Return rows of random words of the bundled sentences, which a model can learn to label."""
    known = {word for each in assets.sentences() for word in each["text"].split() if word.isalpha()}
    halves = np.array_split(np.array(sorted(known)), 2)
    draw, rows = np.random.default_rng(0), []
    for number in range(count):
        own = draw.random(words) < SHARE
        label = number % 2
        chosen = [str(draw.choice(halves[label if mine else 1 - label])) for mine in own]
        rows.append({"text": " ".join(chosen), "label": f"label {label}"})
    return rows


def seconds(chosen: argparse.Namespace, rows: Sequence[dict[str, str]]) -> None:
    """Print the seconds of a whole fine-tuning, with all that it is compared to.

    Fewer than 120 rows are trained on in five folds: 60 rows take five times as many trainings as
    200, and three times as many steps.
    """
    for method in ("full", "lora"):
        begun = time.perf_counter()
        found = explorer.finetune(rows, chosen.family, method, seeds=chosen.seeds)
        took = time.perf_counter() - begun
        done = sum(len(run.curves.losses) for runs in found.answers.runs.values() for run in runs)
        print_line(
            f"{method}: {chosen.rows} rows of {chosen.words} words, {len(found.answers.labels)} "
            f"models, {found.answers.seeds} seeds, {done:,} steps: {took:.1f} s (goal: at most "
            f"{GOAL_SECONDS}). {found.advice}"
        )


def sides(
    spec: ModelSpec, rows: Sequence[dict[str, str]]
) -> tuple[Callable[[], None], Callable[[], None]]:
    """Return an epoch of the explorer's training, and one of a loop in plain torch."""
    batches = epoch_batches([*range(len(rows))], 0, 0)
    return ours(spec, rows, batches), loop(spec, rows, batches)


def ours(
    spec: ModelSpec, rows: Sequence[dict[str, str]], batches: Sequence[list[int]]
) -> Callable[[], None]:
    """Return a function that trains on each batch as the explorer does."""
    loaded = load_model(spec)
    truth = np.array([int(row["label"][-1]) for row in rows])
    texts: Any = encoded_texts(loaded, [row["text"] for row in rows], 512)
    encoded = EncodedRows.of(loaded, texts, truth, "float32")
    plan = TuningPlan("full", 1, usual_rate("full", spec.architecture.d_model))
    tuning = Tuning(classifier_on(loaded, ("a", "b"), 0), encoded, plan)

    def epoch() -> None:
        for batch in batches:
            tuning.step(batch, plan.rate)

    return epoch


def loop(
    spec: ModelSpec, rows: Sequence[dict[str, str]], batches: Sequence[list[int]]
) -> Callable[[], None]:
    """Return a function that trains on each batch in plain torch and transformers."""
    folder = checkpoint_path(spec)
    network: Any = AutoModelForSequenceClassification.from_pretrained(
        folder, num_labels=2, attn_implementation="eager"
    )
    network.train()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    rate = usual_rate("full", spec.architecture.d_model)
    adam = torch.optim.AdamW(decay_groups(network), lr=rate)
    has_segments = spec.architecture.n_segments > 1

    def epoch() -> None:
        for batch in batches:
            inputs = tokenizer([rows[i]["text"] for i in batch], padding=True, return_tensors="pt")
            if not has_segments:
                inputs.pop("token_type_ids", None)
            labels = torch.tensor([int(rows[i]["label"][-1]) for i in batch])
            loss = cross_entropy(network(**inputs).logits, labels)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            adam.step()
            adam.zero_grad(set_to_none=True)
            float(loss.detach())

    return epoch


def steps(spec: ModelSpec, rows: Sequence[dict[str, str]], rounds: int) -> None:
    """Print the steps a second as a share of the loop's, epochs of both in turn."""
    here, there = sides(spec, rows)
    there()
    found = rounds_of(here, there, rounds)
    n = -(-len(rows) // BATCH_ROWS)
    print_line(
        f"{spec.name}: {n / np.median(found.here):.1f} steps/s, loop "
        f"{n / np.median(found.loop):.1f} with {found.threads} threads; "
        f"{span(paired_ratio(found.loop, found.here))} ({rounds} rounds; goal: at least "
        f"{GOAL_STEPS})"
    )


def memory(spec: ModelSpec, chosen: argparse.Namespace) -> None:
    """Print the peak memory of an epoch as a share of the loop's, each in a process of its own."""
    flags = ["--family", chosen.family, "--rows", str(chosen.rows), "--words", str(chosen.words)]
    command = [sys.executable, "-m", "benchmarks", "finetune", *flags, "--model", spec.name]
    peaks = {}
    for side in SIDES:
        out = subprocess.run([*command, "--peak-of", side], check=True, capture_output=True)
        peaks[side] = float(out.stdout.split()[-1])
    ratio = peaks["explorer"] / peaks["loop"]
    print_line(
        f"{spec.name}: {peaks['explorer'] / 1e6:.0f} MB above the imports, loop "
        f"{peaks['loop'] / 1e6:.0f} MB; ratio {ratio:.2f} (goal: at most {GOAL_MEMORY})"
    )


def peak_of(side: str, spec: ModelSpec, rows: Sequence[dict[str, str]]) -> float:
    """Return by how many bytes an epoch of one side raises the peak memory of this process.

    Linux counts the peak anew from here: a new process begins with that of its parent.
    """
    Path("/proc/self/clear_refs").write_text("5")
    before = resident_bytes() or 0
    batches = epoch_batches([*range(len(rows))], 0, 0)
    (ours if side == SIDES[0] else loop)(spec, rows, batches)()
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return 1024 * int(status["VmHWM"].split()[0]) - before


def compare_on_sst2(folder: Path, specs: Sequence[ModelSpec], seeds: int, n: int = 500) -> None:
    """Print accuracies on SST-2's dev set after n rows: both methods, and the adapters' recipe."""
    from training.tasks.data import phrases

    train, dev = phrases(folder, "train"), phrases(folder, "dev")
    rows = [train[i] for i in np.random.default_rng(0).permutation(len(train))[:n]]
    for spec in specs:
        found = {
            method: [tuned_accuracy(spec, (rows, dev), method, seed) for seed in range(seeds)]
            for method in ("full", "lora")
        }
        found["training tasks"] = [
            recipe_accuracy(spec, (rows, dev), seed) for seed in range(seeds)
        ]
        shown = {name: [round(100 * value, 1) for value in each] for name, each in found.items()}
        means = {name: float(np.mean(each)) for name, each in shown.items()}
        best = max(means["full"], means["lora"])
        behind = means["training tasks"] - best
        print_line(
            f"{spec.name}: {json.dumps(shown)}; means {json.dumps(means)}; {behind:+.1f} points "
            f"behind the recipe (goal: at most {GOAL_POINTS})"
        )


Phrases = Sequence[tuple[str, int]]


def tuned_accuracy(spec: ModelSpec, data: tuple[Phrases, Phrases], method: str, seed: int) -> float:
    """Return the accuracy on the dev set of a model that the explorer fine-tuned."""
    train, dev = data
    loaded = load_model(spec)
    both = [*train, *dev]
    texts: Any = encoded_texts(loaded, [text for text, _ in both], 512)
    encoded = EncodedRows.of(loaded, texts, np.array([label for _, label in both]), "float32")
    network: Any = classifier_on(loaded, ("negative", "positive"), seed)
    if method == "lora":
        network = with_lora(network, spec.kind, seed)
    plan = TuningPlan(
        method, usual_epochs(len(train)), usual_rate(method, spec.architecture.d_model)
    )
    order = np.random.default_rng(seed).permutation(len(train)).tolist()
    cut = len(train) // EARLY
    for _ in Tuning(network, encoded, plan, seed).run(order[cut:], order[:cut]):
        pass
    asked = [*range(len(train), len(both))]
    return float((predicted(network, encoded, asked) == encoded.truth[asked]).mean())


def recipe_accuracy(spec: ModelSpec, data: tuple[Phrases, Phrases], seed: int) -> float:
    """Return the accuracy on the dev set after as many steps of the bundled adapters' recipe."""
    from training.tasks.command import Tuning as Recipe
    from training.tasks.command import lesson_of
    from training.tasks.lessons import TASKS
    from training.tasks.tune import TuningPlan as RecipePlan
    from training.tasks.tune import learn, order

    train, dev = data
    plan = RecipePlan(
        "sst2", steps_of(len(train), usual_epochs(len(train))), BATCH_ROWS, TASKS["sst2"].rate, seed
    )
    with tempfile.TemporaryDirectory() as work:
        models = checkpoint_path(spec).parent
        recipe = Recipe(Path(work), models, Path(work), spec.size, ("sst2",))
        lesson = lesson_of(recipe, spec, plan)
        batches = order([len(text) for text, _ in train], plan)
        learn(lesson, [*train], batches, Path(work) / "checkpoint")
    lesson.network.eval()
    right = 0
    with torch.inference_mode():
        for start in range(0, len(dev), 32):
            part = [*dev[start : start + 32]]
            batch = lesson.batch(part)
            inputs = {k: v for k, v in batch.inputs.items() if k != "token_type_ids"}
            if spec.architecture.n_segments > 1:
                inputs = batch.inputs
            logits = lesson.network(**inputs).logits
            right += int((logits.argmax(-1) == batch.labels).sum())
    return right / len(dev)


def print_line(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
