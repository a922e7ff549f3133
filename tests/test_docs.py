"""The documents name what there is: tabs, endpoints, flags, commands, words."""

import re
import shlex
import tomllib
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
import yaml
from packaging.requirements import Requirement

import app
from benchmarks import __main__ as benchmarks
from deploy import codemeta
from explorer.library.command import build_parser
from explorer.links.codec import from_params
from explorer.links.tabs import TABS as TAB_IDS
from explorer.models import specs
from explorer.serving import start
from explorer.ui.shell.tabs import TABS
from training import __main__ as training

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
USAGE, MODELS, API = (
    (ROOT / "docs" / f"{name}.md").read_text("utf-8") for name in ("usage", "models", "api")
)
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
GATE = (ROOT / ".ci" / "run").read_text("utf-8")
RUN = (
    "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt && .venv/bin/python app.py"
)
TEST = ".venv/bin/pip install -r tests/requirements.txt && .venv/bin/python -m tests"


def front_matter():
    return yaml.safe_load(README.split("---\n")[1])


def requirements():
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    return dict(line.split("==") for line in lines if "==" in line)


def links(text):
    return re.findall(r"\]\((http://127\.0\.0\.1:7860/\?[^)]*)\)", text)


def test_the_front_matter_is_that_of_a_space_that_would_start():
    matter = front_matter()
    assert matter["sdk"] == "gradio"
    assert matter["sdk_version"] == requirements()["gradio"]
    assert matter["python_version"] == "3.11"
    assert (ROOT / matter["app_file"]).exists()
    assert matter["license"] == "apache-2.0"
    assert len(matter["short_description"]) <= 60
    for colour in (matter["colorFrom"], matter["colorTo"]):
        assert colour in {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}


def test_the_space_preloads_the_pinned_revisions_of_every_published_checkpoint():
    lines = [line.split() for line in front_matter()["preload_from_hub"]]
    assert {repo: revision for repo, _, revision in lines} == {
        spec.repo: spec.revision for spec in specs.BASE.values()
    }
    assert {repo for repo, *_ in lines} == set(front_matter()["models"])
    assert all("model.safetensors" in files.split(",") for _, files, _ in lines)


def test_the_two_commands_are_the_ones_the_gate_runs():
    install = RUN.rpartition(" && ")[0].replace("pip install", "pip install -q")
    assert RUN in README
    assert TEST in README
    assert install in GATE
    for command in TEST.split(" && "):
        assert command.replace("pip install", "pip install -q") in GATE


def test_every_file_a_command_names_exists():
    names = [word for word in shlex.split(RUN.replace("&&", " ")) if word.endswith((".txt", ".py"))]
    assert names == ["requirements.txt", "app.py"]
    assert all((ROOT / name).exists() for name in [*names, "tests/requirements.txt"])


def test_every_flag_is_in_the_usage(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["app.py", "--help"])
    with pytest.raises(SystemExit):
        app.parse_flags()
    flags = set(re.findall(r"--[a-z-]+", capsys.readouterr().out)) - {"--help"}
    table = [line for line in USAGE.splitlines() if line.startswith("| `--")]
    assert flags == set(re.findall(r"--[a-z-]+", " ".join(line.split("|")[1] for line in table)))


def test_every_tab_has_a_row_in_the_readme_and_a_place_in_links():
    rows = re.findall(r"^\| ([^|]+) \|", README, re.MULTILINE)
    assert [tab.ID for tab in TABS if tab.ID not in TAB_IDS or tab.LABEL not in rows] == []


def test_every_deep_link_opens_what_it_says():
    found = links(README + USAGE)
    assert len(found) >= len(TABS)
    for link in found:
        query = link.partition("?")[2]
        params = dict(parse_qsl(query, strict_parsing=True))
        state, repaired = from_params(params)
        assert not repaired
        for name, value in params.items():
            assert name == "v" or value == f"{getattr(state, name)}".removesuffix(".0"), link


def test_the_gate_table_gives_the_commands_the_gate_runs():
    commands = re.findall(r"\| `(\.venv/bin/[^`]*)` \|", CONTRIBUTING)
    assert len(commands) >= 4
    for command in commands:
        assert command in GATE or command.endswith(("--quick", "--all")), command


def test_every_place_on_the_map_exists():
    places = re.findall(r"^\| `([^`]+)` \|", ARCHITECTURE, re.MULTILINE)
    assert len(places) >= 10
    for place in places:
        assert (ROOT / place).exists(), place


def test_every_package_of_the_explorer_is_on_the_map():
    packages = {p.parent.name for p in (ROOT / "explorer").glob("*/__init__.py")}
    mapped = set(re.findall(r"^\| `explorer/([a-z]+)/` \|", ARCHITECTURE, re.MULTILINE))
    assert packages == mapped


CHANGES = [
    "a fourth model",
    "another sort order on the wall",
    "a new fold",
    "another interval",
    "a colour",
    "a field of the link",
    "a CSV for a figure",
    "two texts",
    "a limit",
    "a job behind a button",
    "a new endpoint",
    "a job that reads the weights",
    "another kind of list in Your texts",
    "a name of a column that is recognised",
    "a list to try",
    "a claim",
    "a new example",
    "a lesson",
    "a fact of the primer",
]


