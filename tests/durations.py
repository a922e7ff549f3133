"""``python -m tests.durations FILE [BEFORE]``: write where the time goes into ``docs/testing.md``.

FILE and BEFORE are what ``python -m tests --all --junitxml=FILE`` wrote. Seconds are those of the
two test processes together.
"""

import ast
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "testing.md"
BEGIN, END = "<!-- durations: python -m tests.durations -->\n", "<!-- end of durations -->\n"
N_LONGEST = 12
PURPOSES = {
    "analysis": "numbers against independent computations; laws on drawn inputs",
    "benchmarks": "what measures is right (second job)",
    "browser": "the page in a real Chromium",
    "deploy": "Space, container, proxy, wheel (second job)",
    "inference": "runs, their cache, batches, the queue, backends",
    "js": "browser code in node; saved scripts and notebooks",
    "library": "public functions equal endpoints; the shell",
    "lists": "lists of texts: reading, scores, statistics, the tab",
    "links": "a link holds what the reader chose",
    "middleware": "requests, limits, Gradio's internals",
    "models": "tokens, weights, forward passes against transformers",
    "needs": "what the tests themselves need",
    "scheduling": "the queue of jobs, its stop, and the measurement lock",
    "serving": "the start, and the cluster",
    "timing": "the measuring protocol; other runtimes (second job)",
    "training": "the recipe of the bundled family (second job)",
    "ui": "handlers and sentences, without a browser",
    "views": "figures and HTML",
    "": "documents, architecture, every surface at once",
}
"""The purpose of each folder of tests; the empty name is ``tests`` itself."""


@dataclass
class Spent:
    """The tests of one file or folder and their seconds."""

    tests: int = 0
    seconds: float = 0.0


def by_file(report: Path) -> dict[str, Spent]:
    """Return the time by file, such as ``browser/test_page``."""
    found = defaultdict(Spent)
    for case in ElementTree.parse(report).iter("testcase"):
        file = found[case.get("classname").removeprefix("tests.").replace(".", "/")]
        file.tests += 1
        file.seconds += float(case.get("time"))
    return dict(found)


def by_folder(files: dict[str, Spent]) -> dict[str, Spent]:
    """Add up the time by folder, the longest first."""
    folders = defaultdict(Spent)
    for name, spent in files.items():
        first, _, rest = name.partition("/")
        folder = folders[first if rest else ""]
        folder.tests += spent.tests
        folder.seconds += spent.seconds
    return dict(sorted(folders.items(), key=lambda item: -item[1].seconds))


def purpose(name: str) -> str:
    """Return the first line of a test file's docstring; nothing for a file that is gone."""
    path = ROOT / "tests" / f"{name}.py"
    told = ast.get_docstring(ast.parse(path.read_text("utf-8"))) if path.exists() else None
    return (told or "").partition("\n")[0].removesuffix(".").replace("|", "\\|")


def written(spent: Spent | None) -> str:
    """Return the two cells of a row."""
    return f"{spent.seconds:,.0f} | {spent.tests:,}" if spent else "– | –"


def table(report: Path, before: Path | None = None) -> str:
    """Return the time by folder, then the longest files, as two Markdown tables."""
    reports = [by_file(path) for path in (report, before) if path]
    folders = [by_folder(files) for files in reports]
    titles = ["s | tests", "s before | tests before"][: len(reports)]
    rule = "--:|" * 2 * len(reports)
    lines = [f"| folder | purpose | {' | '.join(titles)} |", f"|---|---|{rule}"]
    for name in folders[0]:
        cells = [written(one.get(name)) for one in folders]
        lines.append(f"| {name or '(top)'} | {PURPOSES[name]} | {' | '.join(cells)} |")
    sums = [
        Spent(sum(s.tests for s in one.values()), sum(s.seconds for s in one.values()))
        for one in folders
    ]
    lines.append(f"| **all** | | {' | '.join(map(written, sums))} |")
    lines += ["", f"| longest files | purpose | {' | '.join(titles)} |", f"|---|---|{rule}"]
    for name in sorted(reports[0], key=lambda name: -reports[0][name].seconds)[:N_LONGEST]:
        cells = [written(one.get(name)) for one in reports]
        lines.append(f"| {name} | {purpose(name)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def with_table(document: str, tables: str) -> str:
    """Return a document with the tables between its two markers."""
    before, _, rest = document.partition(BEGIN)
    return before + BEGIN + "\n" + tables + "\n" + END + rest.partition(END)[2]


if __name__ == "__main__":
    tables = table(*map(Path, sys.argv[1:3]))
    DOCUMENT.write_text(with_table(DOCUMENT.read_text("utf-8"), tables), "utf-8")
