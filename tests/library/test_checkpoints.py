"""A checkpoint is verified against plain transformers, and written anew in a form of today."""

import collections
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    AutoTokenizer,
    BertForMaskedLM,
    BertForSequenceClassification,
    BertModel,
)

import explorer
from explorer.library import checkpoints
from explorer.library.command import REFUSED, main
from explorer.models.choice.family import OWN
from tests.stand_in_hub import stand_in_hub
from tests.tiny_models import make_bert, save, wordpieces

ROOT = Path(__file__).parents[2]
TEXT = "the cat sat on the [MASK]"


@pytest.fixture(autouse=True)
def as_before(tiny_family, own_models, monkeypatch):
    """Restore the choice of models after each test; six texts are enough for small networks."""
    monkeypatch.setattr(checkpoints, "TEXTS", checkpoints.TEXTS[:6])


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("convert") / "my-bert"
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(2)
        network, tokenizer = make_bert(2, 4, 32, 0.5)
        torch.nn.init.normal_(network.cls.predictions.bias)
    save(network, tokenizer, path)
    return path


@pytest.fixture
def copied(saved, tmp_path):
    """Copy of a BERT of two layers that a test may change."""
    return shutil.copytree(saved, tmp_path / "source")


def pickled(folder, value=None):
    """Put the weights of a folder, or another value, into a pickle."""
    file = folder / "model.safetensors"
    torch.save(load_file(file) if value is None else value, folder / "pytorch_model.bin")
    file.unlink()


def logits_of(folder):
    inputs = AutoTokenizer.from_pretrained(folder)(TEXT, return_tensors="pt")
    with torch.no_grad():
        return BertForMaskedLM.from_pretrained(folder).eval()(**inputs).logits


def test_a_model_agrees_with_plain_transformers_and_every_quantity_is_in_the_table(saved):
    result = explorer.verify(saved)
    assert result.agrees
    assert [d.quantity for d in result.differences] == [*checkpoints.QUANTITIES]
    assert {d.compared > 0 for d in result.differences} == {True}
    assert not OWN, "nothing is left in the columns"


def test_an_object_and_a_name_are_verified_too(saved):
    network = BertForMaskedLM.from_pretrained(saved)
    assert explorer.verify((network, AutoTokenizer.from_pretrained(saved))).agrees
    assert explorer.verify("mini-distilbert").agrees
    with pytest.raises(explorer.Refusal, match="no type of model that is known"):
        explorer.verify(object())


def test_numbers_that_differ_are_named_and_a_shell_ends_with_code_one(saved, monkeypatch, capsys):
    run = checkpoints._run

    def off(loaded, text):
        found = run(loaded, text)
        return type(found)(
            **{n: getattr(found, n) for n in found.__slots__ if n != "attention"},
            attention=found.attention + 0.001,
        )

    monkeypatch.setattr(checkpoints, "_run", off)
    assert main(["verify", str(saved)]) == 1
    assert "and plain transformers differ in attention." in capsys.readouterr().out


def test_another_reading_of_the_vocabulary_is_seen(copied):
    pieces = [piece if piece != "paris" else "Paris" for piece in wordpieces()]
    for path in copied.glob("*token*"):
        path.unlink()
    (copied / "vocab.txt").write_text("\n".join([*pieces, "London"]))
    values = json.loads((copied / "config.json").read_text()) | {"vocab_size": 97}
    (copied / "config.json").write_text(json.dumps(values))
    words, bias = "bert.embeddings.word_embeddings.weight", "cls.predictions.bias"
    tensors = load_file(copied / "model.safetensors")
    tensors[words] = torch.cat([tensors[words], tensors[words][:1]])
    tensors[bias] = torch.cat([tensors[bias], tensors[bias][:1]])
    save_file(tensors, copied / "model.safetensors", {"format": "pt"})
    texts = ("Paris and London are in the [MASK].",)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "TEXTS", texts)
        before = explorer.verify(copied)
        after = explorer.convert(copied, copied.parent / "target")
    assert [d.quantity for d in before.differences if not d.agrees] == ["tokens", "offsets"]
    assert after.agrees


