"""The adapters' recipe at toy size: what it writes, its scores, a second run, and a run cut off."""

import json
import random
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from peft import PeftModel, get_peft_model_state_dict
from safetensors.torch import load_file
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertConfig,
    BertForSequenceClassification,
    BertForTokenClassification,
)

from explorer.analysis.tasks.scores import trained_seconds
from explorer.models.choice.own import add_models
from explorer.models.hub import checksum
from explorer.models.loading import load_model
from explorer.models.specs import MINI
from explorer.models.task_heads.adapters import describe_family, read_card, tuned_model
from tests.tiny_models import make_bert, save
from tests.tiny_roberta import save_roberta
from training.__main__ import main
from training.tasks import command, lessons
from training.tasks.command import Tuning, is_made, lesson_of, tune_family
from training.tasks.score import exact, mean_interval, overlap
from training.tasks.tune import TuningPlan, drawn, learn, order, trained

pytestmark = pytest.mark.processes
NAME = "mini-distilbert"
PHRASES = [("the cat was good", 1), ("a bad dog", 0), ("it was not bad", 1), ("not good", 0)]


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for part in ("train", "dev"):
        rows = ["sentence\tlabel", *(f"{text}\t{label}" for text, label in PHRASES)]
        (folder / f"sst2-{part}.tsv").write_text("\n".join(rows) + "\n")
        passage = "The cat sat on the mat. The dog was in Paris and it was good."
        asked = [
            {"question": "where was the dog?", "answers": [{"text": "Paris", "answer_start": 39}]},
            {"question": "who sat?", "answers": [{"text": "The cat", "answer_start": 0}]},
        ]
        squad = {"data": [{"paragraphs": [{"context": passage, "qas": asked}]}]}
        (folder / f"squad-v1.1-{part}.json").write_text(json.dumps(squad))
    return folder


@pytest.fixture
def short(monkeypatch):
    """Both tasks in three steps of two."""
    for task in ("sst2", "squad"):
        shorter = replace(lessons.TASKS[task], steps=3, rows=2)
        monkeypatch.setitem(lessons.TASKS, task, shorter)


def test_the_command_writes_adapters_whose_cards_say_what_peft_reaches(
    tiny_family, data, short, tmp_path, capsys
):
    models = tmp_path / "models"
    shutil.copytree(tiny_family.path, models)
    words = ["tasks", "--work", str(tmp_path / "w"), "--models", str(models), "--data", str(data)]
    words += ["--only", NAME, "--full", NAME, "--threads", "1", "--rate", "0.002"]
    assert main(words) == 0
    for task in ("sst2", "squad"):
        folder = models / NAME / "tasks" / task
        card = json.loads((folder / "card.json").read_text())
        assert card["rate"] == 0.002
        assert (card["model"], card["task"], card["steps"], card["examples_seen"]) == (
            NAME,
            task,
            3,
            6,
        )
        assert (folder / "adapter_model.safetensors").stat().st_size < 500_000
        readme = (folder / "README.md").read_text()
        assert card["base_sha256"] in readme
        assert str(tmp_path) not in readme + (folder / "adapter_config.json").read_text()
    sst2 = models / NAME / "tasks" / "sst2"
    card = json.loads((sst2 / "card.json").read_text())
    base = AutoModelForSequenceClassification.from_pretrained(models / NAME)
    n_parameters = sum(p.numel() for p in base.parameters())
    network = PeftModel.from_pretrained(base, sst2).eval()
    tokenizer = AutoTokenizer.from_pretrained(models / NAME)
    with torch.no_grad():
        guesses = [
            int(network(**tokenizer(text, return_tensors="pt")).logits.argmax())
            for text, _ in PHRASES
        ]
    assert card["scores"]["accuracy"]["guess"] == 0.5
    right = sum(guess == label for guess, (_, label) in zip(guesses, PHRASES, strict=True))
    assert card["scores"]["accuracy"]["value"] == right / len(PHRASES)
    assert card["full"]["trained_parameters"] == n_parameters
    written = (sst2 / "card.json").stat().st_mtime_ns
    capsys.readouterr()
    assert main(words) == 0
    assert capsys.readouterr().out.count("is there") == 2
    assert (sst2 / "card.json").stat().st_mtime_ns == written
    plan = TuningPlan("sst2", 3, 2, 0.002)
    assert is_made(sst2, card["base_sha256"], plan)
    assert not is_made(sst2, "0" * 64, plan)
    assert not is_made(sst2, card["base_sha256"], replace(plan, steps=4))
    assert not is_made(sst2, card["base_sha256"], replace(plan, rate=1e-3))


