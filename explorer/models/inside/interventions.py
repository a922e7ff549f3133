"""Modified forward passes: ablated heads, patched states, shuffled words, repeated layers."""

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from torch import nn

from explorer.models.forward import apply_head, inputs_of, tokenize
from explorer.models.inside.activations import hooked
from explorer.models.loading import LoadedModel
from explorer.models.run import READINGS, Patch, read_only
from explorer.models.tokens import Tokens, word_id
from explorer.refusal import Refusal, Sentence


@contextmanager
def with_head_mask(loaded: LoadedModel, head_mask: torch.Tensor) -> Iterator[None]:
    """Multiply every head's output by its entry of ``head_mask`` [batch, layer, head] while inside.

    The caller holds ``loaded.lock``: the hooks affect every pass of the network. The layer is
    known from the order of the calls, since ALBERT's one layer is called for all.
    """
    n_layers, calls = loaded.spec.architecture.n_layers, [0]

    def switch(_: nn.Module, arguments: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        context = arguments[0]
        layer, calls[0] = calls[0] % n_layers, calls[0] + 1
        heads = context.unflatten(-1, (head_mask.shape[2], -1))
        return ((heads * head_mask[:, None, layer, :, None]).flatten(-2), *arguments[1:])

    with hooked(loaded, loaded.spec.kind.output, switch):
        yield


@torch.inference_mode()
def ablated_logits(loaded: LoadedModel, tokens: Tokens, head_masks: np.ndarray) -> np.ndarray:
    """Compute the logits at the masks with heads switched off, many variants in one batch.

    Args:
        loaded: The network; its lock is held for the one forward pass.
        tokens: The text.
        head_masks: bool [variant, layer, head], False where a head is off.

    Returns:
        Logits, float32 [variant, mask, vocabulary].
    """
    inputs = {
        name: value.expand(len(head_masks), -1) for name, value in inputs_of(loaded, tokens).items()
    }
    dtype = next(loaded.network.parameters()).dtype
    factors = torch.tensor(head_masks, device=loaded.device).to(dtype)
    with loaded.lock, with_head_mask(loaded, factors):
        hidden = loaded.network.base_model(**inputs).last_hidden_state
        logits = apply_head(loaded, hidden[:, list(tokens.mask_positions)])
    return read_only(logits.float().cpu().numpy())


def one_head_off(n_layers: int, n_heads: int, layer: int) -> np.ndarray:
    """Return the variants that switch off one head of a layer each: bool [head, layer, head]."""
    variants = np.ones((n_heads, n_layers, n_heads), dtype=bool)
    variants[np.arange(n_heads), layer, np.arange(n_heads)] = False
    return variants


@contextmanager
def with_patches(
    loaded: LoadedModel, patches: Sequence[Patch], states: np.ndarray
) -> Iterator[None]:
    """Add every patch to the pass at its layer, as one more row of the batch.

    A patch therefore costs only the layers that follow it. The caller holds ``loaded.lock``, and
    the batch begins with one row. The layer is known from the order of the calls, since ALBERT's
    one layer is called for all.

    Args:
        loaded: The network.
        patches: In the order of their layers, which is the order of their rows.
        states: The source states: float [layer + 1, position, d_model].
    """
    calls = [0]

    def join(_: nn.Module, arguments: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        hidden, layer = arguments[0], calls[0]
        calls[0] += 1
        carried = torch.tensor(states[layer]).to(hidden)
        rows = [hidden]
        for patch in (patch for patch in patches if patch.layer == layer):
            row = hidden[:1].clone()
            row[0, list(patch.positions)] = carried[list(patch.positions)]
            rows.append(row)
        return (torch.cat(rows), *arguments[1:])

    with hooked(loaded, loaded.spec.kind.layer, join):
        yield


@torch.inference_mode()
def patched_logits(
    loaded: LoadedModel, tokens: Tokens, patches: Sequence[Patch], states: np.ndarray
) -> np.ndarray:
    """Compute the logits at a text's masks with each patch, all patches in one pass.

    Args:
        loaded: The network; its lock is held for the pass.
        tokens: The text that is patched.
        patches: In the order of their layers.
        states: The other text's states, float [layer + 1, position, d_model].

    Returns:
        Logits, float32 [patch, mask, vocabulary].

    Raises:
        ValueError: the patches do not follow their layers, or the texts differ in length.
    """
    layers = [patch.layer for patch in patches]
    if layers != sorted(layers) or states.shape[1] != len(tokens):
        raise ValueError("patches in the order of their layers, between texts of one length")
    inputs = inputs_of(loaded, tokens)
    with loaded.lock, with_patches(loaded, patches, states):
        hidden = loaded.network.base_model(**inputs).last_hidden_state
        logits = apply_head(loaded, hidden[1:][:, list(tokens.mask_positions)])
    return read_only(logits.float().cpu().numpy())


@torch.inference_mode()
def context_logits(loaded: LoadedModel, tokens: Tokens) -> np.ndarray:
    """Compute the logits at the masks in each reading: float32 [reading, mask, vocabulary].

    One pass over six copies of the text, each with its own attention mask [query, key], ids and
    positions.
    """
    order = shuffled(tokens)
    inputs = {k: v.expand(len(READINGS), -1).clone() for k, v in inputs_of(loaded, tokens).items()}
    row = READINGS.index("shuffled")
    for values in inputs.values():
        values[row] = values[row, list(order)]
    masks = [list(tokens.mask_positions)] * len(READINGS)
    masks[row] = [order.index(position) for position in tokens.mask_positions]
    encoder = loaded.network.base_model
    dtype = next(encoder.parameters()).dtype
    with loaded.lock:
        hidden = encoder(
            **inputs,
            attention_mask=_attention_masks(len(tokens), dtype).to(loaded.device),
            position_ids=_position_ids(loaded, len(tokens)),
        ).last_hidden_state
        at_masks = torch.stack(
            [states[positions] for states, positions in zip(hidden, masks, strict=True)]
        )
        return read_only(apply_head(loaded, at_masks).float().cpu().numpy())


def context_ranks(loaded: LoadedModel, text: str, word: str) -> tuple[int, ...]:
    """Return the rank of a word at a text's first mask in each reading; 1 is the largest logit.

    The last rank where the word is not one piece of the vocabulary.
    """
    logits = context_logits(loaded, tokenize(loaded, text))[:, 0]
    token_id = word_id(loaded.vocabulary, word, loaded.spec.lower_case)
    if token_id < 0:
        return (logits.shape[-1],) * len(logits)
    return tuple(map(int, 1 + (logits > logits[:, token_id, None]).sum(-1)))


def shuffled(tokens: Tokens, seed: int = 0) -> tuple[int, ...]:
    """Return token positions in a shuffled word order; added tokens, masks and sentences stay.

    Words are shuffled, so that all models read them in one order; the pieces of a word stay
    together, so a mask may move by some pieces.
    """
    groups: dict[int, list[int]] = {}
    for position, word in enumerate(tokens.word_index):
        groups.setdefault(word if word >= 0 else -1 - position, []).append(position)
    segment = {word: tokens.segments[positions[0]] for word, positions in groups.items()}
    fixed = {tokens.word_index[position] for position in tokens.mask_positions}
    generator = random.Random(seed)
    moved: dict[int, int] = {}
    for sentence in sorted(set(segment.values())):
        free = [w for w in groups if w >= 0 and w not in fixed and segment[w] == sentence]
        sample = generator.sample(free, len(free))
        moved |= dict(zip(free, sample if sample != free else free[1:] + free[:1], strict=True))
    return tuple(position for word in groups for position in groups[moved.get(word, word)])


def is_shuffled(tokens: Tokens) -> bool:
    """Return whether shuffling changes the text: not for one word, or for equal words."""
    return any(tokens.ids[i] != own for i, own in zip(shuffled(tokens), tokens.ids, strict=True))


def _attention_masks(length: int, dtype: torch.dtype) -> torch.Tensor:
    """Return the additive attention mask [reading, 1, query, key]: 0 where a key is visible."""
    everything = torch.ones(length, length, dtype=torch.bool)
    allowed = {"left": everything.tril(), "right": everything.triu()}
    allowed["alone"] = torch.eye(length, dtype=torch.bool)
    visible = torch.stack([allowed.get(reading, everything) for reading in READINGS])[:, None]
    return torch.zeros(visible.shape, dtype=dtype).masked_fill(~visible, torch.finfo(dtype).min)


def _position_ids(loaded: LoadedModel, length: int) -> torch.Tensor:
    """Return position ids [reading, position]: without order every token has the first."""
    first = loaded.spec.kind.first_position
    ids = torch.arange(first, first + length).repeat(len(READINGS), 1)
    ids[READINGS.index("no_order")] = first
    return ids.to(loaded.device)


@contextmanager
def with_depth(loaded: LoadedModel, times: int) -> Iterator[None]:
    """Apply the shared layer this many times while inside.

    The caller holds ``loaded.lock``: the depth changes for every pass of the network.
    """
    name, config = loaded.spec.kind.config["n_layers"], loaded.network.base_model.config
    usual = getattr(config, name)
    setattr(config, name, times)
    try:
        yield
    finally:
        setattr(config, name, usual)


@torch.inference_mode()
def unrolled_states(loaded: LoadedModel, tokens: Tokens, times: int) -> np.ndarray:
    """Compute hidden states float32 [times + 1, position, d_model] of one pass of any depth.

    The state after layer k is the last state of the model with k layers: one pass has them all.

    Raises:
        Refusal: the layers are not shared, so that there is none to repeat.
    """
    if not loaded.spec.architecture.shares_layers:
        raise Refusal(
            Sentence("no-shared-layer", f"{loaded.spec.label} has no layer that all depths share.")
        )
    with loaded.lock, with_depth(loaded, times):
        out = loaded.network.base_model(**inputs_of(loaded, tokens), output_hidden_states=True)
    return read_only(torch.cat(out.hidden_states).float().cpu().numpy())
