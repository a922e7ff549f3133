"""Checks that need no weights: right on the real shapes, wrong as soon as a shape is tampered with."""

from contextlib import contextmanager
from dataclasses import replace
from functools import cache

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from explorer.analysis.claims import architecture_checks as claims_layers
from explorer.analysis.claims import size_checks as claims_cost
from explorer.analysis.claims import size_checks as claims_counts
from explorer.analysis.claims.ledger import claims_ledger
from explorer.analysis.latency.measure import Instruments
from explorer.models.architectures import CheckModels, meta_network, random_network, sharing_network
from explorer.models.specs import BASE

ALBERT = BASE["albert"]


def no_weights(key):
    raise AssertionError("this check must not need weights")


def untampered_models(**tampered):
    return CheckModels("mini", no_weights, **tampered)


def reshaped(key, **changes):
    """Shapes in which one model is built with another architecture than it says."""

    def shape(spec):
        changed = replace(spec, architecture=replace(spec.architecture, **changes))
        return meta_network(changed if spec.key == key else spec)

    return untampered_models(shape=shape)


def with_pooler():
    """DistilBERT with the pooler that it was made without."""

    def shape(spec):
        network = meta_network(spec)
        if spec.key == "distilbert":
            network.base_model.pooler = nn.Linear(768, 768, device="meta")
        return network

    return untampered_models(shape=shape)


def sharing_broken():
    """ALBERT whose layers have weights of their own."""
    return untampered_models(
        shape=lambda s: sharing_network(s, "none") if s.key == "albert" else meta_network(s),
        sharing=lambda spec, mode: sharing_network(spec, "none"),
    )


def few_words(spec, **changes):
    """A vocabulary of 1,000: the rank does not depend on it, the time does."""
    shape = replace(spec.architecture, d_vocab=1_000, **changes)
    return random_network(replace(spec, architecture=shape))


@pytest.mark.long
def test_the_rank_is_that_of_the_bottleneck():
    honest, wide = (
        untampered_models(random=few_words),
        untampered_models(random=lambda s: few_words(s, d_embedding=256)),
    )
    assert claims_counts.embedding_rank(honest).holds
    measured = claims_counts.embedding_rank(wide)
    assert not measured.holds
    assert measured.quantities["rank"].value == 256


TAMPERED = [
    (claims_counts.parameter_totals, with_pooler()),
    (claims_counts.parameter_totals, sharing_broken()),
    (claims_counts.saving_breakdown, sharing_broken()),
    (claims_cost.forward_operations, reshaped("distilbert", n_layers=12)),
    (claims_counts.weight_bytes, with_pooler()),
    (claims_cost.memory_split, sharing_broken()),
    (claims_counts.depth_growth, sharing_broken()),
    (claims_counts.factorised_embedding, reshaped("albert", d_embedding=256)),
    (claims_counts.sharing_modes, sharing_broken()),
    (claims_layers.longest_text, reshaped("distilbert", n_positions=513)),
    (claims_counts.printed_shapes, reshaped("albert", n_layers=11)),
    (claims_counts.classifier_head, reshaped("bert", d_model=512, d_ffn=2048, n_heads=8)),
]


@pytest.mark.long
@pytest.mark.parametrize(("check", "tampered"), TAMPERED, ids=lambda v: getattr(v, "__name__", ""))
def test_a_tampered_shape_is_noticed(check, tampered):
    """That it holds for the shapes as they are is seen in ``test_checks``."""
    assert not check(tampered).holds


def test_seven_totals_equal_the_published_tables():
    measured = claims_counts.parameter_totals(untampered_models())
    totals = {name: q.value for name, q in measured.quantities.items() if not name.endswith("cut")}
    assert totals == {
        "bert": 109_482_240,
        "distilbert": 66_362_880,
        "albert": 11_683_584,
        "bert_large": 335_141_888,
        "albert_large": 17_683_968,
        "albert_xlarge": 58_724_864,
        "albert_xxlarge": 222_595_584,
    }


def test_sharing_modes_have_the_four_counts():
    quantities = claims_counts.sharing_modes(untampered_models()).quantities
    assert {mode: quantities[mode].value for mode in ("none", "attention", "ffn", "all")} == {
        "none": 89_650_176,
        "attention": 63_647_232,
        "ffn": 37_686_528,
        "all": 11_683_584,
    }


@pytest.mark.long
def test_the_saving_is_almost_all_layers():
    quantities = claims_counts.saving_breakdown(untampered_models()).quantities
    assert quantities["outside_layers"].value == 592_128
    assert quantities["layers_share"].value == pytest.approx(100 * 42_527_232 / 43_119_360)


def small(spec, n_layers):
    shape = replace(spec.architecture, n_layers=n_layers, d_model=64, d_ffn=256, n_heads=4)
    shape = replace(shape, d_embedding=32 if spec.key == "albert" else 64)
    return random_network(replace(spec, architecture=shape))


def count_by_hand(width, inner, layers, pieces, positions=512, segments=2):
    """Parameters of a BERT encoder with its pooler, from the paper's letters."""
    embeddings = (pieces + positions + segments) * width + 2 * width
    attention = 4 * (width * width + width) + 2 * width
    block = attention + width * inner + inner + inner * width + width + 2 * width
    return embeddings + layers * block + width * width + width