@pytest.mark.long
def test_pickled_weights_are_written_as_safetensors(saved, copied, tmp_path):
    pickled(copied)
    result = explorer.convert(copied, tmp_path / "target")
    assert result.agrees
    assert torch.equal(logits_of(tmp_path / "target"), logits_of(saved))
    assert not list((tmp_path / "target").glob("*.bin"))


@pytest.mark.processes
@pytest.mark.parametrize("is_pickled", [False, True])
def test_a_repository_of_the_hub_is_converted_from_safetensors_else_from_its_pickle(
    saved, tmp_path, is_pickled
):
    """In a process of its own: the hub's client reads its address once, at import."""
    folder, target = tmp_path / "hub" / "someone" / "bert", tmp_path / "target"
    shutil.copytree(saved, folder)
    if is_pickled:
        pickled(folder)
    else:
        (folder / "pytorch_model.bin").write_bytes(b"not to be fetched")
    with stand_in_hub(tmp_path / "hub") as hub:
        source = ("convert", f"someone/bert@{'a' * 40}", str(target))
        done = subprocess.run(
            [sys.executable, "-m", "explorer", *source],
            cwd=ROOT,
            env={k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
            | {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home"), "HF_HUB_OFFLINE": "0"},
            capture_output=True,
            text=True,
            check=False,
        )
        asked = " ".join(hub.asked_in["good"])
    assert done.returncode == 0, done.stderr[-2000:]
    assert torch.equal(logits_of(target), logits_of(saved))
    assert ("pytorch_model.bin" in asked) == is_pickled


@pytest.mark.long
def test_a_training_s_own_dictionary_old_names_and_a_wrapper_are_read(saved, copied, tmp_path):
    old = {
        "module." + n.replace("LayerNorm.weight", "LayerNorm.gamma"): t
        for n, t in load_file(copied / "model.safetensors").items()
    }
    pickled(copied, {"epoch": 3, "state_dict": old})
    values = json.loads((copied / "config.json").read_text())
    for name in ("model_type", "architectures"):
        values.pop(name)
    (copied / "config.json").write_text(json.dumps(values))
    assert explorer.convert(copied, tmp_path / "target").agrees
    assert torch.equal(logits_of(tmp_path / "target"), logits_of(saved))


@pytest.mark.long
def test_a_pickle_that_names_a_class_is_not_opened(copied, tmp_path):
    pickled(copied, {"weights": collections.UserString("nothing")})
    with pytest.raises(
        explorer.Refusal, match=r"names collections\.UserString: opening it could run"
    ):
        explorer.convert(copied, tmp_path / "target")
    assert not (tmp_path / "target").exists()


@pytest.mark.long
def test_what_is_no_pickle_is_refused(copied, tmp_path):
    (copied / "model.safetensors").unlink()
    (copied / "pytorch_model.bin").write_bytes(b"\x00" * 300)
    with pytest.raises(explorer.Refusal, match=r"has pytorch_model\.bin, which torch cannot open"):
        explorer.convert(copied, tmp_path / "target")
    (copied / "pytorch_model.bin").write_text("version https://git-lfs.github.com/spec/v1\n")
    with pytest.raises(explorer.Refusal, match=r"has, as its pytorch_model\.bin, a pointer file"):
        explorer.convert(copied, tmp_path / "target")


def test_a_folder_with_files_is_not_written_over(saved, copied, capsys):
    assert main(["convert", str(saved), str(copied)]) == REFUSED
    assert "is not empty" in capsys.readouterr().err


@pytest.mark.long
def test_the_vocabulary_above_the_folder_is_taken_and_its_case_kept(saved, copied, tmp_path):
    for path in copied.glob("*token*"):
        path.unlink()
    (copied.parent / "vocab.txt").write_text("\n".join(wordpieces()))
    explorer.convert(copied, tmp_path / "target")
    assert AutoTokenizer.from_pretrained(tmp_path / "target").tokenize("The cat") == ["the", "cat"]
    explorer.convert(copied, tmp_path / "cased", cased=True)
    assert AutoTokenizer.from_pretrained(tmp_path / "cased").tokenize("The cat") == [
        "[UNK]",
        "cat",
    ]


def test_a_pattern_s_matches_are_the_tokens(copied, tmp_path):
    pieces = [*wordpieces()[:5], "C", "O", "=", "(", ")", "Cl", "c"]
    for path in copied.glob("*token*"):
        path.unlink()
    (copied / "vocab.txt").write_text("\n".join(pieces))
    explorer.convert(copied, tmp_path / "target", pattern=r"Cl?|O|=|\(|\)|c")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "target")
    assert tokenizer.tokenize("CC(=O)[MASK]Cl") == ["C", "C", "(", "=", "O", ")", "[MASK]", "Cl"]
    with pytest.raises(explorer.Refusal, match="no regular expression"):
        explorer.convert(copied, tmp_path / "other", pattern="(")


def test_words_of_another_program_are_separated_by_blanks(copied, tmp_path):
    for path in copied.glob("*token*"):
        path.unlink()
    (copied / "vocab.txt").write_text("\n".join([*wordpieces()[:5], "日本", "語"]))
    named = {"tokenizer_class": "BertJapaneseTokenizer"}
    (copied / "tokenizer_config.json").write_text(json.dumps(named))
    result = explorer.convert(copied, tmp_path / "target")
    assert "words are separated by blanks" in result.notes[0]
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "target")
    assert tokenizer.tokenize("日本 語") == ["日本", "語"]


