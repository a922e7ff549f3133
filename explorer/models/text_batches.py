"""Batches of many short texts through one network: the numbers of a text do not depend on them."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from explorer.models.forward import apply_head, padded, tokenize
from explorer.models.loading import LoadedModel
from explorer.models.run import MaskedRow, read_only
from explorer.models.tokens import BadText, Tokens

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class EncodedText:
    """Input ids of a text for one model."""

    ids: tuple[int, ...]
    segments: tuple[int, ...]


def encoded_texts(
    loaded: LoadedModel, texts: Sequence[str], most_tokens: int
) -> list[EncodedText | str]:
    """Return the ids of each text, or the sentence why it cannot be run."""
    return [_encoded(loaded, text, most_tokens) for text in texts]


def _encoded(loaded: LoadedModel, text: str, most_tokens: int) -> EncodedText | str:
    tokens = readable_tokens(loaded, text, most_tokens)
    return tokens if isinstance(tokens, str) else EncodedText(tokens.ids, tokens.segments)


def readable_tokens(loaded: LoadedModel, text: str, most_tokens: int) -> Tokens | str:
    """Return the tokens of a text, or the sentence why it cannot be run."""
    try:
        tokens = tokenize(loaded, text)
    except BadText as error:
        return str(error)
    if len(tokens) > most_tokens:
        return f"It has {len(tokens):,} tokens for {loaded.spec.label}; {most_tokens} are read."
    return tokens


def loaded_vocabulary(loaded: LoadedModel) -> tuple[str, ...]:
    """Return the piece of each id of a network's vocabulary."""
    return loaded.vocabulary


@contextmanager
def _encoding(loaded: LoadedModel) -> Iterator[None]:
    """Hold the network for a pass of which no attention is shown; half precision is fused.

    PyTorch's ``scaled_dot_product_attention`` is FlashAttention on CUDA where no row is padded. In
    float32 attention stays eager, so that a list and the page give one text the same numbers.
    """
    with loaded.lock:
        if loaded.dtype == "float32":
            yield
            return
        loaded.network.set_attn_implementation("sdpa")
        try:
            yield
        finally:
            loaded.network.set_attn_implementation("eager")


@torch.inference_mode()
def vocabulary_rows(loaded: LoadedModel, rows: Sequence[MaskedRow]) -> np.ndarray:
    """Return log-probabilities float32 [row, vocabulary] at each row's position."""
    return read_only(_row_logits(loaded, rows).log_softmax(-1).cpu().numpy())


@torch.inference_mode()
def target_rows(
    loaded: LoadedModel, rows: Sequence[MaskedRow], targets: Sequence[int]
) -> np.ndarray:
    """Return float64 [row, 2]: log-probability and rank (1 = likeliest) of each row's target.

    The vocabulary stays on the device.
    """
    logits = _row_logits(loaded, rows)
    if logits.device.type == "mps":
        logits = logits.cpu()  # it has no float64
    log_probs = logits.double().log_softmax(-1)
    target = log_probs.gather(1, torch.tensor(targets, device=log_probs.device)[:, None])
    ranks = 1 + (log_probs > target).sum(-1)
    return read_only(torch.stack([target[:, 0], ranks.double()], 1).cpu().numpy())


def _row_logits(loaded: LoadedModel, rows: Sequence[MaskedRow]) -> "Tensor":
    """Return logits float32 [row, vocabulary]; the head reads one position of each row."""
    inputs = _inputs(loaded, rows)
    positions = torch.tensor([row.position for row in rows], device=loaded.device)
    with _encoding(loaded):
        states = loaded.network.base_model(**inputs).last_hidden_state
        logits = apply_head(
            loaded, states[torch.arange(len(rows), device=loaded.device), positions]
        )
    return logits.float()


@torch.inference_mode()
def text_features(loaded: LoadedModel, texts: Sequence[EncodedText], pooling: str) -> np.ndarray:
    """Return the frozen encoder's features of texts: float32 [text, layer + 1, d_model]."""
    inputs = _inputs(loaded, texts)
    with _encoding(loaded):
        states = loaded.network.base_model(**inputs, output_hidden_states=True).hidden_states
    pooled = [_pooled(layer.float(), inputs, pooling) for layer in states]
    return read_only(torch.stack(pooled, 1).cpu().numpy())


def timed_features(
    loaded: LoadedModel, texts: Sequence[EncodedText], pooling: str
) -> tuple[np.ndarray, float]:
    """Return ``text_features``, and the seconds that they took.

    On one core these are seconds of processor time, so that other work on the machine does not
    count; otherwise seconds of the clock.
    """
    one_core = torch.device(loaded.device).type == "cpu" and torch.get_num_threads() == 1
    clock = time.thread_time if one_core else time.perf_counter
    begun = clock()
    features = text_features(loaded, texts, pooling)
    return features, clock() - begun


def encoder_bytes(loaded: LoadedModel) -> int:
    """Return the bytes of the encoder's weights, each counted once."""
    weights = {id(w): w for w in loaded.network.base_model.parameters()}.values()
    return sum(w.numel() * w.element_size() for w in weights)


def _pooled(states: "Tensor", inputs: dict[str, "Tensor"], pooling: str) -> "Tensor":
    if pooling == "cls":
        return states[:, 0]
    if "attention_mask" not in inputs:
        return states.mean(1)
    weights = inputs["attention_mask"][..., None].to(states.dtype)
    return (states * weights).sum(1) / weights.sum(1)


def _inputs(
    loaded: LoadedModel, rows: Sequence[MaskedRow] | Sequence[EncodedText]
) -> dict[str, "Tensor"]:
    """Return the encoder's arguments; only rows of different length are padded."""
    has_segments = loaded.spec.architecture.n_segments > 1
    rows_of_tensors = [
        {"input_ids": torch.tensor([row.ids])}
        | ({"token_type_ids": torch.tensor([row.segments])} if has_segments else {})
        for row in rows
    ]
    if len({len(row.ids) for row in rows}) > 1:
        inputs = padded(rows_of_tensors, loaded.tokenizer.pad_token_id)
    else:
        inputs = {
            name: torch.cat([row[name] for row in rows_of_tensors]) for name in rows_of_tensors[0]
        }
    # One copy of the batch to the device, not one of each row.
    return {name: value.to(loaded.device) for name, value in inputs.items()}
