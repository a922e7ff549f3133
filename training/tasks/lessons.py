"""The two tasks: losses of their batches, and scores on their dev sets."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AutoModelForQuestionAnswering, AutoModelForSequenceClassification

from explorer.analysis.measures import share_interval
from explorer.analysis.tasks.tuned import answer_spans
from training.tasks.data import phrases, questions
from training.tasks.passages import (
    STRIDE,
    WINDOW,
    inputs_of_rows,
    known_inputs,
    passage_batch,
    passage_loss,
    passage_windows,
)
from training.tasks.score import exact, mean_interval, overlap

PHRASE_TOKENS = 64
"""Maximum length of a phrase in training; dev sentences are scored whole."""
DEV_QUESTIONS = 1000
Scores = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Task:
    """A task: network class, data, loss, score, and the size of a full run."""

    network: Any
    steps: int
    rows: int
    rate: float
    examples: Callable[[Path], list[Any]]
    length: Callable[[Any], int]
    batch: Callable[[Any, list[Any]], Any]
    """(tokenizer, examples) -> the tensors of a batch."""
    loss: Callable[[nn.Module, Any], Tensor]
    """(network, batch) -> loss."""
    score: Callable[[Any, nn.Module, Path], Scores]
    """(tokenizer, network, folder) -> dev scores by name, each with its interval, its count, a
    baseline that reads nothing (the more frequent label, the passage's first words), and the mean
    tokens of a pass and passes of an example."""
    data: str
    max_tokens: Mapping[str, int]
    """Input lengths in tokens, for the card."""


class PhraseBatch(NamedTuple):
    """Phrases with their labels."""

    inputs: dict[str, Tensor]
    labels: Tensor


def _phrase_batch(tokenizer: Any, examples: Sequence[tuple[str, int]]) -> PhraseBatch:  # noqa: ANN401
    texts = [text for text, _ in examples]
    ids = tokenizer(texts, truncation=True, max_length=PHRASE_TOKENS)["input_ids"]
    labels = torch.tensor([label for _, label in examples])
    return PhraseBatch(_phrase_inputs(tokenizer, ids), labels)


def _phrase_inputs(tokenizer: Any, ids: list[list[int]]) -> dict[str, Tensor]:  # noqa: ANN401
    return inputs_of_rows(tokenizer, [(row, [0] * len(row)) for row in ids])


def _phrase_loss(network: nn.Module, batch: PhraseBatch) -> Tensor:
    logits = network(**known_inputs(network, batch.inputs)).logits.float()
    return nn.functional.cross_entropy(logits, batch.labels)


def _run(network: nn.Module, inputs: dict[str, Tensor]) -> Any:  # noqa: ANN401
    device = next(network.parameters()).device
    inputs = known_inputs(network, inputs)
    return network(**{name: value.to(device) for name, value in inputs.items()})


@torch.inference_mode()
def _accuracy(tokenizer: Any, network: nn.Module, folder: Path) -> Scores:  # noqa: ANN401
    dev, right = phrases(folder, "dev"), 0
    ids = tokenizer([text for text, _ in dev])["input_ids"]
    for start in range(0, len(dev), 32):
        rows = dev[start : start + 32]
        inputs = _phrase_inputs(tokenizer, ids[start : start + 32])
        guesses = _run(network, inputs).logits.float().argmax(-1).tolist()
        right += sum(
            prediction == label for prediction, (_, label) in zip(guesses, rows, strict=True)
        )
    low, high = share_interval(right, len(dev))
    positive = sum(label for _, label in dev) / len(dev)
    score = {"value": right / len(dev), "interval": [low, high], "count": len(dev)}
    work = {"tokens": float(np.mean([len(row) for row in ids])), "passes": 1.0}
    return {"accuracy": {**score, "guess": max(positive, 1 - positive), **work}}


@torch.inference_mode()
def _answers(tokenizer: Any, network: nn.Module, folder: Path) -> Scores:  # noqa: ANN401
    dev = questions(folder, "dev")
    chosen = np.random.default_rng(7).permutation(len(dev))[:DEV_QUESTIONS]
    scored, baseline, passes = [], [], 0
    for question in (dev[i] for i in sorted(chosen)):
        parts = passage_windows(tokenizer, question)
        passes += len(parts)
        rows = [(part.ids, part.segments) for part in parts]
        out = _run(network, inputs_of_rows(tokenizer, rows))
        logits = torch.stack([out.start_logits, out.end_logits], -1).float().cpu().numpy()
        best = answer_spans(parts, logits, 1).best[0]
        answer = question.passage[best.start : best.end]
        scored.append((exact(answer, question.answers), overlap(answer, question.answers)))
        begin = " ".join(question.passage.split()[:3])
        baseline.append((exact(begin, question.answers), overlap(begin, question.answers)))
    columns = dict(zip(("em", "f1"), zip(*scored, strict=True), strict=True))
    guesses = dict(zip(("em", "f1"), np.mean(baseline, 0).tolist(), strict=True))
    return {
        name: {
            "value": float(np.mean(values)),
            "interval": list(mean_interval(values)),
            "count": len(values),
            "guess": guesses[name],
            "tokens": float(WINDOW),
            "passes": passes / len(values),
        }
        for name, values in columns.items()
    }


TASKS: dict[str, Task] = {
    "sst2": Task(
        AutoModelForSequenceClassification,
        6000,
        32,
        1e-3,
        lambda folder: phrases(folder, "train"),
        lambda example: len(example[0]),
        _phrase_batch,
        _phrase_loss,
        _accuracy,
        f"SST-2 (Socher et al. 2013, by GLUE): 67,349 phrases, in training to their first "
        f"{PHRASE_TOKENS} tokens; dev 872 sentences, whole",
        {"phrase_tokens": PHRASE_TOKENS},
    ),
    "squad": Task(
        AutoModelForQuestionAnswering,
        3000,
        32,
        3e-3,
        lambda folder: questions(folder, "train"),
        lambda example: len(example.passage) + len(example.question),
        passage_batch,
        passage_loss,
        _answers,
        f"SQuAD v1.1 (Rajpurkar et al. 2016, CC BY-SA 4.0): 87,433 questions on their "
        f"whole passages; {DEV_QUESTIONS:,} questions of dev",
        {"window": WINDOW, "stride": STRIDE},
    ),
}
"""Tasks by the names of the adapters' folders."""
