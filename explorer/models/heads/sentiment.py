"""A sentiment head: how positive a text is, and how that depends on every word of it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from explorer.models.forward import tokenize
from explorer.models.heads.adapters import TunedModel
from explorer.models.heads.turns import give_way
from explorer.models.run import read_only
from explorer.models.tokens import Tokens

STEPS = 64
"""Points of the path at which the slope is taken; with 32 mini-BERT's sum is off by up to 1.4."""
AT_ONCE = 8
"""Points in one batch."""


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

    One text at a time: padding would change what a model without an attention mask reads.
    """
    found = []
    for text in texts:
        ids = tuned.loaded.tokenizer(text, verbose=False)["input_ids"]
        found.append(_difference(tuned, input_ids=torch.tensor([ids], device=tuned.loaded.device)))
        give_way()
    return read_only(np.array(found))


def integrated_gradients(tuned: TunedModel, text: str) -> Slopes:
    """Integrated gradients from a text of masks to the text (Sundararajan et al. 2017).

    ``(x - x') * integral of dF/dx at x' + a (x - x')`` over a from 0 to 1, for the word embeddings
    x of the text and x' of the same text with [MASK] at every token that was not added; F is
    positive minus negative. The integral is a Gauss-Legendre sum of ``STEPS`` points.
    """
    tokens = tokenize(tuned.loaded, text)
    ids = torch.tensor([tokens.ids], device=tuned.loaded.device)
    mask = torch.full_like(ids, int(tuned.loaded.tokenizer.mask_token_id))
    added = torch.tensor([tokens.special], device=ids.device)
    embed = tuned.network.get_input_embeddings()
    with torch.no_grad():
        end, start = embed(ids), embed(torch.where(added, ids, mask))
    points, weights = np.polynomial.legendre.leggauss(STEPS)
    total = torch.zeros_like(end[0], dtype=torch.float64)
    for first in range(0, STEPS, AT_ONCE):
        part = slice(first, first + AT_ONCE)
        at = torch.tensor((points[part] + 1) / 2, device=end.device, dtype=end.dtype)
        slopes = _slopes(tuned, start + at[:, None, None] * (end - start))
        share = torch.tensor(weights[part] / 2, device=end.device)
        total += (slopes.double() * share[:, None, None]).sum(0)
        give_way()
    found = ((end - start)[0].double() * total).sum(-1)
    ends = [_difference(tuned, inputs_embeds=one) for one in (end, start)]
    return Slopes(tokens, ends[0], ends[1], read_only(found.cpu().numpy()))


def _slopes(tuned: TunedModel, embedded: Tensor) -> Tensor:
    """dF/dx at each of many points [point, token, width]."""
    embedded = embedded.detach().requires_grad_()
    with tuned.lock, torch.enable_grad():
        logits = tuned.network(inputs_embeds=embedded).logits
        (slopes,) = torch.autograd.grad((logits[:, 1] - logits[:, 0]).sum(), embedded)
    return slopes


@torch.inference_mode()
def _difference(tuned: TunedModel, **inputs: Tensor) -> float:
    with tuned.lock:
        logits = tuned.network(**inputs).logits[0]
    return float(logits[1] - logits[0])
