"""No sentence of the parameters tab is false: each claim is evaluated on drawn results."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.analysis.parameters.shape import forward_flops
from explorer.analysis.parameters.shapes import family_members, seven_sizes
from explorer.models.specs import BASE, MINI
from explorer.ui.parameters import folds, strings
from explorer.ui.parameters import strings as texts
from explorer.views.parameters.build import built_finding
from tests.ui.sentences import law, read, told

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
        width = draw(st.sampled_from([shape.d_model, 192, 4096]))
        embedding = shape.d_embedding if shape.has_projection else width
        shape = replace(shape, d_model=width, d_embedding=embedding)
        total = draw(st.sampled_from([11 * M, 66 * M, 110 * M]))
        applied = total * draw(st.sampled_from([1, 8]) if shape.shares_layers else st.just(1))
        stand_in = replace(spec, architecture=shape)
        found.append(
            SimpleNamespace(spec=stand_in, counts=SimpleNamespace(total=total, applied=applied))
        )
    return found


def judge(text, found):
    """Each model beside the first: the quotient of what is stored, of the FLOP, and the reason."""
    first, *others = found
    if not others:
        assert f"{first.spec.label} stores {in_millions(first.counts.total)} M weights." in text
        return
    parts = {
        next(o for o in others if re.search(rf"(^|[ ]){o.spec.label} stores", part)).spec.key: part
        for part in text.rstrip(".").split("; ")
    }
    assert parts.keys() == {one.spec.key for one in others}
    for one in others:
        part = parts[one.spec.key]
        times = first.counts.total / one.counts.total
        assert f"{in_millions(one.counts.total)} M" in part
        is_said = f"not {in_millions(first.counts.total)} M" in part
        is_first = part == next(iter(parts.values()))
        assert is_said == (is_first and one.counts.total != first.counts.total), "said once"
        told = re.search(
            rf"stores (?:([\d.,]+) times )?(fewer weights than|as many weights as) {first.spec.label} ",
            part,
        )
        if abs(times - 1) < 0.005:
            assert (told[1], told[2]) == (None, "as many weights as")
        else:
            said = float(told[1].replace(",", ""))
            of = times if told[2].startswith("fewer") else 1 / times
            assert said == pytest.approx(of, abs=0.051)
            assert said > 1
        work = shape_work(one.spec.architecture) / shape_work(first.spec.architecture)
        cost = re.search(
            r"needs (?:([\d.,]+(?:×10\S+)?) × |(half )|nearly )?the (same )?compute", part
        )
        assert bool(cost[3]) == (abs(work - 1) < 0.015)
        assert ("needs the same" in part) == (work == 1)
        assert bool(cost[2]) == (f"{work:.2f}" == "0.50")
        if cost[1]:
            assert cost[1].startswith(f"{work:.1e}"[:3] if work < 0.01 else digits_of(work))
        assert ("compute at 128 tokens" in part) == is_first, "said once"
        judge_reason(part, one.spec.architecture, first.spec.architecture)


def digits_of(x):
    return f"{x:,.{2 if x < 1.995 else 1}f}"


def in_millions(n):
    return f"{n / M:,.{2 if n < 9.995 * M else 1}f}"


def judge_reason(part, shape, first):
    """Depth and width are named where they differ: the compute follows from nothing else."""
    width = re.search(r"([\d,]+) wide, not ([\d,]*\d)", part)
    widths = (f"{shape.d_model:,}", f"{first.d_model:,}")
    assert (width.groups() if width else None) == (widths if len(set(widths)) == 2 else None)
    n, missing = shape.n_layers, first.n_layers - shape.n_layers
    if shape.shares_layers:
        runs = f"and runs it {'once' if n == 1 else f'{n} times'}"
        assert ": it stores one layer" in part
        assert part.endswith(runs)
        return
    reason = re.search(r": it (?:leaves out (\d+) layers?|has (\d+) layers?)", part)
    assert bool(reason) == (missing != 0)
    if reason:
        assert int(reason[1] or reason[2]) == (missing if reason[1] else n)


def shape_work(shape, tokens=128):
    """The FLOP of one pass, product by product."""
    h, f = shape.d_model, shape.d_ffn
    products = [(tokens, h, h)] * 4 + [(tokens, h, f), (tokens, f, h)] + [(tokens, h, tokens)] * 2
    total = shape.n_layers * sum(2 * a * b * c for a, b, c in products)
    total += 2 * tokens * shape.d_embedding * h * (shape.d_embedding != h)
    return total + 2 * h * h * shape.has_pooler


@law
@given(members(), st.sampled_from(["base", "mini", "chosen"]))
def test_what_a_model_stores_computes_and_leaves_out_is_its_own(found, family):
    judge(read(texts.parameters_finding(found, family)), found)


FAMILIES = ("base", "mini", "large", *(
    f"bert={bert},distilbert={student},albert={albert}"
    for bert in ("base", "large", "mini")
    for student in ("base", "mini")
    for albert in ("base", "large", "xlarge", "xxlarge")
))  # fmt: skip


def test_of_twenty_families_the_headline_is_the_exact_quotient():
    for family in FAMILIES:
        found = family_members(family)
        name = family if family in ("base", "mini") else "chosen"
        text = read(texts.parameters_finding(found, name))
        told(family, text)
        judge(text, found)
    base = read(texts.parameters_finding(family_members("base")))
    assert "ALBERT stores 9.4 times fewer weights than BERT" in base
    assert "and needs nearly the same compute" in base


@pytest.mark.long
@pytest.mark.parametrize(("length", "batch", "keeps"), [(16, 1, False), (512, 8, True)])
def test_alberts_activations_are_said_to_exceed_berts_only_where_they_do(length, batch, keeps):
    from explorer.analysis.parameters.shapes import shape_memory

    text = folds.show_memory("base", length, batch, keeps)
    bert, albert = (shape_memory(BASE[key], length, batch, keeps) for key in ("bert", "albert"))
    assert ("activations exceed BERT's" in text) == (albert.peak_bytes > bert.peak_bytes)
    share = f"{bert.weight_bytes / albert.weight_bytes:.1f} times less memory than BERT's"
    assert share in text


def test_the_largest_albert_stores_less_and_computes_more_than_berts_large_at_every_length():
    """The sentence above the sizes joins the two by "but"."""
    sizes = {size.spec.name: size for size in seven_sizes()}
    wide, large = sizes["albert-xxlarge-v2"], sizes["bert-large-uncased"]
    assert "but one pass" in strings.SIZES_TEXTS["finding"]
    assert wide.total < large.total
    for length in (1, 16, 128, 512):
        assert forward_flops(wide.spec, length) > forward_flops(large.spec, length)


@law
@given(st.integers(2000, 400 * M), st.integers(2000, 400 * M))
def test_a_shape_of_one_s_own_is_held_against_the_nearest_of_the_seven(total, applied):
    built = SimpleNamespace(total=total, applied=applied)
    text = read(built_finding(built, seven_sizes(), strings.BUILT))
    sizes = {size.spec.name: size.total for size in seven_sizes()}
    ratio, exponent, name = re.search(
        r"that is ([\d.,]+)(?:×10⁻(.))? times ([\w-]+)\.", text
    ).groups()
    assert f"applies {applied:,} in one pass" in text
    assert abs(sizes[name] - total) == min(abs(size - total) for size in sizes.values())
    if total / sizes[name] >= 0.01:
        assert (ratio, exponent) == (f"{total / sizes[name]:,.2f}", None)
    else:
        shown = float(ratio) / 10 ** "⁰¹²³⁴⁵⁶⁷⁸⁹".index(exponent)
        assert shown == pytest.approx(total / sizes[name], rel=0.05)
