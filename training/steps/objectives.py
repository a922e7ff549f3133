"""Pretraining objectives: MLM, and each model's pair task."""

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import AlbertForPreTraining, BertForPreTraining

from explorer.analysis.distillation.student import Batch, PretrainOutput, run_batch, top1
from explorer.analysis.distillation.triple_loss import IGNORED, mlm_loss
from training.steps.last_layer import asked_states

ORDER_WEIGHT = 1.0  # with 4, no more than 55% of the pairs were classified correctly


def guess_words(model: nn.Module, batch: Batch) -> PretrainOutput:
    """Return the outputs of `guess`, computing mini-bert's last layer at masked pieces only.

    A GPU computes all positions faster than it selects some.
    """
    if not isinstance(model, BertForPreTraining) or batch.ids.is_cuda:
        return run_batch(model, batch)
    hidden, first = asked_states(model.bert, batch)
    pair = model.cls.seq_relationship(model.bert.pooler(first))
    return PretrainOutput(model.cls.predictions(hidden), pair, hidden)


def pair_loss(scores: Tensor, labels: Tensor) -> Tensor:
    """Return the cross-entropy over the sequences that hold a pair; zero when none does."""
    total = functional.cross_entropy(scores.float(), labels, ignore_index=IGNORED, reduction="sum")
    return total / (labels != IGNORED).sum().clamp(min=1)


def order_loss(model: AlbertForPreTraining, states: Tensor, batch: Batch) -> Tensor:
    """Return the SOP loss of every piece by the same head: is its segment the second one?

    The pair's label alone gives no gradient until the model attends by segment; a piece can learn
    the label from its own segment, and [CLS] then reads it there.
    """
    scores = model.sop_classifier(model.albert.pooler_activation(model.albert.pooler(states)))
    scored = (batch.pairs[:, None] != IGNORED) & batch.mask.bool()
    labels = torch.where(scored, batch.pairs[:, None] ^ batch.types, IGNORED)
    return pair_loss(scores.flatten(0, 1), labels.flatten())


class PretrainObjective(nn.Module):
    """MLM plus the model's pair task with equal weights, as in both papers; SOP also per piece."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Return the loss and its parts."""
        outputs = guess_words(self.model, batch)
        mlm, pair = mlm_loss(outputs.words, batch.labels), pair_loss(outputs.pair, batch.pairs)
        parts = {"mlm": mlm, "pair": pair}
        if isinstance(self.model, AlbertForPreTraining):
            parts["order"] = ORDER_WEIGHT * order_loss(self.model, outputs.states, batch)
        return {
            "loss": sum(parts.values(), mlm.new_zeros(())),
            **parts,
            "top1": top1(outputs.words, batch),
        }
