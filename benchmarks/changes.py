"""``python -m benchmarks changes``: how many random one-line changes the tests detect.

A change is made in a clone of HEAD, where tests run until one fails: the change is detected. The
nearest of the default run come first (``benchmarks/forked.py``), then the commands in turn.
``{near}`` in a command is the tests at the mirrored place; a command with it is left out where
there are none, or passes where pytest finds no such test. ``--again`` makes the changes that an
earlier run wrote with ``--out``, and tries each first with the test that detected it. Undetected
changes are to be read: some change nothing. ``changes.jsonl`` has those of three seeds, with what
detects each, or why no input reveals it (``"equivalent"``, which ``--again`` leaves out).
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
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.forked import PASSED, Nearest, made, near
from benchmarks.one_line import KINDS, Change, changes
from explorer.refusal import Refusal, Sentence

ROOT = Path(__file__).parents[1]
SOURCES = (("explorer", "*.py"), ("assets/js", "*.js"))
NEAR = "{near}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one drawn change."""

    place: str
    kind: str
    before: str
    after: str
    detected_by: str | None
    """The test or the command that failed or took too long; None where all of them passed."""
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
    parser.add_argument("--again", type=Path, help="file of an earlier --out, instead of draws")
    parser.add_argument("--out", type=Path, help="file for a JSON line about each change")
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help="a quoted command line")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """Print each outcome as it comes, then the number of changes that were detected."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends the tests and removes the clone
    with tempfile.TemporaryDirectory() as folder:
        copy = clone(Path(folder) / "copy")
        check(chosen.commands, copy, chosen.limit)
        nearest = Nearest(copy)
        outcomes = []
        for change, known in chosen_changes(chosen, copy):
            ways = detections(change, known, nearest, chosen)
            outcomes.append(tried(change, ways, copy))
            report(outcomes[-1], chosen.out)
    sys.stdout.write(summary(outcomes, chosen.again or f"seed {chosen.seed}"))
    return 0


def detections(
    change: Change, known: str | None, nearest: Nearest, chosen: argparse.Namespace
) -> Iterator[str | None]:
    """Yield what detects a change, for each way to detect it in turn."""
    yield nearest.detecting(change, known)
    yield from by_commands(chosen.commands, change, nearest.root, chosen.limit)


def by_commands(
    commands: Sequence[str], change: Change, root: Path, limit: float
) -> Iterator[str | None]:
    """Yield each command that fails because of a change, None for one that passes."""
    for command in at_hand(commands, near(change.path.relative_to(root), root)):
        with made(change):
            failed = fails(command, root, limit)
        yield command if failed else None


def chosen_changes(chosen: argparse.Namespace, copy: Path) -> Iterator[tuple[Change, str | None]]:
    """Yield the changes to make, each with the test that is known to detect it."""
    if chosen.again is None:
        for change in drawn(copy, chosen.seed, chosen.draws):
            yield change, None
        return
    for line in chosen.again.read_text("utf-8").splitlines():
        row = json.loads(line)
        if why := row.get("equivalent"):
            sys.stdout.write(f"{'equivalent':21} {row['place']} ({row['kind']}): {why}\n")
        elif again := found_again(row, copy):
            yield again, row["detected_by"]
        else:
            sys.stdout.write(f"{'gone':21} {row['place']} ({row['kind']})\n")


def found_again(row: dict[str, str], copy: Path) -> Change | None:
    """Return a change of an earlier run, at the line nearest to its old place; None without one."""
    name, _, line = row["place"].rpartition(":")
    path = copy / name
    if not path.exists():
        return None
    source = path.read_text("utf-8")
    wanted = row["kind"], row["before"], row["after"]
    same = [one for one in changes(path) if (one.kind, *one.lines(source)) == wanted]
    return min(same, key=lambda one: abs(one.line(source) - int(line)), default=None)


def report(outcome: Outcome, out: Path | None) -> None:
    """Print an outcome, and add it to a file."""
    sys.stdout.write(f"{outcome}\n")
    sys.stdout.flush()
    if out:
        with out.open("a") as file:
            file.write(json.dumps(asdict(outcome)) + "\n")


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
            sentence = f"This command fails without a change, or takes over {limit:g} s: {command}"
            raise Refusal(Sentence("fails-without-change", sentence))


def tried(change: Change, ways: Iterator[str | None], copy: Path) -> Outcome:
    """Return the result of a change that is detected in one of several ways, or in none."""
    source = change.path.read_text("utf-8")
    start = time.monotonic()
    detected_by = next(filter(None, ways), None)
    seconds = time.monotonic() - start
    place = f"{change.path.relative_to(copy)}:{change.line(source)}"
    return Outcome(place, change.kind, *change.lines(source), detected_by, seconds)


def at_hand(commands: Sequence[str], tests: Sequence[str]) -> Iterator[str]:
    """Yield the commands that can be run for a change, with the paths of its tests."""
    for command in commands:
        if tests or NEAR not in command:
            yield command.replace(NEAR, " ".join(tests))


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


def summary(outcomes: Sequence[Outcome], which: object) -> str:
    """Return how many changes were detected, and the time that one took."""
    n, all_of = sum(o.detected_by is not None for o in outcomes), len(outcomes)
    seconds = median(o.seconds for o in outcomes)
    return f"{which}: {n} of {all_of} changes detected, {seconds:.0f} s each (median)\n"
