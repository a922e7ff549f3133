"""What a layer did to a word, which block wrote the answer, and what other readings lose."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from explorer.analysis.latency.measure import RoundsPlan
from explorer.analysis.layer import (
    BEFORE,
    aligned_layers,
    answer_steps,
    context_answers,
    context_scores,
    cosine,
    layer_flops,
    layer_trace,
    lstm_flops,
    mean_weights,
    measure_recurrent,
    normalised,
)
from explorer.models.choice.family import family_specs
from explorer.models.forward import state_logits
from explorer.models.inside.activations import (
    block_states,
    embedding_activations,
    layer_activations,
)
from explorer.models.run import READINGS
from explorer.models.specs import MINI, MODEL_KEYS
from explorer.scheduling.cancel import CancelToken
from explorer.timing.protocol import one_layer_calls

RNG = np.random.default_rng(3)
"""Vectors of no meaning."""


def sized(**sizes):
    """The models of these sizes, in their order."""
    return family_specs(",".join(f"{key}={size}" for key, size in sizes.items()))


def test_a_student_layer_stands_beside_the_one_that_it_came_from():
    for specs in (family_specs("base"), family_specs("mini")):
        bert, student, _ = specs
        for layer in range(bert.architecture.n_layers):
            found = aligned_layers(specs, "bert", layer)
            assert (found["bert"], found["albert"]) == (layer, layer)
            assert student.initialised_from[found["distilbert"]] <= max(
                layer, student.initialised_from[0]
            )
            assert aligned_layers(specs, "albert", layer) == found
        for i, origin in enumerate(student.initialised_from):
            of_student = {"bert": origin, "distilbert": i, "albert": origin}
            for key, layer in of_student.items():
                assert aligned_layers(specs, key, layer) == of_student


def test_models_of_other_depths_stand_at_the_same_relative_depth():
    specs = sized(bert="large", distilbert="base", albert="base")
    assert aligned_layers(specs, "bert", 23) == {"bert": 23, "distilbert": 5, "albert": 11}
    assert aligned_layers(specs, "bert", 11) == {"bert": 11, "distilbert": 2, "albert": 5}
    assert aligned_layers(specs, "bert", 0)["albert"] == 0
    assert aligned_layers(specs, "bert", 99)["bert"] == 23
    assert aligned_layers(specs, "albert", 11)["bert"] == 23


MIXTURES = (
    {"bert": "base", "distilbert": "base", "albert": "xxlarge"},
    {"bert": "base", "distilbert": "base", "albert": "large"},
    {"bert": "large", "distilbert": "base", "albert": "base"},
    {"bert": "large", "distilbert": "mini", "albert": "xxlarge"},
    {"bert": "mini", "distilbert": "base", "albert": "mini"},
)


@pytest.mark.parametrize("sizes", MIXTURES, ids=lambda sizes: "-".join(sizes.values()))
def test_every_layer_of_every_model_is_shown_as_it_was_asked(sizes):
    specs = sized(**sizes)
    depths = {spec.key: spec.architecture.n_layers for spec in specs}
    for key, depth in depths.items():
        for layer in range(depth):
            found = aligned_layers(specs, key, layer)
            assert found[key] == layer
            assert all(0 <= found[other] < depths[other] for other in depths)
    deepest = max(depths, key=depths.get)
    for key, depth in depths.items():
        beside = [aligned_layers(specs, deepest, layer)[key] for layer in range(depths[deepest])]
        assert sorted(set(beside)) == list(range(depth)), "the menu reaches every layer"
        assert beside == sorted(beside)


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_norms_cosines_softmax_and_the_block_that_changed_most(tiny_family, key):
    run = tiny_family.run(key, "The cat sat on the [MASK].")
    found = layer_activations(tiny_family.loaded(key), run.hidden_states[1], 1, 1, 4)
    way = layer_trace(run.hidden_states[1, 4], found)
    assert list(way.vectors) == ["input", *BEFORE]
    before = {"projection": "input", "attended": "input", "attention_norm": "attended"}
    before |= {"feed_forward": "attention_norm", "summed": "attention_norm", "output": "summed"}
    for name, vector in way.vectors.items():
        ours = torch.tensor(vector).double()
        assert way.norms[name] == pytest.approx(ours.norm().item())
        if name != "input":
            theirs = torch.tensor(way.vectors[before[name]]).double()
            expected = torch.cosine_similarity(ours, theirs, 0).item()
            assert way.cosines[name] == pytest.approx(expected)
    weights = torch.tensor(found.scores).double().softmax(0)
    assert way.weights == pytest.approx(weights.numpy())
    assert way.exponentials.max() == 1
    assert way.weights == pytest.approx(run.attention[1, 1, 4], abs=1e-6)
    lengths = found.unit_lengths[way.units]
    assert list(lengths) == sorted(found.unit_lengths, reverse=True)[:8]
    assert way.head_lengths == pytest.approx(np.linalg.norm(found.heads, axis=1), rel=1e-5)
    turned = {
        "attention": cosine(run.hidden_states[1, 4], found.attention_norm.outputs),
        "feed_forward": cosine(found.attention_norm.outputs, run.hidden_states[2, 4]),
    }
    assert way.changed_by == min(turned, key=turned.get)
    assert turned["attention"] == pytest.approx(way.attention_cosine, abs=1e-6)
    assert turned["feed_forward"] == pytest.approx(way.feed_forward_cosine, abs=1e-6)
    for block, angle in way.angles.items():
        assert np.cos(np.deg2rad(angle)) == pytest.approx(turned[block], abs=1e-6)
        assert 0 <= angle <= 180
    by_hand = sum(run.attention[1, h, 4].astype(float) for h in range(run.attention.shape[1]))
    mean = mean_weights(run, 1, 4)
    assert mean == pytest.approx(by_hand / run.attention.shape[1])
    assert mean.sum() == pytest.approx(1, abs=1e-5)


def test_a_vector_without_length_has_no_direction():
    assert cosine(np.zeros(4), np.ones(4)) == 0


def test_a_norm_is_written_out(tiny_family):
    loaded, run = tiny_family.loaded("bert"), tiny_family.run("bert", "The cat sat.")
    found = layer_activations(loaded, run.hidden_states[0], 0, 0, 2)
    embedding = embedding_activations(loaded, run.tokens, 2)
    for norm in (embedding.norm, found.attention_norm, found.norm):
        sums = normalised(norm)
        for i, (x, scale, shift, result) in zip(sums.shown, sums.rows, strict=True):
            made = (x - sums.mean) / sums.deviation * scale + shift
            assert made == pytest.approx(result, abs=1e-5)
            assert result == norm.outputs[i]
        sizes = np.abs(sums.rows[:, 3])
        assert list(sizes) == sorted(sizes, reverse=True)


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_steps_sum_to_the_answer_that_the_model_gives(tiny_family, key):
    loaded, run = tiny_family.loaded(key), tiny_family.run(key, "The cat [MASK] on the mat.")
    position = run.tokens.mask_positions[0]
    logits = state_logits(loaded, block_states(loaded, run.hidden_states, position))
    for token_id in (int(run.mask_logits[0].argmax()), 7):
        found = answer_steps(logits, token_id)
        own = torch.tensor(run.mask_logits[0]).double().log_softmax(0)[token_id].item()
        assert found.log_probs[0] + found.steps.sum() == pytest.approx(own, abs=1e-5)
        sizes = [abs(step) for _, _, step in found.largest]
        assert sizes == sorted(np.abs(found.steps), reverse=True)[:3]
        for layer, block, step in found.largest:
            assert found.steps[2 * layer + (block == "feed_forward")] == step


VOCABULARY = ("[PAD]", "cat", "##s", "dog", "fox")


def test_each_reading_has_its_answer_and_the_place_of_the_followed_word():
    logits = RNG.normal(size=(len(READINGS), len(VOCABULARY)))
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    own = context_answers(logits, VOCABULARY, None)
    assert own.wanted_token == own.tokens[0] == VOCABULARY[logits[0].argmax()]
    hidden = context_answers(logits, VOCABULARY, 3)
    assert (hidden.wanted, hidden.wanted_id) == ("dog", 3)
    assert hidden.of_wanted == pytest.approx(p[:, 3])
    assert hidden.probabilities == pytest.approx(p.max(1))
    assert [VOCABULARY[i] for i in logits.argmax(1)] == list(hidden.tokens)
    assert list(hidden.ranks) == [1 + sum(row > row[3]) for row in logits]
    first = context_answers(np.array([[0, 0, 9.0, 0, 0]] * 6), VOCABULARY, None)
    assert set(first.words) == {"…s"}


def test_scores_are_shares_with_wilsons_interval():
    ranks = {"bert": [(1, 2, 9), (3, 1, 9), (1, 6, 9), (1, 5, 9)]}
    both, left, right = context_scores(ranks)["bert"]
    assert (both.first, both.among, left.first, left.among) == (0.75, 1, 0.25, 0.75)
    assert (right.first, right.among) == (0, 0)
    from scipy.stats import binomtest

    wilson = binomtest(3, 4).proportion_ci(method="wilson")
    assert both.first_interval == pytest.approx((wilson.low, wilson.high), abs=1e-6)
    wilson = binomtest(4, 4).proportion_ci(method="wilson")
    assert both.among_interval == pytest.approx((wilson.low, wilson.high), abs=1e-6)


def test_operations_are_those_that_torch_counts():
    from torch.utils.flop_counter import FlopCounterMode

    spec = MINI["bert"]
    shape = replace(spec.architecture, n_layers=1)
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        layer, _ = one_layer_calls(replace(spec, architecture=shape), 24)
        layer(24)()
    assert counter.get_total_flops() == layer_flops(spec, 24)
    gates = 4 * shape.d_model * 2 * shape.d_model
    assert lstm_flops(shape.d_model, 24) == 24 * 2 * gates


@pytest.mark.long
def test_both_are_timed_at_every_length_and_a_sign_ends_it(tiny_family):
    plan, spec = RoundsPlan(60.0, 8, 8, 0.0, 1), tiny_family.specs["albert"]
    *_, points = measure_recurrent(spec, CancelToken(), (8, 16), plan)
    assert [point.length for point in points] == [8, 16]
    for point in points:
        layer, lstm = point.us_per_token
        assert lstm / layer == pytest.approx(point.ratio.ratio)
        seconds = point.latency.seconds
        assert layer == pytest.approx(1e6 * np.median(seconds[:, 0]) / point.length, rel=0.5)
        assert point.steps == (1, point.length)
    cancel_token = CancelToken()
    cancel_token.stop()
    assert list(measure_recurrent(spec, cancel_token, (8,), plan))[-1] == ()


def test_times_are_the_medians(monkeypatch):
    from explorer.analysis.layer import RecurrentPoint

    seconds = np.array([[1.0, 3.0], [9.0, 27.0], [3.0, 9.0], [1.0, 3.0]])
    latency = SimpleNamespace(seconds=seconds, n_rounds=4, blocks=None)
    point = RecurrentPoint(4, latency, (1, 1), (1, 4))
    assert point.us_per_token == pytest.approx((5e5, 1.5e6))
