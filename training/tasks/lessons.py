"""The two lessons: what a batch of each task costs the network, and how its dev set is scored."""

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
"""To which phrases are read in training; dev sentences are scored whole."""
WINDOW, STRIDE = 128, 32
DEV_QUESTIONS = 1000
Scores = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Task:
    """One task: its network, its data, its loss, its score; and how much of it is a full run."""

    network: Any
    steps: int
    rows: int
    rate: float
    examples: Callable[[Path], list[Any]]
    length: Callable[[Any], int]
    loss: Callable[[Any, nn.Module, list[Any]], Tensor]
    """(tokenizer, network, examples) -> the loss of a batch."""
    score: Callable[[Any, nn.Module, Path], Scores]
    """(tokenizer, network, folder) -> by its name a score of dev, its interval, its count, what a
    guess reaches that reads nothing (the commoner label, the passage's first words), and the work:
    tokens of a pass and passes of an example, both on average."""
    data: str
    reads: Mapping[str, int]
    """How much of a text it reads at once, in tokens, as the card says it."""


def _run(tokenizer: Any, network: nn.Module, parts: Sequence[tuple]) -> Any:  # noqa: ANN401
    """The network over (ids, segments) rows of one batch."""
    device = next(network.parameters()).device
    names = ("input_ids", "token_type_ids")
    read = names if getattr(network.config, "type_vocab_size", 0) > 1 else names[:1]
    rows = [
        {name: torch.tensor([row]) for name, row in zip(read, part, strict=False)} for part in parts
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
        right += sum(made == label for made, (_, label) in zip(guesses, rows, strict=True))
    low, high = share_interval(right, len(dev))
    positive = sum(label for _, label in dev) / len(dev)
    score = {"value": right / len(dev), "interval": [low, high], "count": len(dev)}
    work = {"tokens": float(np.mean([len(row) for row in ids])), "passes": 1.0}
    return {"accuracy": {**score, "guess": max(positive, 1 - positive), **work}}


def _cuts(folder: Path) -> list[SquadQuestion]:
    """Every training question with one cut of its passage, the same for each model."""
    rng = random.Random(7)
    return [cut(question, rng) for question in questions(folder, "train")]


def _question_loss(tokenizer: Any, network: nn.Module, examples: list) -> Tensor:  # noqa: ANN401
    parts = [
        windows(tokenizer, one.question[:300], one.passage, WINDOW + 64, STRIDE)[0]
        for one in examples
    ]
    out = _run(tokenizer, network, [(part.ids, part.segments) for part in parts])
    aims = [_aim(part, one) for part, one in zip(parts, examples, strict=True)]
    losses = [
        nn.functional.cross_entropy(
            logits.float(),
            torch.tensor([aim[side] for aim in aims], device=logits.device),
            ignore_index=-1,
        )
        for side, logits in enumerate((out.start_logits, out.end_logits))
    ]
    return torch.stack(losses).mean()


def _aim(part: Window, one: SquadQuestion) -> tuple[int, int]:
    """The tokens at which the answer begins and ends; (-1, -1) where the window lacks it."""
    end = one.start + len(one.answers[0])
    inside = [
        i
        for i, span in enumerate(part.spans)
        if span is not None and span[0] < end and span[1] > one.start
    ]
    return (inside[0], inside[-1]) if inside else (-1, -1)


@torch.inference_mode()
def _answers(tokenizer: Any, network: nn.Module, folder: Path) -> Scores:  # noqa: ANN401
    dev = questions(folder, "dev")
    chosen = np.random.default_rng(7).permutation(len(dev))[:DEV_QUESTIONS]
    said, guessed, passes = [], [], 0
    for one in (dev[i] for i in sorted(chosen)):
        parts = windows(tokenizer, one.question[:300], one.passage, WINDOW, STRIDE)
        passes += len(parts)
        out = _run(tokenizer, network, [(part.ids, part.segments) for part in parts])
        logits = torch.stack([out.start_logits, out.end_logits], -1).float().cpu().numpy()
        best = answer_spans(parts, logits, 1).best[0]
        answer = one.passage[best.start : best.end]
        said.append((exact(answer, one.answers), overlap(answer, one.answers)))
        begin = " ".join(one.passage.split()[:3])
        guessed.append((exact(begin, one.answers), overlap(begin, one.answers)))
    columns = dict(zip(("em", "f1"), zip(*said, strict=True), strict=True))
    guesses = dict(zip(("em", "f1"), np.mean(guessed, 0).tolist(), strict=True))
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
"""By the name that a folder of adapters has."""
