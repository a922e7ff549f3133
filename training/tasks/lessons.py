"""The two tasks: losses of their batches, and scores on their dev sets."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AutoModelForQuestionAnswering, AutoModelForSequenceClassification

from explorer.analysis.measures import share_interval
from explorer.analysis.tasks.tuned import answer_spans
from explorer.models.forward import padded
from explorer.models.task_heads.windows import Window, windows
from training.tasks.data import CUT, SquadQuestion, cut, phrases, questions
from training.tasks.score import exact, mean_interval, overlap

PHRASE_TOKENS = 64
"""Maximum length of a phrase in training; dev sentences are scored whole."""
WINDOW, STRIDE = 128, 32
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
    loss: Callable[[Any, nn.Module, list[Any]], Tensor]
    """(tokenizer, network, examples) -> loss of a batch."""
    score: Callable[[Any, nn.Module, Path], Scores]
    """(tokenizer, network, folder) -> dev scores by name, each with its interval, its count, a
    baseline that reads nothing (the more frequent label, the passage's first words), and the mean
    tokens of a pass and passes of an example."""
    data: str
    max_tokens: Mapping[str, int]
    """Input lengths in tokens, for the card."""


def _run(tokenizer: Any, network: nn.Module, parts: Sequence[tuple]) -> Any:  # noqa: ANN401
    """Run the network on a batch of (ids, segments) rows."""
    device = next(network.parameters()).device
    names = ("input_ids", "token_type_ids")
    used = names if getattr(network.config, "type_vocab_size", 0) > 1 else names[:1]
    rows = [
        {name: torch.tensor([row]) for name, row in zip(used, part, strict=False)} for part in parts
    ]
    inputs = padded(rows, int(tokenizer.pad_token_id))
    return network(**{name: value.to(device) for name, value in inputs.items()})


def _phrase_logits(network: nn.Module, tokenizer: Any, ids: list[list[int]]) -> Tensor:  # noqa: ANN401
    return _run(tokenizer, network, [(row, [0] * len(row)) for row in ids]).logits.float()


def _phrase_loss(tokenizer: Any, network: nn.Module, examples: list) -> Tensor:  # noqa: ANN401
    texts = [text for text, _ in examples]
    ids = tokenizer(texts, truncation=True, max_length=PHRASE_TOKENS)["input_ids"]
    logits = _phrase_logits(network, tokenizer, ids)
    labels = torch.tensor([label for _, label in examples], device=logits.device)
    return nn.functional.cross_entropy(logits, labels)


@torch.inference_mode()
def _accuracy(tokenizer: Any, network: nn.Module, folder: Path) -> Scores:  # noqa: ANN401
    dev, right = phrases(folder, "dev"), 0
    ids = tokenizer([text for text, _ in dev])["input_ids"]
    for start in range(0, len(dev), 32):
        rows = dev[start : start + 32]
        guesses = _phrase_logits(network, tokenizer, ids[start : start + 32]).argmax(-1).tolist()
        right += sum(
            prediction == label for prediction, (_, label) in zip(guesses, rows, strict=True)
        )
    low, high = share_interval(right, len(dev))
    positive = sum(label for _, label in dev) / len(dev)
    score = {"value": right / len(dev), "interval": [low, high], "count": len(dev)}
    work = {"tokens": float(np.mean([len(row) for row in ids])), "passes": 1.0}
    return {"accuracy": {**score, "guess": max(positive, 1 - positive), **work}}


def _cuts(folder: Path) -> list[SquadQuestion]:
    """Return every training question with one excerpt of its passage, the same for each model."""
    rng = random.Random(7)
    return [cut(question, rng) for question in questions(folder, "train")]


def _question_loss(tokenizer: Any, network: nn.Module, examples: list) -> Tensor:  # noqa: ANN401
    parts = [
        windows(tokenizer, question.question[:300], question.passage, WINDOW + 64, STRIDE)[0]
        for question in examples
    ]
    out = _run(tokenizer, network, [(part.ids, part.segments) for part in parts])
    targets = [
        _answer_tokens(part, question) for part, question in zip(parts, examples, strict=True)
    ]
    losses = [
        nn.functional.cross_entropy(
            logits.float(),
            torch.tensor([aim[side] for aim in targets], device=logits.device),
            ignore_index=-1,
        )
        for side, logits in enumerate((out.start_logits, out.end_logits))
    ]
    return torch.stack(losses).mean()


def _answer_tokens(part: Window, question: SquadQuestion) -> tuple[int, int]:
    """Return the tokens at which the answer begins and ends; (-1, -1) if the window lacks it."""
    end = question.start + len(question.answers[0])
    inside = [
        i
        for i, span in enumerate(part.spans)
        if span is not None and span[0] < end and span[1] > question.start
    ]
    return (inside[0], inside[-1]) if inside else (-1, -1)


@torch.inference_mode()
def _answers(tokenizer: Any, network: nn.Module, folder: Path) -> Scores:  # noqa: ANN401
    dev = questions(folder, "dev")
    chosen = np.random.default_rng(7).permutation(len(dev))[:DEV_QUESTIONS]
    scored, baseline, passes = [], [], 0
    for question in (dev[i] for i in sorted(chosen)):
        parts = windows(tokenizer, question.question[:300], question.passage, WINDOW, STRIDE)
        passes += len(parts)
        out = _run(tokenizer, network, [(part.ids, part.segments) for part in parts])
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
        _cuts,
        lambda example: len(example.passage) + len(example.question),
        _question_loss,
        _answers,
        f"SQuAD v1.1 (Rajpurkar et al. 2016, CC BY-SA 4.0): 87,433 questions, in training to {CUT} "
        f"words of their passage; {DEV_QUESTIONS:,} questions of dev",
        {"window": WINDOW, "stride": STRIDE},
    ),
}
"""Tasks by the names of the adapters' folders."""