@pytest.fixture
def adapted(saved, tmp_path):
    """Function that writes an adapter of a network, with random changes, and returns its folder."""
    peft = pytest.importorskip("peft")

    def write(network, **settings):
        adapter = peft.get_peft_model(network, peft.LoraConfig(r=2, **settings))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(5)
            for name, parameter in adapter.named_parameters():
                if "lora_" in name:
                    torch.nn.init.normal_(parameter)
        adapter.save_pretrained(tmp_path / "adapter")
        AutoTokenizer.from_pretrained(saved).save_pretrained(tmp_path / "adapter")
        return tmp_path / "adapter", adapter

    return write


def test_an_adapter_is_merged(saved, adapted, tmp_path):
    network = BertForMaskedLM.from_pretrained(saved)
    folder, adapter = adapted(network, target_modules=["query", "word_embeddings"])
    result = explorer.convert(folder, tmp_path / "target")
    assert result.agrees
    assert any("changes the word embeddings" in note for note in result.notes)
    inputs = AutoTokenizer.from_pretrained(saved)(TEXT, return_tensors="pt")
    with torch.no_grad():
        states = adapter.eval()(**inputs, output_hidden_states=True).hidden_states[-1]
        merged = BertModel.from_pretrained(tmp_path / "target").eval()(**inputs).last_hidden_state
    assert torch.allclose(states, merged, atol=1e-4)


def test_an_adapter_whose_pooler_is_nowhere_is_refused(saved, adapted, tmp_path):
    base = shutil.copytree(saved, tmp_path / "no-pooler")
    BertForMaskedLM.from_pretrained(saved).save_pretrained(base)
    network = BertForSequenceClassification.from_pretrained(base)
    folder, _ = adapted(network, target_modules=["query"], task_type="SEQ_CLS")
    with pytest.raises(explorer.Refusal, match="trained with a pooler that neither"):
        explorer.convert(folder, tmp_path / "target")


@pytest.mark.long
def test_an_adapter_of_trained_words_names_the_bias_that_was_not(saved, adapted, tmp_path):
    network = BertForMaskedLM.from_pretrained(saved)
    rows = {"word_embeddings": [80, 81]}
    folder, _ = adapted(network, target_modules=["query"], trainable_token_indices=rows)
    result = explorer.convert(folder, tmp_path / "target")
    assert any("its bias was not trained" in note for note in result.notes)


def test_an_adapter_without_its_model_says_where_it_is_looked_for(saved, adapted, tmp_path):
    network = BertForMaskedLM.from_pretrained(saved)
    folder, _ = adapted(network, target_modules=["query"])
    settings = json.loads((folder / "adapter_config.json").read_text())
    settings["base_model_name_or_path"] = "me/elsewhere"
    (folder / "adapter_config.json").write_text(json.dumps(settings))
    with pytest.raises(explorer.Refusal, match="an adapter of me/elsewhere, which is no folder"):
        explorer.convert(folder, tmp_path / "target")
