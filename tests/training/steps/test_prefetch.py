"""Batches that other processes draw ahead are those of a run that draws each itself."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch

from training.recipe import TINY
from training.steps.prefetch import AHEAD, Batches
from training.text.batches import Sampler
from training.text.corpus import Shard

pytestmark = pytest.mark.processes


@pytest.fixture(scope="module")
def sampler():
    rng = np.random.default_rng(3)
    sentences = np.arange(0, 6001, 10)
    ids = rng.integers(5, 300, size=6000).astype(np.uint16)
    shard = Shard(ids, sentences, np.arange(0, 601, 6), np.full(600, 8, dtype=np.uint16))
    return Sampler(shard, replace(TINY, tokens_per_step=128), "nsp", seed=5)


@pytest.mark.parametrize("workers", [0, 2])
def test_every_step_gets_its_own_batch_whoever_draws_it(sampler, workers):
    batches = Batches(sampler, 7, workers)
    for step in range(7, 7 + 3 * AHEAD):
        drawn, own = batches.next(late=False), sampler.batch(step)
        assert all(torch.equal(getattr(drawn, name), getattr(own, name)) for name in own.__slots__)


@dataclass
class Told:
    """Draws that only say what they were asked for."""

    def batch(self, step, *, late=False):
        return [step, late]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_runs_end_shows_in_the_batches_that_are_not_drawn_yet(workers):
    batches = Batches(Told(), 0, workers)
    early = [batches.next(late=False) for _ in range(3)]
    late = [batches.next(late=True) for _ in range(workers * AHEAD + 4)]
    assert early == [[0, False], [1, False], [2, False]]
    assert late[-1] == [2 + len(late), True]
