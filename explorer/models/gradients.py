"""Integrated gradients along the straight line from a text of masks to a text, to a tolerance."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from explorer.models.forward import apply_head, inputs_of
from explorer.models.loading import LoadedModel
from explorer.models.run import read_only
from explorer.models.task_heads.windows import yield_to_others
from explorer.models.tokens import Tokens

PARTS = 4
"""Initial number of parts of the path."""
BOOLE = np.array([7, 32, 12, 32, 7]) / 90
SIMPSON = np.array([1, 0, 4, 0, 1]) / 6
"""Weights of five evenly spaced points: halving a part reuses all of them."""
NARROWEST = 1 / 1024
"""Width, as a share of the path, at which a part is no longer halved."""
MISS = 0.03
"""Tolerated total error in logits, the errors of the parts taken as independent."""
AT_ONCE = 9
"""Points or texts in one batch."""
Item = TypeVar("Item")
Value = Callable[[Tensor], Tensor]
"""F: from word embeddings [point, token, width] to a number for each [point]."""


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """Integrated gradients of a value F, from a text of masks to the text."""

    tokens: Tokens
    difference: float
    """F of the text."""
    baseline: float
    """F of the text with every token masked."""
    attributions: np.ndarray
    """float64 [token]: integrated gradients, summed over the embedding's dimensions."""
    n_points: int = 0
    """The number of points of the path at which the gradient was computed."""


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddingPath:
    """Straight line from a text of masks, at 0, to the text, at 1, in word embeddings."""

    tokens: Tokens
    start: Tensor
    step: Tensor

    def at(self, points: Sequence[float]) -> Tensor:
        """Return the embeddings at some points of the path [point, token, width]."""
        share = torch.tensor(points, device=self.step.device, dtype=self.step.dtype)
        return self.start + share[:, None, None] * self.step


def embedding_path(embed: nn.Module, tokens: Tokens, mask_id: int) -> EmbeddingPath:
    """Return the path from the same text with [MASK] at every token that was not added."""
    ids = torch.tensor([tokens.ids], device=next(embed.parameters()).device)
    added = torch.tensor([tokens.special], device=ids.device)
    with torch.no_grad():
        start = embed(torch.where(added, ids, torch.full_like(ids, mask_id)))
        return EmbeddingPath(tokens, start, embed(ids) - start)


def integrated(path: EmbeddingPath, value: Value, lock: AbstractContextManager) -> Slopes:
    """Compute integrated gradients from a text of masks to the text (Sundararajan et al. 2017).

    ``(x - x') * integral of dF/dx at x' + a (x - x')`` over a from 0 to 1, for the word embeddings
    x of the text and x' of the text of masks. The integral is adaptive: Boole's rule over each part
    of the path; the parts of largest error are halved until the rest is within ``MISS``. The error
    of a part is its difference from the change of F between its ends, or of any token from a
    coarser rule. The lock is held while the network runs.
    """
    integrand = Integrand(path, value, lock)
    parts = np.linspace([0, 1 / PARTS], [1 - 1 / PARTS, 1], PARTS)
    while (halved := _too_far_off(integrand, parts)).any():
        low, high = parts[halved].T
        middle = (low + high) / 2
        halves = [np.stack([low, middle], 1), np.stack([middle, high], 1)]
        parts = np.concatenate([parts[~halved], *halves])
    start, end = integrand.values(np.array([0.0, 1.0]))
    total = integrand.sums(parts, BOOLE).sum(0)
    return Slopes(path.tokens, float(end), float(start), read_only(total), integrand.n_points)


def batches_of(items: list[Item]) -> list[list[Item]]:
    """Return items in batches of ``AT_ONCE``."""
    return [items[first : first + AT_ONCE] for first in range(0, len(items), AT_ONCE)]


def _too_far_off(integrand: "Integrand", parts: np.ndarray) -> np.ndarray:
    """Return which parts [part, end] to halve: the worst, until the rest is within ``MISS``."""
    sums, width = integrand.sums(parts, BOOLE), np.diff(parts)[:, 0]
    errors = np.abs(sums.sum(1) - np.diff(integrand.values(parts))[:, 0])
    # A fourth of the difference from Simpson's rule estimates the error of Boole's for a token.
    errors = np.maximum(errors, np.abs(sums - integrand.sums(parts, SIMPSON)).max(1) / 4)
    order, noise = np.argsort(errors), integrand.noise()
    is_far = np.empty(len(parts), bool)
    is_far[order] = np.sqrt(np.cumsum(errors[order] ** 2)) > MISS
    return is_far & (errors > noise) & (width > NARROWEST)


class Integrand:
    """F and its gradient along a path, computed once for each point."""

    def __init__(self, path: EmbeddingPath, value: Value, lock: AbstractContextManager) -> None:
        self._path, self._value, self._lock = path, value, lock
        self._known = dict[float, tuple[float, np.ndarray]]()

    @property
    def n_points(self) -> int:
        """The number of points that were computed."""
        return len(self._known)

    def values(self, points: np.ndarray) -> np.ndarray:
        """Return F at points of any shape."""
        self._look(points)
        return np.vectorize(lambda point: self._known[point][0])(points)

    def noise(self) -> float:
        """Return the rounding error of a difference of two values."""
        largest = max(abs(value) for value, _ in self._known.values())
        return torch.finfo(self._path.step.dtype).eps * largest

    def sums(self, parts: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the integral over each part [part, end] for every token, float64 [part, token]."""
        points = np.linspace(parts[:, 0], parts[:, 1], len(weights), axis=1)
        self._look(points)
        slopes = np.array([[self._known[point][1] for point in part] for part in points])
        return np.einsum("ijk,j,i->ik", slopes, weights, np.diff(parts)[:, 0])

    def _look(self, points: np.ndarray) -> None:
        """Compute and cache F and its gradient along the path for every token, once per point."""
        for batch in batches_of(sorted({*points.flat} - self._known.keys())):
            with self._lock:
                values, slopes = slopes_at(self._value, self._path.at(batch))
            along = (slopes.float() * self._path.step.float()).sum(-1)
            rows = torch.column_stack([values.float(), along]).cpu().numpy().astype(np.float64)
            self._known.update(
                (point, (row[0], row[1:])) for point, row in zip(batch, rows, strict=True)
            )
            yield_to_others()


def slopes_at(value: Value, embedded: Tensor) -> tuple[Tensor, Tensor]:
    """Return F [point] and dF/dx [point, token, width] at each of many points."""
    embedded = embedded.detach().requires_grad_()
    with torch.enable_grad():
        values = value(embedded)
        (slopes,) = torch.autograd.grad(values.sum(), embedded)
    return values.detach(), slopes


def answer_slopes(loaded: LoadedModel, tokens: Tokens, position: int, target: int) -> Slopes:
    """Compute integrated gradients of ln P(target) at a position, for the word embeddings.

    The tokens that the tokenizer added, positions and segments are the same along the path.
    """
    segments = inputs_of(loaded, tokens).get("token_type_ids")

    def log_probability(embedded: Tensor) -> Tensor:
        inputs = {"inputs_embeds": embedded}
        if segments is not None:
            inputs["token_type_ids"] = segments.expand(len(embedded), -1)
        hidden = loaded.network.base_model(**inputs).last_hidden_state[:, position]
        return apply_head(loaded, hidden).float().log_softmax(-1)[:, target]

    embed = loaded.network.get_input_embeddings()
    path = embedding_path(embed, tokens, int(loaded.tokenizer.mask_token_id))
    return integrated(path, log_probability, loaded.lock)
