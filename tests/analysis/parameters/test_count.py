"""Every count equals the table of the released models and an independent sum over the modules."""

import json
from itertools import pairwise

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode
from transformers import (
    AlbertConfig,
    AlbertModel,
    AutoModelForPreTraining,
    BertConfig,
    BertModel,
    DistilBertConfig,
    DistilBertModel,
)

from explorer.analysis.parameters.count import (
    COMPONENTS,
    component_of,
    layer_calls,
    named_counts,
    network_parameters,
    parameter_calls,
    parameter_counts,
)
from explorer.analysis.parameters.shape import forward_flops, savings
from explorer.models.architectures import meta_network
from explorer.models.choice.family import shape_counts, shape_total
from explorer.models.specs import BASE, LARGER, MODEL_KEYS
from explorer.refusal import Refusal

SEVEN = {spec.name: spec for spec in [*BASE.values(), *LARGER.values()]}
TABLE = {
    "bert-base-uncased": (23440896, 393216, 1536, 0, 28348416, 56669184, 38400, 590592, 109482240),
    "bert-large-uncased": (
        31254528,
        524288,
        2048,
        0,
        100761600,
        201449472,
        100352,
        1049600,
        335141888,
    ),
    "distilbert-base-uncased": (23440896, 393216, 0, 0, 14174208, 28334592, 19968, 0, 66362880),
    "albert-base-v2": (3840000, 65536, 256, 99072, 2362368, 4722432, 3328, 590592, 11683584),
    "albert-large-v2": (3840000, 65536, 256, 132096, 4198400, 8393728, 4352, 1049600, 17683968),
    "albert-xlarge-v2": (3840000, 65536, 256, 264192, 16785408, 33564672, 8448, 4196352, 58724864),
    "albert-xxlarge-v2": (
        3840000,
        65536,
        256,
        528384,
        67125248,
        134238208,
        16640,
        16781312,
        222595584,
    ),
}


def independent(name):
    """Return the encoder written again from the papers, independent of the explorer."""
    made = {
        "bert-base-uncased": lambda: BertModel(BertConfig()),
        "bert-large-uncased": lambda: BertModel(
            BertConfig(
                hidden_size=1024,
                num_hidden_layers=24,
                num_attention_heads=16,
                intermediate_size=4096,
            )
        ),
        "distilbert-base-uncased": lambda: DistilBertModel(DistilBertConfig()),
        "albert-base-v2": lambda: AlbertModel(
            AlbertConfig(hidden_size=768, num_attention_heads=12, intermediate_size=3072)
        ),
        "albert-large-v2": lambda: AlbertModel(
            AlbertConfig(
                hidden_size=1024,
                num_hidden_layers=24,
                num_attention_heads=16,
                intermediate_size=4096,
            )
        ),
        "albert-xlarge-v2": lambda: AlbertModel(
            AlbertConfig(
                hidden_size=2048,
                num_hidden_layers=24,
                num_attention_heads=16,
                intermediate_size=8192,
            )
        ),
        "albert-xxlarge-v2": lambda: AlbertModel(AlbertConfig()),
    }
    with torch.device("meta"):
        return made[name]()


def numel(module):
    return sum(p.numel() for p in module.parameters())


@pytest.mark.parametrize("name", SEVEN)
def test_every_component_equals_the_table_and_an_independent_sum(name):
    counts = parameter_counts(SEVEN[name])
    assert tuple(counts.components[c] for c in COMPONENTS) == TABLE[name][:-1]
    assert counts.total == TABLE[name][-1] == numel(independent(name))
    assert sum(tensor.size for tensor in counts.encoder) == counts.total
    assert counts.stored_bytes == 4 * counts.total


def test_the_heads_hold_only_what_they_add():
    """Published counts with the pre-training heads, less encoder and pooler; ties not repeated."""
    heads = {spec.key: parameter_counts(spec).head_total for spec in BASE.values()}
    assert heads == {
        "bert": 110_106_428 - 109_482_240,
        "distilbert": 66_985_530 - 66_362_880,
        "albert": 11_813_810 - 11_683_584,
    }


@pytest.mark.parametrize("name", SEVEN)
def test_applied_is_the_unrolled_count(name):
    shape = SEVEN[name].architecture
    counts = parameter_counts(SEVEN[name])
    assert counts.applied == shape_total(shape, "none")
    assert {t.calls for t in counts.encoder if t.layer is not None} == (
        {shape.n_layers} if shape.shares_layers else {1}
    )


