"""Each fold answers from the loaded family and from shapes alone, and says so."""

import json
import re

import gradio as gr
import numpy as np
import pytest

from explorer.inference.cache import CACHE
from explorer.links.page_state import PageState
from explorer.models.architectures import meta_network
from explorer.models.specs import BASE, MINI
from explorer.ui.kit.jobs import handler
from explorer.ui.parameters import folds
from explorer.ui.parameters import tab as parameters
from explorer.ui.shell.tabs import values_of
from tests.markup import rows


@pytest.fixture
def state(tiny_family):
    return PageState(family="mini", tab="parameters")


def test_the_tab_and_its_folds_build_inside_a_page():
    with gr.Blocks():
        assert len(parameters.build(gr.State(None))) == 2


def test_the_headline_needs_no_text_and_no_weights(state):
    finding, picture = values_of(parameters, state)
    assert "109.5\u00a0M" in finding
    assert finding.count("<p ") == finding.count("data-family=") == 2
    assert "At the published base size" in finding
    assert "Among the bundled miniatures" in finding
    assert '"mini":[{' in picture


def counted(html, name):
    """Layer calls and distinct layers in the row of one model, as the reader sees them."""
    row = re.search(rf">{name}<.*?</tr>", html)[0]
    return tuple(int(n) for n in re.findall(r"<td[^>]*>(\d+)</td>", row))


def test_calls_are_counted_on_the_loaded_networks(state):
    html = folds.show_calls(state)
    assert [counted(html, key) for key in ("mini-bert", "mini-distilbert", "mini-albert")] == [
        (6, 6),
        (3, 3),
        (6, 1),
    ]
    assert counted(html, "albert-base-v2") == (12, 1)
    assert html.count(">loaded weights<") == html.count(">shape only") == 3


def test_a_loaded_albert_with_its_sharing_broken_is_told_apart(state, tiny_family):
    import copy

    loaded = tiny_family.loaded("albert")
    transformer = loaded.network.base_model.encoder
    config, groups = transformer.config, transformer.albert_layer_groups
    kept = config.num_hidden_groups
    try:
        groups.extend(copy.deepcopy(groups[0]) for _ in range(5))
        config.num_hidden_groups = 6
        assert counted(folds.show_calls(state), "mini-albert") == (6, 6)
    finally:
        config.num_hidden_groups = kept
        del groups[1:]
    assert counted(folds.show_calls(state), "mini-albert") == (6, 1)


