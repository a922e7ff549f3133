"""Damaged files are found by their heads and lengths, and a failure is remembered until they change."""

import json
import logging
import os
import shutil

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import save_file

from explorer.inference.runs import CACHE
from explorer.links.page_state import PageState
from explorer.models import hub, loading, specs
from explorer.models.hub import ModelUnavailable
from explorer.models.loading import load_model
from explorer.ui.predictions import tab
from explorer.ui.shell.tabs import values_of
from tests.endpoints import predict

TEXT = "The cat sat on the [MASK]."


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    path = tmp_path_factory.mktemp("weights") / "model.safetensors"
    save_file({"a": torch.ones(3, 5), "b": torch.ones(7)}, path, metadata={"format": "pt"})
    return path


def read(path):
    """Whether safetensors itself opens a file."""
    try:
        with safe_open(path, "pt") as opened:
            return bool(list(opened.keys()))
    except Exception:
        return False


def checked(check, path):
    try:
        check(path)
    except hub.UNREADABLE:
        return False
    return True


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_a_file_of_another_length_is_refused_where_safetensors_refuses_it(weights, tmp_path, data):
    whole = weights.read_bytes()
    length = data.draw(st.integers(0, len(whole) + 9))
    path = tmp_path / "model.safetensors"
    path.write_bytes((whole + b"\0" * 9)[:length])
    assert checked(hub.check_weights, path) == read(path) == (length == len(whole))


@pytest.mark.parametrize("at", [0, 7, 8])
@pytest.mark.parametrize("new", [b"\0", b"\xff", b"]"])
def test_a_header_that_was_written_over_is_refused(weights, tmp_path, at, new):
    whole = weights.read_bytes()
    path = tmp_path / "model.safetensors"
    path.write_bytes(whole[:at] + new * 4 + whole[at + 4 :])
    assert not read(path)
    assert not checked(hub.check_weights, path)


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "{}", '{"model": {"vocab": {}}}', "\0"])
def test_a_tokenizer_without_pieces_is_refused(tmp_path, content):
    path = tmp_path / "tokenizer.json"
    path.write_text(content)
    assert not checked(hub.check_tokenizer, path)


def test_the_bundled_files_are_whole():
    hub.check_bundled()
    for spec in specs.MINI.values():
        assert hub.damage(spec.bundled_path) is None


@pytest.fixture
def copied(tiny_family, tmp_path, monkeypatch):
    """A copy of the random family that a test may damage while the program runs."""
    folder = tmp_path / "models"
    shutil.copytree(tiny_family.path, folder)
    monkeypatch.setattr(specs, "BUNDLED", folder)
    monkeypatch.setattr(loading, "_loaded", {})
    CACHE.clear()
    return folder / "mini-bert"


def halve(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


DAMAGES = {
    "half the weights": (
        lambda f: halve(f / "model.safetensors"),
        "its model.safetensors is damaged",
    ),
    "no weights": (lambda f: (f / "model.safetensors").unlink(), "its bundled files are missing"),
    "half a tokenizer": (lambda f: halve(f / "tokenizer.json"), "its tokenizer.json is damaged"),
    "no tokenizer": (lambda f: (f / "tokenizer.json").unlink(), "its tokenizer.json is missing"),
    "another config": (
        lambda f: (f / "config.json").write_text('{"model_type": "none"}'),
        "its files are damaged or incomplete",
    ),
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_what_is_damaged_while_it_runs_is_said_and_logged_once(copied, caplog, kind):
    do, why = DAMAGES[kind]
    do(copied)
    caplog.set_level(logging.WARNING, "explorer")
    said = f"mini-BERT (mini-bert) is not available: {why}."
    for number in range(3):
        answer = predict(f"{TEXT} {number}")
        assert [model["model"] for model in answer["models"]] == ["distilbert", "albert"]
        assert answer["missing"] == [said]
        canvas = json.loads(values_of(tab, PageState(text=f"{TEXT} {number}"))[1])
        assert canvas["models"]["bert"]["card"] == said
    about = [record for record in caplog.records if "mini-bert" in record.getMessage()]
    assert len(about) == (0 if kind == "no weights" else 1)
    assert sum(bool(record.exc_info) for record in about) == (kind == "another config")


def test_a_failure_is_remembered_until_a_file_changes(copied, monkeypatch):
    config, tried = copied / "config.json", []
    good = config.read_bytes()
    spec, read_files = specs.MINI["bert"], loading._from_files
    monkeypatch.setattr(
        loading, "_from_files", lambda *asked: tried.append(1) or read_files(*asked)
    )
    config.write_text('{"model_type": "none"}')
    for _ in range(2):
        with pytest.raises(ModelUnavailable):
            load_model(spec)
    assert len(tried) == 1
    at = config.stat()
    os.utime(config, ns=(at.st_atime_ns, at.st_mtime_ns + 1))
    with pytest.raises(ModelUnavailable):
        load_model(spec)
    assert len(tried) == 2
    config.write_bytes(good)
    assert load_model(spec).spec == spec


@pytest.mark.parametrize(
    ("error", "raised", "why"),
    [
        (MemoryError(), MemoryError, None),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), MemoryError, None),
        (OSError(24, "Too many open files"), ModelUnavailable, "cannot be read at the moment"),
        (ValueError("IoError: no room (os error 12)"), ModelUnavailable, "at the moment"),
    ],
)
def test_what_passes_is_not_remembered(copied, monkeypatch, error, raised, why):
    def fail(*_, **__):
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(loading.AutoModelForPreTraining, "from_pretrained", fail)
        with pytest.raises(raised, match=why):
            load_model(specs.MINI["bert"])
    assert load_model(specs.MINI["bert"]).missing == ()


def test_a_damaged_adapter_is_a_sentence(tuned_family, tmp_path, monkeypatch):
    from explorer.models.task_heads import adapters

    shutil.copytree(tuned_family.path, tmp_path / "models")
    monkeypatch.setattr(specs, "BUNDLED", tmp_path / "models")
    halve(tmp_path / "models" / "mini-bert" / "tasks" / "sst2" / adapters.WEIGHTS)
    with pytest.raises(adapters.NotTuned, match="mini-BERT for this task is damaged"):
        adapters.tuned_model(tuned_family.loaded("bert"), "sst2")
