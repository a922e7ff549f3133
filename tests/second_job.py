"""The second job: the tests that the default run leaves out, and the files that they depend on.

``python -m tests --all`` runs every test. With ``--since COMMIT``, the default run takes those of
the second job whose files differ from COMMIT; ``--since landing``, which ``.ci/run`` passes, finds
the commit. Where git cannot tell, everything runs.
"""

import subprocess
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSIONS = ("pyproject.toml", "requirements.txt", "tests/requirements.txt", "constraints.txt")
EVERY = (*VERSIONS, "tests/conftest.py", "tests/second_job.py", "tests/tiny_models.py")
"""Files that every test depends on."""
SECOND_JOB = {
    "tests/benchmarks": ("benchmarks",),
    "tests/deploy": (
        "deploy",
        "Dockerfile",
        ".dockerignore",
        "setup.py",
        "README.md",
        "assets/models",
        "explorer/assets.py",
        "explorer/limits.py",
        "explorer/serving",
    ),
    "tests/inference/test_pretend.py": (
        "tests/inference",
        "explorer/analysis",
        "explorer/inference",
        "explorer/lists",
        "explorer/models",
        "explorer/timing",
    ),
    "tests/inference/test_ray_backend.py": ("explorer/inference", "explorer/models"),
    "tests/serving/test_cluster.py": ("deploy", "explorer/inference", "explorer/serving"),
    "tests/serving/test_ray_app.py": ("deploy", "explorer/inference", "explorer/serving"),
    "tests/timing/test_runtimes.py": ("explorer/models", "explorer/timing"),
    "tests/training": ("training", "assets/models", "explorer/models"),
}
"""Each file or folder of tests, with the files and folders whose change runs it."""
LANDING = "landing"


def left_out(is_all: bool, since: str | None) -> list[str]:
    """Return what a run without paths leaves out."""
    if is_all:
        return []
    changed = changed_files(since) if since else []
    return [] if changed is None else untouched(changed)


def untouched(changed: Iterable[str]) -> list[str]:
    """Return the parts of the second job that none of the changed files concerns."""
    changed = [Path(name) for name in changed]

    def concerns(place: str) -> bool:
        return any(path.is_relative_to(place) for path in changed)

    return [
        tests
        for tests, places in SECOND_JOB.items()
        if not any(map(concerns, (tests, *places, *EVERY)))
    ]


def changed_files(since: str) -> list[str] | None:
    """Return the files that differ from a commit, uncommitted ones included; None if unknown."""
    commit = last_landing() if since == LANDING else since
    if commit is None:
        return None
    differing = git("diff", "--name-only", "--no-renames", "--relative", "-z", commit)
    new = git("ls-files", "--others", "--exclude-standard", "-z")
    if differing is None or new is None:
        return None
    return [name for name in (differing + new).split("\0") if name]


def last_landing() -> str | None:
    """Return where this branch left origin/main; on origin/main, the last tag before HEAD."""
    fork = git("merge-base", "HEAD", "origin/main")
    if fork and fork != git("rev-parse", "HEAD"):
        return fork
    return git("describe", "--tags", "--abbrev=0", "HEAD^")


def git(*arguments: str) -> str | None:
    """Return what a git command prints; None if it fails or there is no git."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return None
    return None if done.returncode else done.stdout.strip()
