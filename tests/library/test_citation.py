"""What an answer is cited as: its weights and versions, and the papers of its architectures."""

import hashlib
import re
import shutil
import subprocess
import sys
from importlib.metadata import version

import pytest

import explorer
from explorer.assets import ROOT
from explorer.library.citation import papers
from explorer.models import specs
from explorer.models.choice.family import all_specs

ENTRY = re.compile(r"^@\w+\{([\w-]+),\n((?:  [a-z]+ = \{.*\},\n)+)\}$", re.MULTILINE)


def entries(text):
    """Return the fields of each entry, read as BibTeX reads them."""
    found = dict(ENTRY.findall(text))
    assert text == "\n".join(match[0] + "\n" for match in ENTRY.finditer(text))
    return {key: dict(re.findall(r"  ([a-z]+) = \{(.*)\},\n", body)) for key, body in found.items()}


def test_the_bundled_models_are_cited_by_their_weights_and_their_papers():
    found = entries(explorer.cite())
    assert [*found] == ["explorer", "bert", "distilbert", "albert"]
    note = found["explorer"]["note"]
    for spec in specs.MINI.values():
        weights = (spec.bundled_path / "model.safetensors").read_bytes()
        assert f"{spec.label}: " in note
        assert hashlib.sha256(weights).hexdigest() in note
    for library in ("torch", "transformers"):
        assert f"{library} {version(library)}" in note
    assert found["distilbert"]["eprint"] == "1910.01108"


def test_published_models_are_cited_by_revision_and_an_architecture_once():
    found = entries(explorer.cite("bert=large,distilbert=base,albert=xlarge"))
    assert specs.BASE["distilbert"].revision in found["explorer"]["note"]
    assert "google-bert/bert-large-uncased" in found["explorer"]["note"]
    twice = explorer.load({"before": "mini-bert", "after": "mini-bert"})
    assert [*entries(explorer.cite(twice))] == ["explorer", "bert"]


@pytest.mark.long
def test_what_bibtex_reads_as_its_own_is_escaped_and_no_folder_is_told(tmp_path, own_models):
    shutil.copytree(specs.BUNDLED / "mini-bert", tmp_path / "mine")
    note = entries(explorer.cite(explorer.load({"a_b": tmp_path / "mine"})))["explorer"]["note"]
    assert "a\\_b: mine, SHA-256 " in note
    assert str(tmp_path) not in note


def test_a_model_in_memory_is_cited_as_one(tiny_family, own_models):
    network = tiny_family.loaded("bert")
    family = explorer.load({"mine": (network.network, network.tokenizer)})
    assert ", in memory; " in entries(explorer.cite(family))["explorer"]["note"]


@pytest.mark.processes
def test_a_citation_waits_for_no_library_of_models():
    """A page that has just started imports them in another thread, and no two threads may."""
    code = (
        "import explorer, sys; explorer.cite(); print({'torch', 'transformers'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "set()\n", done.stderr


def test_every_architecture_has_a_paper():
    kinds = {**specs.KINDS, **specs.MORE_KINDS, **specs.SAME_NETWORKS}
    assert {spec.architecture_key for spec in all_specs().values()} <= kinds.keys()
    assert papers().keys() == kinds.keys()
    assert {*entries("\n".join(f"{paper}\n" for paper in papers().values()))} == kinds.keys()
