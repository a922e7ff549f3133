"""A checkpoint of the reader's own is counted, timed and sized as what its file holds."""

import ast
import shutil

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoConfig, AutoModelForPreTraining, BertForQuestionAnswering

from explorer.analysis.parameters.count import parameter_counts
from explorer.analysis.parameters.shape import forward_flops
from explorer.analysis.parameters.shapes import family_members
from explorer.models.choice.family import shape_total
from explorer.models.choice.memory import weight_bytes
from explorer.models.choice.own import add_models
from explorer.timing.networks import bytes_of_pass, timed_network
from explorer.timing.workload import Workload
from explorer.ui.kit.canvas import RECIPES


@pytest.fixture
def folder(_seven_folder, tmp_path, own_models):
    """Copy of a BERT that a test may write over."""
    return shutil.copytree(_seven_folder / "bert-base-uncased", tmp_path / "own-bert")


def added(network, folder, own_models):
    network.save_pretrained(folder)
    add_models([f"bert={folder}"])
    return own_models["own-bert"], network.eval()


def assigned(line):
    """Return the names that a statement gives a value."""
    targets = line.targets if isinstance(line, ast.Assign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def numel(module):
    return sum(p.numel() for p in module.parameters())


@pytest.mark.long
def test_a_pooler_that_the_file_lacks_is_neither_counted_nor_timed(folder, own_models):
    network = BertForQuestionAnswering.from_pretrained(folder, attn_implementation="eager")
    spec, network = added(network, folder, own_models)
    counts, n_encoder = parameter_counts(spec), numel(network.bert)
    assert (counts.total, counts.components["pooler"]) == (n_encoder, 0)
    assert shape_total(spec.architecture) == n_encoder
    work, ids = Workload(16), torch.arange(16)[None]
    assert bytes_of_pass(spec, work) == 4 * n_encoder
    with timed_network(spec, work) as timed, torch.inference_mode():
        assert timed.n_bytes(head=False) == 4 * n_encoder
        with FlopCounterMode(display=False) as ours:
            timed.network.base_model(input_ids=ids)
        with FlopCounterMode(display=False) as plain:
            network.bert(input_ids=ids)
    assert ours.get_total_flops() == forward_flops(spec, 16) == plain.get_total_flops()


def test_savings_lead_from_a_bert_without_a_pooler_to_the_others(tiny_family, folder, own_models):
    network = BertForQuestionAnswering.from_pretrained(folder)
    spec, _ = added(network, folder, own_models)
    bert, *others = family_members(f"bert={spec.size},distilbert=mini,albert=mini")
    for member in others:
        saved = sum(step.saved for step in member.savings)
        assert bert.counts.total == member.counts.total + saved


@pytest.mark.parametrize("key", ["bert", "distilbert", "albert"])
def test_an_output_layer_of_its_own_is_counted_and_has_its_room(
    key, tiny_family, own_models, tmp_path
):
    folder = shutil.copytree(tiny_family.specs[key].bundled_path, tmp_path / "untied")
    config = AutoConfig.from_pretrained(folder, tie_word_embeddings=False)
    network = AutoModelForPreTraining.from_config(config)
    network.save_pretrained(folder)
    add_models([f"{key}={folder}"])
    spec, encoder = own_models["untied"], network.base_model
    assert network.get_output_embeddings().weight is not network.get_input_embeddings().weight
    counts = parameter_counts(spec)
    assert (counts.total, counts.head_total) == (numel(encoder), numel(network) - numel(encoder))
    assert bytes_of_pass(spec, Workload(16, head=True)) == 4 * numel(network)
    pairs = ("seq_relationship", "sop_classifier")
    whole = sum(
        p.numel() for n, p in network.named_parameters() if not any(part in n for part in pairs)
    )
    spare = config.vocab_size if key == "distilbert" else 0
    assert weight_bytes(spec) == 4 * (whole + spare)


@pytest.mark.parametrize("kind", ["components", "map", "memory"])
def test_a_saved_script_leaves_the_pooler_out_too(kind, folder, own_models):
    network = BertForQuestionAnswering.from_pretrained(folder)
    spec, network = added(network, folder, own_models)
    lines = ast.parse((RECIPES / f"parameters/{kind}.py").read_text("utf-8"))
    told = {"CONFIGS": {spec.name: spec.config}}
    lines.body = [line for line in lines.body if "CONFIGS" not in assigned(line)]
    exec(compile(lines, kind, "exec"), told)
    rows = [dict(zip(told["columns"], row, strict=True)) for row in told["rows"]]
    found = {
        "components": lambda: rows[0]["total"],
        "map": lambda: sum(row["weights"] for row in rows if row["part"] != "head"),
        "memory": lambda: rows[0]["weight_bytes"] // 4,
    }
    assert found[kind]() == numel(network.bert)
