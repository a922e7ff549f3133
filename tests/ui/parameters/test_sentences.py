"""No sentence of the parameters tab is false: each claim is evaluated on drawn results."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.analysis.parameters.shape import forward_flops
from explorer.analysis.parameters.sizes import seven_sizes
from explorer.models.specs import BASE, MINI
from explorer.ui.parameters import folds_words, memory
from explorer.ui.parameters import words as texts
from explorer.views.parameters.build import built_said
from tests.ui.sentences import law, read

M = 1_000_000


@st.composite
def members(draw):
    """BERT first, the others in the bundled or the published shapes with any depth and counts."""
    specs = draw(st.sampled_from([BASE, MINI]))
    found = []
    for key in ["bert", *draw(st.sets(st.sampled_from(["distilbert", "albert"])))]:
        spec = specs[key]
        layers = draw(st.sampled_from([1, 3, 5, 6, 11, 12]))
        shape = replace(spec.architecture, n_layers=layers)
        total = draw(st.sampled_from([11 * M, 66 * M, 110 * M]))
        applied = total * draw(st.sampled_from([1, 8]) if shape.shares_layers else st.just(1))
        stand_in = replace(spec, architecture=shape)
        found.append(
            SimpleNamespace(spec=stand_in, counts=SimpleNamespace(total=total, applied=applied))
        )
    return found


@law
@given(members(), st.sampled_from(["base", "mini", "chosen"]))
def test_what_a_model_stores_and_leaves_out_is_counted(found, family):
    first, *others = found
    text = read(texts.parameters_finding(found, family))
    assert f"{first.spec.label} stores {first.counts.total / M:.1f} M weights" in text
    parts = text.rstrip(".").split("; ")[1:]
    for one, part in zip(others, parts, strict=True):
        n, missing = (
            one.spec.architecture.n_layers,
            (first.spec.architecture.n_layers - one.spec.architecture.n_layers),
        )
        assert f"{one.counts.total / M:.1f} M" in part
        if one.spec.architecture.shares_layers:
            assert f"runs it {'once' if n == 1 else f'{n} times'}," in part
            assert ("but still applies" in part) == (one.counts.applied > one.counts.total)
            fewer = re.search(r", ([\d.]+) times fewer than ([\w-]+),", part)
            assert bool(fewer) == (one.counts.total < first.counts.total)
            if fewer:
                times = first.counts.total / one.counts.total
                assert float(fewer[1]) == pytest.approx(times, abs=0.051)
                assert fewer[2] == first.spec.label
            continue
        told = re.search(r"leaves out (\d+) layer|has (\d+) layer", part)
        assert bool(told) == (missing > 0)
        if told:
            assert int(told[1] or told[2]) == (missing if told[1] else n)


@pytest.mark.parametrize(("length", "batch", "keeps"), [(16, 1, False), (512, 8, True)])
def test_alberts_activations_are_said_to_exceed_berts_only_where_they_do(length, batch, keeps):
    from explorer.analysis.parameters.memory import shape_memory

    text = memory.show_memory("base", length, batch, keeps)
    bert, albert = (shape_memory(BASE[key], length, batch, keeps) for key in ("bert", "albert"))
    assert ("activations exceed BERT's" in text) == (albert.peak_bytes > bert.peak_bytes)
    share = f"{100 * albert.weight_bytes / bert.weight_bytes:.1f}% of the memory of BERT's"
    assert share in text


def test_the_largest_albert_stores_less_and_computes_more_than_berts_large_at_every_length():
    """The sentence above the sizes joins the two by "but"."""
    sizes = {size.spec.name: size for size in seven_sizes()}
    wide, large = sizes["albert-xxlarge-v2"], sizes["bert-large-uncased"]
    assert "but one pass" in folds_words.SIZES_TEXTS["finding"]
    assert wide.total < large.total
    for length in (1, 16, 128, 512):
        assert forward_flops(wide.spec, length) > forward_flops(large.spec, length)


@law
@given(st.integers(2000, 400 * M), st.integers(2000, 400 * M))
def test_a_shape_of_one_s_own_is_held_against_the_nearest_of_the_seven(total, applied):
    built = SimpleNamespace(total=total, applied=applied)
    text = read(built_said(built, seven_sizes(), folds_words.BUILT))
    sizes = {size.spec.name: size.total for size in seven_sizes()}
    ratio, name = re.search(r"that is ([\d.,]+) times ([\w-]+)\.", text).groups()
    assert abs(sizes[name] - total) == min(abs(size - total) for size in sizes.values())
    assert ratio == f"{total / sizes[name]:,.2f}"
