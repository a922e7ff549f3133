"""Accuracy on held-out documents: masked pieces, and pairs of texts."""

from dataclasses import dataclass, replace

import torch
from torch import nn

from explorer.analysis.distillation.student import run_batch
from explorer.analysis.distillation.triple_loss import IGNORED
from explorer.refusal import Refusal
from training.recipe import Recipe
from training.steps.loop import half_precision
from training.text.batches import Sampler
from training.text.corpus import Shard

HELDOUT_SEED = 7
HELDOUT_LENGTH = 128


@dataclass(frozen=True, slots=True)
class MaskedAccuracy:
    """Accuracy and loss at masked pieces, and the number of masked pieces."""

    top1: float
    top5: float
    loss: float
    count: int


def measured(recipe: Recipe) -> Recipe:
    """Return the recipe with the batch settings of evaluation, whatever a run trains on."""
    return replace(recipe, tokens_per_step=recipe.heldout_tokens, longest_ngram=0)


@torch.no_grad()
def masked_accuracy(model: nn.Module, shard: Shard, recipe: Recipe, batches: int) -> MaskedAccuracy:
    """Predict the masked 15% (80/10/10) of held-out running text, one text per sequence."""
    recipe = measured(replace(recipe, single_share=1.0, repeated_share=0.0))
    sampler = Sampler(shard, recipe, "nsp", HELDOUT_SEED)
    length = min(HELDOUT_LENGTH, recipe.positions)
    device = next(model.parameters()).device
    first = five = loss = 0.0
    count = 0
    for step in range(batches):
        batch = sampler.batch(step, length).to(device)
        with half_precision(device):
            words = run_batch(model, batch).words.float()
        best = words.topk(5).indices == batch.labels[:, None]
        first += best[:, 0].sum().item()
        five += best.sum().item()
        loss += nn.functional.cross_entropy(words, batch.labels, reduction="sum").item()
        count += len(batch.labels)
    return MaskedAccuracy(first / count, five / count, loss / count, count)


@torch.no_grad()
def pair_accuracy(
    model: nn.Module, sampler: Sampler, batches: int, length: int = HELDOUT_LENGTH
) -> tuple[float, int]:
    """Return the share of held-out pairs classified correctly, and the number of pairs."""
    device = next(model.parameters()).device
    right = count = 0
    for step in range(batches):
        batch = sampler.batch(step, min(length, sampler.recipe.positions)).to(device)
        batch.ids.view(-1)[batch.masked_positions] = (
            batch.labels
        )  # pairs are classified on the unmasked text
        with half_precision(device):
            scores = run_batch(model, batch).pair
        if scores is None:
            raise ValueError("This model has no head for sentence pairs.")
        known = batch.pairs != IGNORED
        right += int((scores.argmax(-1) == batch.pairs)[known].sum())
        count += int(known.sum())
    if not count:
        raise Refusal("The held-out documents hold no pair of texts: they are too few or short.")
    return right / count, count
