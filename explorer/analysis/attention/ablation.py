"""What a prediction loses when attention heads are switched off."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.analysis.measures import kl_of_logs, log_softmax
from explorer.models.run import Run, read_only
from explorer.models.spelling import spelling_of

LISTED = 5
"""The likeliest words of before and of after that are compared."""


@dataclass(frozen=True, slots=True)
class ChangedWord:
    """One word's probability with all heads on and with some off."""

    id: int
    word: str
    before: float
    after: float


@dataclass(frozen=True, slots=True, eq=False)
class HeadAblation:
    """One model's answers before and after; everything is per mask."""

    model: str
    label: str
    n_off: int
    kl: np.ndarray
    """float64 [mask], nats: KL(before || after) over the whole vocabulary."""
    words: tuple[tuple[ChangedWord, ...], ...]
    """For each mask the likeliest words of before and after, by the larger of the two."""


@dataclass(frozen=True, slots=True, eq=False)
class HeadImportance:
    """How much each head, switched off by itself, changes the answer."""

    model: str
    label: str
    kl: np.ndarray
    """float64 [layer, head], nats: KL(before || after), averaged over the masks; layers that
    were not swept yet are left out."""

    def strongest(self, count: int) -> tuple[tuple[int, int, float], ...]:
        """(layer, head, nats) of the heads that change most."""
        order = np.argsort(-self.kl, axis=None, kind="stable")[:count]
        places = [divmod(int(i), self.kl.shape[1]) for i in order]
        return tuple((layer, head, float(self.kl[layer, head])) for layer, head in places)


def head_ablation(run: Run, logits: np.ndarray, n_off: int) -> HeadAblation:
    """What the model answers with heads off, against what it answers with all of them.

    ``logits`` is float [mask, vocabulary], the answer with ``n_off`` heads off.
    """
    before, after = log_softmax(run.mask_logits), log_softmax(logits)
    words = tuple(
        _changed_words(run, np.exp(p), np.exp(q)) for p, q in zip(before, after, strict=True)
    )
    return HeadAblation(
        run.spec.key, run.spec.label, n_off, read_only(kl_of_logs(before, after)), words
    )


def head_importance(run: Run, swept: Sequence[np.ndarray]) -> HeadImportance:
    """How much each head matters to the answer, from the answers with each one off by itself.

    ``swept`` holds one array [head, mask, vocabulary] per layer, in order.
    """
    before = log_softmax(run.mask_logits)
    kl = [
        kl_of_logs(np.broadcast_to(before, layer.shape), log_softmax(layer)).mean(-1)
        for layer in swept
    ]
    return HeadImportance(run.spec.key, run.spec.label, read_only(np.stack(kl)))


def _changed_words(run: Run, before: np.ndarray, after: np.ndarray) -> tuple[ChangedWord, ...]:
    top = {int(i) for p in (before, after) for i in np.argsort(-p, kind="stable")[:LISTED]}
    order = sorted(top, key=lambda i: (-max(before[i], after[i]), i))
    spelling = spelling_of(run.vocabulary)
    return tuple(
        ChangedWord(i, spelling.word(run.vocabulary[i]), float(before[i]), float(after[i]))
        for i in order
    )
