"""Fit mini-albert's shared layer to the teacher's layers, over the teacher's WordPieces.

One layer applied six times is no useful encoder at first, and MLM alone trains it slowly. So it is
first fitted to the teacher, application k to layer k, over the teacher's own vocabulary; then its
word vectors are replaced by those of its own pieces, in the same 128 dimensions.
"""

import torch
from torch import Tensor, nn
from transformers import AlbertForPreTraining, BertForPreTraining

from explorer.analysis.distillation.student import Batch, states_at, top1
from explorer.analysis.distillation.triple_loss import distillation_ce, hidden_cosine, mlm_loss


class FitObjective(nn.Module):
    """Cosine distance to the teacher's states after every layer, its logits' KL, and MLM."""

    def __init__(self, model: AlbertForPreTraining, teacher: BertForPreTraining) -> None:
        super().__init__()
        self.model = model
        self.frozen = [teacher.eval().requires_grad_(False)]  # a list keeps it out of state_dict

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Return the loss and its parts."""
        inputs = {
            "input_ids": batch.ids,
            "attention_mask": batch.mask,
            "token_type_ids": batch.types,
            "output_hidden_states": True,
        }
        with torch.no_grad():
            teacher_states = self.frozen[0].bert(**inputs).hidden_states
            teacher_logits = self.frozen[0].cls.predictions(
                states_at(teacher_states[-1], batch.masked_positions)
            )
        states = self.model.albert(**inputs).hidden_states
        logits = self.model.predictions(states_at(states[-1], batch.masked_positions))
        pairs = zip(states, teacher_states, strict=True)
        cos = torch.stack([hidden_cosine(own, other, batch.mask) for own, other in pairs]).sum()
        ce, mlm = distillation_ce(logits, teacher_logits, 1.0), mlm_loss(logits, batch.labels)
        return {
            "loss": cos + ce + mlm,
            "ce": ce,
            "mlm": mlm,
            "cos": cos,
            "top1": top1(logits, batch),
        }


@torch.no_grad()
def transplant(
    fitted: AlbertForPreTraining, target: AlbertForPreTraining, spellings: list[list[int]]
) -> None:
    """Copy a fitted model; each word vector is the mean of the WordPieces that spell the word."""
    state = fitted.state_dict()
    vectors = state["albert.embeddings.word_embeddings.weight"]
    means = torch.stack([vectors[ids].mean(0) if ids else vectors[1] for ids in spellings])
    tied = ("albert.embeddings.word_embeddings.weight", "predictions.decoder.weight")
    target.load_state_dict({**state, **dict.fromkeys(tied, means)})
