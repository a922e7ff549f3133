"""What each model minimises in one step, with the word scores computed at hidden pieces only."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import AlbertForPreTraining, BertForPreTraining, DistilBertForMaskedLM

from explorer.analysis.distillation.triple_loss import (
    IGNORED,
    distillation_ce,
    hidden_cosine,
    mlm_loss,
    triple_loss,
)
from explorer.training.steps.last_layer import asked_states
from explorer.training.text.batch import Batch

ORDER_WEIGHT = 1.0  # it was 4 once, and told the order of no more than 55% of the pairs


@dataclass(frozen=True, slots=True, eq=False)
class Guess:
    """A forward pass: scores at hidden pieces, pair scores (if any), last hidden states."""

    words: Tensor
    pair: Tensor | None
    states: Tensor


def guess(model: nn.Module, batch: Batch) -> Guess:
    """Run one of the three models on a batch."""
    if isinstance(model, DistilBertForMaskedLM):
        states = model.distilbert(input_ids=batch.ids, attention_mask=batch.mask)[0]
        return Guess(distilbert_words(model, at(states, batch.hidden)), None, states)
    inputs = {
        "input_ids": batch.ids,
        "attention_mask": batch.mask,
        "token_type_ids": batch.types,
    }
    if isinstance(model, BertForPreTraining):
        out = model.bert(**inputs)
        words = model.cls.predictions(at(out.last_hidden_state, batch.hidden))
        return Guess(words, model.cls.seq_relationship(out.pooler_output), out.last_hidden_state)
    assert isinstance(model, AlbertForPreTraining)
    out = model.albert(**inputs)
    words = model.predictions(at(out.last_hidden_state, batch.hidden))
    return Guess(words, model.sop_classifier(out.pooler_output), out.last_hidden_state)


def guess_words(model: nn.Module, batch: Batch) -> Guess:
    """The same, with mini-bert's last states at hidden pieces alone: the rest is not computed.

    A GPU computes all of them faster than it picks some.
    """
    if not isinstance(model, BertForPreTraining) or batch.ids.is_cuda:
        return guess(model, batch)
    hidden, first = asked_states(model.bert, batch)
    pair = model.cls.seq_relationship(model.bert.pooler(first))
    return Guess(model.cls.predictions(hidden), pair, hidden)


def distilbert_words(model: DistilBertForMaskedLM, states: Tensor) -> Tensor:
    """DistilBERT's word scores, whose head is not a module of its own."""
    states = model.activation(model.vocab_transform(states))
    return model.vocab_projector(model.vocab_layer_norm(states))


def at(states: Tensor, flat: Tensor) -> Tensor:
    """Hidden states at flat positions."""
    return states.reshape(-1, states.shape[-1])[flat]


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


class DistillObjective(nn.Module):
    """DistilBERT's triple loss against a frozen teacher."""

    def __init__(
        self,
        model: nn.Module,
        teacher: nn.Module,
        temperature: float,
        weights: dict[str, float] | None = None,
    ) -> None:
        super().__init__()
        self.model = model
        self.frozen = [teacher.eval().requires_grad_(False)]  # a list: not part of the state
        self.temperature = temperature
        self.weights = weights

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """The loss and its parts."""
        with torch.no_grad():
            taught = guess(self.frozen[0], batch)
        made = guess(self.model, batch)
        parts = {
            "ce": distillation_ce(made.words, taught.words, self.temperature),
            "mlm": mlm_loss(made.words, batch.labels),
            "cos": hidden_cosine(made.states, taught.states, batch.mask),
        }
        loss = triple_loss(**parts, weights=self.weights)
        return {"loss": loss, **parts, "top1": top1(made.words, batch)}


def top1(words: Tensor, batch: Batch) -> Tensor:
    """Share of the hidden pieces whose best guess is right."""
    return (words.argmax(-1) == batch.labels).float().mean()
