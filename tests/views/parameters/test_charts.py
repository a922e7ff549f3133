"""The charts of Parameters draw what is counted, and what they draw is what their rows say."""

import json
from collections import Counter

import numpy as np
import pytest

from explorer.analysis.latency.family import sweep_points
from explorer.analysis.parameters.count import EmbeddingSpectrum
from explorer.analysis.parameters.shape import forward_flops
from explorer.analysis.parameters.shapes import family_members, seven_sizes, sharing_modes
from explorer.models.architectures import meta_network
from explorer.models.specs import BASE
from explorer.timing.workload import Workload
from explorer.ui.parameters import folds
from explorer.ui.parameters.strings import (
    EMBEDDING_TEXTS,
    SIZES_TEXTS,
    SPECTRUM_TEXTS,
    TENSORS_TEXTS,
    WORK_TEXTS,
)
from explorer.views.parameters.counts import (
    SPECK,
    embedding_canvas,
    spectrum_canvas,
    tensors_canvas,
)
from explorer.views.parameters.shapes import LENGTHS, sizes_canvas


def test_singular_values_are_over_the_largest_and_a_short_rank_is_marked():
    full = EmbeddingSpectrum(np.array([4.0, 2.0, 1.0]), 10, 3)
    short = EmbeddingSpectrum(np.array([8.0, 2.0, 1e-15]), 10, 3)
    spectra = {"bert": ("BERT", full), "albert": ("ALBERT", short)}
    sent = json.loads(spectrum_canvas(spectra, SPECTRUM_TEXTS))
    (figure,) = sent["figures"]
    assert [trace["name"] for trace in figure["data"]] == ["BERT: rank 3", "ALBERT: rank 2"]
    assert [shape["x0"] for shape in figure["layout"]["shapes"]] == [2]
    assert sent["numbers"]["rows"][:4] == [
        ["BERT", 1, 1.0],
        ["BERT", 2, 0.5],
        ["BERT", 3, 0.25],
        ["ALBERT", 1, 1.0],
    ]
    assert sent["finding"] == (
        "BERT's table uses all 3 dimensions. ALBERT's table has rank 2 of 3 dimensions: 1 unused."
    )


def test_the_published_models_stand_at_what_their_word_tables_store():
    pins = [(spec.key, spec.name, spec.architecture) for spec in BASE.values()]
    sent = json.loads(embedding_canvas(pins, EMBEDDING_TEXTS))
    two, one, models, mine = sent["figures"][0]["data"]
    assert models["y"] == [30522 * 768, 30522 * 768, 30000 * 128 + 128 * 768]
    assert models["x"] == [768, 768, 128]
    assert (mine["x"], mine["y"]) == ([128], [3938304])
    assert models["text"] == ["bert-base-uncased, distilbert-base-uncased", "", "albert-base-v2"]
    assert set(one["y"]) == {30000 * 768}
    assert two["y"] == pytest.approx([30000 * e + e * 768 for e in two["x"]])
    assert two["x"][0] == 1
    low, high = sent["figures"][0]["layout"]["yaxis"]["range"]
    # The smallest and the largest choice of the sliders are in the chart.
    assert 10**low <= 1000 * 1 + 1 * 64
    assert 10**high >= 250_000 * 4096 + 4096 * 4096
    assert two["x"][-1] == pytest.approx(4096)
    assert sent["numbers"]["rows"][2] == ["albert-base-v2", 30000, 768, 128, 23040000, 3938304]


def test_a_way_to_share_is_a_straight_line_through_what_twelve_layers_store():
    sent = json.loads(folds.show_sharing())
    for e, figure in zip((128, 768), sent["figures"], strict=True):
        lines, points = figure["data"][:4], figure["data"][4:]
        assert [point["y"] for point in points] == [[mode.total] for mode in sharing_modes(e)]
        shade = [trace["line"].get("color") for trace in lines]
        assert [point["marker"].get("color") for point in points] == shade
        for trace, mode in zip(lines, sharing_modes(e), strict=True):
            (one, deepest), (low, high) = trace["x"], trace["y"]
            at_twelve = low + (high - low) * (12 - one) / (deepest - one)
            assert at_twelve == mode.total
        starts = {trace["y"][0] for trace in lines}
        assert len(starts) == 1, "with one layer there is nothing to share"


