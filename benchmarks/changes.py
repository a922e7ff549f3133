"""``python -m benchmarks changes COMMAND...``: how many random one-line changes the tests detect.

A change is made in a clone of HEAD, where the commands run in turn until one fails: the change is
detected. ``{near}`` in a command stands for the tests at the mirrored place; a command with it is
left out where there are none, and passes where pytest finds no test of its choice there. Undetected
changes are to be read: some change nothing.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.one_line import KINDS, Change, changes
from explorer.refusal import Refusal

ROOT = Path(__file__).parents[1]
SOURCES = (("explorer", "*.py"), ("assets/js", "*.js"))
NEAR = "{near}"
BROWSER_CODE = "tests/js/test_node.py"
PASSED = (0, 5)
"""Exit statuses that detect nothing; 5 is pytest's where it runs no test."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one drawn change."""

    place: str
    kind: str
    before: str
    after: str
    detected_by: str | None
    """The command that failed or took too long; None where all of them passed."""
    seconds: float

    def __str__(self) -> str:
        said = "detected" if self.detected_by else "NOT DETECTED"
        title = f"{said:12} {self.seconds:6.0f} s  {self.place} ({self.kind})"
        return "\n    ".join([title, self.before, self.after])


def add_command(commands: Any) -> None:  # noqa: ANN401 - argparse's own type is private
    """Declare the command and its options."""
    parser = commands.add_parser("changes", help="random one-line changes that tests detect")
    parser.add_argument("--seed", type=int, default=1, help="of the draws")
    parser.add_argument("--draws", type=int, default=40, help="number of changes")
    parser.add_argument("--limit", type=float, default=1200, help="seconds for each command")
    parser.add_argument("--out", type=Path, help="file for a JSON line about each change")
    parser.add_argument("commands", nargs="+", metavar="COMMAND", help="a quoted command line")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """Print each outcome as it comes, then the number of changes that were detected."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends the tests and removes the clone
    with tempfile.TemporaryDirectory() as folder:
        copy = clone(Path(folder) / "copy")
        check(chosen.commands, copy, chosen.limit)
        outcomes = []
        for change in drawn(copy, chosen.seed, chosen.draws):
            outcomes.append(outcome := tried(change, chosen.commands, copy, chosen.limit))
            sys.stdout.write(f"{outcome}\n")
            sys.stdout.flush()
            if chosen.out:
                with chosen.out.open("a") as out:
                    out.write(json.dumps({name: getattr(outcome, name) for name in FIELDS}) + "\n")
    sys.stdout.write(summary(outcomes, chosen.seed))
    return 0


FIELDS = Outcome.__slots__


def clone(copy: Path) -> Path:
    """Clone HEAD, with node's packages where they are installed."""
    subprocess.run(["git", "clone", "-q", "--shared", ROOT, copy], check=True)
    if (modules := ROOT / "node_modules").exists():
        (copy / "node_modules").symlink_to(modules.resolve())
    return copy


def drawn(root: Path, seed: int, n: int) -> list[Change]:
    """Draw changes: each kind is as likely, and each place among those of a kind."""
    found = [
        change
        for folder, pattern in SOURCES
        for path in sorted((root / folder).rglob(pattern))
        for change in changes(path)
    ]
    by_kind = [[change for change in found if change.kind == kind] for kind in KINDS]
    generator = random.Random(seed)
    return [generator.choice(generator.choice(by_kind)) for _ in range(n)]


def check(commands: Sequence[str], copy: Path, limit: float) -> None:
    """Refuse commands that fail without a change; those with ``{near}`` are parts of the others."""
    for command in commands:
        if NEAR not in command and fails(command, copy, limit):
            raise Refusal(
                f"This command fails without a change, or takes over {limit:g} s: {command}"
            )


def tried(change: Change, commands: Sequence[str], copy: Path, limit: float) -> Outcome:
    """Make a change, run the commands until one fails, and take the change back."""
    source = change.path.read_text("utf-8")
    changed, at = change.applied(source), change.line(source) - 1
    start = time.monotonic()
    write(change.path, changed)
    try:
        detected_by = next(
            (c for c in at_hand(commands, change, copy) if fails(c, copy, limit)), None
        )
    finally:
        write(change.path, source)
    place = f"{change.path.relative_to(copy)}:{at + 1}"
    before, after = (text.splitlines()[at].strip() for text in (source, changed))
    return Outcome(place, change.kind, before, after, detected_by, time.monotonic() - start)


def write(path: Path, source: str) -> None:
    """Write a source with another time, to the second, than any of its bytecode files."""
    modified = path.stat().st_mtime + 2
    path.write_text(source, "utf-8")
    os.utime(path, (modified, modified))


def at_hand(commands: Sequence[str], change: Change, copy: Path) -> Iterator[str]:
    """Yield the commands that can be run for a change, with the paths of its tests."""
    tests = " ".join(near(change.path.relative_to(copy), copy))
    for command in commands:
        if tests or NEAR not in command:
            yield command.replace(NEAR, tests)


def near(path: Path, root: Path) -> list[str]:
    """Return the tests at the mirrored place of a source: its folder, or the file of its name."""
    if path.suffix == ".js":
        return [BROWSER_CODE]
    inside = path.relative_to("explorer")
    folder = Path("tests") / inside.parent
    places = [folder / path.stem, folder / f"test_{path.stem}.py"]
    if len(inside.parts) > 1:
        places.insert(0 if len(inside.parts) > 2 else 2, folder)
    return [str(place) for place in places if (root / place).exists()][:1]


def fails(command: str, copy: Path, limit: float) -> bool:
    """Return whether a command fails or takes too long; all of its processes are ended then."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    process = subprocess.Popen(
        command,
        shell=True,
        cwd=copy,
        env=os.environ | {"PATH": path},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(limit) not in PASSED
    except subprocess.TimeoutExpired:
        return True
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def summary(outcomes: Sequence[Outcome], seed: int) -> str:
    """Return how many changes were detected, and the time that one took."""
    n, all_of = sum(o.detected_by is not None for o in outcomes), len(outcomes)
    seconds = median(o.seconds for o in outcomes)
    return f"seed {seed}: {n} of {all_of} changes detected, {seconds:.0f} s each (median)\n"
