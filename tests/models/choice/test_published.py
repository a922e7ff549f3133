"""Checkpoints with the published files' names, configs and settings load whole, as what they are."""

import json

import pytest
from safetensors.torch import save_file
from transformers import AutoModelForPreTraining

from explorer.library.strings import NOT_IN_CHECKPOINT, head_said
from explorer.models.choice.own import add_models
from explorer.models.loading import read_checkpoint
from explorer.models.specs import PUBLISHED
from tests.models.choice.published import ABSENT, CONFIGS, DECODER, NAMES, TOKENIZER
from tests.models.choice.seven_sizes import SHAPES, narrow, save_seven

SHAPE = ("vocab_size", "max_position_embeddings", "hidden_size", "num_hidden_layers", "dim")
SHAPE += ("num_attention_heads", "intermediate_size", "embedding_size")
SHAPE += ("n_layers", "n_heads", "hidden_dim")
TODAY = {"gamma": "weight", "beta": "bias"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("published")
    save_seven(folder)
    return folder


def publish(path, spec, decoder):
    """The same numbers under the published names, and the files beside them as published."""
    network = AutoModelForPreTraining.from_pretrained(path)
    state = network.state_dict()
    names = [*NAMES[spec.key](SHAPES[spec.name][0]), *[DECODER[spec.key]] * decoder]
    tensors = {}
    for name in names:
        start, _, last = name.rpartition(".")
        tensors[name] = state[f"{start}.{TODAY.get(last, last)}"].clone()
    save_file(tensors, path / "model.safetensors", {"format": "pt"})
    shape = json.loads((path / "config.json").read_text())
    shape = {name: shape[name] for name in SHAPE if name in shape}
    (path / "config.json").write_text(json.dumps(CONFIGS[spec.key] | shape))
    (path / "tokenizer_config.json").write_text(json.dumps(TOKENIZER[spec.key]))
    return state


@pytest.mark.long
@pytest.mark.parametrize("decoder", [False, True], ids=["", "with the decoder"])
@pytest.mark.parametrize("spec", PUBLISHED, ids=lambda spec: spec.name)
def test_it_loads_with_no_tensor_missing_but_those_that_are_explained(
    spec, decoder, folder, monkeypatch
):
    path = folder / spec.name
    state = publish(path, spec, decoder)
    with narrow(monkeypatch, folder) as specs:
        loaded = read_checkpoint(specs[spec.name], path, "cpu", "float32")
    assert loaded.missing == ABSENT[spec.key]
    _, info = AutoModelForPreTraining.from_pretrained(path, output_loading_info=True)
    assert not info["unexpected_keys"]
    assert not info["mismatched_keys"]
    read = loaded.network.state_dict()
    assert [n for n in read if n not in loaded.missing and not read[n].equal(state[n])] == []
    if loaded.missing:
        said = head_said(spec, trained=False, skill=None)
        assert said == NOT_IN_CHECKPOINT.format(label=spec.label, objective="SOP")


@pytest.mark.parametrize("name", ["bert-base-uncased", "distilbert-base-uncased", "albert-base-v2"])
def test_it_may_be_given_at_the_start(name, folder, own_models):
    spec = next(spec for spec in PUBLISHED if spec.name == name)
    publish(folder / name, spec, decoder=False)
    add_models([f"{spec.key}={folder / name}"])
    (own,) = own_models.values()
    assert (own.lower_case, own.has_head, own.tuned_for) == (True, True, "")
    assert own.architecture.has_pooler == (spec.key != "distilbert")
