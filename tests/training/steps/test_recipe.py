"""The whole recipe at toy size: every step, a kill in mid-run, and what it writes."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForMaskedLM, AutoModelForPreTraining, AutoTokenizer

from tests.waiting import until
from training.__main__ import main
from training.provenance import fit_history, remember_origin
from training.recipe import TINY as TOY
from training.recipe import Place
from training.steps import loop
from training.steps.export import standing
from training.steps.loop import TrainingBudget
from training.steps.pretrain import Setting

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("few_facts")]
ROOT = Path(__file__).parents[3]
TINY = ["--tiny", "--start", "random", "--threads", "1"]


def made(folder, corpus, tokens, batches=2):
    """A family that the recipe makes from the toy corpus: its models, and its run folder."""
    words = ["all", *TINY, "--corpus", str(corpus), "--tokens", str(tokens)]
    words += ["--batches", str(batches)]
    assert main([*words, "--work", str(folder / "runs"), "--models", str(folder / "models")]) == 0
    return folder


@pytest.fixture(scope="module")
def family(toy_corpus, few_facts, tmp_path_factory):
    """A family of every step of the recipe, each of them short."""
    return made(tmp_path_factory.mktemp("family"), toy_corpus, 2500)


@pytest.mark.parametrize("name", ["mini-bert", "mini-distilbert", "mini-albert"])
def test_what_is_written_loads_with_every_head(family, name):
    folder = family / "models" / name
    loader = AutoModelForMaskedLM if name == "mini-distilbert" else AutoModelForPreTraining
    model, report = loader.from_pretrained(folder, output_loading_info=True, local_files_only=True)
    assert not any(report.values())
    assert model.dtype == torch.float32
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    pieces = tokenizer.tokenize("The cat  [MASK].")
    assert pieces[-2:] == ["[MASK]", "."]
    pair = tokenizer("a", "b", return_token_type_ids=True)["token_type_ids"]
    assert pair[0] == 0
    assert pair[-1] == 1


@pytest.mark.slow
def test_the_teacher_learns_the_toy_language(toy_corpus, tmp_path):
    family = made(tmp_path, toy_corpus, 60_000, batches=40)
    results = json.loads((family / "models/results.json").read_text())
    assert results["models"]["mini-bert"]["masked_top1"] > 0.35
    assert results["models"]["mini-bert"]["nsp_count"] > 20
    losses = [float(row["loss"]) for row in csv.DictReader((family / "runs/mini-bert.csv").open())]
    assert losses[-1] < 6


def test_the_results_carry_what_the_card_says(family):
    results = json.loads((family / "models/results.json").read_text())
    for name, own in results["models"].items():
        card = (family / "models" / name / "README.md").read_text()
        assert own["sha256"] in card
        assert f"{own['tokens']:,} tokens" in card
        assert f"{100 * own['masked_top1']:.1f}%" in card
        overview = (family / "models/README.md").read_text()
        assert f"{100 * own['masked_top1']:.1f}%" in overview
        assert f"{own['tokens']:,}" in overview
    assert set(results["retention"]) == {"masked_top1", "masked_top5"}


def command(step, work, corpus, *more):
    words = [sys.executable, "-m", "training", step, *TINY, "--work", str(work), *more]
    return words + (["--corpus", str(corpus)] if step == "prepare" else [])


class Killed(BaseException):
    """The end of a process, in the middle of a step."""


def test_a_run_cut_off_after_a_checkpoint_ends_with_the_weights_of_an_undisturbed_one(
    family, tmp_path, monkeypatch
):
    """The same law as below without processes: a save every third step, an end after the fifth."""
    update = loop.update
    monkeypatch.setattr(loop.Clock, "due", due_every_third_step)
    for work in ("calm", "killed"):
        (tmp_path / work).mkdir()
        for path in (family / "runs").glob("bert-*"):
            shutil.copy(path, tmp_path / work)
    steps = []

    def dies_in_its_fifth(*args):
        steps.append(1)
        if len(steps) == 5:
            raise Killed
        update(*args)

    assert main(teacher_words(tmp_path / "calm")) == 0
    monkeypatch.setattr(loop, "update", dies_in_its_fifth)
    with pytest.raises(Killed):
        main(teacher_words(tmp_path / "killed"))
    cut = torch.load(tmp_path / "killed/mini-bert.checkpoint", weights_only=True)
    assert cut["progress"][0] == 3
    monkeypatch.setattr(loop, "update", update)
    assert main(teacher_words(tmp_path / "killed")) == 0
    assert_ended_alike(tmp_path)


def teacher_words(work):
    return ["teacher", *TINY, "--work", str(work), "--tokens", "2500"]


def due_every_third_step(clock, what, every):
    clock.asked = getattr(clock, "asked", 0) + (what == "save")
    return what == "save" and clock.asked % 3 == 0


def assert_ended_alike(folder):
    """Weights to the last bit, the same number of steps, and a log in which no step is twice."""
    undisturbed, resumed = (
        torch.load(folder / work / "mini-bert.checkpoint", weights_only=True)
        for work in ("calm", "killed")
    )
    assert resumed["progress"][:2] == undisturbed["progress"][:2]
    for name, weight in undisturbed["model"].items():
        torch.testing.assert_close(resumed["model"][name], weight, rtol=0, atol=0)
    rows = list(csv.DictReader((folder / "killed/mini-bert.csv").open()))
    steps = [int(row["step"]) for row in rows]
    assert steps == sorted(set(steps))


@pytest.mark.slow
def test_a_killed_run_ends_with_the_weights_of_an_undisturbed_one(toy_corpus, tmp_path):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    budget = ["--tokens", "150000", "--save-every", "0.2"]
    words = command("prepare", tmp_path / "calm", toy_corpus)
    subprocess.run(words, cwd=ROOT, env=environment, check=True)
    shutil.copytree(tmp_path / "calm", tmp_path / "killed")  # WordPieces differ from run to run
    calm = command("teacher", tmp_path / "calm", toy_corpus, *budget)
    subprocess.run(calm, cwd=ROOT, env=environment, check=True, capture_output=True)

    words = command("teacher", tmp_path / "killed", toy_corpus, *budget)
    run = subprocess.Popen(words, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    checkpoint = tmp_path / "killed/mini-bert.checkpoint"
    until(checkpoint.exists)
    os.kill(run.pid, signal.SIGKILL)
    assert run.wait() == -signal.SIGKILL
    cut = torch.load(checkpoint, weights_only=True)
    subprocess.run(words, cwd=ROOT, env=environment, check=True, capture_output=True)

    resumed = torch.load(checkpoint, weights_only=True)
    assert 0 < cut["progress"][0] < resumed["progress"][0]
    assert_ended_alike(tmp_path)


def test_better_weights_are_not_overwritten(family, tmp_path, capsys):
    results = family / "models/results.json"
    before = results.read_text()
    better = json.loads(before)
    for own in better["models"].values():
        own["masked_top1"] = 0.99
    results.write_text(json.dumps(better))
    weights = (family / "models/mini-bert/model.safetensors").read_bytes()
    words = ["export", *TINY, "--work", str(family / "runs"), "--models", str(family / "models")]
    words += ["--batches", "2"]
    try:
        assert main(words) == 2
        assert "Nothing was written" in capsys.readouterr().err
        assert (family / "models/mini-bert/model.safetensors").read_bytes() == weights
        assert main([*words, "--force"]) == 0
        found = json.loads(results.read_text())["models"]["mini-bert"]["masked_top1"]
        assert found == json.loads(before)["models"]["mini-bert"]["masked_top1"]
    finally:
        results.write_text(before)


def test_across_vocabularies_pieces_are_not_compared(family, tmp_path):
    models = tmp_path / "models"
    shutil.copytree(family / "models", models)
    work = tmp_path / "work"
    shutil.copytree(family / "runs", work)
    setting = Setting(Place(work), TOY, TrainingBudget(tokens=1))
    same = standing(setting, models / "mini-albert", {"masked_top1": 0.9})
    assert same["masked_top1"] == 0.9
    assert same["probe_count"] == 200
    shutil.copy(work / "bert-tokenizer.json", models / "mini-albert/tokenizer.json")
    found = standing(setting, models / "mini-albert", {"masked_top1": 0.9, "probe_top5": 0.1})
    assert found == {"probe_top5": 0.1}


def test_a_run_goes_on_from_exported_weights(family, toy_corpus, tmp_path):
    models, work = tmp_path / "models", tmp_path / "work"
    shutil.copytree(family / "models", models)
    before = json.loads((models / "results.json").read_text())["models"]["mini-bert"]
    words = ["--tiny", "--threads", "1", "--start", str(models), "--work", str(work)]
    assert main(["prepare", *words, "--corpus", str(toy_corpus)]) == 0
    first, second = family / "runs/bert-train.npz", work / "bert-train.npz"
    np.testing.assert_array_equal(np.load(first)["ids"], np.load(second)["ids"])
    assert main(["teacher", *words, "--tokens", "600"]) == 0
    going_on = torch.load(work / "mini-bert.checkpoint", weights_only=True)["model"]
    ended = torch.load(family / "runs/mini-bert.checkpoint", weights_only=True)["model"]
    name = "model.bert.embeddings.word_embeddings.weight"
    assert (going_on[name] - ended[name]).abs().max() < 0.02
    assert not torch.equal(going_on[name], ended[name])

    began = load_file(models / "mini-bert/model.safetensors")
    words += ["--models", str(models), "--batches", "2", "--force"]
    assert main(["export", *words, "--keep", "0.25"]) == 0
    name = name.removeprefix("model.")
    mean = 0.25 * began[name].float() + 0.75 * going_on[f"model.{name}"]
    written = load_file(models / "mini-bert/model.safetensors")[name].float()
    torch.testing.assert_close(written, mean, rtol=1e-3, atol=1e-5)
    after = json.loads((models / "results.json").read_text())["models"]["mini-bert"]
    assert after["kept"] == {"share": 0.25, "tokens": before["tokens"]}
    card = (models / "mini-bert/README.md").read_text()
    assert f"25% are those after {before['tokens']:,} tokens" in card
    rows = list(csv.DictReader((models / "mini-bert/learning_curve.csv").open()))
    assert before["tokens"] + 600 <= after["tokens"] == int(rows[-1]["tokens"])
    assert [int(row["step"]) for row in rows] == sorted({int(row["step"]) for row in rows})


@pytest.mark.parametrize("start", ["minilm", "nowhere"])
def test_a_mean_needs_exported_weights_to_start_from(family, tmp_path, capsys, start):
    words = ["--tiny", "--threads", "1", "--start", start, "--work", str(family / "runs")]
    words += ["--models", str(tmp_path), "--batches", "2", "--keep", "0.25"]
    assert main(["export", *words]) == 2
    assert f"{start}/mini-bert has none." in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


def test_a_run_that_goes_on_still_says_what_was_fitted_before_it(family, tmp_path):
    figures = json.loads((family / "models/results.json").read_text())["models"]["mini-albert"]
    remember_origin(Place(tmp_path), family / "models/mini-albert")
    assert fit_history(Place(tmp_path), "albert-fit") == figures["fit"]


def test_wrong_input_is_answered_in_a_sentence(tmp_path, capsys):
    assert main(["prepare", "--work", str(tmp_path)]) == 2
    assert "needs --corpus" in capsys.readouterr().err
    assert main(["teacher", *TINY, "--work", str(tmp_path), "--tokens", "10"]) == 2
    assert "run the prepare step first" in capsys.readouterr().err
    assert main(["ablation", *TINY, "--work", str(tmp_path), "--minutes", "1"]) == 2
    assert "equal steps" in capsys.readouterr().err
