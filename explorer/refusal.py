"""Refusals, the errors whose message is written for readers, and what to do about each of them."""

import errno
import logging
import re
import secrets
from dataclasses import dataclass
from functools import cache

from explorer.assets import ROOT, read_in

DOCUMENT = ROOT / "docs" / "errors.md"
GAP = "…"
"""Stands in a row's sentence for what a refusal fills in: a name, a number, a text."""
LEAST = 12
"""Letters of a row's sentence that a refusal must have in common with it."""
logger = logging.getLogger(__name__)
NO_ROOM = ("memory", "can't start new thread")
"""Parts of the ``RuntimeError`` messages of torch and Python when memory is short."""
FAILED = "logged as {mark} in the process where it happened: {kind}: {text}"


@dataclass(frozen=True, slots=True)
class Remedy:
    """A kind of refusal: its sentence, with gaps, the reason, and what to do."""

    n: int
    section: str
    sentence: str
    why: str
    what_to_do: str
    pieces: tuple[str, ...]
    """The parts of the sentence between its gaps."""

    @property
    def note(self) -> str:
        """The remedy in a sentence, with the place of its row."""
        return f"What to do: {self.what_to_do} (docs/errors.md, “{self.section}”)."

    @property
    def anchor(self) -> str:
        """The id of the row on the page of all refusals."""
        return f"refusal-{self.n}"

    def fits(self, refusal: str) -> bool:
        """Return whether a refusal has all pieces of this sentence, in their order."""
        if not all(piece in refusal for piece in self.pieces):
            return False
        return bool(re.search(".*".join(map(re.escape, self.pieces)), refusal, re.DOTALL))


@cache
def remedies() -> tuple[Remedy, ...]:
    """Return the rows of docs/errors.md in their order.

    Raises:
        Broken: the document cannot be read.
    """
    matching: list[Remedy] = []
    section = ""
    with read_in(DOCUMENT):
        for line in DOCUMENT.read_text("utf-8").splitlines():
            if line.startswith("## "):
                section = line.removeprefix("## ")
            elif line.startswith("| ") and line != "| it says | why | what to do |":
                sentence, why, what_to_do = (cell.strip() for cell in line.strip("|").split("|"))
                pieces = _pieces(sentence)
                matching.append(
                    Remedy(len(matching) + 1, section, sentence, why, what_to_do, pieces)
                )
    return tuple(matching)


def _pieces(sentence: str) -> tuple[str, ...]:
    return tuple(p for p in sentence.rstrip(".").split(GAP) if p.strip(" .“”'"))


def remedy_for(refusal: str) -> Remedy | None:
    """Return the row that has most of a refusal's words, or None if no row has enough of them."""
    fitting = [remedy for remedy in remedies() if remedy.fits(refusal)]
    best = max(fitting, key=_n_letters, default=None)
    return best if best and _n_letters(best) >= LEAST else None


def _n_letters(remedy: Remedy) -> int:
    return sum(map(len, remedy.pieces))


class Refusal(Exception):
    """Refusal of a request: the message is one sentence, shown unchanged to the reader.

    Every other exception is a failure of the program: it is logged, and its text is not shown.
    A note, which tracebacks print, says what to do; the page links to the same row.
    """

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        if remedy := remedy_for(str(self)):
            self.add_note(remedy.note)


class Failed(Exception):
    """Stand-in for an error that was raised and logged in another process."""


def carried(error: BaseException | None) -> BaseException:
    """Return an error that can be pickled to another process and raised there again.

    A refusal stays a refusal. Anything else is logged here, since a library's own error may not
    survive pickling. Out of memory keeps its type: the page has its own sentence for it.
    """
    if isinstance(error, Refusal):
        return error
    mark = secrets.token_hex(4)
    logger.error("failure %s", mark, exc_info=error)
    message = FAILED.format(mark=mark, kind=type(error).__name__, text=error)
    types = (kind for kind in (MemoryError, RuntimeError) if isinstance(error, kind))
    return next(types, Failed)(message)


def is_of_memory(error: BaseException) -> bool:
    """Return whether memory was short; torch has no exception type for it on a processor."""
    if isinstance(error, RuntimeError):
        return any(sign in str(error).lower() for sign in NO_ROOM)
    return isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM


def brief(value: object, max_length: int = 60) -> str:
    """Shorten untrusted text for quotation in a message."""
    text = str(value)
    return text if len(text) <= max_length else f"{text[: max_length - 1]}…"
