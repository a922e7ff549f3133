"""Refusals, the errors whose message is written for readers, and what to do about each of them."""

import errno
import logging
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from explorer.assets import ROOT, read_in

DOCUMENT = ROOT / "docs" / "errors.md"
ROW = re.compile(r'\| <a id="([a-z0-9-]+)"></a>`\1` \| (.+) \| (.+) \| (.+) \|')
"""Row of a table: code, sentence, reason, remedy."""
logger = logging.getLogger(__name__)
NO_ROOM = ("memory", "can't start new thread")
"""Parts of the ``RuntimeError`` messages of torch and Python when memory is short."""
FAILED = "logged as {mark} in the process where it happened: {kind}: {text}"


@dataclass(frozen=True, slots=True)
class Remedy:
    """Row of docs/errors.md: a kind of refusal, its sentence, the reason, and what to do."""

    code: str
    """The kind of refusal, in the address of its row: ``empty-text``."""
    section: str
    sentence: str
    """The words of the refusal; ``…`` replaces names, numbers and texts."""
    why: str
    what_to_do: str

    @property
    def note(self) -> str:
        """The remedy in a sentence, with the place of its row."""
        return f"What to do: {self.what_to_do} (docs/errors.md, “{self.section}”)."


@cache
def remedies() -> dict[str, Remedy]:
    """Return the rows of docs/errors.md by code, in their order.

    Raises:
        Broken: the document cannot be read.
    """
    rows: dict[str, Remedy] = {}
    section = ""
    with read_in(DOCUMENT):
        for line in DOCUMENT.read_text("utf-8").splitlines():
            if line.startswith("## "):
                section = line.removeprefix("## ")
            elif row := ROW.fullmatch(line):
                rows[row[1]] = Remedy(row[1], section, *row.groups()[1:])
    return rows


class Sentence(str):
    """Sentence of a refusal, with the code of its row in docs/errors.md.

    ``str`` and ``format`` keep the code. Parts of it, sums and JSON are plain text.

    Example:
        >>> Sentence("wrong-type", "“{name}” must be {kind}.").format(name="text", kind="a list")
        '“text” must be a list.'
        >>> Sentence("empty-text", "There is no text.").code
        'empty-text'
    """

    __slots__ = ("code",)
    code: str

    def __new__(cls, code: str, text: str) -> "Sentence":
        """Return the text with its code."""
        sentence = super().__new__(cls, text)
        sentence.code = code
        return sentence

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        """Return the arguments of the constructor, so that it pickles to another process."""
        return self.code, "".join(self)

    def __str__(self) -> str:
        """Return the sentence itself, so that the text of an exception keeps its code."""
        return self

    def format(self, *args: object, **kwargs: object) -> "Sentence":
        """Return the sentence with its gaps filled."""
        return Sentence(self.code, super().format(*args, **kwargs))


def code_of(sentence: str) -> str:
    """Return the code of a refusal's sentence; empty for any other text."""
    return sentence.code if isinstance(sentence, Sentence) else ""


def joined(sentences: Iterable[str]) -> Sentence:
    """Return several sentences as one refusal, whose code is that of the first."""
    parts = [*sentences]
    return Sentence(code_of(parts[0]) if parts else "", " ".join(parts))


class Refusal(Exception):
    """Refusal of a request: the message is one sentence, shown unchanged to the reader.

    Every other exception is a failure of the program: it is logged, and its text is not shown.
    A note, which tracebacks print, says what to do; the page links to the same row.

    Attributes:
        sentence: The message.
        code: The kind of refusal, which identifies its row in docs/errors.md: ``empty-text``.
            Programs compare it in place of the text.
    """

    def __init__(self, sentence: Sentence) -> None:
        super().__init__(sentence)
        self.sentence, self.code = sentence, code_of(sentence)
        if remedy := remedies().get(self.code):
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
