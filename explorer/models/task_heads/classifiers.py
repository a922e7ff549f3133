"""Task heads: sentence pairs, answer spans, and sentiment with integrated gradients."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from explorer.models.forward import MAX_CHARACTERS, tokenize
from explorer.models.loading import LoadedModel
from explorer.models.run import read_only
from explorer.models.task_heads.adapters import TunedModel
from explorer.models.task_heads.windows import Window, windows, yield_to_others
from explorer.models.tokens import BadText, Tokens, plain_text


def has_pair_head(loaded: LoadedModel) -> bool:
    """Return whether the checkpoint has every weight of its pair head."""
    head = loaded.spec.kind.pair
    return head is not None and not any(
        part in name for name in loaded.missing for part in (head.weights, "pooler")
    )


@torch.inference_mode()
def pair_logits(loaded: LoadedModel, state: np.ndarray) -> np.ndarray:
    """Return the pair head's logits, float32 [2], from the last state of [CLS]; 0 is in order.

    Raises:
        ValueError: the checkpoint has no such head, so that its scores would be random.
    """
    head = loaded.spec.kind.pair
    if head is None or not has_pair_head(loaded):
        raise ValueError(f"{loaded.spec.label} has no trained sentence-pair head.")
    dtype = next(loaded.network.parameters()).dtype
    first = torch.tensor(state[None, None]).to(loaded.device, dtype)
    return read_only(head.scores(loaded.network, first)[0].float().cpu().numpy())


MOST_WINDOWS = 48
"""Maximum windows of a passage: each is a pass of the network."""


def read_passage(passage: str) -> str:
    """Return the cleaned passage.

    Raises:
        BadText: it is empty, or far longer than can be read.
    """
    text = plain_text(passage)
    if not any(map(str.isalnum, text)):
        raise BadText("There is no passage: type some sentences that contain the answer.")
    if len(text) > MAX_CHARACTERS:
        raise BadText(
            f"The passage has {len(text):,} characters; {MAX_CHARACTERS:,} fit. Please shorten it."
        )
    return text


def span_logits(
    tuned: TunedModel, question: str, passage: str
) -> tuple[list[Window], list[np.ndarray]]:
    """Return the windows of a passage, and the logits float32 [token, 2] of start and end in each.

    Raises:
        BadText: the question is empty or too long, or the passage needs too many windows.
    """
    query = plain_text(question)
    if not any(map(str.isalnum, query)):
        raise BadText("There is no question: ask for something that the passage says.")
    size, stride = int(tuned.card["window"]), int(tuned.card["stride"])
    try:
        parts = windows(tuned.loaded.tokenizer, query, passage, size, stride)
    except BadText as error:
        raise BadText(f"{tuned.loaded.spec.label}: {error}") from error
    if len(parts) > MOST_WINDOWS:
        raise BadText(
            f"The passage makes {len(parts)} windows for {tuned.loaded.spec.label}; "
            f"{MOST_WINDOWS} fit. Please shorten it."
        )
    logits = []
    for part in parts:
        logits.append(_window_logits(tuned, part))
        yield_to_others()
    return parts, logits


@torch.inference_mode()
def _window_logits(tuned: TunedModel, part: Window) -> np.ndarray:
    inputs = {"input_ids": torch.tensor([part.ids], device=tuned.loaded.device)}
    if tuned.loaded.spec.architecture.n_segments > 1:
        inputs["token_type_ids"] = torch.tensor([part.segments], device=tuned.loaded.device)
    with tuned.lock:
        out = tuned.network(**inputs)
    return torch.stack([out.start_logits[0], out.end_logits[0]], -1).float().cpu().numpy()


PARTS = 4
"""Initial number of parts of the path."""
BOOLE = np.array([7, 32, 12, 32, 7]) / 90
SIMPSON = np.array([1, 0, 4, 0, 1]) / 6
"""Weights of five evenly spaced points: halving a part reuses all of them."""
NARROWEST = 1 / 64
"""Width, as a share of the path, at which a part is no longer halved."""
MISS = 0.03
"""Tolerated total error in logits, the errors of the parts taken as independent."""
AT_ONCE = 9
"""Points or texts in one batch."""
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """Integrated gradients of positive minus negative, from a text of masks to the text."""

    tokens: Tokens
    difference: float
    """Positive minus negative logit of the text."""
    baseline: float
    """Positive minus negative logit of the text with every token masked."""
    attributions: np.ndarray
    """float64 [token]: integrated gradients, summed over the embedding's dimensions."""


def differences(tuned: TunedModel, texts: Sequence[str]) -> np.ndarray:
    """Return the logit of positive minus that of negative for each text, float64 [text].

    Only texts of equal length share a batch: padding would change the input of a model without an
    attention mask.
    """
    ids = [tuned.loaded.tokenizer(text, verbose=False)["input_ids"] for text in texts]
    result, by_length = np.empty(len(ids)), sorted(range(len(ids)), key=lambda row: len(ids[row]))
    for _, group in groupby(by_length, key=lambda row: len(ids[row])):
        for rows in _batches(list(group)):
            batch = torch.tensor([ids[row] for row in rows], device=tuned.loaded.device)
            result[rows] = _differences(tuned, input_ids=batch)
            yield_to_others()
    return read_only(result)