def test_missing_weights_leave_the_shapes_and_a_card(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    html = folds.show_calls(PageState(family="base"))
    assert counted(html, "bert-base-uncased") == (12, 12)
    assert html.count("is not available") + html.count(">loaded weights<") == 3


def test_memory_is_estimated_and_measured_side_by_side(state):
    shown = json.loads(folds.show_memory("mini", 16, 2, True))
    assert [len(figure["data"]) for figure in shown["figures"]] == [1, 1]
    assert "all attention matrices and hidden states" in shown["note"]
    *_, (last, _) = handler(folds.PEAKS)(state, "mini", 16, 2, True)
    weights, passes = json.loads(last)["figures"]
    assert [trace["name"] for trace in passes["data"]] == ["Estimated", "Measured here"]
    assert passes["data"][0]["cliponaxis"] is False, "its labels may stand beside the axes"
    stored = [4e-6 * meta_network(spec).base_model.num_parameters() for spec in MINI.values()]
    assert weights["data"][0]["x"] == pytest.approx(stored)
    assert weights["data"][0]["y"] == [spec.name for spec in MINI.values()]
    for estimated, measured in zip(*(trace["x"] for trace in passes["data"]), strict=True):
        assert 0.5 < estimated / measured < 2, "two ways to the same amount"
    said = json.loads(last)["numbers"]
    assert [row[3] / 1e6 for row in said["rows"]] == passes["data"][1]["x"]


def test_the_parts_of_a_shared_layer_are_those_of_the_network(state):
    """Attention and FFN, each with the norm behind it, as the published architecture has them."""
    layer = meta_network(BASE["albert"]).base_model.encoder.albert_layer_groups[0].albert_layers[0]
    attention = sum(p.numel() for p in layer.attention.parameters())
    whole = sum(p.numel() for p in layer.parameters())
    parts = json.loads(folds.show_sharing())["parts"]
    assert parts == {"attention": attention, "ffn": whole - attention}


def test_the_printed_scores_of_the_ways_to_share_are_alberts_table_4(state):
    """Lan et al. 2020, the first row at E = 768."""
    first = json.loads(folds.show_sharing())["modes"]["768"][0]
    printed = {"mnli": 84.5, "sst2": 92.8, "race": 68.2, "average": 82.3, "squad1": "90.4/83.2"}
    assert printed.items() <= first.items()


def test_embedding_ranks_come_from_the_loaded_tables(state, tiny_family, monkeypatch):
    CACHE.clear()
    calculator, spectrum, cards = folds.show_embedding(state)
    assert json.loads(calculator)["start"]["name"] == "mini-albert"
    assert "albert-base-v2" not in calculator, "the points are of the sizes whose tables are shown"
    published = [spec.name for spec in folds.pinned(PageState(family="base"))]
    assert "albert-xxlarge-v2" in published
    assert "mini-albert" not in published
    rows = json.loads(spectrum)["numbers"]["rows"]
    drawn = {name: [value for label, _, value in rows if label == name] for name, _, _ in rows}
    bert = tiny_family.loaded("bert").network.get_input_embeddings().weight.detach().double()
    values = np.linalg.svd(bert.numpy(), compute_uv=False)
    assert drawn["mini-BERT"] == pytest.approx(values / values.max(), rel=1e-3)
    assert "mini-ALBERT" in drawn
    assert not cards


def test_a_shape_from_the_browser_is_counted_or_refused():
    refused = folds.on_shape({"shape": {"n_layers": "<img src=x>"}})
    assert refused.startswith('<p class="message pt-refused"')
    assert "whole number" in refused


@pytest.mark.long
def test_every_component_of_both_families_stands_under_the_seven(state):
    _, table = folds.show_sizes()
    heads = rows(table)[0]
    names = [spec.name for family in (BASE, MINI) for spec in family.values()]
    assert heads[: 1 + len(names)] == ["Component", *names]
    assert "23,440,896" in table
    _, wider = folds.show_sizes(PageState(family="mini,bert=large"))
    heads = rows(wider)[0]
    assert heads[: 2 + len(names)] == ["Component", *names, "bert-large-uncased"]
    assert "335,141,888" in wider


def test_the_memory_finding_is_alberts_share_of_berts():
    sentence = json.loads(folds.show_memory("base", 16, 1, False))["finding"]
    assert f"{109_482_240 / 11_683_584:.1f} times less memory" in sentence


@pytest.mark.long
@pytest.mark.parametrize("keeps", [False, True])
def test_the_memory_finding_gives_no_reason_that_only_explains_equal_activations(keeps):
    """At every length ALBERT needs more than BERT: computing its own tokens would explain 100%."""
    for length in (2, 128, 512):
        sentence = json.loads(folds.show_memory("base", length, 4, keeps))["finding"]
        share = int(
            re.search(r"take (\d+)\.\d% of BERT's\. Sharing layers saves storage", sentence)[1]
        )
        assert share >= 100, sentence
        assert "still computes" not in sentence


def test_the_sentence_on_the_printed_sizes_counts_as_transformers_does():
    """108M and 334M are BERT with 30,000 word pieces and without the pooler, not with it."""
    from torch import device
    from transformers import BertConfig, BertModel

    from explorer.ui.parameters.strings import SIZES_TEXTS

    for width, depth in ((768, 12), (1024, 24)):
        config = BertConfig(
            vocab_size=30000,
            hidden_size=width,
            num_hidden_layers=depth,
            num_attention_heads=width // 64,
            intermediate_size=4 * width,
        )
        for pooled in (True, False):
            with device("meta"):
                network = BertModel(config, add_pooling_layer=pooled)
            count = sum(p.numel() for p in network.parameters())
            assert f"{count / 1e6:.2f}\u00a0M" in SIZES_TEXTS["note"]


@pytest.mark.long
def test_the_activation_is_what_makes_alberts_pass_larger_and_is_named_only_where_it_is():
    from dataclasses import replace

    from explorer.analysis.parameters.shapes import shape_memory

    bert, albert = BASE["bert"], BASE["albert"]
    alike = replace(albert, architecture=replace(albert.architecture, activation="gelu"))
    peak = shape_memory(bert, 128, 1, False).peak_bytes
    assert shape_memory(alike, 128, 1, False).peak_bytes <= peak
    larger = shape_memory(albert, 128, 1, False).peak_bytes > peak
    assert ("activation function" in folds.show_memory("base", 128, 1, False)) == larger
    kept = shape_memory(albert, 128, 1, True), shape_memory(bert, 128, 1, True)
    said = "activation function" in folds.show_memory("base", 128, 1, True)
    assert said == (kept[0].peak_bytes > kept[1].peak_bytes)


def test_what_a_pass_applies_is_said_to_hold_the_rows_it_does_not_read():
    from explorer.analysis.parameters.shapes import family_members
    from explorer.ui.parameters.strings import MAP
    from explorer.views.parameters.counts import parameters_map

    word_table = BASE["bert"].architecture.d_vocab * BASE["bert"].architecture.d_model
    assert family_members("base")[0].counts.applied > word_table
    assert (
        "only the rows of its own tokens"
        in json.loads(parameters_map({"mini": family_members("mini")}, MAP))["texts"][
            "applied_note"
        ]
    )


@pytest.mark.long
def test_new_settings_end_the_measurement_of_the_ones_before(monkeypatch):
    """Latency's headline does the same; what other components show is measured on."""
    from dataclasses import astuple, replace

    from explorer.scheduling.job_queue import MEASUREMENTS
    from explorer.ui.kit import jobs
    from explorer.ui.latency import tab
    from explorer.ui.latency.settings import MeasurementSettings
    from tests.scheduling.test_job_queue import endless

    monkeypatch.setattr(jobs, "owner_of", lambda _request: "me")
    timed, memory = MeasurementSettings(), ("base", 16, 1, False)
    for draw, chosen, question, other in (
        (tab.choose, [[*astuple(timed)]], timed, replace(timed, batch=8)),
        (
            folds.restart_memory,
            memory,
            folds.ask_peaks(None, *memory),
            folds.ask_peaks(None, "mini", 16, 1, False),
        ),
    ):
        for drawn_in, measured, ends in (
            ((1, 2), other, True),
            ((1, 2), question, False),
            ((3, 4), other, False),
        ):
            monkeypatch.setattr(jobs, "outputs_of_event", lambda ids=drawn_in: ids)
            queued = MEASUREMENTS.start(endless(), "me", component_ids=(2, 5), question=measured)
            *drawn, stop = draw(*chosen)
            assert queued.replaced == ends
            assert (stop == gr.skip()) == (drawn[-1] == gr.skip()) == (measured is question)
            queued.stop()
            assert queued.done.wait(60)
