"""``python -m tests``: fetch what the tests need and is not there, then run them all.

What cannot be had is said in one sentence, and pytest skips the tests that need it.
``python -m tests --quick`` leaves out the browser, other processes and training, and fetches nothing.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence

from tests import needs

PATIENCE_S = 300
QUIET = ("--no-audit", "--no-fund", "--fetch-retries=1")
QUICK = ("-m", "not browser and not processes")


def main(arguments: Sequence[str]) -> None:
    """Fetch what is missing, then become pytest, so that its closing line is the last."""
    given = [argument for argument in arguments if argument != "--quick"]
    if len(given) < len(arguments):
        given = [*QUICK, *given]
    else:
        fetch_chromium()
        fetch_packages()
    # A process that writes no compiled code makes all of it anew in each of the many that it starts.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "pytest", *given])


def fetch_chromium() -> None:
    """Make sure of a Chromium, a headless shell where one can be had."""
    for worked in ways_to_chromium():
        needs.lean_chromium.cache_clear()
        needs.chromium.cache_clear()
        if worked and needs.chromium():
            return
    if not needs.chromium():
        say(needs.NO_CHROMIUM)


def ways_to_chromium() -> Iterator[object]:
    """Try one way after another and yield whether it worked."""
    playwright = [sys.executable, "-m", "playwright"]
    update, apt = as_root("apt-get", "update", "-q"), as_root("apt-get", "install", "-y", "-q")
    if not needs.driver_starts():
        yield done(update) and done([*apt, "libatomic1"]) and needs.lean_chromium()
    yield needs.lean_chromium()
    yield (downloaded := done([*playwright, "install", "--only-shell", "chromium"]))
    yield downloaded and done([*playwright, "install-deps", "chromium-headless-shell"])
    yield done([*apt, needs.LEAN])
    yield (updated := done(update)) and done([*apt, needs.LEAN])
    yield needs.chromium()
    yield updated and done([*apt, "chromium"])


def fetch_packages() -> None:
    """Node's packages, once for each change of their versions."""
    npm = needs.npm()
    if npm is None:
        say(needs.NO_NODE)
    elif not needs.has_packages() and not done([*npm, "ci", *QUIET]):
        say(needs.NO_PACKAGES)


def as_root(*command: str) -> list[str]:
    """The command, by sudo for all but root, which asks for no password."""
    return [*command] if os.geteuid() == 0 else ["sudo", "-n", *command]


def done(command: Sequence[str]) -> bool:
    """Run a command in silence; where it fails, its last line is said."""
    if not shutil.which(command[0]):
        return False
    say(" ".join(["$", os.path.basename(command[0]), *command[1:]]))
    try:
        run = subprocess.run(
            command, cwd=needs.ROOT, capture_output=True, text=True, timeout=PATIENCE_S
        )
    except subprocess.TimeoutExpired:
        say(f"given up after {PATIENCE_S} s")
        return False
    if run.returncode:
        lines = f"{run.stdout}\n{run.stderr}".splitlines()
        say(next((line for line in reversed(lines) if any(map(str.isalnum, line))), "it failed"))
    return run.returncode == 0


def say(sentence: str) -> None:
    """One line, at once."""
    sys.stdout.write(f"{sentence}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
