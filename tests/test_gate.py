"""Which tests a run takes: the second job is left out only where git shows that it is not concerned."""

import os
import re
import subprocess
import sys

import pytest

from tests import second_job
from tests.second_job import EVERY, LANDING, ROOT, SECOND_JOB, left_out, untouched

IDENTITY = ("-c", "user.name=nobody", "-c", "user.email=nobody@localhost")
BARE = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}


def git(folder, *arguments):
    command = ["git", *IDENTITY, *arguments]
    return subprocess.run(command, cwd=folder, env=BARE, check=True, capture_output=True)


def commit(folder, name):
    """Commit a change of one file."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{path.read_text() if path.exists() else ''}line\n")
    git(folder, "add", name)
    git(folder, "commit", "-q", "-m", name)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with one tag, in which the decision is made."""
    folder = tmp_path / "origin"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, "training/steps/loop.py")
    git(folder, "tag", "v1")
    monkeypatch.setattr(second_job, "ROOT", folder)
    return folder


def clone(repository, monkeypatch, *flags):
    """Clone the repository as another machine would, and decide there."""
    folder = repository.with_name("clone")
    git(repository.parent, "clone", "-q", *flags, repository.as_uri(), str(folder))
    monkeypatch.setattr(second_job, "ROOT", folder)
    return folder


def test_every_path_of_the_second_job_exists():
    places = {*EVERY, *SECOND_JOB, *(place for places in SECOND_JOB.values() for place in places)}
    assert [p for p in sorted(places) if not (ROOT / p.partition("::")[0]).exists()] == []
    for file, _, name in (tests.partition("::") for tests in SECOND_JOB if "::" in tests):
        tests = re.findall(r"^def (test_\w+)", (ROOT / file).read_text("utf-8"), re.M)
        assert len([one for one in tests if one.startswith(name)]) == 1, (file, name)
        assert len(tests) > 1, f"{file}: all of it is in the second job"


def test_a_part_runs_where_one_of_its_files_changed():
    assert untouched([]) == [*SECOND_JOB]
    assert untouched(["docs/usage.md", "trainings.py"]) == [*SECOND_JOB]
    for changed in ("benchmarks/load.py", "tests/benchmarks/test_load.py"):
        assert untouched([changed]) == [part for part in SECOND_JOB if part != "tests/benchmarks"]
    assert "tests/inference/test_pretend.py" not in untouched(["explorer/inference/runs.py"])
    assert all(untouched([file]) == [] for file in EVERY)


def test_all_runs_everything_and_the_default_nothing_of_it():
    assert left_out(True, None) == []
    assert left_out(False, None) == [*SECOND_JOB]


def test_on_main_the_last_tag_decides(repository):
    commit(repository, "benchmarks/load.py")
    commit(repository, "docs/usage.md")
    assert "tests/benchmarks" not in left_out(False, LANDING)
    assert "tests/training" in left_out(False, LANDING)
    assert left_out(False, "HEAD^") == [*SECOND_JOB]


def test_a_release_is_compared_with_the_one_before(repository):
    commit(repository, "benchmarks/load.py")
    git(repository, "tag", "v2")
    assert "tests/benchmarks" not in left_out(False, LANDING)


def test_a_branch_is_compared_with_where_it_left_main(repository, monkeypatch):
    commit(repository, "benchmarks/load.py")
    folder = clone(repository, monkeypatch)
    commit(folder, "deploy/nginx.py")
    commit(folder, "docs/usage.md")
    assert "tests/deploy" not in left_out(False, LANDING)
    assert "tests/benchmarks" in left_out(False, LANDING)


def test_files_that_are_not_committed_count(repository):
    commit(repository, "docs/usage.md")
    (repository / "benchmarks").mkdir()
    (repository / "benchmarks/näw file.py").touch()
    (repository / "training/steps/loop.py").write_text("other\n")
    out = left_out(False, "HEAD")
    assert "tests/benchmarks" not in out
    assert "tests/training" not in out
    assert "tests/deploy" in out


def test_a_file_that_is_moved_away_counts(repository):
    git(repository, "mv", "training/steps/loop.py", "loop.py")
    git(repository, "commit", "-q", "-m", "moved")
    assert "tests/training" not in left_out(False, LANDING)


def test_where_git_cannot_tell_everything_runs(repository, monkeypatch):
    assert left_out(False, LANDING) == [], "a first commit has nothing before it"
    assert left_out(False, "no-such-commit") == []
    commit(repository, "docs/usage.md")
    clone(repository, monkeypatch, "--depth=1")
    assert left_out(False, LANDING) == [], "a shallow clone"
    git(repository, "tag", "-d", "v1")
    monkeypatch.setattr(second_job, "ROOT", repository)
    assert left_out(False, LANDING) == [], "a checkout without tags"
    monkeypatch.setattr(second_job, "ROOT", repository.parent)
    assert left_out(False, LANDING) == [], "no repository"
    monkeypatch.setattr(second_job, "ROOT", repository)
    monkeypatch.setenv("PATH", "")
    assert left_out(False, "HEAD") == [], "no git"


SOME = ("tests/test_durations.py", "tests/benchmarks", "tests/deploy")


def collected(*arguments) -> set[str]:
    """Return the files whose tests pytest would run; without a path, of a few only."""
    others = {*ROOT.glob("tests/*")} - {ROOT / name for name in SOME}
    ignored = [] if arguments else [f"--ignore={path}" for path in sorted(others)]
    command = [sys.executable, "-m", "pytest", "-n", "0", "--collect-only", "-q", *ignored]
    done = subprocess.run([*command, *arguments], cwd=ROOT, capture_output=True, text=True)
    return {line.partition("::")[0] for line in done.stdout.splitlines() if "::" in line}


@pytest.mark.processes
def test_the_second_job_is_left_out_unless_a_path_of_it_is_given():
    assert collected() == {"tests/test_durations.py"}
    assert collected("tests/deploy/test_sizing.py") == {"tests/deploy/test_sizing.py"}
