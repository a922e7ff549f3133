"""The recipe's losses on a sentence, layer alignment and masking, against independent code."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional

from explorer.analysis.distillation.losses import (
    TEMPERATURE_STEPS,
    PairLogits,
    masking_simulation,
    sentence_losses,
)
from explorer.analysis.distillation.soft import NotAPair, StateAlignment, state_alignment
from explorer.models.forward import position_logits
from explorer.models.inside.activations import layer_cosines
from explorer.models.specs import BASE, MINI

TEXT = "the cat sat on the [MASK] and played."


def everywhere(tiny_family, key, text=TEXT):
    run = tiny_family.run(key, text)
    return run, position_logits(tiny_family.loaded(key), run, tuple(range(len(run.tokens))))


@pytest.fixture
def pair(tiny_family):
    teacher, t_logits = everywhere(tiny_family, "bert")
    student, s_logits = everywhere(tiny_family, "distilbert")
    return PairLogits(teacher, student, t_logits, s_logits)


def test_losses_equal_the_recipe_written_in_plain_torch(tiny_family, pair):
    networks = {key: tiny_family.loaded(key) for key in ("bert", "distilbert")}
    ids = torch.tensor([pair.teacher.tokens.ids])
    teacher = networks["bert"].network(ids, output_hidden_states=True)
    student = networks["distilbert"].network(ids, output_hidden_states=True)
    answer = networks["bert"].tokenizer.convert_tokens_to_ids("mat")
    found = sentence_losses(pair, (answer,), (1.0, 2.0, 5.0))
    t, s = teacher.prediction_logits[0], student.logits[0]
    for i, temperature in enumerate((1.0, 2.0, 5.0)):
        per_word = functional.kl_div(
            (s / temperature).log_softmax(-1), (t / temperature).softmax(-1), reduction="none"
        ).sum(-1)
        assert np.allclose(found.kl[i], per_word, atol=1e-4)
        assert found.ce[i] == pytest.approx(float(per_word.mean()) * temperature**2, abs=1e-3)
    mask = ids[0].tolist().index(networks["bert"].tokenizer.mask_token_id)
    assert found.mlm == pytest.approx(float(-s[mask].log_softmax(-1)[answer]), abs=1e-4)
    cosine = functional.cosine_similarity(teacher.hidden_states[-1], student.hidden_states[-1], -1)
    assert found.cos == pytest.approx(1 - float(cosine.mean()), abs=1e-4)
    assert np.allclose(found.cosine, cosine[0], atol=1e-4)


def test_the_temperatures_rise_and_hold_those_of_the_papers():
    """1 as the models answer, 2 as DistilBERT was trained, and no step of more than twice."""
    steps = np.array(TEMPERATURE_STEPS)
    assert {1.0, 2.0} <= set(TEMPERATURE_STEPS)
    assert (steps[1:] > steps[:-1]).all()
    assert (steps[1:] / steps[:-1] <= 2).all()


def test_the_total_is_the_weighted_sum(pair):
    found = sentence_losses(pair, (7,), (2.0,))
    total = found.total(0, {"ce": 5.0, "mlm": 2.0, "cos": 1.0})
    assert total == pytest.approx(5 * found.ce[0] + 2 * found.mlm + found.cos)


def test_without_the_original_word_there_is_no_mlm_loss(pair):
    assert sentence_losses(pair, (None,), (2.0,)).mlm is None
    assert sentence_losses(pair, (), (2.0,)).mlm is None


def test_state_alignment_is_the_mean_cosine_of_every_pair_of_layers(pair):
    found = state_alignment(pair.teacher, pair.student)
    assert found.cosine.shape == (4, 7)
    for i, s in enumerate(pair.student.hidden_states):
        for j, t in enumerate(pair.teacher.hidden_states):
            expected = functional.cosine_similarity(torch.tensor(s), torch.tensor(t), -1).mean()
            assert found.cosine[i, j] == pytest.approx(float(expected), abs=1e-5)
    assert found.trained == (3, 6)
    assert found.initialised == ((0, 0), (1, 2), (2, 4), (3, 6))


def test_a_model_aligns_with_itself_layer_by_layer(pair):
    found = state_alignment(pair.teacher, pair.teacher)
    assert np.allclose(np.diag(found.cosine), 1)
    assert found.nearest == tuple(range(7))
    assert isinstance(found, StateAlignment)


def test_states_of_other_tokens_are_refused(tiny_family, pair):
    with pytest.raises(NotAPair):
        state_alignment(pair.teacher, tiny_family.run("distilbert", "a dog"))


def test_layer_cosines_are_cosines_of_all_the_matrices(tiny_family):
    student, teacher = tiny_family.loaded("distilbert"), tiny_family.loaded("bert")
    found = layer_cosines(student, teacher)
    assert found.shape == (3, 6)
    s, t = student.network.distilbert.transformer.layer[1], teacher.network.bert.encoder.layer[4]
    a, out = s.attention, t.attention.output.dense
    ours = [a.q_lin, a.k_lin, a.v_lin, a.out_lin, s.ffn.lin1, s.ffn.lin2]
    inside = t.attention.self
    theirs = [inside.query, inside.key, inside.value, out, t.intermediate.dense, t.output.dense]
    one, other = (torch.cat([m.weight.flatten() for m in ms]) for ms in (ours, theirs))
    assert found[1, 4] == pytest.approx(
        float(functional.cosine_similarity(one, other, 0)), abs=1e-6
    )


def test_the_size_of_weights_does_not_count(tiny_family):
    """Layers of thrice the weights point the same way: a cosine stays what it was."""
    teacher = tiny_family.loaded("bert")
    larger = copy.deepcopy(teacher.network)
    with torch.no_grad():
        for number, layer in enumerate(larger.bert.encoder.layer):
            for parameter in layer.parameters():
                parameter.mul_(number + 2)
    plain = layer_cosines(teacher, teacher)
    scaled = layer_cosines(teacher, replace(teacher, network=larger))
    np.testing.assert_allclose(scaled, plain, atol=1e-4)
    np.testing.assert_allclose(np.diagonal(scaled), 1, atol=1e-4)


def test_the_students_know_where_their_layers_came_from():
    assert BASE["distilbert"].initialised_from == (0, 2, 4, 7, 9, 11)
    for specs in (BASE, MINI):
        student, teacher = specs["distilbert"], specs["bert"]
        assert len(student.initialised_from) == student.architecture.n_layers
        assert max(student.initialised_from) < teacher.architecture.n_layers


def test_masking_converges_to_the_papers_shares():
    found = masking_simulation(2_000, np.arange(5, 100), seed=3, rounds=400)
    assert found.counts.sum() == 2_000 * 400
    assert np.allclose(found.shares, [0.85, 0.12, 0.015, 0.015], atol=0.001)


def test_masking_is_replayable_and_swaps_only_what_it_says():
    one, two = (masking_simulation(500, np.array([8, 9]), seed=5) for _ in range(2))
    assert np.array_equal(one.outcomes, two.outcomes)
    assert np.array_equal(one.swapped_ids, two.swapped_ids)
    assert set(one.swapped_ids[one.outcomes == 2].tolist()) <= {8, 9}
    assert (one.swapped_ids[one.outcomes != 2] == -1).all()
    assert not np.array_equal(one.outcomes, masking_simulation(500, np.array([8]), seed=6).outcomes)


@pytest.mark.parametrize(("n", "rounds"), [(0, 1), (3, 0)])
def test_masking_nothing_is_refused(n, rounds):
    with pytest.raises(ValueError, match="at least one"):
        masking_simulation(n, np.array([1]), 0, rounds)


def test_the_slider_goes_up_and_stops_where_papers_do():
    assert list(TEMPERATURE_STEPS) == sorted(set(TEMPERATURE_STEPS))
    assert {0.05, 1.0, 2.0, 20.0} < set(TEMPERATURE_STEPS)
