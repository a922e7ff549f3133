"""A checkpoint and a forward pass by plain transformers, without any of the explorer's code."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoConfig, AutoTokenizer
from transformers.models.auto.modeling_auto import MODEL_FOR_PRETRAINING_MAPPING

from explorer.models.loading import LoadedModel
from explorer.models.specs import ModelSpec
from explorer.models.tokens import Tokens


@dataclass(frozen=True, slots=True, eq=False)
class PlainPass:
    """Output of a network for one text, as plain transformers returns it."""

    logits: np.ndarray
    """float32 [position, vocabulary]."""
    attention: np.ndarray
    """float32 [layer, head, query, key]."""
    hidden_states: np.ndarray
    """float32 [layer + 1, position, d_model]."""


def plain_model(spec: ModelSpec, path: Path) -> tuple[Any, Any]:
    """Return a network and a tokenizer as plain transformers loads them from a folder."""
    kind = MODEL_FOR_PRETRAINING_MAPPING[type(AutoConfig.for_model(spec.kind.config_type))]
    network = kind.from_pretrained(
        path, local_files_only=True, attn_implementation="eager", dtype=torch.float32
    )
    return network.eval(), AutoTokenizer.from_pretrained(path, local_files_only=True)


@torch.inference_mode()
def plain_pass(loaded: LoadedModel, network: Any, tokens: Tokens) -> PlainPass:  # noqa: ANN401
    """Return the output of a network for the tokens of a text, from its own forward method."""
    inputs = {"input_ids": torch.tensor([tokens.ids], device=loaded.device)}
    if getattr(network.config, "type_vocab_size", 0) > 1:
        inputs["token_type_ids"] = torch.tensor([tokens.segments], device=loaded.device)
    out = network(**inputs, output_attentions=True, output_hidden_states=True)
    logits = out.prediction_logits if hasattr(out, "prediction_logits") else out.logits
    return PlainPass(
        _array(logits)[0],
        np.concatenate([_array(weights) for weights in out.attentions]),
        np.concatenate([_array(states) for states in out.hidden_states]),
    )


def _array(tensor: torch.Tensor) -> np.ndarray:
    return np.asarray(tensor.float().cpu().numpy())