def test_albert_base_applies_what_the_issue_is_about():
    counts = parameter_counts(BASE["albert"])
    assert counts.layer_size == 7_087_872
    assert counts.applied == 89_650_176 == counts.total + 11 * counts.layer_size


@pytest.mark.parametrize("name", SEVEN)
def test_the_closed_form_equals_the_modules(name):
    assert shape_counts(SEVEN[name].architecture) == parameter_counts(SEVEN[name]).components


@pytest.mark.long
@pytest.mark.parametrize(("length", "batch", "head"), [(128, 1, False), (40, 3, True)])
@pytest.mark.parametrize(
    "name", ["bert-base-uncased", "distilbert-base-uncased", "albert-xlarge-v2"]
)
def test_flops_equal_torch_s_own_counter(name, length, batch, head):
    spec = SEVEN[name]
    network = meta_network(spec)
    ids = torch.zeros(batch, length, dtype=torch.long, device="meta")
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        (network if head else network.base_model)(input_ids=ids)
    sentence_head = 4 * batch * spec.architecture.d_model * (head and spec.architecture.has_pooler)
    assert counter.get_total_flops() - sentence_head == forward_flops(spec, length, batch, head)


@pytest.mark.parametrize("key", ["distilbert", "albert"])
def test_savings_lead_from_bert_to_the_model_without_a_gap(key):
    steps = savings(BASE["bert"].architecture, BASE[key].architecture)
    assert steps[0].before == parameter_counts(BASE["bert"]).total
    assert steps[-1].after == parameter_counts(BASE[key]).total
    assert all(a.after == b.before for a, b in pairwise(steps))


def test_savings_name_the_changes():
    to_distilbert = savings(BASE["bert"].architecture, BASE["distilbert"].architecture)
    assert {s.change: s.saved for s in to_distilbert} == {
        "layers": 42_527_232,
        "segments": 1_536,
        "pooler": 590_592,
    }
    to_albert = savings(BASE["bert"].architecture, BASE["albert"].architecture)
    assert {s.change: s.saved for s in to_albert} == {
        "vocabulary": 400_896,
        "sharing": 11 * 7_087_872,
        "factorising": 19_200_000 + 327_680 + 1_280 + 1_280 - 99_072,
    }


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_layer_calls_on_the_real_modules(key):
    spec = BASE[key]
    calls = layer_calls(meta_network(spec).base_model, spec.kind.output)
    expected = {"bert": (12, 12), "distilbert": (6, 6), "albert": (12, 1)}
    assert (calls.calls, calls.distinct) == expected[key]
    assert calls.tensors == (tuple([0] * 12) if key == "albert" else tuple(range(calls.calls)))


def test_counting_leaves_no_hook_behind():
    network = meta_network(BASE["distilbert"])
    parameter_calls(network.base_model)
    assert not any(module._forward_hooks for module in network.modules())


# Tampering: each count must notice.


def test_breaking_the_sharing_is_noticed():
    config = AlbertConfig(
        hidden_size=48,
        num_attention_heads=4,
        intermediate_size=96,
        num_hidden_groups=3,
        num_hidden_layers=3,
        vocab_size=40,
        embedding_size=16,
    )
    with torch.device("meta"):
        network = AutoModelForPreTraining.from_config(config).eval()
    calls = layer_calls(network.base_model, BASE["albert"].kind.output)
    assert (calls.calls, calls.distinct) == (3, 3)
    counts = network_parameters("broken", network)
    assert counts.total == counts.applied


def test_untying_the_decoder_is_noticed():
    network = meta_network(BASE["bert"])
    before = network_parameters("tied", network).head_total
    weight = network.get_output_embeddings().weight
    network.get_output_embeddings().weight = nn.Parameter(torch.empty_like(weight))
    assert network_parameters("untied", network).head_total == before + weight.numel()


def test_an_added_pooler_is_noticed():
    network = meta_network(BASE["distilbert"])
    network.base_model.pooler = nn.Linear(768, 768, device="meta")
    counts = network_parameters("pooled", network)
    assert counts.components["pooler"] == 590_592
    assert next(t.calls for t in counts.encoder if t.component == "pooler") == 0


def test_a_tensor_of_no_component_is_refused():
    with pytest.raises(ValueError, match=r"adapter\.weight belongs to no known component"):
        component_of("adapter.weight")


@pytest.mark.parametrize("names", [[], ["bert"], ["albert-base-v2", "<script>"], [json.dumps({})]])
def test_unknown_names_are_refused_with_the_list(names):
    with pytest.raises(Refusal, match="there are: bert-base-uncased, distilbert-base-uncased"):
        named_counts(names)
