"""Data of the tasks: SST-2 phrases, and SQuAD questions with their passages."""

import json
import lzma
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer.refusal import Refusal
from training.report.sentiment import read_examples


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
