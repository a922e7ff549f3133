"""A sentiment head: how positive a text is, and how that depends on every word of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from explorer.models.forward import tokenize
from explorer.models.heads.adapters import TunedModel
from explorer.models.heads.turns import give_way
from explorer.models.run import read_only
from explorer.models.tokens import Tokens

PARTS, POINTS = 4, 4
"""Parts of the path at first, and the points of each at which the slope is taken."""
NARROWEST = 1 / 64
"""The share of the path that is not halved any more."""
MISS = 0.05
"""Logits by which the whole may miss, where the misses of its parts are independent."""
AT_ONCE = 8
"""Points or texts in one batch."""
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """What the points between an empty text and the text add to positive minus negative."""

    tokens: Tokens
    difference: float
    """Positive minus negative, of the text."""
    baseline: float
    """The same of the text with a mask in place of every token."""
    attributions: np.ndarray
    """float64 [token]: integrated gradients, summed over the embedding's dimensions."""


def differences(tuned: TunedModel, texts: Sequence[str]) -> np.ndarray:
    """The logit of positive minus that of negative for each text, float64 [text].

    Only texts of one length share a pass: padding would change what a model without an attention
    mask reads.
    """
    ids = [tuned.loaded.tokenizer(text, verbose=False)["input_ids"] for text in texts]
    found, by_length = np.empty(len(ids)), sorted(range(len(ids)), key=lambda row: len(ids[row]))
    for _, same in groupby(by_length, key=lambda row: len(ids[row])):
        for rows in _batches(list(same)):
            batch = torch.tensor([ids[row] for row in rows], device=tuned.loaded.device)
            found[rows] = _differences(tuned, input_ids=batch)
            give_way()
    return read_only(found)


def integrated_gradients(tuned: TunedModel, text: str) -> Slopes:
    """Integrated gradients from a text of masks to the text (Sundararajan et al. 2017).

    ``(x - x') * integral of dF/dx at x' + a (x - x')`` over a from 0 to 1, for the word embeddings
    x of the text and x' of the same text with [MASK] at every token that was not added; F is
    positive minus negative. The integral is adaptive: a Gauss-Legendre sum of ``POINTS`` points
    over each part of the path; a part whose sum misses the change of F between its ends is halved.
    """
    tokens = tokenize(tuned.loaded, text)
    path = _Path(tuned, tokens)
    parts = np.linspace(0, 1, PARTS + 1)
    parts, total = np.stack([parts[:-1], parts[1:]], 1), np.zeros(len(tokens.ids))
    while len(parts):
        sums, width = path.sums(parts), np.diff(parts)[:, 0]
        misses = np.abs(sums.sum(1) - np.diff(path.values(parts))[:, 0])
        allowed = np.maximum(MISS * np.sqrt(width), path.noise())
        is_done = (misses <= allowed) | (width <= NARROWEST)
        total += sums[is_done].sum(0)
        low, high = parts[~is_done].T
        middle = (low + high) / 2
        parts = np.concatenate([np.stack([low, middle], 1), np.stack([middle, high], 1)])
    start, end = path.values(np.array([0.0, 1.0]))
    return Slopes(tokens, float(end), float(start), read_only(total))


def _batches(items: list[Item]) -> list[list[Item]]:
    return [items[first : first + AT_ONCE] for first in range(0, len(items), AT_ONCE)]


class _Path:
    """The straight line from a text of masks, at 0, to the text, at 1, as word embeddings."""

    def __init__(self, tuned: TunedModel, tokens: Tokens) -> None:
        ids = torch.tensor([tokens.ids], device=tuned.loaded.device)
        added = torch.tensor([tokens.special], device=ids.device)
        masks = torch.full_like(ids, int(tuned.loaded.tokenizer.mask_token_id))
        embed = tuned.network.get_input_embeddings()
        with torch.no_grad():
            self.start = embed(torch.where(added, ids, masks))
            self.step = embed(ids) - self.start
        self.tuned, self.known = tuned, dict[float, float]()

    def at(self, places: Sequence[float]) -> Tensor:
        """The embeddings at some places [place, token, width]."""
        share = torch.tensor(places, device=self.step.device, dtype=self.step.dtype)
        return self.start + share[:, None, None] * self.step

    def values(self, places: np.ndarray) -> np.ndarray:
        """F at places of any shape, each worked out once."""
        for batch in _batches(sorted({*places.flat} - self.known.keys())):
            found = _differences(self.tuned, inputs_embeds=self.at(batch))
            self.known.update(zip(batch, found.tolist(), strict=True))
            give_way()
        return np.vectorize(self.known.__getitem__)(places)

    def noise(self) -> float:
        """How far a difference of two values may be off by rounding alone."""
        return torch.finfo(self.step.dtype).eps * max(map(abs, self.known.values()))

    def sums(self, parts: np.ndarray) -> np.ndarray:
        """What each part [part, end] adds for every token, float64 [part, token]."""
        points, weights = np.polynomial.legendre.leggauss(POINTS)
        low, width = parts[:, :1], np.diff(parts)
        places = low + width * (points + 1) / 2
        slopes = []
        for batch in _batches(places.ravel().tolist()):
            along = _slopes(self.tuned, self.at(batch)).float() * self.step.float()
            slopes.append(along.sum(-1).cpu().numpy())
            give_way()
        by_part = np.concatenate(slopes).astype(np.float64).reshape(*places.shape, -1)
        return (by_part * (width * weights / 2)[:, :, None]).sum(1)


def _slopes(tuned: TunedModel, embedded: Tensor) -> Tensor:
    """dF/dx at each of many points [point, token, width]."""
    embedded = embedded.detach().requires_grad_()
    with tuned.lock, torch.enable_grad():
        logits = tuned.network(inputs_embeds=embedded).logits
        (slopes,) = torch.autograd.grad((logits[:, 1] - logits[:, 0]).sum(), embedded)
    return slopes


@torch.inference_mode()
def _differences(tuned: TunedModel, **inputs: Tensor) -> np.ndarray:
    """F of each input of a batch, float64 [input]."""
    with tuned.lock:
        logits = tuned.network(**inputs).logits
    return (logits[:, 1] - logits[:, 0]).float().cpu().numpy().astype(np.float64)
