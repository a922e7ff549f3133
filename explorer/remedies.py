"""Rows of docs/errors.md: why a request is refused, and what to do about it."""

import re
from dataclasses import dataclass
from functools import cache

from explorer.assets import ROOT, read_in

DOCUMENT = ROOT / "docs" / "errors.md"
GAP = "…"
"""Stands in a row's sentence for what a refusal fills in: a name, a number, a text."""
LEAST = 12
"""Letters of a row's sentence that a refusal must have in common with it."""


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
        pattern = ".*".join(map(re.escape, self.pieces))
        return all(piece in refusal for piece in self.pieces) and bool(
            re.search(pattern, refusal, re.DOTALL)
        )


@cache
def remedies() -> tuple[Remedy, ...]:
    """Return the rows of docs/errors.md in their order.

    Raises:
        Broken: the document cannot be read.
    """
    found: list[Remedy] = []
    section = ""
    with read_in(DOCUMENT):
        for line in DOCUMENT.read_text("utf-8").splitlines():
            if line.startswith("## "):
                section = line.removeprefix("## ")
            elif line.startswith("| ") and line != "| it says | why | what to do |":
                sentence, why, what_to_do = (cell.strip() for cell in line.strip("|").split("|"))
                pieces = _pieces(sentence)
                found.append(Remedy(len(found) + 1, section, sentence, why, what_to_do, pieces))
    return tuple(found)


def _pieces(sentence: str) -> tuple[str, ...]:
    return tuple(p for p in sentence.rstrip(".").split(GAP) if p.strip(" .“”'"))


def remedy_for(refusal: str) -> Remedy | None:
    """Return the row that has most of a refusal's words, or None if no row has enough of them."""
    fitting = [remedy for remedy in remedies() if remedy.fits(refusal)]
    best = max(fitting, key=_n_letters, default=None)
    return best if best and _n_letters(best) >= LEAST else None


def _n_letters(remedy: Remedy) -> int:
    return sum(map(len, remedy.pieces))
