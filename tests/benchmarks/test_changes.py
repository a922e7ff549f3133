"""One-line changes: each is of its kind, and a command that fails has detected it."""

import ast
from pathlib import Path

import pytest

from benchmarks import changes as command
from benchmarks.one_line import KINDS, changes
from explorer.refusal import Refusal

PYTHON = '''"""1 < 2"""
def f(a, b):
    """Return 1."""
    naïve = "ä < b"; g(a)
    if a < b and a not in b:
        b += 1
    return [f"{a + 1}", a * (b), True]
'''
JAVASCRIPT = r"""// 1 < 2
const f = (a, b) => {
  const text = `1 + ${a ? `2 < ${b}` : '}'} + 3`, found = /a\/[/]b/g.test('x && y') && -a >>> 1;
  if (a >= b) throw new Error(0x1f);
  draw(a, b);
  return a === b || 2.5;
};
"""


def changed(tmp_path, name, source):
    """Return the changed lines of a source by kind."""
    path = tmp_path / name
    path.write_text(source, "utf-8")
    found = {kind: [] for kind in KINDS}
    for change in changes(path):
        after = change.applied(source)
        lines = zip(source.splitlines(), after.splitlines(), strict=True)
        ((number, line),) = [
            (n, new.strip()) for n, (old, new) in enumerate(lines, 1) if old != new
        ]
        assert number == change.line(source)
        found[change.kind].append(line)
    return found


def test_the_changes_of_a_python_source(tmp_path):
    found = changed(tmp_path, "a.py", PYTHON)
    assert found["comparison"] == ["if a <= b and a not in b:", "if a < b and a in b:"]
    assert found["boolean"] == ["if a < b or a not in b:"]
    assert found["constant"] == ["b += 2", 'return [f"{a + 1}", a * (b), False]']
    assert found["arithmetic"] == ['return [f"{a + 1}", a / (b), True]']
    assert found["returned value"] == ["return None"]
    assert found["removed statement"] == ["pass; g(a)", 'naïve = "ä < b"; pass', "pass"]


def test_the_changes_of_a_javascript_source(tmp_path):
    found = changed(tmp_path, "a.js", JAVASCRIPT)
    text = JAVASCRIPT.splitlines()[2].strip()
    assert found["comparison"] == ["if (a > b) throw new Error(0x1f);", "return a !== b || 2.5;"]
    assert found["boolean"] == [text.replace(" && -a", " || -a"), "return a === b && 2.5;"]
    assert found["constant"] == [text.replace(">>> 1", ">>> 2"), "return a === b || 3.5;"]
    assert found["arithmetic"] == []
    assert found["returned value"] == ["return;"]
    assert found["removed statement"] == [";"]


def test_every_python_change_of_the_explorer_compiles_and_differs():
    drawn = command.drawn(command.ROOT, seed=0, n=60)
    assert {change.kind for change in drawn} == set(KINDS)
    assert drawn == command.drawn(command.ROOT, seed=0, n=60) != command.drawn(command.ROOT, 1, 60)
    for change in drawn:
        if change.path.suffix == ".py":
            source = change.path.read_text("utf-8")
            assert ast.dump(ast.parse(change.applied(source))) != ast.dump(ast.parse(source))


@pytest.fixture
def project(tmp_path):
    """A function with a fault to draw, and a test of it at the mirrored place."""
    for folder in ("explorer/layer", "tests/layer"):
        (tmp_path / folder).mkdir(parents=True)
    path = tmp_path / "explorer/layer/one.py"
    path.write_text("def one():\n    return 41\n")
    (tmp_path / "tests/layer/test_one.py").write_text("from explorer.layer.one import one\n")
    return tmp_path, path


RIGHT = "python -c 'from explorer.layer.one import one; assert one() == 41'"


def test_a_command_that_fails_or_takes_too_long_detects_a_change_which_is_taken_back(project):
    root, path = project
    before = path.read_text()
    (change,) = (one for one in changes(path) if one.kind == "constant")
    assert not command.fails(RIGHT, root, 60)
    outcome = command.tried(change, ["true", RIGHT], root, 60)
    assert outcome.detected_by == RIGHT
    assert (outcome.place, outcome.before) == ("explorer/layer/one.py:2", "return 41")
    assert outcome.after == "return 42"
    assert path.read_text() == before
    assert command.tried(change, ["true", "exit 5"], root, 60).detected_by is None
    assert command.tried(change, ["sleep 600"], root, 0.1).detected_by == "sleep 600"


def test_no_change_is_taken_for_the_one_before_because_of_its_bytecode(project):
    """Python compiles a module anew if its size or the second of its last change differs."""
    seconds = []
    for _ in range(3):
        command.write(project[1], "def one():\n    return 42\n")
        seconds.append(int(project[1].stat().st_mtime))
    assert len(set(seconds)) == 3


def test_the_tests_at_the_mirrored_place_are_found(project):
    root, path = project
    (change, *_) = changes(path)
    assert list(command.at_hand(["a {near}", "b"], change, root)) == [
        "a tests/layer/test_one.py",
        "b",
    ]
    near = {
        "explorer/analysis/alignment.py": ["tests/analysis/test_alignment.py"],
        "explorer/analysis/latency/ratio.py": ["tests/analysis/latency"],
        "assets/js/attention/wall.js": ["tests/js/test_node.py"],
        "explorer/assets.py": [],
    }
    found = {name: command.near(Path(name), command.ROOT) for name in near}
    assert found == near


def test_commands_that_fail_without_a_change_are_refused(project):
    with pytest.raises(Refusal, match="fails without a change"):
        command.check(["true", "false"], project[0], 60)
