"""The pictures hold exactly the counted numbers, in reading order, and escape what they print."""

import json

import pytest

from explorer.analysis.parameters.shapes import (
    built_model,
    family_members,
    seven_sizes,
    sharing_modes,
)
from explorer.ui.parameters import strings
from explorer.ui.parameters import strings as fold_texts
from explorer.views.parameters.build import built_finding, built_html, refused_html
from explorer.views.parameters.counts import components_table, parameters_map
from explorer.views.parameters.shapes import sharing_canvas, sizes_canvas
from tests.markup import rows


@pytest.fixture(scope="module")
def base():
    return family_members("base")


@pytest.fixture(scope="module")
def drawn(base):
    return json.loads(parameters_map({"base": base, "mini": ()}, strings.MAP))


def test_a_family_whose_shapes_are_absent_is_left_out(drawn):
    assert list(drawn["families"]) == ["base"]
    assert [row["key"] for row in drawn["families"]["base"]] == ["bert", "distilbert", "albert"]


def test_cells_sum_to_the_bar_and_tensors_to_the_cells(drawn):
    for row in drawn["families"]["base"]:
        assert sum(cell["size"] for cell in row["cells"]) == row["total"]
        for cell in row["cells"]:
            assert 4 * cell["size"] == sum(n_bytes for *_, n_bytes in cell["tensors"])


def test_the_head_comes_on_top_with_its_tensors(drawn, base):
    heads = [row["head"] for row in drawn["families"]["base"]]
    assert [head["size"] for head in heads] == [624_188, 622_650, 130_226]
    assert [len(head["tensors"]) for head in heads] == [len(m.counts.head) for m in base]


def test_applied_fills_what_sharing_saved(drawn):
    """Switching ALBERT to 'applied' draws its layer eleven times into the dashed part."""
    albert = drawn["families"]["base"][2]
    again = sum(c["size"] * (c["calls"] - 1) for c in albert["cells"])
    assert again == dict(albert["savings"])["sharing"] == albert["applied"] - albert["total"]


def test_savings_lead_from_the_first_bar_to_each_other(drawn):
    bert, *others = drawn["families"]["base"]
    for row in others:
        assert bert["total"] - sum(saved for _, saved in row["savings"]) == row["total"]


def test_cells_come_in_the_order_a_text_passes_through_them(drawn):
    cells = drawn["families"]["base"][0]["cells"]
    assert cells[0]["part"] == "word_embeddings"
    assert cells[-1]["part"] == "pooler"
    layers = [c["layer"] for c in cells if c["layer"] is not None]
    assert layers == sorted(layers)
    assert set(layers) == set(range(12))


def test_every_part_and_change_drawn_has_a_name(drawn):
    for row in drawn["families"]["base"]:
        assert {c["part"] for c in row["cells"]} <= set(strings.PARTS)
        assert {change for change, _ in row["savings"]} <= set(strings.CHANGES)


def test_the_finding_names_the_counts(base):
    sentence = strings.parameters_finding(base)
    for number in ("109.5\u00a0M", "66.4\u00a0M", "11.7\u00a0M", "12 times", "6 layers"):
        assert number in sentence


def test_each_step_of_a_bar_is_a_share_of_what_the_model_saves(drawn):
    """Six layers of 7,087,872; eleven shared ones; a table of 30,000 words at 128 instead of 768."""
    _, distilbert, albert = drawn["families"]["base"]
    assert dict(distilbert["savings"])["layers"] == 42_527_232
    assert dict(albert["savings"])["sharing"] == 77_966_592
    assert dict(albert["savings"])["factorising"] == 19_431_168


def test_the_table_holds_every_component(base):
    html = components_table([base], strings.PARTS, fold_texts.ROWS)
    for number in ("23,440,896", "56,669,184", "99,072", "590,592", "624,188", "437,928,960"):
        assert number in html


def test_the_browser_gets_the_seven_with_their_work():
    rows = json.loads(sizes_canvas(seven_sizes(), fold_texts.SIZES_TEXTS, fold_texts.WORK_TEXTS))[
        "rows"
    ]
    assert len(rows) == 7
    assert (
        rows[0]["flops"][1] * 128 + rows[0]["flops"][2] * 128**2 + rows[0]["flops"][0]
        == 22_348_431_360
    )
    assert rows[1]["printed"][0][0] == 340


def test_the_depth_picture_starts_from_real_counts():
    modes = {e: sharing_modes(e) for e in (128, 768)}
    data = json.loads(sharing_canvas(modes, {"attention": 1, "ffn": 2}, fold_texts.SHARING_TEXTS))
    assert [row["total"] for row in data["modes"]["128"]][-1] == 11_683_584
    assert {row["mode"] for row in data["modes"]["768"]} == set(data["texts"]["modes"])


def test_a_built_shape_lists_its_parts_and_its_place():
    built = built_model(fold_texts.first_shape(seven_sizes()[0].spec.architecture))
    html = built_html(built, seven_sizes(), fold_texts.BUILT, strings.PARTS)
    said = built_finding(built, seven_sizes(), fold_texts.BUILT)
    assert "stores 109,482,240 weights" in said
    cells = {name: sizes for name, *sizes in rows(html.replace("\u00a0", " "))}
    in_bytes = fold_texts.BUILT["bytes"]
    for name, n_bytes in (("fp32", 437_928_960), ("fp16", 218_964_480), ("int8", 109_482_240)):
        sizes = [f"{n_bytes / 1e6:,.1f} MB", f"{n_bytes / 1024**2:,.1f} MiB"]
        assert cells[in_bytes.format(name=name)] == sizes
    assert "417.6\u00a0MiB" in html
    assert html.count("<li") == 8


def test_sentences_and_names_are_escaped():
    assert "<script>" not in refused_html("<script>alert(1)</script>")
