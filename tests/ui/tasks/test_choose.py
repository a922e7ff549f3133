"""Which should I use: what is shown is what was measured, and nothing runs before the press."""

import json
from dataclasses import replace

import pytest
import torch
from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer

from explorer import assets, runs
from explorer.analysis.measures import share_interval
from explorer.analysis.tasks.choose import Candidate, Figure, Limits, advice
from explorer.models.specs import MODEL_KEYS
from explorer.page_state import PageState
from explorer.timing.workload import Workload
from explorer.ui.tasks import choose, choose_words

STATE = PageState(text="the cat sat on the [MASK].")
SENTENCES = (
    {"text": "the cat sat on the [MASK].", "answer": "mat"},
    {"text": "the [MASK] sat on the mat.", "answer": "cat"},
)


def exact(value):
    return Figure(value, value, value)


def around(value, half):
    return Figure(value, value - half, value + half)


@pytest.fixture
def kept(tiny_family):
    names = tuple(spec.name for spec in tiny_family.specs.values())
    times = {"bert": around(4, 0.2), "distilbert": around(2, 0.1), "albert": around(4.1, 0.2)}
    right = {"bert": around(0.5, 0.1), "distilbert": around(0.45, 0.1), "albert": around(0.3, 0.1)}
    return choose.Measured(names, Workload(), times, {"right": right})


def test_before_the_press_sizes_are_known_and_nobody_is_advised(tiny_family, monkeypatch):
    monkeypatch.setattr(runs, "start_run", lambda *a: pytest.fail("a model ran"))
    said, picture, rows = choose.show_choice(STATE, None, 0, 0, "right", 0)
    assert choose_words.NOTHING["milliseconds"] in said
    assert rows.count("not advised: its time and its score was not measured") == 3
    for model in json.loads(picture)["models"]:
        spec = tiny_family.specs[model["key"]]
        network = AutoModel.from_pretrained(tiny_family.path / spec.name)
        stored = sum(p.numel() for p in network.parameters())
        assert model["megabytes"][0] == pytest.approx(4 * stored / 1e6), model["key"]
        assert model["label"] == spec.label
        assert model["milliseconds"] is model["score"] is None


def test_a_limit_decides_by_the_interval_and_half_precision_halves_the_size(kept):
    whole = json.loads(choose.show_choice(STATE, kept, 0, 3, "right", 0)[1])
    assert [model["fits"] for model in whole["models"]] == [False, True, False]
    assert whole["limits"] == {"megabytes": None, "milliseconds": 3, "score": None}
    half = json.loads(
        choose.show_choice(replace(STATE, dtype="bfloat16"), kept, 0, 3, "right", 0)[1]
    )
    for a, b in zip(whole["models"], half["models"], strict=True):
        assert b["megabytes"][0] == pytest.approx(a["megabytes"][0] / 2)
    least = json.loads(choose.show_choice(STATE, kept, 0, 0, "right", 35)[1])
    assert [model["fits"] for model in least["models"]] == [True, True, False]
    assert least["limits"]["score"] == 0.35
    assert least["fronts"]["milliseconds"] == ["distilbert", "bert"]


def test_what_was_measured_of_another_family_counts_for_nothing(kept):
    other = replace(kept, names=("a", "b", "c"))
    assert (
        choose_words.NOTHING["milliseconds"]
        in choose.show_choice(STATE, other, 0, 0, "right", 0)[0]
    )


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_the_first_word_is_plain_transformers(tiny_family, key):
    folder = tiny_family.path / tiny_family.specs[key].name
    network, tokenizer = (
        AutoModelForMaskedLM.from_pretrained(folder),
        AutoTokenizer.from_pretrained(folder),
    )
    encoded = tokenizer(STATE.text, return_tensors="pt", return_token_type_ids=key != "distilbert")
    place = int((encoded["input_ids"][0] == tokenizer.mask_token_id).nonzero()[0, 0])
    with torch.no_grad():
        best = int(network(**encoded).logits[0, place].argmax())
    expected = tokenizer.decode([best]).strip().removeprefix("##")
    assert choose.first_word(tiny_family.specs[key], STATE).removeprefix("…") == expected


def test_shares_count_answers_and_berts_own_words():
    words = {
        "bert": ["mat", "dog", "x"],
        "distilbert": ["mat", "cat", "x"],
        "albert": ["y", "cat", "z"],
    }
    found = choose.shares_of(words, ["Mat", "cat", "q"])
    right = {key: figure.value for key, figure in found["right"].items()}
    assert right == pytest.approx({"bert": 1 / 3, "distilbert": 2 / 3, "albert": 1 / 3})
    agree = {key: figure.value for key, figure in found["agreement"].items()}
    assert agree == pytest.approx({"bert": 1, "distilbert": 2 / 3, "albert": 0})
    assert found["agreement"]["bert"].low == 1.0
    figure = found["right"]["distilbert"]
    assert (figure.low, figure.high) == share_interval(2, 3)
    assert "agreement" not in choose.shares_of({"albert": ["y"]}, ["q"])


def test_a_press_reads_the_sentences_then_times_the_models(tiny_family, monkeypatch):
    monkeypatch.setattr(assets, "sentences", lambda: SENTENCES)
    monkeypatch.setattr(choose, "BUDGET_S", 1.5)
    steps = list(choose.measure_all(STATE))
    assert "Sentences read: 0 of 2." in steps[0][0]
    said, found = steps[-1]
    assert set(found.milliseconds) == set(MODEL_KEYS)
    assert all(figure.value > 0 for figure in found.milliseconds.values())
    assert set(found.shares) == {"right", "agreement"}
    n_tokens = max(len(run.tokens) for run in tiny_family.runs(STATE.text).values())
    assert f"over {n_tokens} tokens on cpu in float32" in said
    finding = choose.show_choice(STATE, found, 0, 0, "agreement", 0)[0]
    assert "can be had without limits" in finding


SPECS = {
    key: type("Spec", (), {"label": key.upper()})() for key in ("bert", "distilbert", "albert")
}


def finding_of(limits, **rows):
    candidates = {key: Candidate(*row) for key, row in rows.items()}
    found = advice(candidates, limits)
    return choose_words.choose_finding((found, limits), candidates, SPECS), choose_words.verdicts(
        found
    )


def test_the_finding_names_ties_overlaps_and_the_beaten():
    a = (exact(10), around(2, 0.1), around(0.5, 0.1))
    said, verdicts = finding_of(
        Limits(megabytes=99), bert=a, distilbert=(exact(10), around(3, 0.1), around(0.4, 0.1))
    )
    assert "keep to these limits: smallest is" in said
    assert said.count("BERT") - said.count("DISTILBERT") == 4
    assert "(intervals of scores overlap)" in said
    assert verdicts == {"bert": choose_words.FITS, "distilbert": choose_words.BEATEN}
    apart, _ = finding_of(Limits(), bert=a, albert=(exact(5), around(3, 0.1), around(0.9, 0.1)))
    assert "overlap" not in apart
    alone, verdicts = finding_of(
        Limits(milliseconds=2.5), bert=a, albert=(exact(5), around(2.5, 0.1), around(0.9, 0.1))
    )
    assert "alone surely keeps" in alone
    assert verdicts["albert"] == "open: the limit lies inside the interval of its time"
    none, verdicts = finding_of(Limits(5, 1), bert=a)
    assert "None of them surely" in none
    assert verdicts["bert"] == "too large and too slow"


def test_no_score_for_anybody_says_so():
    said, _ = finding_of(Limits(), bert=(exact(1), around(2, 0.1), None))
    assert choose_words.NOTHING["score"] in said
