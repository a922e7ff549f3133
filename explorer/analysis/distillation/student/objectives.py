"""Training of a student: batches, initialisation from the teacher, and the objective."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from transformers import AlbertForPreTraining, BertForPreTraining, DistilBertForMaskedLM

from explorer.analysis.distillation.triple_loss import (
    distillation_ce,
    hidden_cosine,
    mlm_loss,
    triple_loss,
)


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Input of one step: ids, types and mask ``[sequences, length]``, and labels of masked tokens.

    Attributes:
        hidden: Flat positions of the tokens to predict, ``[predictions]``.
        labels: Original ids of these tokens, ``[predictions]``.
        pairs: 0 in order, 1 not (NSP: random; SOP: swapped), -100 for single texts.
    """

    ids: Tensor
    types: Tensor
    mask: Tensor
    masked_positions: Tensor
    labels: Tensor
    pairs: Tensor

    def to(self, device: torch.device) -> "Batch":
        """Return the batch on another device."""
        return Batch(*(getattr(self, name).to(device) for name in self.__slots__))

    @property
    def tokens(self) -> int:
        """The number of tokens in the batch without padding."""
        return int(self.mask.sum())


@torch.no_grad()
def copy_teacher(
    teacher: BertForPreTraining, student: DistilBertForMaskedLM, layers: Sequence[int]
) -> None:
    """Copy embeddings, the given layers and the MLM head of a BERT teacher to a student.

    DistilBERT has no segment embeddings: segment 0 is added to the position embeddings.
    """
    source, target = teacher.state_dict(), {}
    embeddings = "bert.embeddings."
    target["distilbert.embeddings.word_embeddings.weight"] = source[
        f"{embeddings}word_embeddings.weight"
    ]
    target["distilbert.embeddings.position_embeddings.weight"] = (
        source[f"{embeddings}position_embeddings.weight"]
        + source[f"{embeddings}token_type_embeddings.weight"][0]
    )
    parts = {
        "attention.q_lin": "attention.self.query",
        "attention.k_lin": "attention.self.key",
        "attention.v_lin": "attention.self.value",
        "attention.out_lin": "attention.output.dense",
        "sa_layer_norm": "attention.output.LayerNorm",
        "ffn.lin1": "intermediate.dense",
        "ffn.lin2": "output.dense",
        "output_layer_norm": "output.LayerNorm",
    }
    names = {
        "distilbert.embeddings.LayerNorm": f"{embeddings}LayerNorm",
        "vocab_transform": "cls.predictions.transform.dense",
        "vocab_layer_norm": "cls.predictions.transform.LayerNorm",
    }
    for layer, origin in enumerate(layers):
        for new, old in parts.items():
            names[f"distilbert.transformer.layer.{layer}.{new}"] = (
                f"bert.encoder.layer.{origin}.{old}"
            )
    for new, old in names.items():
        for kind in ("weight", "bias"):
            target[f"{new}.{kind}"] = source[f"{old}.{kind}"]
    target["vocab_projector.bias"] = source["cls.predictions.bias"]
    target["vocab_projector.weight"] = target["distilbert.embeddings.word_embeddings.weight"]
    student.load_state_dict(target)


@dataclass(frozen=True, slots=True, eq=False)
class PretrainOutput:
    """Result of a forward pass: MLM logits at masked tokens, pair logits, last hidden states."""

    words: Tensor
    pair: Tensor | None
    states: Tensor


def run_batch(model: nn.Module, batch: Batch) -> PretrainOutput:
    """Run a BERT, DistilBERT or ALBERT network on a batch."""
    if isinstance(model, DistilBertForMaskedLM):
        states = model.distilbert(input_ids=batch.ids, attention_mask=batch.mask)[0]
        return PretrainOutput(
            distilbert_words(model, states_at(states, batch.masked_positions)), None, states
        )
    inputs = {
        "input_ids": batch.ids,
        "attention_mask": batch.mask,
        "token_type_ids": batch.types,
    }
    if isinstance(model, BertForPreTraining):
        output = model.bert(**inputs)
        words = model.cls.predictions(states_at(output.last_hidden_state, batch.masked_positions))
        return PretrainOutput(
            words, model.cls.seq_relationship(output.pooler_output), output.last_hidden_state
        )
    assert isinstance(model, AlbertForPreTraining)
    output = model.albert(**inputs)
    words = model.predictions(states_at(output.last_hidden_state, batch.masked_positions))
    return PretrainOutput(
        words, model.sop_classifier(output.pooler_output), output.last_hidden_state
    )


def distilbert_words(model: DistilBertForMaskedLM, states: Tensor) -> Tensor:
    """Return DistilBERT's MLM logits; its head is not a module of its own."""
    states = model.activation(model.vocab_transform(states))
    return model.vocab_projector(model.vocab_layer_norm(states))


def states_at(states: Tensor, positions: Tensor) -> Tensor:
    """Return the hidden states at flat positions."""
    return states.reshape(-1, states.shape[-1])[positions]


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
        self.frozen = [teacher.eval().requires_grad_(False)]  # a list, so that it is no submodule
        self.temperature = temperature
        self.weights = weights

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Return the loss, its parts and the top-1 accuracy."""
        with torch.no_grad():
            teacher = run_batch(self.frozen[0], batch)
        student = run_batch(self.model, batch)
        parts = {
            "ce": distillation_ce(student.words, teacher.words, self.temperature),
            "mlm": mlm_loss(student.words, batch.labels),
            "cos": hidden_cosine(student.states, teacher.states, batch.mask),
        }
        loss = triple_loss(**parts, weights=self.weights)
        return {"loss": loss, **parts, "top1": top1(student.words, batch)}


def top1(words: Tensor, batch: Batch) -> Tensor:
    """Return the share of masked tokens whose top-1 prediction is right."""
    return (words.argmax(-1) == batch.labels).float().mean()
