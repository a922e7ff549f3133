"""Weights are read once, safely, in the dtype asked for; damaged ones give one sentence."""

import json
import re
import shutil
import threading

import pytest
import torch
from safetensors.torch import load_file, save_file

from explorer.models import devices, loading, specs
from explorer.models.devices import resolve_device
from explorer.models.hub import ModelUnavailable
from explorer.models.loading import load_model
from explorer.models.specs import MODEL_KEYS


@pytest.fixture
def damaged(tiny_family, tmp_path, monkeypatch):
    """A private copy of the family that a test may damage, with nothing loaded yet."""
    folder = tmp_path / "models"
    shutil.copytree(tiny_family.path, folder)
    monkeypatch.setattr(specs, "BUNDLED", folder)
    monkeypatch.setattr(loading, "_loaded", {})
    return folder


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_a_network_is_read_once_in_eval_mode_with_eager_attention(tiny_family, key):
    spec = tiny_family.specs[key]
    loaded = load_model(spec)
    assert load_model(spec).network is loaded.network
    assert not loaded.network.training
    assert not any(p.requires_grad for p in loaded.network.parameters())
    assert loaded.network.config._attn_implementation == "eager"
    assert loaded.missing == ()
    assert loaded.network.get_input_embeddings().weight.dtype == torch.float32


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_the_dtype_asked_for_is_the_dtype_loaded(tiny_family, dtype):
    loaded = load_model(tiny_family.specs["distilbert"], dtype=dtype)
    assert {str(p.dtype) for p in loaded.network.parameters()} == {f"torch.{dtype}"}


@pytest.mark.parametrize("said", ["\"addmm_impl_cpu_\" not implemented for 'Half'", "meta"])
def test_a_precision_that_the_device_lacks_is_refused_in_a_sentence(
    damaged, tiny_family, monkeypatch, said
):
    def linear(*_):
        raise RuntimeError(said)

    monkeypatch.setattr(devices.functional, "linear", linear)
    devices.computes_in.cache_clear()
    spec = tiny_family.specs["albert"]
    expected = ModelUnavailable if "Half" in said else RuntimeError
    with pytest.raises(expected, match=r"cannot compute in float16; choose float32|meta"):
        load_model(spec, dtype="float16")
    monkeypatch.undo()
    devices.computes_in.cache_clear()
    assert load_model(spec, dtype="float16").dtype == "float16"


def test_eight_threads_get_one_and_the_same_network(tiny_family, damaged):
    found, barrier = [], threading.Barrier(8)

    def read():
        barrier.wait()
        found.append(load_model(tiny_family.specs["albert"]))

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len({id(loaded) for loaded in found}) == 1


@pytest.mark.parametrize("file", ["model.safetensors", "config.json", "tokenizer.json"])
@pytest.mark.parametrize("content", [b"", b"not a checkpoint", b"\x00" * 4096])
def test_damaged_files_give_one_plain_sentence(tiny_family, damaged, file, content):
    (damaged / "mini-bert" / file).write_bytes(content)
    with pytest.raises(ModelUnavailable) as refused:
        load_model(tiny_family.specs["bert"])
    assert re.fullmatch(r"mini-BERT .* is not available: .*\.", str(refused.value))


def test_half_a_file_gives_one_plain_sentence(tiny_family, damaged):
    path = damaged / "mini-albert" / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(ModelUnavailable, match="damaged"):
        load_model(tiny_family.specs["albert"])


@pytest.mark.parametrize("file", ["model.safetensors", "config.json", "tokenizer.json"])
def test_a_missing_file_gives_one_plain_sentence(tiny_family, damaged, file):
    (damaged / "mini-distilbert" / file).unlink()
    with pytest.raises(ModelUnavailable, match="DistilBERT"):
        load_model(tiny_family.specs["distilbert"])


def test_the_others_still_load_and_a_repaired_one_loads_again(tiny_family, damaged):
    path = damaged / "mini-bert" / "config.json"
    good = path.read_bytes()
    path.write_bytes(b"{")
    with pytest.raises(ModelUnavailable):
        load_model(tiny_family.specs["bert"])
    assert load_model(tiny_family.specs["albert"]).missing == ()
    path.write_bytes(good)
    assert load_model(tiny_family.specs["bert"]).missing == ()


def _drop(path, lost):
    tensors = {name: t for name, t in load_file(path).items() if lost not in name}
    save_file(tensors, path, metadata={"format": "pt"})


@pytest.mark.parametrize("lost", ["layer.3.output", "predictions.transform", "word_embeddings"])
def test_weights_the_page_reads_may_not_be_random(tiny_family, damaged, lost):
    _drop(damaged / "mini-bert" / "model.safetensors", lost)
    with pytest.raises(ModelUnavailable, match="weights"):
        load_model(tiny_family.specs["bert"])


def test_a_missing_pooler_is_told_and_tolerated(tiny_family, damaged):
    _drop(damaged / "mini-bert" / "model.safetensors", "pooler")
    loaded = load_model(tiny_family.specs["bert"])
    assert loaded.missing
    assert all("pooler" in name for name in loaded.missing)


def test_code_in_a_checkpoint_is_never_run(tiny_family, damaged):
    """``auto_map`` points at Python files beside the weights; they must stay unread."""
    folder = damaged / "mini-bert"
    trap = folder / "trap.py"
    trap.write_text("raise SystemExit('code from a checkpoint was run')")
    config = json.loads((folder / "config.json").read_text())
    config["auto_map"] = {"AutoModelForPreTraining": "trap.Trap", "AutoConfig": "trap.Trap"}
    (folder / "config.json").write_text(json.dumps(config))
    assert load_model(tiny_family.specs["bert"]).missing == ()


def test_pickled_weights_are_refused(tiny_family, damaged):
    folder = damaged / "mini-bert"
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelUnavailable):
        load_model(tiny_family.specs["bert"])


def test_a_device_that_is_absent_becomes_the_cpu():
    assert resolve_device("cpu") == "cpu"
    assert resolve_device("auto") in {"cpu", "cuda", "mps"}
    assert resolve_device("nonsense") == "cpu"


def test_auto_is_the_fastest_device_and_an_absent_one_the_processor(monkeypatch):
    monkeypatch.setattr(devices, "available_devices", lambda: ("cpu", "cuda"))
    assert resolve_device("auto") == "cuda"
    assert resolve_device("mps") == resolve_device("cpu") == "cpu"