def integrated_gradients(tuned: TunedModel, text: str) -> Slopes:
    """Compute integrated gradients from a text of masks to the text (Sundararajan et al. 2017).

    ``(x - x') * integral of dF/dx at x' + a (x - x')`` over a from 0 to 1, for the word embeddings
    x of the text and x' of the same text with [MASK] at every token that was not added; F is
    positive minus negative. The integral is adaptive: Boole's rule over each part of the path; the
    parts of largest error are halved until the rest is within ``MISS``. The error of a part is its
    difference from the change of F between its ends, or of any token from a coarser rule.
    """
    tokens = tokenize(tuned.loaded, text)
    path, parts = _Path(tuned, tokens), np.linspace([0, 1 / PARTS], [1 - 1 / PARTS, 1], PARTS)
    while (halved := _too_far_off(path, parts)).any():
        low, high = parts[halved].T
        middle = (low + high) / 2
        halves = [np.stack([low, middle], 1), np.stack([middle, high], 1)]
        parts = np.concatenate([parts[~halved], *halves])
    start, end = path.values(np.array([0.0, 1.0]))
    total = path.sums(parts, BOOLE).sum(0)
    return Slopes(tokens, float(end), float(start), read_only(total))


def _too_far_off(path: "_Path", parts: np.ndarray) -> np.ndarray:
    """Return which parts [part, end] to halve: the worst, until the rest is within ``MISS``."""
    sums, width = path.sums(parts, BOOLE), np.diff(parts)[:, 0]
    errors = np.abs(sums.sum(1) - np.diff(path.values(parts))[:, 0])
    # A fourth of the difference from Simpson's rule estimates the error of Boole's for a token.
    errors = np.maximum(errors, np.abs(sums - path.sums(parts, SIMPSON)).max(1) / 4)
    order, noise = np.argsort(errors), path.noise()
    is_far = np.empty(len(parts), bool)
    is_far[order] = np.sqrt(np.cumsum(errors[order] ** 2)) > MISS
    return is_far & (errors > noise) & (width > NARROWEST)


def _batches(items: list[Item]) -> list[list[Item]]:
    return [items[first : first + AT_ONCE] for first in range(0, len(items), AT_ONCE)]


class _Path:
    """Straight line from a text of masks, at 0, to the text, at 1, in word embeddings."""

    def __init__(self, tuned: TunedModel, tokens: Tokens) -> None:
        ids = torch.tensor([tokens.ids], device=tuned.loaded.device)
        added = torch.tensor([tokens.special], device=ids.device)
        masks = torch.full_like(ids, int(tuned.loaded.tokenizer.mask_token_id))
        embed = tuned.network.get_input_embeddings()
        with torch.no_grad():
            self.start = embed(torch.where(added, ids, masks))
            self.step = embed(ids) - self.start
        self.tuned, self._known = tuned, dict[float, tuple[float, np.ndarray]]()

    def at(self, points: Sequence[float]) -> Tensor:
        """Return the embeddings at some points of the path [point, token, width]."""
        share = torch.tensor(points, device=self.step.device, dtype=self.step.dtype)
        return self.start + share[:, None, None] * self.step

    def values(self, points: np.ndarray) -> np.ndarray:
        """Return F at points of any shape."""
        self._look(points)
        return np.vectorize(lambda point: self._known[point][0])(points)

    def noise(self) -> float:
        """Return the rounding error of a difference of two values."""
        largest = max(abs(value) for value, _ in self._known.values())
        return torch.finfo(self.step.dtype).eps * largest

    def sums(self, parts: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the integral over each part [part, end] for every token, float64 [part, token]."""
        points = np.linspace(parts[:, 0], parts[:, 1], len(weights), axis=1)
        self._look(points)
        slopes = np.array([[self._known[point][1] for point in part] for part in points])
        return np.einsum("ijk,j,i->ik", slopes, weights, np.diff(parts)[:, 0])

    def _look(self, points: np.ndarray) -> None:
        """Compute and cache F and its gradient along the path for every token, once per point."""
        for batch in _batches(sorted({*points.flat} - self._known.keys())):
            values, slopes = _slopes(self.tuned, self.at(batch))
            along = (slopes.float() * self.step.float()).sum(-1)
            rows = torch.column_stack([values.float(), along]).cpu().numpy().astype(np.float64)
            self._known.update(
                (point, (row[0], row[1:])) for point, row in zip(batch, rows, strict=True)
            )
            yield_to_others()


def _slopes(tuned: TunedModel, embedded: Tensor) -> tuple[Tensor, Tensor]:
    """Return F [point] and dF/dx [point, token, width] at each of many points."""
    embedded = embedded.detach().requires_grad_()
    with tuned.lock, torch.enable_grad():
        logits = tuned.network(inputs_embeds=embedded).logits
        values = logits[:, 1] - logits[:, 0]
        (slopes,) = torch.autograd.grad(values.sum(), embedded)
    return values.detach(), slopes


@torch.inference_mode()
def _differences(tuned: TunedModel, **inputs: Tensor) -> np.ndarray:
    """Return F of each input of a batch, float64 [input]."""
    with tuned.lock:
        logits = tuned.network(**inputs).logits
    return (logits[:, 1] - logits[:, 0]).float().cpu().numpy().astype(np.float64)
