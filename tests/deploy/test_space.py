"""What would go up to a Space: the tree that runs, fitted to the machine it runs on."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from deploy import space
from explorer.models import specs

ROOT = Path(__file__).parents[2]
REPO = "someone/family"
MIB = 2**20


@pytest.fixture(scope="module")
def files():
    return space.committed()


@pytest.fixture(params=[False, True], ids=["cpu", "zerogpu"])
def variant(request, files):
    return request.param, space.staged(files, REPO, request.param)


def lines(files, name):
    return files[name].decode().splitlines()


def test_what_runs_goes_up_and_nothing_else(variant):
    _, files = variant
    tracked = subprocess.run(
        ["git", "ls-tree", "-r", "--name-only", "HEAD"], cwd=ROOT, capture_output=True, text=True
    ).stdout.split("\n")
    wanted = {n for n in tracked if n.startswith(("explorer/", "assets/"))}
    top = {"app.py", "requirements.txt", "README.md", "LICENSE", "CITATION.cff", "CHANGELOG.md"}
    assert set(files) == wanted | top | {"docs/errors.md"} | {
        "GLOSSARY.md",
        "constraints.txt",
        "pyproject.toml",
    }


def test_no_other_kind_of_file_goes_up_than_was_looked_at(variant):
    """To renew: python deploy/space.py --dry-run --kinds > tests/deploy/staged.txt"""
    _, files = variant
    assert space.kinds(files) == (ROOT / "tests/deploy/staged.txt").read_text("utf-8").splitlines()
    assert sum(map(len, files.values())) < 100 * MIB


def test_only_weights_are_large(variant):
    _, files = variant
    large = [n for n, content in files.items() if len(content) > 10 * MIB]
    assert all(name.endswith(".safetensors") for name in large)


def test_the_front_matter_is_the_variants(variant):
    zero, files = variant
    matter = yaml.safe_load(files["README.md"].decode().split("---\n")[1])
    assert matter["python_version"] == ("3.12.12" if zero else "3.11")
    assert matter["suggested_hardware"] == ("zero-a10g" if zero else "cpu-basic")
    assert f"gradio=={matter['sdk_version']}" in (ROOT / "requirements.txt").read_text("utf-8")
    revisions = {line.split()[2] for line in matter["preload_from_hub"]}
    assert revisions == {spec.revision for spec in specs.BASE.values()}
    assert len(matter["short_description"]) <= 60


def test_torch_is_the_machines_and_gradio_the_spaces(variant):
    zero, files = variant
    asked = [line for line in lines(files, "requirements.txt") if not line.startswith("-")]
    pins = {r.name: str(r.specifier) for r in map(Requirement, asked)}
    own = [Requirement(x) for x in (ROOT / "requirements.txt").read_text("utf-8").split()]
    assert set(pins) == {r.name for r in own} - {"gradio"}
    torch = next(str(r.specifier) for r in own if r.name == "torch")
    assert pins["torch"] == (torch if zero else f"{torch}+cpu")
    assert (space.CPU_WHEELS in lines(files, "requirements.txt")) is not zero


def test_spaces_is_imported_before_everything_else_on_zerogpu_and_nowhere_else(variant):
    zero, files = variant
    imports = re.findall(r"^(?:from|import) (\w+)", files["app.py"].decode(), re.MULTILINE)
    assert (imports[0] == "spaces") is zero
    assert ("spaces" in imports) is zero
    compile(files["app.py"], "app.py", "exec")


def test_the_readmes_links_lead_to_the_space(variant):
    _, files = variant
    body = files["README.md"].decode().split("---\n", 2)[2]
    assert "127.0.0.1:7860/?" not in body
    assert f'Client("{REPO}")' in body
    found = re.findall(r"https://huggingface\.co/spaces/someone/family\?[^)]+", body)
    assert len(found) == len(re.findall(r"127\.0\.0\.1:7860/\?", (ROOT / "README.md").read_text()))


def test_no_document_of_the_space_links_to_a_file_that_stays_behind(variant):
    _, files = variant
    link = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
    found = [
        (name, target, os.path.normpath(os.path.join(os.path.dirname(name), target)))
        for name, content in files.items()
        if name.endswith(".md")
        for target in link.findall(content.decode())
        if not re.match("[a-z]+:", target)
    ]
    folders = {os.path.dirname(name) for name in files}
    assert [one for one in found if one[2] not in files and one[2] not in folders] == []
    assert ("README.md", "GLOSSARY.md", "GLOSSARY.md") in found
    assert "recipes for contributors: CONTRIBUTING.md." in " ".join(
        files["README.md"].decode().split()
    )


def test_the_dry_run_lists_and_sends_nothing(capsys, monkeypatch):
    monkeypatch.setattr(space, "push", lambda *_: pytest.fail("it was sent"))
    assert space.main(["--dry-run"]) == 0
    listed = [line.split()[1] for line in capsys.readouterr().out.splitlines()]
    assert listed == sorted(space.staged(space.committed(), REPO, False))


def test_a_push_stops_at_a_file_that_the_hub_does_not_hold(capsys, monkeypatch):
    monkeypatch.setattr(space, "push", lambda *_: pytest.fail("it was sent"))
    monkeypatch.setattr("huggingface_hub.HfApi.list_repo_files", lambda *_, **__: ["config.json"])
    assert space.main(["--push", REPO]) == 1
    assert "distilbert/distilbert-base-uncased: model.safetensors" in capsys.readouterr().err


def test_a_push_makes_the_space_hold_these_files_alone(files, monkeypatch):
    sent = {}

    def upload(_self, **options):
        folder = Path(options["folder_path"])
        sent.update(
            options,
            held={p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()},
        )

    monkeypatch.setattr("huggingface_hub.HfApi.create_repo", lambda *_, **__: None)
    monkeypatch.setattr("huggingface_hub.HfApi.upload_folder", upload)
    monkeypatch.setattr(space, "missing_preloads", lambda _: [])
    assert space.main(["--push", REPO, "--zerogpu"]) == 0
    assert sent["held"] == set(space.staged(files, REPO, True))
    assert (sent["repo_id"], sent["repo_type"], sent["delete_patterns"]) == (REPO, "space", "*")


def test_the_image_holds_what_the_space_holds(files):
    docker = (ROOT / "Dockerfile").read_text("utf-8")
    copied = {
        p for line in re.findall(r"^COPY (.+) \S+$", docker, re.MULTILINE) for p in line.split()
    }
    kept = {
        line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[0] == "!"
    }
    assert copied == kept
    assert all((ROOT / name).exists() for name in copied)
    runs = {name.split("/")[0] for name in space.staged(files, REPO, False)}
    assert runs - {name.split("/")[0] for name in copied} <= {"CHANGELOG.md", "pyproject.toml"}
    assert "torch==2.13.0+cpu" in docker
