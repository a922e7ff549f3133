"""The pair headline and /pair: what is run, what is shown, and which head is never asked."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
import torch

from explorer import assets
from explorer.inference import local
from explorer.links.codec import from_params
from explorer.links.page_state import PageState
from explorer.refusal import Refusal
from explorer.ui.shell.tabs import values_of
from explorer.ui.tasks import strings, tab
from tests.endpoints import pair
from tests.markup import every, plain

PAIR = "the cat sat. [SEP] a dog was bad."


def columns(html):
    return [one["data-model"] for one in every(html, "section", cls="tp-column")]


def shares(html):
    return [float(one.text()) for one in every(html, cls="tp-p")]


@pytest.fixture
def skilled(tiny_family, monkeypatch):
    """Both heads of the random family as if they had been measured well."""
    own = {"nsp": 0.9, "nsp_count": 1000, "sop": 0.8, "sop_count": 1000}
    results = {"models": {"mini-bert": own, "mini-albert": own}}
    monkeypatch.setattr(assets, "results", lambda: results)
    return results["models"]


def test_the_bars_are_what_the_endpoint_says_and_the_student_has_a_card(skilled, tiny_family):
    html = values_of(tab, PageState(text=PAIR))[0]
    assert columns(html) == ["bert", "albert"]
    assert 'class="card plain" data-model="distilbert"' in html
    found = {m["model"]: m for m in pair(*PAIR.split(" [SEP] "))["models"]}
    assert list(found) == ["bert", "distilbert", "albert"]
    drawn = np.reshape(shares(html), (2, 3))
    for row, key in zip(drawn, ("bert", "albert"), strict=True):
        said = (found[key]["probability_in_order"], found[key]["probability_swapped"])
        assert row[:2] == pytest.approx(said, abs=6e-4)
    student = found["distilbert"]
    assert (student["objective"], student["trained"]) == (None, False)
    assert student["probability_in_order"] is student["probability_swapped"] is None
    assert "Liu et al. 2019" in student["note"]


def test_the_endpoint_says_what_the_network_says(skilled, tiny_family):
    (bert, _, albert) = pair("the cat sat.", "a dog was bad.")["models"]
    for answer, name in ((bert, "seq_relationship_logits"), (albert, "sop_logits")):
        loaded = tiny_family.loaded(answer["model"])
        for order, key in ((1, "in_order"), (-1, "swapped")):
            sides = ["the cat sat.", "a dog was bad."][::order]
            inputs = loaded.tokenizer(*sides, return_token_type_ids=True, return_tensors="pt")
            with torch.no_grad():
                reference = loaded.network(**inputs)[name][0].softmax(-1)[0]
            assert answer[f"probability_{key}"] == pytest.approx(float(reference), abs=1e-5)


def test_a_head_at_chance_is_not_shown_and_its_figure_is(skilled, tiny_family):
    skilled["mini-albert"]["sop"] = 0.52
    html = values_of(tab, PageState(text=PAIR))[0]
    assert columns(html) == ["bert"]
    assert "52.0% of 1,000 held-out pairs" in html
    skilled["mini-albert"]["sop"] = 0.56
    assert columns(values_of(tab, PageState(text=PAIR))[0]) == ["bert", "albert"]


def test_a_head_that_is_not_in_the_checkpoint_gets_a_card_and_no_number(
    skilled, tiny_family, monkeypatch
):
    leased = local.leased

    @contextmanager
    def lacking(where, report=None):
        with leased(where, report) as loaded:
            yield replace(loaded, missing=("sop_classifier.classifier.weight",))

    monkeypatch.setattr(local, "leased", lacking)
    html = values_of(tab, PageState(text=PAIR))[0]
    assert columns(html) == ["bert"]
    assert "no weights for its SOP head" in html
    answer = pair(*PAIR.split(" [SEP] "))["models"][2]
    assert (answer["objective"], answer["trained"]) == ("sop", False)
    assert answer["probability_in_order"] is None


def test_a_compared_pair_costs_two_more_passes_a_head_and_a_second_look_none(skilled, tiny_family):
    tiny_family.runs(PAIR)
    ran, handles = [], []
    for key in tiny_family.specs:
        note = lambda *_, key=key: ran.append(key)  # noqa: E731
        encoder = tiny_family.loaded(key).network.base_model
        handles.append(encoder.register_forward_hook(note))
    values_of(tab, PageState(text=PAIR))
    assert sorted(ran) == ["albert", "albert", "bert", "bert"]
    values_of(tab, PageState(text=PAIR))
    assert len(ran) == 4
    for handle in handles:
        handle.remove()


def test_a_text_that_is_no_pair_shows_the_example_and_says_so(skilled, tiny_family):
    html = values_of(tab, PageState(text="the cat sat on the [MASK]."))[0]
    assert strings.ON_EXAMPLE.split(":")[0] in html
    assert strings.ON_EXAMPLE.split(":")[0] not in values_of(tab, PageState(text=PAIR))[0]
    assert "&lt;i&gt;" in values_of(tab, PageState(text="the <i> [SEP] cat"))[0]


def test_the_verdict_is_told_from_the_numbers():
    from explorer.analysis.tasks.pairs import pair_orders
    from explorer.models.specs import MINI

    said = [
        str(strings.pairs_finding([(MINI["bert"], pair_orders(np.array(logits)))]))
        for logits in (
            [[3, 0], [2, 0], [-2, 0]],
            [[3, 0], [-2, 0], [2, 0]],
            [[-1.1, 0], [-1.1, 0], [-3, 0]],
            [[0, 0], [0.01, 0], [0, 0.01]],
        )
    ]
    asks = "asks whether the second sentence follows the first: as written"
    assert (
        f"{asks} yes (0.953), swapped yes (0.881), with an unrelated sentence no (0.119)" in said[0]
    )
    assert (
        f"{asks} yes (0.953), swapped no (0.119), with an unrelated sentence yes (0.881)" in said[1]
    )
    assert f"{asks} no (0.250), swapped no (0.250), " in said[2]
    assert "undecided about all three (0.500" in said[3]
    sop = str(strings.pairs_finding([(MINI["albert"], pair_orders(np.array([[-1, 0]] * 3)))]))
    assert "asks whether the two sentences are in order: as written no (0.269)" in sop
    assert strings.NO_PAIR_HEADS in str(strings.pairs_finding([]))


@pytest.mark.parametrize(
    ("asked", "refusal"),
    [
        (("one alone", ""), "needs two sentences"),
        (("", "\x00"), "needs two sentences"),
        (("a", "[SEP]"), "needs two sentences"),
        (("a", "b", "huge"), "no such family"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(tiny_family, asked, refusal):
    with pytest.raises(Refusal, match=refusal):
        pair(*asked)


def test_a_pair_too_long_is_refused_in_a_sentence(tiny_family):
    with pytest.raises(Refusal, match="Please shorten it"):
        pair("the cat " * 400, "a dog")


def test_an_older_link_to_the_quadrants_opens_them_where_they_are_now():
    state, repaired = from_params({"tab": "attention", "fold": "pairs", "text": PAIR})
    assert (state.tab, state.fold, repaired) == ("tasks", "pairs", ())


def test_a_model_in_two_columns_has_its_measured_skill_under_both_names():
    drawn = plain(tab.show_objectives(PageState(family="only,a=mini-bert,b=mini-bert")), "|")
    assert "% [" in drawn.split("|a and b|")[1].split("|")[0]
