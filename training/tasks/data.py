"""Training data of the tasks: SST-2 phrases, and SQuAD questions with an excerpt of the passage."""

import json
import lzma
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer.refusal import Refusal
from training.report.sentiment import read_examples

CUT = 60
"""Words of a passage excerpt in training; the answer lies anywhere in it."""


@dataclass(frozen=True, slots=True)
class SquadQuestion:
    """A question, its passage, and the accepted answers."""

    question: str
    passage: str
    answers: tuple[str, ...]
    start: int
    """Character offset of the first answer in the passage."""


def phrases(folder: Path, part: str) -> list[tuple[str, int]]:
    """Return SST-2 as (phrase, 1 if it is positive) pairs."""
    return read_examples(folder, part)


def questions(folder: Path, part: str) -> list[SquadQuestion]:
    """Return the answerable questions of ``train`` or ``dev`` of SQuAD v1.1.

    Raises:
        Refusal: Neither the plain nor the compressed file is there.
    """
    collected = []
    for article in _squad(folder, part)["data"]:
        for paragraph in article["paragraphs"]:
            for entry in paragraph["qas"]:
                answers = tuple(answer["text"] for answer in entry["answers"])
                start = int(entry["answers"][0]["answer_start"])
                collected.append(
                    SquadQuestion(entry["question"], paragraph["context"], answers, start)
                )
    return collected


def _squad(folder: Path, part: str) -> dict[str, Any]:
    plain = f"squad-v1.1-{part}.json"
    for name, opener in ((f"{plain}.xz", lzma.open), (plain, open)):
        if (folder / name).exists():
            with opener(folder / name, "rt", encoding="utf-8") as file:
                return json.load(file)
    raise Refusal(f"There is no {plain} in {folder}.")


def cut(question: SquadQuestion, rng: random.Random, words: int = CUT) -> SquadQuestion:
    """Return the question with a random excerpt of its passage that contains the first answer."""
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
