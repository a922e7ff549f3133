"""Sizes, sharing, building, memory and rank, each against plain torch or a typed-in table."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.analysis.parameters.count import embedding_spectrum
from explorer.analysis.parameters.shape import forward_flops
from explorer.analysis.parameters.shapes import (
    LIMITS,
    PRINTED,
    TABLE_4,
    Contradiction,
    built_model,
    forward_memory,
    seven_sizes,
    shape_memory,
    sharing_modes,
)
from explorer.models.architectures import meta_network, random_network, sharing_network
from explorer.models.choice.family import shape_counts
from explorer.models.specs import BASE, LARGER

BERT_BASE = {
    "n_layers": 12,
    "d_model": 768,
    "n_heads": 12,
    "d_ffn": 3072,
    "d_embedding": 768,
    "d_vocab": 30522,
    "n_segments": 2,
    "n_positions": 512,
    "has_pooler": True,
    "sharing": "none",
    "length": 128,
    "batch": 1,
}


def small(key, **sizes):
    spec = BASE[key]
    d_embedding = 16 if key == "albert" else 48
    shape = {"n_layers": 2, "d_model": 48, "n_heads": 4, "d_ffn": 96, "d_vocab": 300}
    shape |= {"d_embedding": d_embedding} | sizes
    return replace(spec, architecture=replace(spec.architecture, **shape))


@pytest.mark.long
def test_sizes_are_the_seven_and_round_to_what_is_printed_or_are_known_not_to():
    rows = seven_sizes()
    assert {row.spec.name for row in rows} == {s.name for s in [*BASE.values(), *LARGER.values()]}
    off = {
        row.spec.name
        for row in rows
        if abs(row.total / 1e6 - row.printed[0].millions) > 0.03 * row.printed[0].millions
    }
    assert off == {"albert-xxlarge-v2"}
    assert PRINTED["bert-large-uncased"][0].millions == 340


@pytest.mark.long
@pytest.mark.parametrize("length", [1, 128, 512])
def test_the_three_flop_numbers_give_the_work_at_any_length(length):
    for row in seven_sizes():
        none, linear, square = row.flops
        assert none + linear * length + square * length**2 == forward_flops(row.spec, length)


@pytest.mark.long
@pytest.mark.parametrize(
    ("d_embedding", "counts"),
    [
        (128, [89_650_176, 63_647_232, 37_686_528, 11_683_584]),
        (768, [109_671_936, 83_668_992, 57_708_288, 31_705_344]),
    ],
)
def test_sharing_modes_store_less_but_apply_the_same(d_embedding, counts):
    modes = sharing_modes(d_embedding)
    assert [mode.total for mode in modes] == counts
    assert {mode.applied for mode in modes} == {counts[0]}
    printed = {128: [89, 64, 38, 12], 768: [108, 83, 57, 31]}[d_embedding]
    assert [mode.scores.printed_millions for mode in modes] == printed, "Table 4, as it is printed"


def test_table_4_averages_are_the_means_of_their_rows():
    """The paper's Avg is the mean of five tasks, SQuAD as the mean of F1 and EM."""
    for rows in TABLE_4.values():
        for row in rows.values():
            squads = [np.mean([float(v) for v in s.split("/")]) for s in (row.squad1, row.squad2)]
            mean = np.mean([*squads, row.mnli, row.sst2, row.race])
            assert mean == pytest.approx(row.average, abs=0.11)


def test_building_bert_and_albert_gives_their_counts():
    assert built_model(BERT_BASE).total == 109_482_240
    albert = {"d_embedding": 128, "d_vocab": 30000, "sharing": "all"}
    built = built_model(BERT_BASE | albert)
    assert (built.total, built.applied) == (11_683_584, 89_650_176)
    assert built.flops == forward_flops(BASE["albert"], 128)
    distilbert = {"n_layers": 6, "n_segments": 0, "has_pooler": False}
    assert built_model(BERT_BASE | distilbert).total == 66_362_880


