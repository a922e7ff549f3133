"""What each head does, which heads a student kept, summaries, answers without a head."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.analysis.alignment import Alignment, align, word_attention
from explorer.analysis.measures import entropy, kl_of_logs, log_softmax
from explorer.models.run import Run, read_only
from explorer.models.tokens import spelling_of

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


PLACES: tuple[str, ...] = ("previous", "next", "self", "cls", "sep")
"""The five places whose share of a head's attention is measured."""
KINDS: tuple[str, ...] = (*PLACES, "broad", "mixed")
PLACE_SHARE = 0.5
"""A head is named after a place that takes at least this much of a word's attention."""
BROAD_SHARE = 0.85
"""Else it is broad when its entropy is at least this share of the most possible, ln n."""


@dataclass(frozen=True, slots=True, eq=False)
class WordHeads:
    """Every head of every model over the same words."""

    alignment: Alignment
    attention: Mapping[str, np.ndarray]
    """float32 [layer, head, word, word] by model key, rows sum to 1."""


@dataclass(frozen=True, slots=True, eq=False)
class HeadStatistics:
    """One model's heads in numbers; every array starts with [layer, head]."""

    entropy: np.ndarray
    """In nats: 0 for one word at a time, ln n for all n alike."""
    distance: np.ndarray
    """In words."""
    shares: np.ndarray
    """[layer, head, place]: the part of a word's attention that each of ``PLACES`` takes."""
    kind: np.ndarray
    """Index into ``KINDS``."""


def word_heads(runs: Mapping[str, Run]) -> WordHeads:
    """The attention of all models on the words they share, so that heads can be compared."""
    alignment = align({key: run.tokens for key, run in runs.items()})
    attention = {
        key: read_only(word_attention(run.attention, alignment.groups[key]))
        for key, run in runs.items()
    }
    return WordHeads(alignment, attention)


def head_statistics(attention: np.ndarray, alignment: Alignment) -> HeadStatistics:
    """How broadly, how far and where each head looks, averaged over the words of the text.

    ``attention`` is [layer, head, word, word]. Rows of [CLS] and [SEP] are left out: what added
    tokens look at is not reading. Clark et al. 2019 (section 3) measure the same places.
    """
    queries = list(alignment.content) or list(range(len(alignment)))
    rows = attention[:, :, queries]
    positions = np.arange(len(alignment))
    away = np.abs(positions[None] - np.asarray(queries)[:, None])
    spread = entropy(rows).mean(-1)
    shares = np.stack([_share(rows, queries, alignment, place) for place in PLACES], -1)
    return HeadStatistics(
        read_only(spread),
        read_only((rows * away).sum(-1).mean(-1)),
        read_only(shares),
        read_only(_kind(shares, spread / np.log(max(len(alignment), 2)))),
    )


def _share(rows: np.ndarray, queries: list[int], alignment: Alignment, place: str) -> np.ndarray:
    """The mean attention to one place; a word without a neighbour there does not count."""
    words = alignment.words
    if place in ("cls", "sep"):
        added = [i for i, word in enumerate(words) if word.special]
        keys = added[:1] if place == "cls" else added[1:]
        return rows[..., keys].sum(-1).mean(-1)
    step = {"previous": -1, "next": 1, "self": 0}[place]
    kept = range(len(words)) if step == 0 else alignment.content
    pairs = [(row, q + step) for row, q in enumerate(queries) if q + step in kept]
    if not pairs:
        return np.zeros(rows.shape[:2], rows.dtype)
    return rows[:, :, [row for row, _ in pairs], [key for _, key in pairs]].mean(-1)