def tree(figure):
    (trace,) = figure["data"]
    return dict(zip(trace["ids"], trace["values"], strict=True)), trace


def test_a_treemap_holds_every_tensor_but_specks_and_each_part_counts_all_that_is_in_it():
    members = family_members("base")
    sent = json.loads(tensors_canvas(members, TENSORS_TEXTS))
    stored, applied = sent["figures"][:3], sent["figures"][3:]
    for member, once, often in zip(members, stored, applied, strict=True):
        encoder = meta_network(member.spec).base_model
        numel = sum(parameter.numel() for parameter in encoder.parameters())
        sizes, trace = tree(once)
        assert sizes[member.spec.label] == numel
        inside = dict.fromkeys(sizes, 0)
        for name, parent in zip(trace["ids"], trace["parents"], strict=True):
            if parent:
                inside[parent] += sizes[name]
        lacking = {name: sizes[name] - total for name, total in inside.items() if total}
        holders = dict(zip(trace["ids"], trace["parents"], strict=True))
        assert all(0 <= left < 3 * SPECK * sizes[name] for name, left in lacking.items())
        assert all(sizes[name] >= SPECK * sizes[p] for name, p in holders.items() if p)
        leaves = [sizes[name] for name, total in inside.items() if not total]
        tensors = [parameter.numel() for parameter in encoder.parameters()]
        assert sum(leaves) + sum(lacking.values()) == sum(tensors)
        left_out = Counter(tensors) - Counter(leaves)
        assert sum(left_out.elements()) == sum(lacking.values()), "only what is not drawn"
        assert 0 < left_out.total() < 0.3 * len(tensors)
        assert tree(often)[0][member.spec.label] == member.counts.applied


def test_a_layers_attention_is_parted_into_its_four_projections():
    for figure in json.loads(tensors_canvas(family_members("base"), TENSORS_TEXTS))["figures"][:3]:
        sizes, trace = tree(figure)
        attention = f"{trace['labels'][0]}/Layers/Layer 1/Attention"
        parts = [sizes[f"{attention}/{part}"] for part in ("Query", "Key", "Value", "Output")]
        assert parts == [768 * 768 + 768] * 4
        assert sizes[attention] == sum(parts)


def test_shared_weights_are_counted_for_every_use():
    sent = json.loads(tensors_canvas(family_members("base"), TENSORS_TEXTS))
    sizes, _ = tree(sent["figures"][5])
    assert sizes["ALBERT/Layers"] == 12 * tree(sent["figures"][2])[0]["ALBERT/Layers"]


@pytest.mark.long
@pytest.mark.parametrize("length", LENGTHS)
def test_a_size_stands_at_its_weights_and_work_and_lines_are_of_equal_use(length):
    sizes = seven_sizes()
    sent = json.loads(sizes_canvas(sizes, SIZES_TEXTS, WORK_TEXTS))
    figure = sent["figures"][sent["lengths"].index(length)]
    traces, layout = figure["data"], figure["layout"]
    for trace, uses in zip(traces, (1, 4, 16), strict=False):
        assert trace["y"] == pytest.approx([2 * length * uses * x / 1e9 for x in trace["x"]])
    points = {}
    for trace in traces[3:]:
        points |= dict(zip(trace["text"], zip(trace["x"], trace["y"], strict=True), strict=True))
    counted = {s.spec.label: (s.total, forward_flops(s.spec, length) / 1e9) for s in sizes}
    assert points == counted
    ends = [10**power for axis in "xy" for power in layout[f"{axis}axis"]["range"]]
    assert all(ends[0] < x < ends[1] and ends[2] < y < ends[3] for x, y in points.values())
    assert [one["text"] for one in layout["annotations"]] == ["1\u202f×", "4\u202f×", "16\u202f×"]
    for one in layout["annotations"]:
        assert 1 in (one.get("x"), one.get("y")), "at the frame's edge, outside"


def test_the_work_is_drawn_at_every_length_at_which_the_time_is_measured():
    timed = {work.length for work in sweep_points(Workload(), "length")}
    assert timed <= {*LENGTHS}
