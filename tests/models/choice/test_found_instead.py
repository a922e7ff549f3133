"""What is there where a checkpoint was expected: it is named, with the one command that helps."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer, BertForMaskedLM

import explorer
from explorer.library import checkpoints
from explorer.models.choice import own
from explorer.models.choice.refused import NotAModel
from explorer.models.convert.folder import convert_folder
from explorer.models.loading import load_model
from tests.tiny_models import make_bert, save

TEXT = "the cat sat on the [MASK]"


@pytest.fixture(autouse=True)
def as_before(own_models, monkeypatch):
    """Restore the choice of models after each test; six texts are enough for small networks."""
    monkeypatch.setattr(checkpoints, "TEXTS", checkpoints.TEXTS[:6])


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("instead") / "my-bert"
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        save(*make_bert(2, 4, 32, 0.5), path)
    return path


@pytest.fixture
def copied(saved, tmp_path):
    """Copy of a BERT of two layers that a test may change."""
    return shutil.copytree(saved, tmp_path / "run" / "my-bert")


@pytest.fixture
def bare(copied):
    """The same without its weights."""
    (copied / "model.safetensors").unlink()
    return copied


def refused(source):
    with pytest.raises(NotAModel) as refusal:
        own.own_spec("mine", str(source))
    (note,) = refusal.value.__notes__
    return str(refusal.value), note


def rewritten(folder, change):
    path = folder / "model.safetensors"
    save_file(change(load_file(path)), path, {"format": "pt"})


@pytest.mark.parametrize("prefix", ["encoder.", "net.", "bert.", "base_model.model.", "a.b.c."])
def test_any_module_that_holds_the_network_is_left_out(saved, copied, prefix):
    rewritten(copied, lambda tensors: {f"{prefix}{n}": t for n, t in tensors.items()})
    spec = own.own_spec("mine", str(copied))
    is_read_alike = prefix == "bert."
    assert is_read_alike == explorer.verify(copied).agrees
    assert is_read_alike == (spec.notes == ())
    ours, plain = load_model(spec).network, BertForMaskedLM.from_pretrained(saved).state_dict()
    read = ours.state_dict()
    assert {name for name in plain if not torch.equal(plain[name], read[name])} == set()
    convert_folder(copied, copied.parent / "target")
    written = load_file(copied.parent / "target" / "model.safetensors")
    assert torch.equal(written["cls.predictions.bias"], plain["cls.predictions.bias"])


def test_two_networks_in_one_file_are_named(copied):
    rewritten(
        copied,
        lambda tensors: {
            f"{side}.{n}": t.clone() for side in ("left", "right") for n, t in tensors.items()
        },
    )
    said, _ = refused(copied)
    assert "holds the weights of several networks, left and right" in said


def test_a_second_network_beside_the_plain_one_is_no_part_of_it(saved, copied):
    """As the teacher that a student was distilled from."""
    rewritten(copied, lambda tensors: tensors | {f"teacher.{n}": t * 0 for n, t in tensors.items()})
    network = load_model(own.own_spec("mine", str(copied))).network
    words = load_file(saved / "model.safetensors")["bert.embeddings.word_embeddings.weight"]
    assert torch.equal(network.bert.embeddings.word_embeddings.weight, words)


def test_a_checkpoint_of_a_training_takes_the_tokenizer_above_it(copied):
    for path in copied.glob("*token*"):
        path.rename(copied.parent / path.name)
    (copied / "optimizer.pt").write_bytes(b"1")
    said, note = refused(copied)
    assert f"the folder above it has one: “python -m explorer convert {copied} TARGET”" in said
    assert "run the named command" in note
    explorer.convert(copied, copied.parent / "target")
    assert AutoTokenizer.from_pretrained(copied.parent / "target").tokenize("the") == ["the"]


@pytest.mark.parametrize("name", ["checkpoint-1000", "0_Transformer"])
def test_the_newest_checkpoint_below_a_folder_is_named(saved, tmp_path, name):
    for below in ("checkpoint-500", name):
        shutil.copytree(saved, tmp_path / "runs" / below)
    (tmp_path / "runs" / "1_Pooling").mkdir()
    (tmp_path / "runs" / "1_Pooling" / "config.json").write_text("{}")
    said, _ = refused(tmp_path / "runs")
    newest = max("checkpoint-500", name, key=lambda part: int("".join(filter(str.isdigit, part))))
    assert said.endswith(f"no config.json; the folder {newest} in it has one.")
    with pytest.raises(NotAModel, match=f"the folder {newest} in it has one"):
        convert_folder(tmp_path / "runs", tmp_path / "target")


@pytest.mark.parametrize(
    ("file", "what"),
    [
        ("openvino_model.xml", "a network of OpenVINO"),
        ("rust_model.ot", "weights of rust-bert"),
        ("model.tflite", "a network of TensorFlow Lite"),
    ],
)
def test_another_program_s_weights_are_no_pickle(bare, file, what):
    (bare / file).write_bytes(b"1")
    (bare / "openvino_model.bin").write_bytes(b"\x01\x02\x03\x04")
    said, _ = refused(bare)
    assert f"holds {what}, {file}, and no model.safetensors" in said


def test_the_state_of_a_training_is_no_weights(bare):
    for name in ("rng_state_0.pth", "rng_state_1.pth", "scaler.pt", "optimizer.pt"):
        torch.save({}, bare / name)
    assert "has no model.safetensors; it holds" in refused(bare)[0]


def test_the_parts_of_a_training_on_several_processes_are_joined_by_its_own_command(bare):
    (bare / "pytorch_model_fsdp_0").mkdir()
    (bare / "pytorch_model_fsdp_0" / "__0_0.distcp").write_bytes(b"1")
    assert "“accelerate merge-weights pytorch_model_fsdp_0 OUTPUT”" in refused(bare)[0]
    (bare / "zero_to_fp32.py").write_text("")
    assert "“python zero_to_fp32.py . OUTPUT --safe_serialization”" in refused(bare)[0]


def test_a_pointer_in_place_of_a_pickle_is_named(bare):
    (bare / "pytorch_model.bin").write_text("version https://git-lfs.github.com/spec/v1\n")
    said, note = refused(bare)
    assert "has, as its pytorch_model.bin, a pointer file of Git LFS" in said
    assert "git lfs pull" in note


@pytest.mark.long
def test_a_pickle_under_the_name_of_safetensors_is_named(saved, bare):
    torch.save(load_file(saved / "model.safetensors"), bare / "model.safetensors")
    said, note = refused(bare)
    assert "has, as its model.safetensors, a pickle" in said
    assert "rename it to `pytorch_model.bin`" in note
    with pytest.raises(NotAModel, match=r"has, as its model\.safetensors, a pickle"):
        convert_folder(bare, bare.parent / "target")
    (bare / "model.safetensors").rename(bare / "pytorch_model.bin")
    assert explorer.convert(bare, bare.parent / "target").agrees


@pytest.mark.long
def test_parts_of_pickled_weights_are_all_needed(saved, bare):
    tensors = load_file(saved / "model.safetensors")
    names = [f"pytorch_model-0000{n}-of-00002.bin" for n in (1, 2)]
    for n, name in enumerate(names):
        torch.save(dict([*tensors.items()][n::2]), bare / name)
    listed = {name: names[n % 2] for n, name in enumerate(tensors)}
    (bare / "pytorch_model.bin.index.json").write_text(json.dumps({"weight_map": listed}))
    assert f"has its weights in {names[0]}" in refused(bare)[0]
    (bare / names[1]).rename(bare.parent / names[1])
    with pytest.raises(NotAModel, match=f"lacks {names[1]}, a part"):
        convert_folder(bare, bare.parent / "target")
    (bare.parent / names[1]).rename(bare / names[1])
    convert_folder(bare, bare.parent / "target")
    assert load_file(bare.parent / "target" / "model.safetensors").keys() == tensors.keys()


def test_of_several_pickles_none_is_taken_by_chance(saved, bare):
    for name in ("epoch1.pt", "epoch2.pt"):
        torch.save(load_file(saved / "model.safetensors"), bare / name)
    with pytest.raises(NotAModel, match=r"in several files, epoch1\.pt, epoch2\.pt"):
        convert_folder(bare, bare.parent / "target")


def test_nothing_is_written_where_the_tensors_are_of_another_network(copied):
    rewritten(copied, lambda t: {n: w for n, w in t.items() if "layer.1.output" not in n})
    with pytest.raises(NotAModel, match=f"{copied} contradicts itself: its file lacks"):
        explorer.convert(copied, copied.parent / "target")
    assert not (copied.parent / "target").exists()


@pytest.mark.parametrize(
    ("change", "line"),
    [(lambda text: f"// mine\n{text}", 1), (lambda text: f"{text.rstrip()[:-2]},\n}}", None)],
)
def test_the_line_of_a_config_that_is_no_json_is_named(copied, change, line):
    path = copied / "config.json"
    path.write_text(change(path.read_text()))
    last = len(path.read_text().splitlines())
    assert f"a config.json that is not JSON: line {line or last}, column" in refused(copied)[0]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("bert-base-cased", "is named with its owner: google-bert/bert-base-cased"),
        ("xlm-roberta-base", "is named with its owner: FacebookAI/xlm-roberta-base"),
        ("git@hf.co:someone/my-bert.git", "here someone/my-bert."),
        ("hf://someone/my-bert", "here someone/my-bert."),
        ("https://huggingface.co/someone/my-bert/tree/main", "here someone/my-bert."),
        ("my-modl", "is neither a folder here nor the name of a hub repository"),
    ],
)
def test_what_is_nearly_the_name_of_a_repository_is_put_right(source, said):
    assert said in refused(source)[0]


def test_a_file_one_folder_down_is_no_repository(copied, monkeypatch):
    (copied / "bert.gguf").write_bytes(b"GGUF")
    monkeypatch.chdir(copied.parent)
    assert "is a file: give the folder" in refused("my-bert/config.json")[0]
    assert "holds a network in GGUF: give the folder" in refused("my-bert/bert.gguf")[0]
    with pytest.raises(explorer.Refusal, match="is a file: give the folder"):
        explorer.convert("my-bert/model.safetensors", "target")


def test_without_a_network_a_repository_is_said_to_be_neither_cached_nor_asked_for(monkeypatch):
    monkeypatch.setattr(own, "HF_HUB_OFFLINE", True)

    def nothing(*_given, **_options):
        raise OSError("offline")

    monkeypatch.setattr(own, "snapshot_download", nothing)
    assert "HF_HUB_OFFLINE is set, and it is not in the cache" in refused("someone/my-bert")[0]
