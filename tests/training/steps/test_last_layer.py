"""The last layer where it is asked for says what the whole layer says there, and learns the same."""

import numpy as np
import pytest
import torch

from explorer.analysis.distillation.student import Batch, run_batch
from training.family import new_model
from training.recipe import TINY
from training.steps.objectives import guess_words, mlm_loss, pair_loss
from training.text.batch import PAD
from training.text.masking import mask_pieces


@pytest.fixture
def batch():
    """Texts of several lengths; one of them hides nothing, two of them are pairs."""
    rng = np.random.default_rng(3)
    ids = rng.integers(5, TINY.vocabulary, size=(5, 20))
    for row, length in enumerate((20, 12, 9, 16, 20)):
        ids[row, length:] = PAD
    mask = (ids != PAD).astype(np.int64)
    hidden, labels = mask_pieces(rng, ids[:4], TINY, None)
    types = (np.arange(20) > 6) * mask
    pairs = np.array([0, -100, 1, -100, -100])
    return Batch(*map(torch.from_numpy, (ids, types, mask, hidden, labels, pairs)))


def scored(made, batch):
    loss = mlm_loss(made.words, batch.labels) + pair_loss(made.pair, batch.pairs)
    loss.backward()
    return loss


def test_scores_and_gradients_are_those_of_the_whole_layer(batch):
    torch.manual_seed(4)
    model = new_model("mini-bert", TINY)
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.2)
    whole = scored(run_batch(model, batch), batch)
    gradients = {name: weight.grad.clone() for name, weight in model.named_parameters()}
    model.zero_grad()
    part = scored(guess_words(model, batch), batch)
    torch.testing.assert_close(part, whole)
    for name, weight in model.named_parameters():
        torch.testing.assert_close(weight.grad, gradients[name], rtol=1e-3, atol=1e-5)


def test_the_last_layer_reads_no_more_than_it_must(batch):
    model = new_model("mini-bert", TINY)
    seen = []
    model.bert.encoder.layer[-1].output.register_forward_hook(
        lambda _module, _inputs, out: seen.append(out.shape[1])
    )
    guess_words(model, batch)
    assert seen == [1 + int(torch.bincount(batch.masked_positions // 20).max())]
