"""What a task is learned from: SST-2 phrases, and SQuAD questions with a cut of their passage."""

import json
import lzma
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer.refusal import Refusal
from training.report.sentiment import read_examples

CUT = 60
"""Words of a passage that are read in training; the answer lies anywhere among them."""


@dataclass(frozen=True, slots=True)
class SquadQuestion:
    """A question, its passage, and the answers that count."""

    question: str
    passage: str
    answers: tuple[str, ...]
    start: int
    """Where the first answer begins in the passage."""


def phrases(folder: Path, part: str) -> list[tuple[str, int]]:
    """SST-2: (phrase, 1 if it is positive) pairs."""
    return read_examples(folder, part)


def questions(folder: Path, part: str) -> list[SquadQuestion]:
    """SQuAD v1.1: every question of ``train`` or ``dev`` that has an answer.

    Raises:
        Refusal: neither the plain nor the compressed file is there.
    """
    found = []
    for article in _squad(folder, part)["data"]:
        for paragraph in article["paragraphs"]:
            for asked in paragraph["qas"]:
                answers = tuple(answer["text"] for answer in asked["answers"])
                start = int(asked["answers"][0]["answer_start"])
                found.append(SquadQuestion(asked["question"], paragraph["context"], answers, start))
    return found


def _squad(folder: Path, part: str) -> dict[str, Any]:
    plain = f"squad-v1.1-{part}.json"
    for name, opener in ((f"{plain}.xz", lzma.open), (plain, open)):
        if (folder / name).exists():
            with opener(folder / name, "rt", encoding="utf-8") as file:
                return json.load(file)
    raise Refusal(f"There is no {plain} in {folder}.")


def cut(question: SquadQuestion, rng: random.Random, words: int = CUT) -> SquadQuestion:
    """The same question to a stretch of its passage that holds the first answer, somewhere."""
    text, answer = question.passage, question.answers[0]
    places = [0, *(i + 1 for i, letter in enumerate(text) if letter == " ")]
    before = [i for i, place in enumerate(places) if place <= question.start]
    after = [i for i, place in enumerate(places) if place < question.start + len(answer)]
    first, last = before[-1], after[-1]
    low, high = max(0, last + 1 - words), min(first, max(0, len(places) - words))
    begin = rng.randint(min(low, high), max(min(low, high), high))
    end = places[begin + words] - 1 if begin + words < len(places) else len(text)
    start = question.start - places[begin]
    return SquadQuestion(question.question, text[places[begin] : end], (answer,), start)
