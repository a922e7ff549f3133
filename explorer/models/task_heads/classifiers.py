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
    """Whether the checkpoint holds every weight that its pair head reads."""
    head = loaded.spec.kind.pair
    return head is not None and not any(
        part in name for name in loaded.missing for part in (head.weights, "pooler")
    )


@torch.inference_mode()
def pair_logits(loaded: LoadedModel, state: np.ndarray) -> np.ndarray:
    """The pair head's scores, float32 [2], of the last state of [CLS]: in order, not in order.

    Raises:
        ValueError: the checkpoint has no such head, so that it would say anything.
    """
    head = loaded.spec.kind.pair
    if head is None or not has_pair_head(loaded):
        raise ValueError(f"{loaded.spec.label} has no trained sentence-pair head.")
    dtype = next(loaded.network.parameters()).dtype
    first = torch.tensor(state[None, None]).to(loaded.device, dtype)
    return read_only(head.scores(loaded.network, first)[0].float().cpu().numpy())


MOST_WINDOWS = 48
"""Each is a pass of the network."""


def read_passage(passage: str) -> str:
    """The passage as it is run.

    Raises:
        BadText: there is nothing in it, or far more than can be read.
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
    """The windows of a passage, and the logits float32 [token, 2] of start and end in each.

    Raises:
        BadText: the question is empty or too long, or the passage needs too many windows.
    """
    asked = plain_text(question)
    if not any(map(str.isalnum, asked)):
        raise BadText("There is no question: ask for something that the passage says.")
    size, stride = int(tuned.card["window"]), int(tuned.card["stride"])
    try:
        parts = windows(tuned.loaded.tokenizer, asked, passage, size, stride)
    except BadText as error:
        raise BadText(f"{tuned.loaded.spec.label}: {error}") from error
    if len(parts) > MOST_WINDOWS:
        raise BadText(
            f"The passage makes {len(parts)} windows for {tuned.loaded.spec.label}; "
            f"{MOST_WINDOWS} fit. Please shorten it."
        )
    found = []
    for part in parts:
        found.append(_window_logits(tuned, part))
        yield_to_others()
    return parts, found


@torch.inference_mode()
def _window_logits(tuned: TunedModel, part: Window) -> np.ndarray:
    inputs = {"input_ids": torch.tensor([part.ids], device=tuned.loaded.device)}
    if tuned.loaded.spec.architecture.n_segments > 1:
        inputs["token_type_ids"] = torch.tensor([part.segments], device=tuned.loaded.device)
    with tuned.lock:
        out = tuned.network(**inputs)
    return torch.stack([out.start_logits[0], out.end_logits[0]], -1).float().cpu().numpy()


PARTS = 4
"""Parts of the path at first."""
BOOLE = np.array([7, 32, 12, 32, 7]) / 90
SIMPSON = np.array([1, 0, 4, 0, 1]) / 6
"""Weights of five evenly spaced points: halving a part reuses all of them."""
NARROWEST = 1 / 64
"""The share of the path that is not halved any more."""
MISS = 0.03
"""Logits by which the whole may miss, where the misses of its parts are independent."""
AT_ONCE = 9
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
            yield_to_others()
    return read_only(found)


def integrated_gradients(tuned: TunedModel, text: str) -> Slopes:
    """Integrated gradients from a text of masks to the text (Sundararajan et al. 2017).

    ``(x - x') * integral of dF/dx at x' + a (x - x')`` over a from 0 to 1, for the word embeddings
    x of the text and x' of the same text with [MASK] at every token that was not added; F is
    positive minus negative. The integral is adaptive: Boole's rule over each part of the path; the
    parts that miss most are halved until what is left is within ``MISS``. A part misses by how far
    it is from the change of F between its ends, or any token from a coarser rule.
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
    """Which parts [part, end] to halve: the worst, until those left miss by ``MISS`` together."""
    sums, width = path.sums(parts, BOOLE), np.diff(parts)[:, 0]
    misses = np.abs(sums.sum(1) - np.diff(path.values(parts))[:, 0])
    # A fourth of the difference from Simpson's rule stands for what Boole's misses of a token.
    misses = np.maximum(misses, np.abs(sums - path.sums(parts, SIMPSON)).max(1) / 4)
    order, noise = np.argsort(misses), path.noise()
    is_far = np.empty(len(parts), bool)
    is_far[order] = np.sqrt(np.cumsum(misses[order] ** 2)) > MISS
    return is_far & (misses > noise) & (width > NARROWEST)


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
        self.tuned, self._known = tuned, dict[float, tuple[float, np.ndarray]]()

    def at(self, places: Sequence[float]) -> Tensor:
        """The embeddings at some places [place, token, width]."""
        share = torch.tensor(places, device=self.step.device, dtype=self.step.dtype)
        return self.start + share[:, None, None] * self.step

    def values(self, places: np.ndarray) -> np.ndarray:
        """F at places of any shape."""
        self._look(places)
        return np.vectorize(lambda place: self._known[place][0])(places)

    def noise(self) -> float:
        """How far a difference of two values may be off by rounding alone."""
        largest = max(abs(value) for value, _ in self._known.values())
        return torch.finfo(self.step.dtype).eps * largest

    def sums(self, parts: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """What each part [part, end] adds for every token by a rule, float64 [part, token]."""
        places = np.linspace(parts[:, 0], parts[:, 1], len(weights), axis=1)
        self._look(places)
        slopes = np.array([[self._known[place][1] for place in part] for part in places])
        return np.einsum("ijk,j,i->ik", slopes, weights, np.diff(parts)[:, 0])

    def _look(self, places: np.ndarray) -> None:
        """F and its slope along the path for every token, once for each place."""
        for batch in _batches(sorted({*places.flat} - self._known.keys())):
            values, slopes = _slopes(self.tuned, self.at(batch))
            along = (slopes.float() * self.step.float()).sum(-1)
            found = torch.column_stack([values.float(), along]).cpu().numpy().astype(np.float64)
            self._known.update(
                (place, (row[0], row[1:])) for place, row in zip(batch, found, strict=True)
            )
            yield_to_others()


def _slopes(tuned: TunedModel, embedded: Tensor) -> tuple[Tensor, Tensor]:
    """F [point] and dF/dx [point, token, width] at each of many points."""
    embedded = embedded.detach().requires_grad_()
    with tuned.lock, torch.enable_grad():
        logits = tuned.network(inputs_embeds=embedded).logits
        values = logits[:, 1] - logits[:, 0]
        (slopes,) = torch.autograd.grad(values.sum(), embedded)
    return values.detach(), slopes


@torch.inference_mode()
def _differences(tuned: TunedModel, **inputs: Tensor) -> np.ndarray:
    """F of each input of a batch, float64 [input]."""
    with tuned.lock:
        logits = tuned.network(**inputs).logits
    return (logits[:, 1] - logits[:, 0]).float().cpu().numpy().astype(np.float64)