def _kind(shares: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """The place that takes most if it takes enough, else broad, else mixed."""
    unnamed = np.where(spread >= BROAD_SHARE, KINDS.index("broad"), KINDS.index("mixed"))
    return np.where(shares.max(-1) >= PLACE_SHARE, shares.argmax(-1), unnamed)


KEPT_JS = 0.05
"""A head is kept when the nearest head of the student lies within this many nats of it.

Over 23 sentences of 5 to 17 words with the bundled models, 3% to 8% of all pairs of a teacher's
and a student's head lie within 0.05 nats, so a pair taken at random does about once in twenty;
of the nearest pairs 49% to 88% do. At 0.1 nats random pairs already pass in 14% to 33% of cases;
at 0.02 nats even the heads that were copied fail on long texts.
"""
MOST_CELLS = 8_000_000
"""Attention weights compared at most; of a longer text evenly spaced words stand for all."""


@dataclass(frozen=True, slots=True, eq=False)
class KeptHeads:
    """The Jensen-Shannon divergence of every head of one model from every head of another."""

    js: np.ndarray
    """float64 [head, other's head], nats, averaged over words; heads counted through the layers."""
    n_heads: tuple[int, int]
    """Heads of a layer, of both models."""
    n_words: tuple[int, int]
    """Words whose rows are compared, and words there are."""

    @property
    def nearest(self) -> np.ndarray:
        """Find for each head the most similar head of the other model."""
        return self.js.argmin(1)

    @property
    def is_kept(self) -> np.ndarray:
        """Tell for each head whether its nearest one lies within ``KEPT_JS``."""
        return self.js.min(1) <= KEPT_JS

    @property
    def by_chance(self) -> float:
        """Expect how many heads lie within ``KEPT_JS`` of a head drawn uniformly for each."""
        return float((self.js <= KEPT_JS).mean(1).sum())


def kept_heads(teacher: np.ndarray, student: np.ndarray, alignment: Alignment) -> KeptHeads:
    """Compare every head of two models on the words they share.

    Args:
        teacher: [layer, head, word, word], rows sum to 1.
        student: The same of the other model.
        alignment: The words; rows of [CLS] and [SEP] are left out where there are others.
    """
    queries = np.array(alignment.content or range(len(alignment)))
    pairs = int(np.prod(teacher.shape[:2]) * np.prod(student.shape[:2]))
    room = max(1, MOST_CELLS // (pairs * len(alignment)))
    kept = queries
    if room < len(queries):
        kept = queries[np.linspace(0, len(queries) - 1, room).round().astype(int)]
    first, second = (
        attention[:, :, kept].reshape(-1, len(kept), len(alignment)).astype(np.float64)
        for attention in (teacher, student)
    )
    own, other = _negentropy(first), _negentropy(second)
    middle = np.stack([_negentropy((row + second) / 2) for row in first])
    js = (own[:, None] + other) / 2 - middle
    return KeptHeads(
        read_only(np.maximum(js.mean(-1), 0.0)),
        (teacher.shape[1], student.shape[1]),
        (len(kept), len(queries)),
    )


def _negentropy(p: np.ndarray) -> np.ndarray:
    """``sum p ln p`` over the last axis, 0 where p is 0."""
    return np.einsum("...i,...i->...", p, np.log(np.where(p > 0, p, 1.0)))


@dataclass(frozen=True, slots=True)
class Drawn:
    """What one word draws on in one model: shares of its row, the words apart from the rest."""

    query: str
    best: str
    """The other word with the largest share; empty where no word has more than the next one."""
    share: float
    apart: tuple[str, ...]
    """What is no other word: [CLS] and [SEP], punctuation, the word itself."""
    apart_share: float
    n_others: int
    """Other words of the text: with fewer than two there is none to be more than."""


def drawn_on(matrix: np.ndarray, alignment: Alignment) -> Drawn | None:
    """What the first mask, or else the last word, draws on; None for a row of zeros.

    Two words whose shares print as the same whole per cent tie.
    """
    words = alignment.words
    masks = [i for i, word in enumerate(words) if word.is_mask]
    query = (masks or alignment.content or range(len(words)))[0 if masks else -1]
    if not matrix[query].sum() > 0:
        return None
    row = matrix[query] / matrix[query].sum()
    others = [i for i in alignment.content if i != query and any(map(str.isalnum, words[i].text))]
    first, second = (*sorted((row[i] for i in others), reverse=True), 0.0, 0.0)[:2]
    stands_out = round(100 * first) > round(100 * second)
    best = words[others[int(row[others].argmax())]].text if stands_out else ""
    signs = [i for i in alignment.content if i != query and i not in others]
    added = dict.fromkeys(word.text for i, word in enumerate(words) if word.special and i != query)
    apart = (*added, *(["punctuation"] if signs else []), "itself")
    rest = float(1 - row[others].sum())
    return Drawn(words[query].text, best, float(first), apart, rest, len(others))


def mean_attention(attention: np.ndarray) -> np.ndarray:
    """Where tokens look on average: the mean over all layers and heads, [query, key]."""
    return attention.mean((0, 1), dtype=np.float64)


def attention_rollout(attention: np.ndarray) -> np.ndarray:
    """How much of each input token reaches each output position, following attention alone.

    ``R = A_L ... A_2 A_1`` with ``A_l = (mean over heads + I) / 2``: the identity stands for the
    residual connection and a new layer multiplies from the left (Abnar & Zuidema 2020).
    """
    identity = np.eye(attention.shape[-1])
    rollout = identity
    for layer in attention.mean(1, dtype=np.float64):
        rollout = (layer + identity) / 2 @ rollout
    return rollout


def value_weighted(attention: np.ndarray, norms: np.ndarray) -> np.ndarray:
    """Attention by what it carries: ``a_ij |f(x_j)|``, averaged, rows scaled to sum to 1.

    ``norms`` is [layer, head, key]: the length of each value vector after the output projection.
    A head may look at a token whose value is almost zero (Kobayashi et al. 2020).
    """
    carried = (attention * norms[:, :, None, :]).mean((0, 1), dtype=np.float64)
    return carried / np.maximum(carried.sum(-1, keepdims=True), 1e-12)


def gradient_attention(attention: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Which attention a prediction needs: ``max(0, a * dy/da)``, heads averaged, layers added.

    Scaled so that all cells together are 1 (after Chefer et al. 2021, equation 5, without its
    rollout); zeros if no weight raises the logit.
    """
    helped = np.maximum(attention * gradient, 0).mean(1, dtype=np.float64).sum(0)
    return helped / max(helped.sum(), 1e-12)
