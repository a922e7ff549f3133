"""The objectives of pretraining: MLM, and each model's pair task."""

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import AlbertForPreTraining, BertForPreTraining

from explorer.analysis.distillation.student.objectives import Batch, Guess, guess, top1
from explorer.analysis.distillation.triple_loss import IGNORED, mlm_loss
from training.steps.last_layer import asked_states

ORDER_WEIGHT = 1.0  # it was 4 once, and told the order of no more than 55% of the pairs


def guess_words(model: nn.Module, batch: Batch) -> Guess:
    """The same, with mini-bert's last states at hidden pieces alone: the rest is not computed.

    A GPU computes all of them faster than it picks some.
    """
    if not isinstance(model, BertForPreTraining) or batch.ids.is_cuda:
        return guess(model, batch)
    hidden, first = asked_states(model.bert, batch)
    pair = model.cls.seq_relationship(model.bert.pooler(first))
    return Guess(model.cls.predictions(hidden), pair, hidden)


def pair_loss(scores: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy over the sequences that hold a pair; zero when none does."""
    total = functional.cross_entropy(scores.float(), labels, ignore_index=IGNORED, reduction="sum")
    return total / (labels != IGNORED).sum().clamp(min=1)


def order_loss(model: AlbertForPreTraining, states: Tensor, batch: Batch) -> Tensor:
    """SOP asked of every piece by the same head: was its segment the second one?

    Which segment is which makes the pair's own label cancel out until the model attends by segment;
    a piece can learn it from its own segment alone, and [CLS] then reads it there.
    """
    scores = model.sop_classifier(model.albert.pooler_activation(model.albert.pooler(states)))
    asked = (batch.pairs[:, None] != IGNORED) & batch.mask.bool()
    labels = torch.where(asked, batch.pairs[:, None] ^ batch.types, IGNORED)
    return pair_loss(scores.flatten(0, 1), labels.flatten())


class PretrainObjective(nn.Module):
    """MLM plus the model's pair task, equal in weight as in both papers; SOP piece by piece too."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """The loss and its parts."""
        made = guess_words(self.model, batch)
        mlm, pair = mlm_loss(made.words, batch.labels), pair_loss(made.pair, batch.pairs)
        parts = {"mlm": mlm, "pair": pair}
        if isinstance(self.model, AlbertForPreTraining):
            parts["order"] = ORDER_WEIGHT * order_loss(self.model, made.states, batch)
        return {
            "loss": sum(parts.values(), mlm.new_zeros(())),
            **parts,
            "top1": top1(made.words, batch),
        }
