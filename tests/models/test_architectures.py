"""Networks from a spec have the released shapes, and random ones compute like transformers."""

from dataclasses import replace

import pytest
import torch
import transformers
from safetensors import safe_open

from explorer.models.architectures import (
    SHARING_MODES,
    config_of,
    fill_randomly,
    meta_network,
    random_network,
    sharing_network,
)
from explorer.models.specs import BASE, BUNDLED, LARGER, MINI, MODEL_KEYS

WITH_HEADS = {
    "bert-base-uncased": (109_482_240, 110_106_428),
    "distilbert-base-uncased": (66_362_880, 66_985_530),
    "albert-base-v2": (11_683_584, 11_813_810),
    "bert-large-uncased": (335_141_888, 336_226_108),
    "albert-large-v2": (17_683_968, 17_847_474),
    "albert-xlarge-v2": (58_724_864, 59_021_490),
    "albert-xxlarge-v2": (222_595_584, 223_158_450),
}
TABLE_4 = {
    128: {"none": 89_650_176, "attention": 63_647_232, "ffn": 37_686_528, "all": 11_683_584},
    768: {"none": 109_671_936, "attention": 83_668_992, "ffn": 57_708_288, "all": 31_705_344},
}


def small(key):
    spec = BASE[key]
    d_embedding = 16 if key == "albert" else 24
    sizes = {"n_layers": 3, "d_model": 24, "n_heads": 4, "d_ffn": 96, "d_vocab": 50}
    shape = replace(spec.architecture, d_embedding=d_embedding, **sizes)
    return replace(spec, name=f"small-{key}", architecture=shape)


def numel(module):
    return sum(p.numel() for p in module.parameters())


@pytest.mark.parametrize("spec", [*BASE.values(), *LARGER.values()], ids=lambda s: s.name)
def test_the_seven_have_the_released_counts_and_take_no_memory(spec):
    network = meta_network(spec)
    assert (numel(network.base_model), numel(network)) == WITH_HEADS[spec.name]
    assert {p.device.type for p in network.parameters()} == {"meta"}


@pytest.mark.parametrize("spec", MINI.values(), ids=lambda s: s.name)
def test_a_miniature_has_the_shapes_of_its_bundled_tensors(spec):
    network = meta_network(spec).state_dict()
    with safe_open(BUNDLED / spec.name / "model.safetensors", "pt") as bundled:
        names = set(bundled.keys())
        shapes = {name: tuple(bundled.get_slice(name).get_shape()) for name in names}
    assert shapes == {name: tuple(network[name].shape) for name in names}


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_random_network_computes_what_transformers_computes(key):
    spec = small(key)
    ours = random_network(spec, seed=3)
    plain = transformers.AutoModelForPreTraining.from_config(
        config_of(spec), attn_implementation="eager"
    ).eval()
    plain.load_state_dict(ours.state_dict(), strict=True)
    ids = torch.arange(7)[None]
    with torch.inference_mode():
        assert torch.equal(ours(input_ids=ids)[0], plain(input_ids=ids)[0])


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_random_network_is_the_same_for_a_seed_and_keeps_its_ties(key):
    first, again, other = (random_network(small(key), seed) for seed in (1, 1, 2))
    weight = first.get_input_embeddings().weight
    assert first.get_output_embeddings().weight is weight
    assert torch.equal(weight, again.get_input_embeddings().weight)
    assert not torch.equal(weight, other.get_input_embeddings().weight)


@pytest.mark.parametrize("d_embedding", [128, 768])
@pytest.mark.parametrize("mode", SHARING_MODES)
def test_the_four_sharing_modes_have_the_papers_counts(mode, d_embedding):
    spec = BASE["albert"]
    spec = replace(spec, architecture=replace(spec.architecture, d_embedding=d_embedding))
    assert numel(sharing_network(spec, mode).base_model) == TABLE_4[d_embedding][mode]


@pytest.mark.parametrize("mode", SHARING_MODES)
def test_a_sharing_mode_runs_and_computes_what_its_copies_would(mode):
    """An unshared network loaded with copies of the shared parts gives the same hidden states."""
    spec = small("albert")
    shared = fill_randomly(sharing_network(spec, mode).to_empty(device="cpu"), seed=5)
    copies = fill_randomly(sharing_network(spec, "none").to_empty(device="cpu"), seed=6)
    source = shared.base_model.state_dict()
    if mode == "all":
        group = "encoder.albert_layer_groups."
        source = {
            name.replace(f"{group}0.", f"{group}{layer}."): tensor
            for name, tensor in source.items()
            for layer in (range(3) if group in name else [0])
        }
    copies.base_model.load_state_dict(source, strict=True)
    ids = torch.arange(7)[None]
    with torch.inference_mode():
        ours = shared.base_model(input_ids=ids).last_hidden_state
        theirs = copies.base_model(input_ids=ids).last_hidden_state
    assert torch.equal(ours, theirs)
    assert ours.std() > 0.1


def test_an_unknown_sharing_mode_is_refused_in_words():
    with pytest.raises(ValueError, match="no sharing mode 'half' for ALBERT"):
        sharing_network(BASE["albert"], "half")
    with pytest.raises(ValueError, match="no sharing mode 'all' for BERT"):
        sharing_network(BASE["bert"], "all")


@pytest.mark.parametrize("key", list(MINI))
def test_a_bundled_models_activation_is_its_configs(key):
    from transformers import AutoConfig

    config = AutoConfig.from_pretrained(MINI[key].bundled_path)
    declared = getattr(config, "activation", None) or config.hidden_act
    assert MINI[key].architecture.activation == declared