def test_the_table_of_changes_names_files_that_exist_and_few_of_them():
    rows = dict(
        re.findall(r"^\| (an? [^|]+|another [^|]+|two texts) \| (.+) \|$", ARCHITECTURE, re.M)
    )
    assert list(rows) == CHANGES
    wrong = []
    for change, cell in rows.items():
        places = re.sub(r" \([^)]*\)", "", cell).split(", ")
        named = [n for n in re.findall(r"`([^`]+)`", cell) if "/" in n or n.endswith(".md")]
        missing = [name for name in named if not (ROOT / name).exists()]
        most = 7 if change == "a fourth model" else 5
        wrong += [f"{change}: {missing or len(places)}"] if missing or len(places) > most else []
    assert wrong == []


def pins(lines):
    rows = [line.split("#")[0].strip() for line in lines]
    return dict(row.split("==") for row in rows if row)


def ranges(wanted):
    found = [Requirement(line) for line in wanted]
    return {one.name: one.specifier for one in found}


def test_each_range_has_its_tested_version_where_pip_and_spaces_look():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    offered = project["optional-dependencies"]
    page = ranges([*project["dependencies"], *offered["app"]])
    more = ranges(
        line for name in offered if name not in {"app", "serve"} for line in offered[name]
    )
    tested = pins((ROOT / "tests" / "requirements.txt").read_text().splitlines())
    _, serve = (ROOT / "deploy" / "requirements-serve.txt").read_text("utf-8").splitlines()
    assert set(page) == set(requirements())
    assert more.keys() - page.keys() < set(tested)
    everything = requirements() | tested | {"ray": serve.partition("==")[2]}
    allowed_by_name = [*page.items(), *more.items(), *ranges(offered["serve"]).items()]
    for name, allowed in allowed_by_name:
        assert everything[name] in allowed, name
    constraints = pins((ROOT / "constraints.txt").read_text("utf-8").splitlines())
    assert (requirements() | tested).items() <= constraints.items()
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in constraints)
    assert all(re.fullmatch(r"[0-9a-z.]+", version) for version in constraints.values())


def test_everything_that_is_required_is_used():
    """Imported by the house, or looked up as an installed package."""
    modules = {"pillow": "PIL", "scikit-learn": "sklearn"}
    source = "".join(p.read_text("utf-8") for p in (ROOT / "explorer").rglob("*.py"))
    unused = [
        name
        for name in requirements()
        if not re.search(
            rf"^\s*(?:import|from) {modules.get(name, name)}\b|find_spec\(\"{name}\"\)",
            source,
            re.M,
        )
    ]
    assert unused == []


def test_the_version_is_the_same_wherever_it_stands():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    released = re.findall(r"^## (\d\S*)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    preferred = citation["preferred-citation"]
    assert version == citation["version"] == preferred["version"] == released[0]
    assert str(preferred["year"]) == citation["date-released"][:4]
    assert (ROOT / "codemeta.json").read_text("utf-8") == codemeta.written()
    assert citation["title"] == front_matter()["title"]
    assert citation["license"].lower() == front_matter()["license"]


DOCUMENTS = [
    str(p.relative_to(ROOT)) for p in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
]


def test_the_readme_is_short_and_names_every_other_document():
    assert len(README.splitlines()) <= 110
    named = set(re.findall(r"\]\((docs/[a-z]+\.md)\)", README))
    assert named == {name for name in DOCUMENTS if name.startswith("docs/")}


MAX_WORDS = 30
BREAK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )")
"""Between paragraphs and items of lists."""
END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*0-9(])")
"""Between two sentences."""
WORD = re.compile(r"[A-Za-z0-9][\w'’.-]*")


def sentences(document):
    """Yield the sentences of a document's prose, a code span as one word.

    Front matter, blocks of code, tables, headings and comments are left out.
    """
    text = re.sub(r"\A---\n.*?\n---\n|```.*?```", "", document, flags=re.DOTALL)
    text = re.sub(r"(?m)^[|#<].*$", "", text)
    text = re.sub(r"`[^`]*`", "CODE", re.sub(r"\]\([^)]*\)", "]", text))
    for paragraph in BREAK.split(text):
        yield from END.split(" ".join(paragraph.split()))


@pytest.mark.parametrize("path", DOCUMENTS)
def test_no_sentence_is_too_long_to_be_read_once(path):
    counted = [(len(WORD.findall(s)), s) for s in sentences((ROOT / path).read_text("utf-8"))]
    assert len(counted) > 3
    long = [f"{path}: {n} words: {s}" for n, s in counted if n > MAX_WORDS]
    assert not long, "\n".join(long)


MAX_COLUMNS = 100
WRAPPED = {
    "SECURITY.md",
    "GLOSSARY.md",
    *(f"docs/{name}.md" for name in ("errors", "library", "models", "serving", "usage")),
}


