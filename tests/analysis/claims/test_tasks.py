"""Checks of tuning: the cards' scores, heads before and after, names, and waiting for adapters."""

import csv
import json
import re
import shutil
from collections import Counter

import numpy as np
import pytest
import torch
from seqeval.metrics import f1_score
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler
from transformers import AutoModel, AutoTokenizer

from explorer.analysis.claims.checks import check_result
from explorer.analysis.claims.tuning_checks import (
    FOLDS,
    HEADS,
    RIDGE,
    by_folds,
    span_f1,
    tagged_sentences,
    word_states,
)
from explorer.assets import text_lists
from explorer.models import specs
from explorer.models.architectures import family_check_models


@pytest.mark.long
@pytest.mark.parametrize(("check", "shown"), [("LC21", "80.0%"), ("LC29", "40.0%")])
def test_a_tuned_family_is_measured_by_its_cards(tuned_family, check, shown):
    result = check_result(check, family_check_models("mini"))
    assert result.status == "holds"
    assert result.text.count(shown) == 3


def test_one_model_no_better_than_a_guess_fails_and_one_that_is_open_leaves_it_open(
    tuned_family, tmp_path, monkeypatch
):
    shutil.copytree(tuned_family.path, tmp_path / "m")
    monkeypatch.setattr(specs, "BUNDLED", tmp_path / "m")
    path = tmp_path / "m" / "mini-albert" / "tasks" / "sst2" / "card.json"
    for interval, status in (([0.48, 0.50], "fails"), ([0.48, 0.60], "undecided")):
        card = json.loads(path.read_text())
        card["scores"]["accuracy"]["interval"] = interval
        path.write_text(json.dumps(card))
        assert check_result("LC21", family_check_models("mini")).status == status


def test_without_adapters_they_wait(tiny_family):
    for check in ("LC21", "LC29", "LC36"):
        result = check_result(check, family_check_models("mini"))
        assert result.status == "waits"
        assert "no adapter for this task" in result.text


@pytest.mark.long
def test_untrained_heads_answer_as_in_plain_transformers_and_a_random_adapter_is_no_better(
    tuned_family,
):
    result = check_result("LC36", family_check_models("mini"))
    assert result.status == "undecided"
    content = next(each["content"] for each in text_lists() if each["name"] == "reviews")
    rows = list(csv.DictReader(content.splitlines()))
    path = tuned_family.specs["bert"].bundled_path
    tokenizer, network = AutoTokenizer.from_pretrained(path), AutoModel.from_pretrained(path)
    with torch.no_grad():
        states = [network(**tokenizer(row["text"], return_tensors="pt"))[0][0, 0] for row in rows]
    heads = np.random.default_rng(0).normal(0, 0.02, (HEADS, len(states[0]), 2))
    is_good = np.array([row["label"] == "good" for row in rows])
    shares = [((np.array(states) @ head).argmax(1) == is_good).mean() for head in heads]
    low, mean, high = (f"{100 * f(shares):.0f}" for f in (min, np.mean, max))
    assert f"{mean}% before ({low} to {high}%)" in result.text


@pytest.mark.long
def test_names_are_not_found_by_random_networks(tiny_family):
    result = check_result("LC37", family_check_models("mini"))
    assert result.status != "holds"


def test_the_names_head_is_a_ridge_regression_of_the_other_folds():
    draw = np.random.default_rng(0)
    tags = [draw.integers(0, 3, draw.integers(3, 9)) for _ in range(17)]
    states = [np.eye(3, 12)[tag] + draw.normal(0, 0.7, (len(tag), 12)) for tag in tags]
    found = by_folds(states, tags)
    for place, own in enumerate(states):
        others = [n for n in range(len(tags)) if n % FOLDS != place % FOLDS]
        scaler = StandardScaler().fit(np.concatenate([states[n] for n in others]))
        x = scaler.transform(np.concatenate([states[n] for n in others]))
        y = np.eye(3)[np.concatenate([tags[n] for n in others])]
        expected = Ridge(RIDGE).fit(x, y).predict(scaler.transform(own)).argmax(1)
        assert found[place].tolist() == expected.tolist()


def test_f1_of_names_is_seqevals():
    draw = np.random.default_rng(1)
    for _ in range(30):
        truth = [draw.integers(0, 3, n) for n in draw.integers(1, 9, 6)]
        found = [np.where(draw.random(len(t)) < 0.7, t, draw.integers(0, 3, len(t))) for t in truth]
        expected = f1_score(list(map(in_iob, truth)), list(map(in_iob, found)), zero_division=0)
        assert span_f1(truth, found) == pytest.approx(expected)


def in_iob(tags):
    return [f"I-{tag}" if tag else "O" for tag in tags]


def test_no_name_of_the_list_is_in_two_folds(tiny_family):
    """Else a head could know a name instead of its place in the sentence."""
    data = tagged_sentences()
    folds = {
        (word, place % FOLDS)
        for place, (words, tags) in enumerate(data)
        for word, tag in zip(words, tags, strict=True)
        if tag
    }
    assert max(Counter(word for word, _ in folds).values()) == 1
    for words, _ in data:
        assert len(word_states(tiny_family.loaded("albert"), words)) == len(words)
        assert re.fullmatch(r"[A-Za-z ]+", " ".join(words))
