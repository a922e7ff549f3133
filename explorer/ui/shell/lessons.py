"""Lessons: what each asks, opens and explains, from one data file; and their route."""

import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from starlette.responses import JSONResponse
from starlette.routing import Route

from explorer.assets import DATA, read_in
from explorer.links.codec import from_params
from explorer.ui.shell.lesson_strings import LESSONS

WORD = "{word}"
"""Place of the student's own word in a text."""


@dataclass(frozen=True, slots=True)
class Act:
    """One view that a student opens on the page, and what is done there."""

    link: dict[str, str]
    """Fields of the view's link."""
    lit: str
    """CSS selector of the picture that is lit."""
    do: str
    pair: tuple[str, str] | tuple[()] = ()
    """Word whose attention is read, and the word that it may go to."""
    miss: str = ""
    """Sentence if it goes elsewhere, to ``{to}``; empty if that is an answer too."""
    shows: str = ""
    """Text that the page shows when the student is done, if it is not the link's."""

    def __post_init__(self) -> None:
        text = self.link.get("text", "").replace(WORD, "word")
        fields = self.link | ({"text": text} if text else {})
        state, repaired = from_params(fields)
        if repaired or any(not hasattr(state, name) for name in fields):
            raise ValueError(f"{self.link} is no view")


@dataclass(frozen=True, slots=True)
class Lesson:
    """One lesson: a question with a guess, one look at the page, and a finding."""

    name: str
    """Its name in links."""
    title: str
    minutes: int
    asks: str
    """Open question, asked before and after."""
    question: str
    choices: tuple[tuple[str, str], ...]
    """Answers to guess from: what the page's numbers are read as, and how it reads."""
    acts: tuple[Act, ...]
    found: str
    """Explanation of the answer."""
    claim: str
    contrary: str
    word: str = ""
    """Label of the field for the student's own word; empty if there is none."""

    def __post_init__(self) -> None:
        keys = {key for key, _ in self.choices}
        if len(keys) != len(self.choices) or len(keys) < 2 or not self.acts:
            raise ValueError(f"{self.name} needs two different choices and a view")
        if not self.word and any(WORD in act.link.get("text", "") for act in self.acts):
            raise ValueError(f"{self.name} asks for no word")


@cache
def lessons(path: Path = DATA / "lessons.json") -> tuple[Lesson, ...]:
    """Return the lessons in their order.

    Raises:
        Broken: the file is missing or damaged, or a lesson opens what is no view.
    """
    with read_in(path):
        rows = json.loads(path.read_text("utf-8"))["lessons"]
        found = tuple(map(_lesson, rows))
        if len({lesson.name for lesson in found}) != len(found):
            raise ValueError("two lessons have one name")
        return found


def _lesson(row: dict[str, Any]) -> Lesson:
    acts = tuple(Act(**act) for act in row["acts"])
    choices = tuple((str(key), str(label)) for key, label in row["choices"])
    return Lesson(**{**row, "acts": acts, "choices": choices})


def lessons_route() -> Route:
    """Return the route of all lessons with the panel's text, for the browser."""
    content = {"texts": LESSONS, "lessons": [asdict(lesson) for lesson in lessons()]}
    return Route("/lessons", lambda _request: JSONResponse(content))
