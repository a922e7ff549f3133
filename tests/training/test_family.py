from dataclasses import replace

import pytest
import torch

from explorer.analysis.distillation.student import copy_teacher
from training.family import albert_from, load_model, new_model, shared_basis, start_bias, start_head
from training.recipe import TINY
from training.steps.fit import transplant

IDS = torch.tensor([[2, 17, 4, 80, 3]])


@pytest.fixture
def teacher():
    torch.manual_seed(0)
    model = new_model("mini-bert", TINY).eval()
    for weight in model.parameters():  # biases and norms begin at 0 and 1: make copying visible
        torch.nn.init.normal_(weight, std=0.2)
    return model


def test_a_student_of_every_layer_says_what_the_teacher_says(teacher):
    recipe = replace(TINY, student_layers=(0, 1))
    student = new_model("mini-distilbert", recipe).eval()
    copy_teacher(teacher, student, recipe.student_layers)
    with torch.no_grad():
        expected = teacher(input_ids=IDS).prediction_logits
        torch.testing.assert_close(student(input_ids=IDS).logits, expected, atol=1e-4, rtol=1e-4)


def test_a_student_of_alternate_layers_holds_exactly_those(teacher):
    student = new_model("mini-distilbert", TINY)
    copy_teacher(teacher, student, TINY.student_layers)
    own, other = student.distilbert.transformer.layer[0], teacher.bert.encoder.layer[1]
    assert torch.equal(own.attention.q_lin.weight, other.attention.self.query.weight)
    assert torch.equal(own.ffn.lin2.weight, other.output.dense.weight)
    assert not torch.equal(own.ffn.lin2.weight, teacher.bert.encoder.layer[0].output.dense.weight)


def test_the_basis_keeps_the_positions_whole():
    torch.manual_seed(1)
    axes = torch.linalg.qr(torch.randn(32, 32)).Q
    words = torch.randn(200, 20) @ axes[:20]
    places = 0.1 * torch.randn(64, 2) @ axes[20:22]
    basis = shared_basis(words, places, 12)
    torch.testing.assert_close(basis @ basis.T, torch.eye(12), atol=1e-5, rtol=0)
    torch.testing.assert_close(places @ basis.T @ basis, places, atol=1e-5, rtol=0)


def test_albert_begins_with_the_teachers_embeddings_and_layer(teacher):
    recipe = replace(TINY, albert_width=24)
    albert = new_model("mini-albert", recipe).eval()
    alone = [[piece] for piece in range(recipe.vocabulary)]
    albert_from(teacher, albert, alone, 1)
    with torch.no_grad():
        seen = teacher.bert(input_ids=IDS, output_hidden_states=True).hidden_states[0]
        made = albert.albert(input_ids=IDS, output_hidden_states=True).hidden_states[0]
    assert torch.cosine_similarity(seen, made, dim=-1).min() > 0.8
    shared = albert.albert.encoder.albert_layer_groups[0].albert_layers[0]
    origin = teacher.bert.encoder.layer[1]
    assert torch.equal(shared.ffn.weight, origin.intermediate.dense.weight)
    assert torch.equal(shared.attention.key.weight, origin.attention.self.key.weight)


def test_a_transplanted_piece_is_the_mean_of_its_wordpieces(teacher):
    torch.manual_seed(2)
    fitted, target = new_model("mini-albert", TINY), new_model("mini-albert", TINY)
    spellings = [[5, 9]] + [[piece] for piece in range(1, TINY.vocabulary)]
    transplant(fitted, target, spellings)
    before = fitted.albert.embeddings.word_embeddings.weight
    after = target.albert.embeddings.word_embeddings.weight
    torch.testing.assert_close(after[0], (before[5] + before[9]) / 2)
    assert torch.equal(after[1:], before[1:])
    assert target.predictions.decoder.weight is after
    assert torch.equal(fitted.predictions.dense.weight, target.predictions.dense.weight)


@pytest.mark.parametrize("name", ["mini-bert", "mini-albert"])
def test_a_new_head_begins_with_the_frequencies(name):
    model = new_model(name, TINY)
    frequencies = torch.linspace(-9, -1, TINY.vocabulary)
    start_head(model)
    start_bias(model, frequencies.numpy())
    head = model.cls.predictions if name == "mini-bert" else model.predictions
    torch.testing.assert_close(head.decoder.bias.detach(), frequencies)


def test_an_unknown_model_is_refused(tmp_path):
    with pytest.raises(ValueError, match="mini-gpt is not one of mini-bert"):
        load_model(tmp_path / "mini-gpt")