@pytest.mark.parametrize(
    ("width", "layers", "pieces"), [(768, 12, 30_522), (16, 1, 20), (24, 2, 50)]
)
def test_the_share_that_a_classifier_head_adds_is_the_one_counted_by_hand(width, layers, pieces):
    shape = {"d_model": width, "d_ffn": 4 * width, "n_layers": layers, "n_heads": width // 8}
    shape |= {"d_vocab": pieces, "d_embedding": width}
    measured = claims_counts.classifier_head(reshaped("bert", **shape))
    head, encoder = 2 * width + 2, count_by_hand(width, 4 * width, layers, pieces)
    assert measured.quantities["head"].value == head
    assert measured.text == f"{head:,} parameters on {encoder:,} ({100 * head / encoder:.4f}%)"
    assert measured.holds == (width == 768)


@pytest.fixture
def clock_of_work(monkeypatch):
    """A clock that ticks with operations instead of seconds: no machine is too busy for it."""

    @cache  # the same call is the same work every time, and counting is slow
    def stopwatch(call):
        with FlopCounterMode(display=False) as counter:
            call()
        return float(counter.get_total_flops())

    @contextmanager
    def instruments(workload):
        yield Instruments(stopwatch, lambda: 0.0), 1

    monkeypatch.setattr(claims_cost, "instruments_for", instruments)
    monkeypatch.setattr(claims_cost, "PLAN", replace(claims_cost.PLAN, min_rounds=8, max_rounds=8))
    monkeypatch.setattr(claims_cost, "STEP_TOKENS", (1, 16))


@pytest.mark.long
def test_times_tell_six_layers_from_twelve(clock_of_work, monkeypatch):
    honest = untampered_models(random=lambda s: small(s, s.architecture.n_layers))
    measured = claims_cost.forward_times(honest)
    assert measured.holds
    assert measured.quantities["bert_over_distilbert"].value == pytest.approx(2, abs=0.01)
    assert "DistilBERT takes 0.50 × (0.50 to 0.50)" in measured.text
    slow = untampered_models(random=lambda s: small(s, 12))
    assert claims_cost.forward_times(slow).holds is False
    monkeypatch.setattr(claims_cost, "PLAN", replace(claims_cost.PLAN, min_rounds=2, max_rounds=2))
    few = claims_cost.forward_times(slow)
    assert few.holds is None
    assert "too few rounds" in few.text


@pytest.fixture
def given_times(monkeypatch):
    """Times that are given: seconds of an encoder layer and of an LSTM."""

    def set_times(layer, lstm, rounds):
        seconds = {"layer": layer, "lstm": lstm}

        @contextmanager
        def instruments(workload):
            yield Instruments(lambda name: seconds[name()], lambda: 0.0), 1

        calls = tuple(lambda length, name=name: lambda: name for name in seconds)
        monkeypatch.setattr(claims_cost, "one_layer_calls", lambda spec, longest: calls)
        monkeypatch.setattr(claims_cost, "instruments_for", instruments)
        plan = replace(claims_cost.PLAN, min_rounds=rounds, max_rounds=rounds)
        monkeypatch.setattr(claims_cost, "PLAN", plan)
        return claims_cost.reading_in_order(untampered_models())

    return set_times


def test_reading_in_order_is_timed_against_a_layer_and_by_operation(given_times):
    slower = given_times(2.0, 7.0, 8)
    d, n = 768, 128
    # An LSTM has four gates of two d x d products, a layer four projections and two of 4 d x d.
    work = 4 * 2 * 2 * d * d / (2 * (4 * d * d + 2 * 4 * d * d) + 2 * 2 * n * d)
    assert slower.holds is True
    assert slower.quantities["lstm_over_layer"].value == pytest.approx(3.5)
    assert slower.quantities["per_operation"].value == pytest.approx(3.5 / work, rel=1e-3)
    assert (
        f"takes 3.50 × (3.50 to 3.50) the time of an encoder layer of its width, with {work:.2f}"
        in slower.text
    )
    assert given_times(2.0, 1.0, 8).holds is False


@pytest.mark.parametrize(("rounds", "said"), [(1, "; 1 round"), (2, "; 2 rounds")])
def test_one_round_is_no_rounds(given_times, clock_of_work, monkeypatch, rounds, said):
    plan = replace(claims_cost.PLAN, min_rounds=rounds, max_rounds=rounds)
    monkeypatch.setattr(claims_cost, "PLAN", plan)
    models = untampered_models(random=lambda s: small(s, 2))
    for check in (claims_cost.forward_times, claims_cost.training_steps):
        outcome = check(models)
        assert outcome.text.endswith(said)
        assert outcome.holds is None
    assert given_times(1.0, 2.0, rounds).text.endswith(said)


@pytest.mark.long
def test_a_second_press_takes_twice_the_rounds(clock_of_work):
    def rounds(presses):
        honest = untampered_models(random=lambda s: small(s, 2), presses=presses)
        return int(claims_cost.training_steps(honest).text.split("; ")[1].split()[0])

    assert rounds(2) == 2 * rounds(1)


def test_a_printed_speed_has_two_sides_and_no_verdict_without_an_interval():
    test = next(
        t for c in claims_ledger().claims for t in c.live if t.quantity == "bert_over_distilbert"
    )
    spans = {(1.55, 1.65): True, (1.9, 2.1): False, (1.2, 1.4): False, (1.6, 1.9): None}
    assert {ends: test.holds(*ends) for ends in spans} == spans
    assert test.holds(0.0, float("inf")) is None
    assert test.holds(1.2, 1.9) is None


@pytest.mark.long
def test_training_steps_tell_equal_shape_from_twice_the_width(clock_of_work):
    assert claims_cost.training_steps(untampered_models()).holds
    narrow = untampered_models(random=lambda s: small(s, 1 if s.architecture.d_model == 512 else 6))
    assert claims_cost.training_steps(narrow).holds is False


def test_a_training_step_changes_the_weights():
    network = small(BASE["bert"], 2)
    before = {name: p.detach().clone() for name, p in network.base_model.named_parameters()}
    claims_cost.training_step(network)()
    changed = [n for n, p in network.base_model.named_parameters() if not torch.equal(p, before[n])]
    assert any("layer.1" in name for name in changed)
