"""One-line changes: each is of its kind, and a test or a command that fails has detected it."""

import ast
import json
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import changes as command
from benchmarks import forked
from benchmarks.forked import Nearest
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


def test_every_python_change_of_a_folder_compiles_and_differs(monkeypatch):
    monkeypatch.setattr(
        command, "SOURCES", (("explorer/analysis", "*.py"), ("assets/js/page", "*.js"))
    )
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
TESTS = """from explorer.layer.one import one
def test_that_it_is_whole(): assert isinstance(one(), int)
def test_its_value(): assert one() == 41
"""


def first_constant(path):
    return next(one for one in changes(path) if one.kind == "constant")


def tried(change, root, *commands, limit=60):
    ways = command.by_commands(commands, change, root, limit)
    return command.tried(change, ways, root)


def test_a_command_that_fails_or_takes_too_long_detects_a_change_which_is_taken_back(project):
    root, path = project
    before = path.read_text()
    change = first_constant(path)
    assert not command.fails(RIGHT, root, 60)
    outcome = tried(change, root, "true", RIGHT)
    assert outcome.detected_by == RIGHT
    assert (outcome.place, outcome.before) == ("explorer/layer/one.py:2", "return 41")
    assert outcome.after == "return 42"
    assert path.read_text() == before
    assert tried(change, root, "true", "exit 5").detected_by is None
    assert tried(change, root, "sleep 600", limit=0.1).detected_by == "sleep 600"
    row = json.loads(json.dumps(asdict(outcome)))
    assert command.found_again(row, root) == change
    path.write_text(f"\n{before}")
    assert command.found_again(row, root).start == change.start + 1
    path.write_text(before.replace("41", "40"))
    assert command.found_again(row, root) is None


def test_of_an_earlier_run_what_no_input_reveals_is_left_out_with_its_reason(project, capsys):
    root, path = project
    change = first_constant(path)
    row = asdict(tried(change, root, "exit 1"))
    again = root / "again.jsonl"
    rows = (row, row | {"equivalent": "nobody calls it"}, row | {"before": "return 1"})
    again.write_text("".join(f"{json.dumps(one)}\n" for one in rows))
    chosen = SimpleNamespace(again=again)
    assert [*command.chosen_changes(chosen, root)] == [(change, "exit 1")]
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in said] == ["equivalent", "gone"]
    assert said[0].endswith(": nobody calls it")


@pytest.mark.processes
def test_the_first_of_the_nearest_tests_that_fails_is_named(project, monkeypatch):
    """A test that fails without the change, or that is no longer there, detects nothing."""
    root, path = project
    monkeypatch.setattr(forked, "HEAVY", ())
    test, elsewhere = "tests/layer/test_one.py", "tests/test_other.py"
    tests = TESTS.partition("def test_its")
    change = first_constant(path)
    (root / test).write_text(f"{tests[0]}def test_broken(): assert one() == 1\n")
    assert Nearest(root).detecting(change) is None
    (root / elsewhere).write_text(TESTS)
    assert Nearest(root).detecting(change) == f"{elsewhere}::test_its_value"
    (root / test).write_text(TESTS)
    assert Nearest(root).detecting(change) == f"{test}::test_its_value"
    for known in (f"{elsewhere}::test_its_value", f"{test}::test_gone"):
        found = Nearest(root).detecting(change, known)
        assert found == (known if known.startswith(elsewhere) else f"{test}::test_its_value")
    assert path.read_text().endswith("return 41\n")


def test_no_change_is_taken_for_the_one_before_because_of_its_bytecode(project):
    """Python compiles a module anew if its size or the second of its last change differs."""
    seconds = []
    for _ in range(3):
        forked.write(project[1], "def one():\n    return 42\n")
        seconds.append(int(project[1].stat().st_mtime))
    assert len(set(seconds)) == 3


def test_the_tests_at_the_mirrored_place_are_found(project):
    root, path = project
    tests = forked.near(path.relative_to(root), root)
    assert list(command.at_hand(["a {near}", "b"], tests)) == [
        "a tests/layer/test_one.py",
        "b",
    ]
    near = {
        "explorer/analysis/alignment.py": ["tests/analysis/test_alignment.py"],
        "explorer/analysis/latency/ratio.py": ["tests/analysis/latency"],
        "assets/js/attention/wall.js": ["tests/js/test_node.py"],
        "explorer/assets.py": [],
    }
    found = {name: forked.near(Path(name), command.ROOT) for name in near}
    assert found == near


def test_commands_that_fail_without_a_change_are_refused(project):
    with pytest.raises(Refusal, match="fails without a change"):
        command.check(["true", "false"], project[0], 60)