@pytest.mark.parametrize("key", ["bert", "roberta"])
def test_a_checkpoint_of_ones_own_is_tuned_as_its_page_says(
    key, tiny_family, own_models, data, short, tmp_path
):
    """By the very arguments that the page names; the adapter lies beside the weights and is used."""
    folder = tmp_path / f"my-{key}"
    if key == "bert":
        save(*make_bert(2, 2, 32), folder)
    else:
        save_roberta(folder)
    add_models([f"{key}={folder}"])
    (spec,) = own_models.values()
    named = describe_family(spec).replace("PATH", str(folder)).split()
    own_models.clear()
    words = ["tasks", *named, "--work", str(tmp_path), "--data", str(data), "--threads", "1"]
    assert main(words) == 0
    (spec,) = own_models.values()
    for task in ("sst2", "squad"):
        assert read_card(spec, task)["base_sha256"] == checksum(folder)
        assert tuned_model(load_model(spec), task).card["model"] == spec.name
    assert not list((tmp_path / "models").glob("*"))


@pytest.mark.parametrize("kind", [BertForSequenceClassification, BertForTokenClassification])
@pytest.mark.parametrize("task", ["sst2", "squad"])
def test_a_base_with_three_labels_gets_heads_of_two(kind, task, own_models, data, tmp_path):
    """The file holds a head of three classes, as one trained on MNLI does; the second has no pooler."""
    base, tokenizer = make_bert(2, 2, 32)
    config = BertConfig.from_dict(base.config.to_dict() | {"num_labels": 3})
    save(kind(config), tokenizer, tmp_path / "three")
    words = ["tasks", "--model", f"bert={tmp_path / 'three'}", "--only", "three", "--task", task]
    words += ["--work", str(tmp_path), "--data", str(data), "--steps", "2", "--threads", "1"]
    assert main(words) == 0
    head = {"sst2": "classifier", "squad": "qa_outputs"}[task]
    weights = load_file(tmp_path / "three" / "tasks" / task / "adapter_model.safetensors")
    assert weights[f"base_model.model.{head}.weight"].shape == (2, 32)
    tuned = tuned_model(load_model(own_models["three"]), task).network
    assert tuned.get_submodule(head).weight.shape == (2, 32)


def test_an_adapter_goes_on_from_the_one_before(tiny_family, data, short, tmp_path):
    plan = TuningPlan("sst2", 3, 2, 1e-3)
    tuning = Tuning(tmp_path / "w", tmp_path / "models", data, "mini", ("sst2",), (NAME,))
    shutil.copytree(tiny_family.path, tuning.models)
    tune_family(tuning)
    made = load_file(tuning.adapter(MINI["distilbert"], "sst2") / "adapter_model.safetensors")
    begun = lesson_of(replace(tuning, start=tuning.models), MINI["distilbert"], plan).network
    fresh = lesson_of(tuning, MINI["distilbert"], plan).network
    first, other = (get_peft_model_state_dict(network) for network in (begun, fresh))
    assert set(made) == set(first)
    assert all(torch.equal(first[name], value.float()) for name, value in made.items())
    assert not all(torch.equal(first[name], other[name]) for name in made)
    again = replace(tuning, models=tmp_path / "again", start=tuning.models)
    shutil.copytree(tiny_family.path, again.models)
    tune_family(again)
    folder = again.adapter(MINI["distilbert"], "sst2")
    assert "began with the adapter that was here before (3 steps at 0.001)" in " ".join(
        (folder / "README.md").read_text().split()
    )
    third = replace(again, models=tmp_path / "third", start=again.models, rate=1e-4)
    shutil.copytree(tiny_family.path, third.models)
    tune_family(replace(third, work=tmp_path / "v"))
    card = json.loads((third.adapter(MINI["distilbert"], "sst2") / "card.json").read_text())
    assert [run["rate"] for run in (*card["earlier"], card)] == [1e-3, 1e-3, 1e-4]
    assert trained_seconds(card) == sum(run["seconds"] for run in (*card["earlier"], card))