@settings(max_examples=12, deadline=None)
@given(
    heads=st.integers(1, 4),
    per_head=st.integers(1, 8),
    layers=st.integers(1, 4),
    narrower=st.booleans(),
    vocab=st.integers(2, 90),
    mode=st.sampled_from(list(TABLE_4[128])),
)
def test_any_shape_has_the_count_of_its_real_modules(
    heads, per_head, layers, narrower, vocab, mode
):
    width = heads * per_head + heads
    e = max(1, width // 2) if narrower else width
    sizes = {"n_heads": heads, "d_model": width, "n_layers": layers, "d_ffn": 3 * width}
    spec = small("albert", **sizes, d_embedding=e, d_vocab=vocab)
    network = sharing_network(spec, mode).base_model
    ours = shape_counts(spec.architecture, mode)
    assert sum(ours.values()) == sum(p.numel() for p in network.parameters())


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"n_heads": 7}, "7 heads cannot share a width of 768 evenly"),
        ({"d_embedding": 1000}, "wider than the layers' 768"),
        ({"length": 600}, "600 tokens do not fit into 512 positions"),
        ({"n_layers": 2.5}, "layers L must be a whole number"),
        ({"n_layers": float("nan")}, "layers L must be a whole number"),
        ({"n_layers": float("inf")}, "layers L must be a whole number"),
        ({"n_layers": True}, "layers L must be a whole number"),
        ({"d_model": None}, "width H must be a whole number"),
        ({"d_model": "768"}, "width H must be a whole number"),
        ({"d_vocab": 10**9}, "vocabulary V must lie between 2 and 1,000,000"),
        ({"batch": 0}, "batch must lie between 1 and 256"),
        ({"sharing": "<b>"}, "share nothing, the attention"),
    ],
)
def test_contradictions_are_refused_in_words(wrong, why):
    with pytest.raises(Contradiction, match=why):
        built_model(BERT_BASE | wrong)


def test_the_smallest_shape_can_be_built_and_nothing_beyond_any_limit():
    smallest = {name: low for name, (_, low, _) in LIMITS.items()}
    counts = {"embeddings": 2 + 1 + 2, "attention": 4 * 2 + 2, "ffn": 2 * 2 + 2}
    assert built_model(smallest).total == sum(counts.values()), counts
    assert all(low == 1 for name, low in smallest.items() if name not in ("d_vocab", "n_segments"))
    assert (smallest["d_vocab"], smallest["n_segments"]) == (2, 0)
    for name, (said, low, high) in LIMITS.items():
        for value in (low - 1, high + 1):
            with pytest.raises(
                Contradiction, match=f"{said} must lie between {low:,} and {high:,}"
            ):
                built_model(smallest | {name: value})


def profiler_peak(encoder, ids):
    """Peak of the CPU allocator's own events during one pass."""
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.inference_mode():
        encoder(input_ids=ids)
        with torch.profiler.profile(activities=activities, profile_memory=True) as profile:
            encoder(input_ids=ids)
    events = profile.profiler.kineto_results.events()
    events = sorted((e for e in events if e.name() == "[memory]"), key=lambda e: e.start_ns())
    return int(np.cumsum([0, *(e.nbytes() for e in events)]).max())


@pytest.mark.parametrize("key", ["bert", "distilbert", "albert"])
def test_peak_memory_is_the_allocators_and_the_same_without_memory(key):
    spec = small(key)
    encoder = random_network(spec).base_model
    measured = forward_memory(encoder, 64, 2)
    assert measured.peak_bytes == pytest.approx(
        profiler_peak(encoder, torch.zeros(2, 64, dtype=torch.long)), rel=0.01
    )
    assert shape_memory(spec, 64, 2).peak_bytes == measured.peak_bytes
    assert measured.weight_bytes == 4 * sum(p.numel() for p in encoder.parameters())


def test_peak_memory_does_not_grow_with_depth_unless_everything_is_kept():
    def peak(n_layers, keeps):
        network = meta_network(small("bert", n_layers=n_layers)).base_model
        return forward_memory(network, 32, 1, keeps).peak_bytes

    assert peak(2, False) == peak(6, False)
    layer = 4 * (32 * 48 + 4 * 32 * 32)
    assert peak(6, True) - peak(2, True) == 4 * layer


def test_building_follows_the_activations_of_the_released_class():
    built = built_model(BERT_BASE | {"length": 64})
    assert built.peak_bytes == shape_memory(BASE["bert"], 64).peak_bytes


@pytest.mark.parametrize(("key", "rank"), [("bert", 48), ("distilbert", 48), ("albert", 16)])
def test_the_rank_is_numpys_rank_of_the_product(key, rank):
    network = random_network(small(key), seed=2)
    spectrum = embedding_spectrum(network)
    table = network.get_input_embeddings().weight.double().numpy()
    if key == "albert":
        table = (
            table @ network.base_model.encoder.embedding_hidden_mapping_in.weight.double().numpy().T
        )
    assert spectrum.rank == rank == np.linalg.matrix_rank(table)
    np.testing.assert_allclose(spectrum.values, np.linalg.svd(table, compute_uv=False), atol=1e-12)
    assert (np.diff(spectrum.values) <= 0).all()


def test_float32_would_hide_the_rank():
    """Why the spectrum is computed in float64: rounding fills the missing directions."""
    network = random_network(small("albert"), seed=2)
    projection = network.base_model.encoder.embedding_hidden_mapping_in.weight
    with torch.no_grad():
        table = network.get_input_embeddings().weight @ projection.T
    values = np.linalg.svd(table.double().numpy(), compute_uv=False)
    noise = values[0] * 300 * np.finfo(np.float64).eps
    assert (values > noise).sum() > 16
