"""Forward passes that score hidden pieces only, and DistilBERT's triple loss over them."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from transformers import AlbertForPreTraining, BertForPreTraining, DistilBertForMaskedLM

from explorer.analysis.distillation.student.batch import Batch
from explorer.analysis.distillation.triple_loss import (
    distillation_ce,
    hidden_cosine,
    mlm_loss,
    triple_loss,
)


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


def distilbert_words(model: DistilBertForMaskedLM, states: Tensor) -> Tensor:
    """DistilBERT's word scores, whose head is not a module of its own."""
    states = model.activation(model.vocab_transform(states))
    return model.vocab_projector(model.vocab_layer_norm(states))


def at(states: Tensor, flat: Tensor) -> Tensor:
    """Hidden states at flat positions."""
    return states.reshape(-1, states.shape[-1])[flat]


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
