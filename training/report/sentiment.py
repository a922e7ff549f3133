"""SST-2 after fine-tuning, with the same schedule for each model."""

import csv
import lzma
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from explorer.refusal import Refusal
from training.steps.loop import best_device, half_precision

CUT = 64
"""Maximum length of a phrase in training, in tokens; dev sentences are scored whole."""


@dataclass(frozen=True, slots=True)
class Sentiment:
    """Folder of SST-2 (`sst2-train.tsv[.xz]`, `sst2-dev.tsv[.xz]`) and tuning settings."""

    folder: Path
    examples: int = 12_000
    epochs: int = 1
    rate: float = 1e-4
    rows: int = 32
    seed: int = 5


def read_examples(folder: Path, part: str) -> list[tuple[str, int]]:
    """Return the (sentence, label) pairs of ``train`` or ``dev``.

    Raises:
        Refusal: Neither the plain nor the compressed file is there.
    """
    for name, opener in ((f"sst2-{part}.tsv.xz", lzma.open), (f"sst2-{part}.tsv", open)):
        if (folder / name).exists():
            with opener(folder / name, "rt", encoding="utf-8") as file:
                rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
                return [(row["sentence"].strip(), int(row["label"])) for row in rows]
    raise Refusal(f"There is no sst2-{part}.tsv in {folder}.")


def sst2_accuracy(folder: Path, sentiment: Sentiment) -> float:
    """Return the dev accuracy of an exported model after fine-tuning on shuffled examples."""
    torch.manual_seed(sentiment.seed)
    device = best_device()
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model = AutoModelForSequenceClassification.from_pretrained(
        folder, num_labels=2, local_files_only=True, attn_implementation="eager"
    ).to(device)
    rng = np.random.default_rng(sentiment.seed)
    train = read_examples(sentiment.folder, "train")
    order = rng.permutation(len(train))[: sentiment.examples]
    _tune(model, tokenizer, [train[i] for i in order], sentiment)
    return _accuracy(model, tokenizer, read_examples(sentiment.folder, "dev"), sentiment.rows)


def _tune(model: nn.Module, tokenizer: Any, examples: list, sentiment: Sentiment) -> None:  # noqa: ANN401
    adam = torch.optim.AdamW(model.parameters(), lr=sentiment.rate, weight_decay=0.01)
    batches = -(-len(examples) // sentiment.rows)
    steps = batches * sentiment.epochs
    model.train()
    for step in range(steps):
        done = step / steps
        for group in adam.param_groups:
            group["lr"] = sentiment.rate * min(1.0, (step + 1) / (0.1 * steps), 1 - done)
        start = step % batches * sentiment.rows
        rows = examples[start : start + sentiment.rows]
        scores = _scores(model, tokenizer, rows, CUT)
        labels = torch.tensor([label for _, label in rows], device=scores.device)
        nn.functional.cross_entropy(scores, labels).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        adam.zero_grad()


def _scores(
    model: nn.Module,
    tokenizer: Any,  # noqa: ANN401
    rows: list,
    longest: int | None = None,
) -> torch.Tensor:
    """Return the logits of phrases, truncated to ``longest`` tokens if given."""
    device = next(model.parameters()).device
    inputs = tokenizer(
        [text for text, _ in rows],
        padding=True,
        truncation=True,
        max_length=longest,
        return_token_type_ids=False,
        return_tensors="pt",
    ).to(device)
    with half_precision(device):
        return model(**inputs).logits.float()


@torch.no_grad()
def _accuracy(model: nn.Module, tokenizer: Any, examples: list, rows: int) -> float:  # noqa: ANN401
    model.eval()
    right = 0
    for start in range(0, len(examples), rows):
        chunk = examples[start : start + rows]
        guesses = _scores(model, tokenizer, chunk).argmax(-1).tolist()
        right += sum(
            prediction == label for prediction, (_, label) in zip(guesses, chunk, strict=True)
        )
    return right / len(examples)
