"""A student's start: what it copies of its teacher."""

from collections.abc import Sequence

import torch
from transformers import BertForPreTraining, DistilBertForMaskedLM


@torch.no_grad()
def copy_teacher(
    teacher: BertForPreTraining, student: DistilBertForMaskedLM, layers: Sequence[int]
) -> None:
    """Copy embeddings, the given layers and the MLM head; the segment-0 vector joins positions."""
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
    for to, origin in enumerate(layers):
        for new, old in parts.items():
            names[f"distilbert.transformer.layer.{to}.{new}"] = f"bert.encoder.layer.{origin}.{old}"
    for new, old in names.items():
        for kind in ("weight", "bias"):
            target[f"{new}.{kind}"] = source[f"{old}.{kind}"]
    target["vocab_projector.bias"] = source["cls.predictions.bias"]
    target["vocab_projector.weight"] = target["distilbert.embeddings.word_embeddings.weight"]
    student.load_state_dict(target)
