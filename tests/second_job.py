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
COMPUTED = (
    "explorer/analysis",
    "explorer/inference",
    "explorer/library",
    "explorer/lists",
    "explorer/models",
    "explorer/scheduling",
    "explorer/timing",
)
SHOWN = (
    "assets",
    "explorer/links",
    "explorer/middleware",
    "explorer/serving",
    "explorer/ui",
    "explorer/views",
)
PAGE = (*COMPUTED, *SHOWN, "tests/browser")
CHECKPOINTS = ("explorer/library", "explorer/models")
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
        "explorer/middleware",
        "explorer/serving",
    ),
    "tests/inference/test_pretend.py": ("tests/inference", *COMPUTED),
    "tests/inference/test_ray_backend.py": ("explorer/inference", "explorer/models"),
    **dict.fromkeys(
        ("tests/serving/test_cluster.py", "tests/serving/test_ray_app.py"),
        ("deploy", "explorer/inference", "explorer/middleware", "explorer/serving"),
    ),
    "tests/timing/test_runtimes.py": ("explorer/models", "explorer/timing"),
    "tests/training": ("training", "assets/models", "explorer/models"),
    # Laws over many random lists.
    "tests/lists/test_labelled.py::test_a_better_layer_is_said": ("explorer/lists",),
    # The hub and its like, over HTTP.
    "tests/library/test_checkpoints.py": CHECKPOINTS,
    "tests/models/test_hub.py": CHECKPOINTS,
    "tests/models/test_zerogpu.py": CHECKPOINTS,
    # What is saved, run in a fresh Python.
    "tests/js/take/test_notebooks.py": (*COMPUTED, "assets", "explorer/views"),
    "tests/js/take/test_recipes.py": (*COMPUTED, "assets", "explorer/views"),
    "tests/test_notebooks.py": (*COMPUTED, "docs/notebooks"),
    # The page in a browser: every tab, fold, picture and setting where one of each is tested anyway.
    "tests/browser/links/test_fold_links.py::test_a_fold_s_link_leads_to_this_text": PAGE,
    "tests/browser/links/test_forms.py": PAGE,
    "tests/browser/links/test_history.py": PAGE,
    "tests/browser/links/test_landing.py": PAGE,
    "tests/browser/links/test_print.py": PAGE,
    "tests/browser/tabs/test_attention_folds.py": PAGE,
    "tests/browser/tabs/test_attention_long.py": PAGE,
    "tests/browser/tabs/test_every_fold.py": PAGE,
    "tests/browser/tabs/test_latency.py": PAGE,
    "tests/browser/tabs/test_models.py": PAGE,
    "tests/browser/tabs/test_own_columns.py": PAGE,
    "tests/browser/tabs/test_own_heads.py": PAGE,
    "tests/browser/tabs/test_own_models.py": PAGE,
    "tests/browser/tabs/test_parameters.py": PAGE,
    "tests/browser/tabs/test_predictions.py::test_columns_words_deeper_questions": PAGE,
    "tests/browser/tabs/test_texts.py::test_a_list_to_try_a_file_a_link_and_a_stop": PAGE,
    "tests/browser/tabs/test_whole.py": PAGE,
    "tests/browser/test_lessons.py::test_every_answer_that_a_student_takes": PAGE,
    "tests/browser/test_pictures.py": PAGE,
    "tests/browser/test_standalone.py::test_every_other_tab": PAGE,
    "tests/browser/test_take.py::test_every_file_of_every_headline": PAGE,
    "tests/browser/test_tour.py::test_every_stop_of_the_tour": PAGE,
}
"""Folders, files and single tests, by the files and folders whose change runs them.

A single test is written as in pytest, or by the beginning of its name.
"""
LANDING = "landing"


def left_out(is_all: bool, since: str | None) -> list[str]:
    """Return what a run without paths leaves out."""
    if is_all:
        return []
    changed = changed_files(since) if since else []
    return [] if changed is None else untouched(changed)


def untouched(changed: Iterable[str]) -> list[str]:
    """Return the parts of the second job that none of the changed files concerns."""
    paths = [Path(name) for name in changed]

    def concerns(place: str) -> bool:
        return any(path.is_relative_to(place) for path in paths)

    return [
        tests
        for tests, places in SECOND_JOB.items()
        if not any(map(concerns, (tests.partition("::")[0], *places, *EVERY)))
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