def test_other_options_start_again_and_the_same_ones_go_on(
    tiny_family, data, short, tmp_path, monkeypatch
):
    tuning = Tuning(tmp_path / "w", tmp_path / "models", data, "mini", ("sst2",), (NAME,))
    shutil.copytree(tiny_family.path, tuning.models)
    card = tuning.adapter(MINI["distilbert"], "sst2") / "card.json"
    for options, made in (
        ({"steps": 1}, (1, 1e-3)),
        ({"steps": 4, "rate": 5e-4}, (4, 5e-4)),
        ({"steps": 4, "rate": 2e-3}, (4, 2e-3)),
        ({}, (3, 1e-3)),
    ):
        tune_family(replace(tuning, **options))
        written = json.loads(card.read_text())
        assert (written["steps"], written["rate"]) == made
    limited = replace(tuning, steps=5, minutes=1.0)
    for seconds, limit, steps in ((30.0, 1.0, 2), (15.0, 1.0, 2), (15.0, 0.75, 3)):
        monkeypatch.setattr(command, "seconds_a_step", lambda *_, seconds=seconds: seconds)
        tune_family(replace(limited, minutes=limit))
        assert json.loads(card.read_text())["steps"] == steps


def test_a_run_cut_off_goes_on_to_the_same_weights(tiny_family, data, short, tmp_path):
    tuning = Tuning(tmp_path, tiny_family.path, data, "mini", ("sst2",))
    plan = TuningPlan("sst2", 4, 2, 1e-2)
    batches = order([len(text) for text, _ in PHRASES], plan)

    def lesson():
        return lesson_of(tuning, MINI["distilbert"], plan)

    whole, broken = lesson(), lesson()
    learn(whole, PHRASES, batches, tmp_path / "whole")
    kept, calls = tmp_path / "broken", []
    loss = broken.loss

    def fails_late(network, rows):
        calls.append(rows)
        if len(calls) > 2:
            raise KeyboardInterrupt
        return loss(network, rows)

    broken.loss = fails_late
    from training.tasks import tune

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tune, "SAVE_EVERY", -1.0)
        with pytest.raises(KeyboardInterrupt):
            learn(broken, PHRASES, batches, kept)
    again = lesson()
    learn(again, PHRASES, batches, kept)
    assert again.step == 4
    ends = [trained(one.network) for one in (whole, again)]
    assert all(torch.allclose(ends[0][name], ends[1][name], atol=1e-6) for name in ends[0])
    fresh = trained(lesson().network)
    assert any(not torch.allclose(ends[0][name], fresh[name]) for name in fresh)


def test_the_base_rests(tiny_family, data, tmp_path):
    tuning = Tuning(tmp_path, tiny_family.path, data, "mini", ("sst2",))
    names = set(trained(lesson_of(tuning, MINI["albert"], TuningPlan("sst2", 1, 1, 1e-3)).network))
    assert names
    assert all(any(p in n for p in ("lora_", "pooler", "classifier")) for n in names)


def test_worker_processes_draw_the_same_batches(tiny_family, data, tmp_path):
    tuning = Tuning(tmp_path, tiny_family.path, data, "mini", ("sst2",))
    lesson = lesson_of(tuning, MINI["bert"], TuningPlan("sst2", 4, 2, 1e-3))
    wanted = [[0, 1], [3], [2, 0], [1, 1]]
    here, there = (list(drawn(lesson, PHRASES, wanted, workers)) for workers in (0, 2))
    assert [batch.labels.tolist() for batch in here] == [[1, 0], [0], [1, 1], [0, 0]]
    for one, other in zip(here, there, strict=True):
        assert torch.equal(one.labels, other.labels)
        assert all(torch.equal(value, other.inputs[name]) for name, value in one.inputs.items())


