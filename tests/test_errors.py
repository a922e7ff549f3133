"""docs/errors.md has a row for each refusal that a reader can meet."""

from pathlib import Path

from tests.refusals import refusals

ERRORS = " ".join((Path(__file__).parents[1] / "docs" / "errors.md").read_text("utf-8").split())


def test_every_refusal_is_explained():
    assert len(refusals()) > 60
    assert [piece for piece in refusals() if piece not in ERRORS] == []


def test_every_row_says_why_and_what_to_do():
    text = (Path(__file__).parents[1] / "docs" / "errors.md").read_text("utf-8")
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")]
    assert [row for row in rows if len(row) != 3 or not all(cell.strip() for cell in row)] == []
