"""A text read in six ways: with both sides, one side, no order, shuffled words, and alone."""

import random

import numpy as np
import torch

from explorer.models.forward import apply_head, inputs_of, tokenize
from explorer.models.loading import LoadedModel
from explorer.models.rows import READINGS
from explorer.models.run import read_only
from explorer.models.spelling import word_id
from explorer.models.tokens import Tokens


@torch.inference_mode()
def context_logits(loaded: LoadedModel, tokens: Tokens) -> np.ndarray:
    """What a model answers at the masks in each reading: float32 [reading, mask, vocabulary].

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
    head = loaded.network.base_model
    dtype = next(head.parameters()).dtype
    with loaded.lock:
        hidden = head(
            **inputs,
            attention_mask=_seen(len(tokens), dtype).to(loaded.device),
            position_ids=_places(loaded, len(tokens)),
        ).last_hidden_state
        at_masks = torch.stack([states[at] for states, at in zip(hidden, masks, strict=True)])
        return read_only(apply_head(loaded, at_masks).float().cpu().numpy())


def context_ranks(loaded: LoadedModel, text: str, word: str) -> tuple[int, ...]:
    """The rank of a word at a text's first mask in each reading; 1: no piece has a larger logit.

    The last rank where the word is not one piece of the vocabulary.
    """
    logits = context_logits(loaded, tokenize(loaded, text))[:, 0]
    wanted = word_id(loaded.vocabulary, word, loaded.spec.lower_case)
    if wanted < 0:
        return (logits.shape[-1],) * len(logits)
    return tuple(map(int, 1 + (logits > logits[:, wanted, None]).sum(-1)))


def shuffled(tokens: Tokens, seed: int = 0) -> tuple[int, ...]:
    """Token positions in a new order of the words; added tokens, masks and sentences stay.

    By the words of the text, so that all models read them in one order; the pieces of a word stay
    together, so a mask may move by some pieces.
    """
    groups: dict[int, list[int]] = {}
    for position, word in enumerate(tokens.word_index):
        groups.setdefault(word if word >= 0 else -1 - position, []).append(position)
    segment = {word: tokens.segments[found[0]] for word, found in groups.items()}
    fixed = {tokens.word_index[position] for position in tokens.mask_positions}
    generator = random.Random(seed)
    moved: dict[int, int] = {}
    for which in sorted(set(segment.values())):
        free = [w for w in groups if w >= 0 and w not in fixed and segment[w] == which]
        mixed = generator.sample(free, len(free))
        moved |= dict(zip(free, mixed if mixed != free else free[1:] + free[:1], strict=True))
    return tuple(position for word in groups for position in groups[moved.get(word, word)])


def is_shuffled(tokens: Tokens) -> bool:
    """Whether another order of the words makes another text: not of one word, or of equal ones."""
    return any(tokens.ids[i] != own for i, own in zip(shuffled(tokens), tokens.ids, strict=True))


def _seen(length: int, dtype: torch.dtype) -> torch.Tensor:
    """What is added to the scores [reading, 1, query, key]: 0 where a word may be seen."""
    everything = torch.ones(length, length, dtype=torch.bool)
    allowed = {"left": everything.tril(), "right": everything.triu()}
    allowed["alone"] = torch.eye(length, dtype=torch.bool)
    seen = torch.stack([allowed.get(reading, everything) for reading in READINGS])[:, None]
    return torch.zeros(seen.shape, dtype=dtype).masked_fill(~seen, torch.finfo(dtype).min)


def _places(loaded: LoadedModel, length: int) -> torch.Tensor:
    """Position ids [reading, position]: without order every token stands at the first."""
    first = loaded.spec.kind.first_position
    places = torch.arange(first, first + length).repeat(len(READINGS), 1)
    places[READINGS.index("no_order")] = first
    return places.to(loaded.device)
