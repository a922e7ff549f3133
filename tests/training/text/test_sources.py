"""Where a run's text may come from and how many processes may share it, as the model cards say."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from benchmarks.served import free_port
from tests.training.conftest import document
from training.__main__ import main
from training.recipe import TINY, Place
from training.steps.loop import (
    Progress,
    TrainingBudget,
    agreed,
    half_precision,
    optimiser,
    rate_at,
)
from training.steps.objectives import PretrainObjective
from training.steps.pretrain import Setting, fresh_teacher
from training.text.batches import Sampler
from training.text.corpus import read_documents

ROOT = Path(__file__).parents[3]
TOKENS = 3000


def test_a_hub_data_set_gives_the_same_documents_as_a_file(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    rng = random.Random(3)
    documents = [document(rng) for _ in range(20)]
    (tmp_path / "set").mkdir()
    rows = "".join(json.dumps({"text": text}) + "\n" for text in documents)
    (tmp_path / "set/train.jsonl").write_text(rows)
    (tmp_path / "set.txt").write_text("\n\n".join(documents) + "\n")
    assert list(read_documents(f"hub:{tmp_path / 'set'}")) == documents
    assert list(read_documents(str(tmp_path / "set.txt"))) == documents


def test_processes_agree_on_their_tokens_and_on_one_time(monkeypatch):
    """Three processes; what the other two have comes in through the sum over all."""
    monkeypatch.setenv("WORLD_SIZE", "3")
    others = torch.tensor([50.0 + 40.0, (4.0 + 5.0) / 3])
    monkeypatch.setattr(torch.distributed, "all_reduce", lambda own: own.add_(others))
    tokens, seconds = agreed(30, 6.0, torch.device("cpu"))
    assert tokens == 120
    assert seconds == pytest.approx(5.0)
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert agreed(30, 6.0, torch.device("cpu")) == (30, 6.0)


@pytest.mark.slow
def test_two_processes_take_the_step_of_their_mean_gradient(toy_corpus, tmp_path):
    assert main(["prepare", "--tiny", "--start", "random", "--work", str(tmp_path),
                 "--corpus", str(toy_corpus)]) == 0  # fmt: skip
    trained_together(tmp_path)
    state = torch.load(tmp_path / "mini-bert.checkpoint", weights_only=True)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as each process has: sums then have one order, whatever the machine
    try:
        wanted, steps = trained_by_hand(
            Setting(Place(tmp_path), TINY, TrainingBudget(tokens=TOKENS), "random")
        )
    finally:
        torch.set_num_threads(threads)
    assert state["progress"][0] == steps
    for name, weight in wanted.items():
        torch.testing.assert_close(state["model"][name], weight, rtol=1e-4, atol=1e-5)


def trained_together(folder):
    """The teacher step in two processes, as ``accelerate launch`` starts them."""
    command = [sys.executable, "-m", "training", "teacher", "--tiny", "--start", "random",
               "--work", str(folder), "--tokens", str(TOKENS), "--threads", "1"]  # fmt: skip
    shared = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()),
              "ACCELERATE_USE_CPU": "1"}  # fmt: skip
    runs = [
        subprocess.Popen(command, cwd=ROOT,
                         env=os.environ | shared | {"RANK": rank, "LOCAL_RANK": rank})
        for rank in "01"
    ]  # fmt: skip
    assert [run.wait(300) for run in runs] == [0, 0]


def trained_by_hand(setting):
    """The same steps in one process: the mean of the gradients of the two batches."""
    objective = PretrainObjective(fresh_teacher(setting))
    adam, progress = optimiser(objective, setting.recipe), Progress()
    seed, shard = setting.recipe.seed, setting.shard("bert", "train")
    sources = (setting.pieces("bert", shard), setting.sentences("bert", shard))
    sources += (setting.primer("bert"),)
    samplers = [Sampler(shard, setting.recipe, "nsp", seed, rank, *sources) for rank in range(2)]
    while (spent := setting.budget.spent(progress)) < 1:
        late = spent >= 1 - setting.recipe.cool_down
        batches = [sampler.batch(progress.step, late=late) for sampler in samplers]
        for group in adam.param_groups:
            group["lr"] = rate_at(spent, setting.recipe) or setting.recipe.rate * 1e-3
        for batch in batches:
            with half_precision(torch.device("cpu")):
                loss = objective(batch)["loss"]
            (loss / 2).backward()
        torch.nn.utils.clip_grad_norm_(objective.parameters(), 1.0)
        adam.step()
        adam.zero_grad()
        progress.step += 1
        progress.tokens += sum(batch.tokens for batch in batches)
    return objective.state_dict(), progress.step