@pytest.mark.parametrize("path", sorted(WRAPPED))
def test_lines_of_prose_fit_into_a_window(path):
    """A table's row is one line in Markdown; a link or a code span is never broken."""
    text = re.sub(
        r"(?ms)^ *```.*?^ *```$|\A---\n.*?\n---$|^\|.*?$", "", (ROOT / path).read_text("utf-8")
    )
    long = [line for line in text.splitlines() if len(line) > MAX_COLUMNS]
    assert [
        line
        for line in long
        if " " in re.sub(r"`[^`]*`|\[[^]]*\]\(\S*|\S*\]\(\S*", "", line).strip(" -*")
    ] == []


def test_the_table_of_checkpoints_is_that_of_the_specs():
    rows = re.findall(
        r"^\| `(\w+=\w+)` \| `([^`]+)` \| (?:`(\w+)`|newest) \|", MODELS, re.MULTILINE
    )
    assert rows == [
        (f"{spec.key}={spec.size}", spec.repo, spec.revision[:12]) for spec in specs.PUBLISHED
    ]


def test_relative_links_lead_somewhere():
    lost = []
    for path in DOCUMENTS:
        text, folder = (ROOT / path).read_text("utf-8"), (ROOT / path).parent
        targets = set(re.findall(r"\]\((?!http)([^)#]+)\)", text)) - {"assets/screenshot.png"}
        lost += [f"{path}: {one}" for one in targets if not (folder / one).exists()]
    assert lost == []


COMMAND = re.compile(
    r"-m (benchmarks|training|explorer) (\w+)([^`|#<&>\n]*)|(app)\.py( --[^`|#<&>\n]*)"
)
PARSED = {
    "benchmarks": benchmarks.main,
    "training": training.main,
    "explorer": lambda words: build_parser().parse_args(words),
    "app": start.parse_flags,
}


def commands_in(text):
    """Return what follows each program that a document names, as words by program."""
    for program, step, rest, page, flags in COMMAND.findall(text.replace("\\\n", " ")):
        words = [word for word in shlex.split(f"{step} {rest}{flags}") if word != "..."]
        # Without flags the step is named and not written out: its arguments are left out.
        yield program or page, words if "--" in rest + flags else [step, "--help"]


class Read(Exception):
    """The command line has been read: nothing is run."""


def test_every_command_that_a_document_names_can_be_typed(monkeypatch, capsys):
    """Its parser takes the step and every flag with its value."""
    parse = ArgumentParser.parse_args

    def parse_alone(parser, words=None, namespace=None):
        parse(parser, words, namespace)
        raise Read

    monkeypatch.setattr(ArgumentParser, "parse_args", parse_alone)
    wrong, named = [], Counter()
    for path in [*DOCUMENTS, "assets/models/README.md"]:
        for program, words in commands_in((ROOT / path).read_text("utf-8")):
            named[program] += 1
            try:
                PARSED[program](words)
            except Read:
                continue
            except SystemExit as ended:
                wrong += [(path, program, words)] if ended.code else []
    assert wrong == [], capsys.readouterr().err
    assert min(named[program] for program in PARSED) >= 4, named


def tables(text):
    """Return the tables of a document, each as its rows of cells, the header first."""
    groups = re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE)
    return [
        [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in group.splitlines()]
        for group in groups
    ]


@pytest.mark.parametrize(
    ("path", "others"),
    [
        ("SECURITY.md", set()),
        (
            "docs/serving.md",
            # The limits are written from the code; the others are measured or calculated.
            {"what is said", "memory measured (bundled family)", "cores"}
            | {"result (two cores in total, bundled family)"},
        ),
    ],
)
def test_every_promise_names_a_test_that_exists(path, others):
    text = (ROOT / path).read_text("utf-8")
    promised = [table for table in tables(text) if table[0][-1] not in others]
    assert {table[0][-1] for table in promised} == {"test"}
    assert sum(len(table) - 2 for table in promised) > 25
    for header, _, *rows in promised:
        assert [row for row in rows if len(row) != len(header) or "`tests/" not in row[-1]] == []
    named = re.findall(r"`(tests/[\w/.]+?)(?:::(\w+))?`", text)
    for file, test in named:
        assert (ROOT / file).is_file(), file
        assert not test or f"def {test}(" in (ROOT / file).read_text("utf-8"), f"{file}::{test}"


def test_every_file_that_the_architecture_names_exists_and_so_does_its_function():
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    assert len(text.splitlines()) <= 220
    paths = {p for p in re.findall(r"`((?:explorer|assets|tests)/[\w/.]+)`", text) if "." in p}
    assert len(paths) > 15
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []
    named = re.findall(r"`(\w+)`\s+in\s+`(explorer/[\w/]+\.py)`", text)
    assert len(named) > 5
    lost = [
        name
        for name, path in named
        if not re.search(
            rf"^ *((?:async )?def {name}|class {name}|{name})\b",
            (ROOT / path).read_text("utf-8"),
            re.M,
        )
    ]
    assert lost == []