def test_batches_are_whole_epochs_of_like_lengths_and_depend_on_texts_alone():
    lengths = [random.Random(1).randint(3, 200) for _ in range(1000)]
    plan = TuningPlan("sst2", 125, 8, 1e-3)
    batches = order(lengths, plan)
    assert batches == order(lengths, plan)
    assert sorted(i for rows in batches for i in rows) == list(range(1000))
    spread = np.mean([np.ptp([lengths[i] for i in rows]) for rows in batches])
    assert spread < 20
    assert batches != order(lengths, replace(plan, seed=8))
    rates = [plan.rate_at(step) for step in range(plan.steps)]
    assert max(rates) <= plan.rate
    assert 0 < rates[-1] < rates[60] < max(rates)


def test_answers_are_scored_as_the_authors_of_squad_do():
    # Cases worked by hand from the normalisation of Rajpurkar et al. 2016.
    assert exact("The Norman conquest!", ["norman Conquest"]) == 1
    assert exact("normans", ["Norman"]) == 0
    assert overlap("the big red dog", ["a red dog", "cat"]) == pytest.approx(0.8)
    assert overlap("", ["dog"]) == 0
    low, high = mean_interval([0.0] * 50 + [1.0] * 50)
    assert low == pytest.approx(0.402, abs=0.02)
    assert high == pytest.approx(0.598, abs=0.02)


def test_without_data_or_with_an_unknown_model_one_sentence_says_so(tmp_path, capsys):
    assert main(["tasks", "--work", str(tmp_path)]) == 2
    assert "needs --data" in capsys.readouterr().err
    words = ["tasks", "--work", str(tmp_path), "--data", str(tmp_path), "--task", "sst2"]
    assert main(words) == 2
    assert "There is no sst2-train.tsv" in capsys.readouterr().err


def test_dev_sentences_are_scored_whole_and_again_by_the_command(tuned_family, tmp_path, capsys):
    """By peft alone, on sentences whose verdict turns behind the tokens that training reads."""
    models, name = tmp_path / "models", "mini-distilbert"
    shutil.copytree(tuned_family.path / name, models / name)
    folder = models / name / "tasks" / "sst2"
    base = AutoModelForSequenceClassification.from_pretrained(models / name)
    network = PeftModel.from_pretrained(base, folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(models / name)
    rng, turning = random.Random(1), []
    words = ["good", "bad", "not", "the", "cat", "was", "playing", "paris", "dog"]
    for _ in range(1000):
        text = " ".join(rng.choices(words, k=lessons.PHRASE_TOKENS + 60))
        with torch.no_grad():
            whole, short = (
                int(network(**tokenizer(text, return_tensors="pt", **cut)).logits.argmax())
                for cut in ({}, {"truncation": True, "max_length": lessons.PHRASE_TOKENS})
            )
        if whole != short:
            turning.append((text, whole))
        if len(turning) == 3:
            break
    rows = ["sentence\tlabel", *(f"{text}\t{label}" for text, label in turning)]
    (tmp_path / "sst2-dev.tsv").write_text("\n".join(rows) + "\n")
    arguments = ["tasks", "--work", str(tmp_path), "--models", str(models), "--data", str(tmp_path)]
    arguments += ["--only", name, "--task", "sst2", "--threads", "1", "--score"]
    assert main(arguments) == 0
    card = json.loads((folder / "card.json").read_text())
    found = card["scores"]["accuracy"]
    assert (found["value"], found["count"], found["passes"]) == (1.0, 3, 1.0)
    lengths = [len(tokenizer(text)["input_ids"]) for text, _ in turning]
    assert found["tokens"] == pytest.approx(np.mean(lengths))
    assert "100.0%" in (folder / "README.md").read_text()
    (folder / "card.json").write_text(json.dumps(card | {"base_sha256": "another"}))
    assert main(arguments) == 2
    assert "other weights" in capsys.readouterr().err
