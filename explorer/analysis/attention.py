"""Attention heads: statistics, kinds, ablation, teacher and student compared, summaries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.analysis.alignment import Alignment, align, word_attention
from explorer.analysis.measures import entropy, kl_of_logs, log_softmax, top_ids
from explorer.models.run import Run, named_only, read_only
from explorer.models.tokens import spelling_of

LISTED = 5
"""Top predictions with and without the heads that are compared."""


@dataclass(frozen=True, slots=True)
class ChangedWord:
    """One word's probability before (all heads on) and after (some heads off)."""

    id: int
    word: str
    before: float
    after: float


@dataclass(frozen=True, slots=True, eq=False)
class HeadAblation:
    """One model's predictions before and after switching heads off, for each mask."""

    model: str
    label: str
    off: tuple[tuple[int, int], ...]
    """(layer, head) of the heads that are off, from 0."""
    kl: np.ndarray
    """float64 [mask], nats: KL(before || after) over the whole vocabulary."""
    words: tuple[tuple[ChangedWord, ...], ...]
    """Top words of before and after for each mask, by the larger of their two probabilities."""

    @property
    def n_off(self) -> int:
        """The number of heads that are off."""
        return len(self.off)


@dataclass(frozen=True, slots=True, eq=False)
class HeadImportance:
    """Effect of switching off each head alone on the predictions."""

    model: str
    label: str
    kl: np.ndarray
    """float64 [layer, head], nats: KL(before || after), averaged over the masks; only layers
    swept so far."""

    def strongest(self, count: int) -> tuple[tuple[int, int, float], ...]:
        """Return (layer, head, nats) of the heads with the largest effect, largest first."""
        order = np.argsort(-self.kl, axis=None, kind="stable")[:count]
        places = [divmod(int(i), self.kl.shape[1]) for i in order]
        return tuple((layer, head, float(self.kl[layer, head])) for layer, head in places)


def head_ablation(run: Run, logits: np.ndarray, off: Sequence[tuple[int, int]]) -> HeadAblation:
    """Compare the predictions with some heads off with those of all heads.

    ``logits`` is float [mask, vocabulary], with these heads, (layer, head), off.
    """
    before, after = log_softmax(run.mask_logits), log_softmax(logits)
    words = tuple(
        _changed_words(run, np.exp(p), np.exp(q)) for p, q in zip(before, after, strict=True)
    )
    return HeadAblation(
        run.spec.key, run.spec.label, tuple(off), read_only(kl_of_logs(before, after)), words
    )


def head_importance(run: Run, layer_logits: Sequence[np.ndarray]) -> HeadImportance:
    """Compute the effect of each head from the logits with it alone switched off.

    ``layer_logits`` holds one array of logits [head, mask, vocabulary] per layer, in order.
    """
    before = log_softmax(run.mask_logits)
    kl = [
        kl_of_logs(np.broadcast_to(before, layer.shape), log_softmax(layer)).mean(-1)
        for layer in layer_logits
    ]
    return HeadImportance(run.spec.key, run.spec.label, read_only(np.stack(kl)))


def _changed_words(run: Run, before: np.ndarray, after: np.ndarray) -> tuple[ChangedWord, ...]:
    top = {int(i) for p in (before, after) for i in top_ids(named_only(p, run.vocabulary), LISTED)}
    order = sorted(top, key=lambda i: (-max(before[i], after[i]), i))
    spelling = spelling_of(run.vocabulary)
    return tuple(
        ChangedWord(i, spelling.word(run.vocabulary[i]), float(before[i]), float(after[i]))
        for i in order
    )


PLACES: tuple[str, ...] = ("previous", "next", "self", "cls", "sep")
"""The five targets of attention whose share is measured for each head."""
KINDS: tuple[str, ...] = (*PLACES, "broad", "mixed")
PLACE_SHARE = 0.5
"""Least share of a word's attention, on average, for a head to be named after its target."""
BROAD_SHARE = 0.85
"""Least share of the largest possible entropy, ln n, for any other head to count as broad."""


@dataclass(frozen=True, slots=True, eq=False)
class WordHeads:
    """Attention of every head of every model between the same words."""

    alignment: Alignment
    attention: Mapping[str, np.ndarray]
    """float32 [layer, head, word, word] by model key, rows sum to 1."""


@dataclass(frozen=True, slots=True, eq=False)
class HeadStatistics:
    """Statistics of one model's heads; every array starts with [layer, head]."""

    entropy: np.ndarray
    """Nats: 0 where all attention goes to one word, ln n where it is equal over all n words."""
    distance: np.ndarray
    """Attention-weighted distance between two words, in words."""
    shares: np.ndarray
    """[layer, head, place]: mean share of a word's attention that goes to each of ``PLACES``."""
    kind: np.ndarray
    """Index into ``KINDS``."""


def word_heads(runs: Mapping[str, Run]) -> WordHeads:
    """Compute the attention of all models between their shared words, to compare heads."""
    alignment = align({key: run.tokens for key, run in runs.items()})
    attention = {
        key: read_only(word_attention(run.attention, alignment.groups[key]))
        for key, run in runs.items()
    }
    return WordHeads(alignment, attention)


def head_statistics(attention: np.ndarray, alignment: Alignment) -> HeadStatistics:
    """Compute each head's entropy, distance and targets, averaged over the words of the text.

    ``attention`` is [layer, head, word, word]. Rows of [CLS] and [SEP] are left out, because they
    are no words of the text. Clark et al. 2019 (section 3) measure the same targets.
    """
    queries = list(alignment.content) or list(range(len(alignment)))
    rows = attention[:, :, queries]
    positions = np.arange(len(alignment))
    distances = np.abs(positions[None] - np.asarray(queries)[:, None])
    spread = entropy(rows).mean(-1)
    shares = np.stack([_share(rows, queries, alignment, place) for place in PLACES], -1)
    return HeadStatistics(
        read_only(spread),
        read_only((rows * distances).sum(-1).mean(-1)),
        read_only(shares),
        read_only(_kind(shares, spread / np.log(max(len(alignment), 2)))),
    )


def _share(rows: np.ndarray, queries: list[int], alignment: Alignment, place: str) -> np.ndarray:
    """Return the mean attention to one target, over the words that have such a neighbour."""
    words = alignment.words
    if place in ("cls", "sep"):
        added = [i for i, word in enumerate(words) if word.special]
        keys = added[:1] if place == "cls" else added[1:]
        return rows[..., keys].sum(-1).mean(-1)
    step = {"previous": -1, "next": 1, "self": 0}[place]
    keys_in_text = range(len(words)) if step == 0 else alignment.content
    pairs = [(row, q + step) for row, q in enumerate(queries) if q + step in keys_in_text]
    if not pairs:
        return np.zeros(rows.shape[:2], rows.dtype)
    return rows[:, :, [row for row, _ in pairs], [key for _, key in pairs]].mean(-1)


def _kind(shares: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Return each head's kind: the target with a large enough share, else broad or mixed."""
    unnamed = np.where(spread >= BROAD_SHARE, KINDS.index("broad"), KINDS.index("mixed"))
    return np.where(shares.max(-1) >= PLACE_SHARE, shares.argmax(-1), unnamed)


KEPT_JS = 0.05
"""Largest Jensen-Shannon divergence, in nats, between a head and its near-copy.

Over the fifty bundled facts with the bundled models 31 of DistilBERT's 36 heads are near-copies of
BERT's, one to one, against 21 of 36 of ALBERT's and 10 of its own with shuffled words.
"""
DRAWS = 200
"""Draws of a control: the standard error of its mean is a fourteenth of their spread."""
POOL = 2
"""A control draws from this many times the student's heads, and from no model with fewer."""
SHUFFLES = 4, 16
"""Fewest and most orders of the words in which each of the student's heads is in the pool of
shuffled heads: most where the text is short."""
SHUFFLED_CELLS = 6_000_000
"""Attention weights compared for more than the fewest orders."""
SPAN = 0.98
"""Least share of the draws within the limits of a control: with four orders of the words in the
pool, a student of shuffled heads is above the limits in 3% of cases."""
CACHED = 32_768
"""Attention weights that are compared at a time."""
MAX_CELLS = 24_000_000
"""Most attention weights compared; of a longer text only evenly spaced words are used."""


@dataclass(frozen=True, slots=True)
class AgainstControl:
    """A count of near-copies, and the counts of the same search over a control's draws."""

    count: int
    mean: float
    """Mean of the draws."""
    low: int
    """At least ``SPAN`` of the draws lie between ``low`` and ``high``, both included."""
    high: int

    @property
    def is_more(self) -> bool:
        """Return whether the count is above the limits of the control."""
        return self.count > self.high

    @property
    def is_fewer(self) -> bool:
        """Return whether the count is below the limits of the control."""
        return self.count < self.low


@dataclass(frozen=True, slots=True, eq=False)
class KeptHeads:
    """Near-copies of a teacher's heads in a student, one to one, and in a control."""

    js: np.ndarray
    """float32 [teacher's head, student's head], Jensen-Shannon divergence in nats, averaged over
    words; heads are numbered across layers."""
    n_heads: tuple[int, int]
    """Heads per layer of the two models."""
    n_words: tuple[int, int]
    """Words whose rows are compared, and all words."""
    partner: np.ndarray
    """int64 [teacher's head]: the student's head of a one-to-one matching, -1 where there is none.
    It has as many pairs within ``KEPT_JS`` as possible, and of those the least total divergence."""
    matched: AgainstControl
    """Number of pairs of ``partner``."""
    is_shuffled: bool
    """The control: True for the student's heads with shuffled words, False for another model's."""

    @property
    def nearest(self) -> np.ndarray:
        """The most similar head of the student for each head: int64 [head]."""
        return self.js.argmin(1)


def kept_heads(
    teacher: np.ndarray,
    student: np.ndarray,
    alignment: Alignment,
    unrelated: np.ndarray | None = None,
) -> KeptHeads:
    """Match a student's heads with a teacher's, one to one, and a control's in the same way.

    Two heads are near-copies where the Jensen-Shannon divergence between their rows, averaged over
    the words, is at most ``KEPT_JS``; they are counted by a maximum bipartite matching. The control
    is matched ``DRAWS`` times, each time with as many heads as the student has: heads drawn without
    replacement from ``unrelated``, or, without it, the student's own, each with the words of the
    text (rows and columns alike) in one of 4 to 16 random orders. Draws are equal on every call.

    (A count of the teacher's heads that have a near-copy, each on its own, finds a student of
    shuffled heads better than unrelated ones on short texts.)

    Args:
        teacher: [layer, head, word, word], rows sum to 1.
        student: [layer, head, word, word] of the other model.
        alignment: The words; rows of [CLS] and [SEP] are left out where there are others.
        unrelated: [layer, head, word, word] of a model that has at least ``POOL`` times the
            student's heads.
    """
    own, first = _flat(student), _flat(teacher)
    n, n_words = len(own), len(alignment)
    queries = np.array(alignment.content or range(n_words))
    cells = len(first) * n * n_words
    orders = max(SHUFFLES[0], min(SHUFFLES[1], SHUFFLED_CELLS // (cells * len(queries))))
    copied = orders if unrelated is None else POOL
    rows = _spaced(queries, MAX_CELLS // (cells * (1 + copied)))
    rng = np.random.default_rng(0)
    if unrelated is None:
        pool = [_shuffled(own, alignment.content, rows, rng) for _ in range(orders)]
        draws = [np.arange(n) + n * rng.integers(orders, size=n) for _ in range(DRAWS)]
    else:
        others = _flat(unrelated)
        pool = [others[rng.choice(len(others), POOL * n, replace=False)][:, rows]]
        draws = [rng.choice(POOL * n, n, replace=False) for _ in range(DRAWS)]
    js = _divergences(first[:, rows], np.concatenate([own[:, rows], *pool]))
    within, partner = js[:, n:] <= KEPT_JS, _matching(js[:, :n])
    matched = [_n_matched(within[:, drawn]) for drawn in draws]
    return KeptHeads(
        read_only(js[:, :n]),
        (teacher.shape[1], student.shape[1]),
        (len(rows), len(queries)),
        read_only(partner),
        _against(int((partner >= 0).sum()), matched),
        unrelated is None,
    )


def _flat(attention: np.ndarray) -> np.ndarray:
    """Return attention as [head, word, word], heads numbered across layers."""
    return attention.reshape(-1, *attention.shape[-2:])


def _spaced(queries: np.ndarray, most: int) -> np.ndarray:
    """Return these words, or as many of them as allowed, at least one, at even distances."""
    count = min(max(1, most), len(queries))
    return queries[np.linspace(0, len(queries) - 1, count).round().astype(int)]


def _shuffled(
    heads: np.ndarray, content: Sequence[int], rows: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return some rows of heads, each with the words of the text in a random order of its own.

    [CLS] and [SEP], which are not in ``content``, keep their places.
    """
    orders = np.tile(np.arange(heads.shape[-1]), (len(heads), 1))
    orders[:, list(content)] = rng.permuted(orders[:, list(content)], axis=1)
    return heads[np.arange(len(heads))[:, None, None], orders[:, rows, None], orders[:, None, :]]


def _against(count: int, draws: Sequence[int]) -> AgainstControl:
    tail = (1 - SPAN) / 2
    low = np.quantile(draws, tail, method="lower")
    high = np.quantile(draws, 1 - tail, method="higher")
    return AgainstControl(count, float(np.mean(draws)), int(low), int(high))


def _matching(js: np.ndarray) -> np.ndarray:
    """Return the other model's head matched with each head, -1 for none: int64 [head]."""
    # A pair too far apart costs more than all that are near enough together.
    rows, columns = _assigned(np.where(js <= KEPT_JS, js, min(js.shape)))
    partner = np.full(len(js), -1)
    near = js[rows, columns] <= KEPT_JS
    partner[rows[near]] = columns[near]
    return partner


def _n_matched(within: np.ndarray) -> int:
    """Return the size of a maximum bipartite matching of a boolean [head, other's head]."""
    return int(within[_assigned(~within)].sum())


def _assigned(costs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and columns of an assignment of the least cost."""
    from scipy.optimize import linear_sum_assignment  # the page is built without scipy

    return linear_sum_assignment(costs)


def _divergences(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the mean JS of the rows of [head, row, word] and [other head, row, word], in nats."""
    first, second = (np.asarray(heads, np.float32) for heads in (first, second))
    middle = np.empty((len(first), *second.shape[:2]), np.float32)
    # Blocks that fit the processor's cache take half the time.
    n = max(1, CACHED // second[0].size)
    for start in range(0, len(second), n):
        block = second[start : start + n]
        for i, head in enumerate(first):
            middle[i, start : start + n] = _negentropy((head + block) / 2)
    js = (_negentropy(first)[:, None] + _negentropy(second)) / 2 - middle
    return np.maximum(js.mean(-1), 0.0)


def _negentropy(p: np.ndarray) -> np.ndarray:
    """Compute ``sum p ln p`` over the last axis, 0 where p is 0."""
    return np.einsum("...i,...i->...", p, np.log(np.maximum(p, np.finfo(p.dtype).tiny)))


@dataclass(frozen=True, slots=True)
class RowShares:
    """Shares of one word's row of attention: other words, and everything else together."""

    query: str
    best: str
    """The other word with the largest share; empty where the two largest are equal."""
    best_share: float
    rest: tuple[str, ...]
    """Names of everything else: [CLS] and [SEP], punctuation, the word itself."""
    rest_share: float
    n_others: int
    """Number of other words in the text; with fewer than two there is no comparison."""


def row_shares(matrix: np.ndarray, alignment: Alignment) -> RowShares | None:
    """Return the shares of the row of the first mask, or else the last word; None if all are 0.

    Two words whose shares round to the same whole per cent count as equal.
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
    punctuation = [i for i in alignment.content if i != query and i not in others]
    added = dict.fromkeys(word.text for i, word in enumerate(words) if word.special and i != query)
    apart = (*added, *(["punctuation"] if punctuation else []), "itself")
    rest = float(1 - row[others].sum())
    return RowShares(words[query].text, best, float(first), apart, rest, len(others))


def mean_attention(attention: np.ndarray) -> np.ndarray:
    """Return the mean attention over all layers and heads, [query, key]."""
    return attention.mean((0, 1), dtype=np.float64)


def attention_rollout(attention: np.ndarray) -> np.ndarray:
    """Compute attention rollout: the flow from each input token to each output position.

    ``R = A_L ... A_2 A_1`` with ``A_l = (mean over heads + I) / 2``: the identity stands for the
    residual connection, and each further layer multiplies from the left (Abnar & Zuidema 2020).
    """
    identity = np.eye(attention.shape[-1])
    rollout = identity
    for layer in attention.mean(1, dtype=np.float64):
        rollout = (layer + identity) / 2 @ rollout
    return rollout


def value_weighted(attention: np.ndarray, norms: np.ndarray) -> np.ndarray:
    """Compute value-weighted attention: ``a_ij |f(x_j)|``, averaged, rows scaled to sum to 1.

    ``norms`` is [layer, head, key]: the length of each value vector after the output projection.
    A head may attend to a token whose value is almost zero (Kobayashi et al. 2020).
    """
    weighted = (attention * norms[:, :, None, :]).mean((0, 1), dtype=np.float64)
    return weighted / np.maximum(weighted.sum(-1, keepdims=True), 1e-12)


def gradient_attention(attention: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Compute gradient-weighted attention: ``max(0, a * dy/da)``, mean of heads, sum of layers.

    Scaled so that all cells sum to 1 (after Chefer et al. 2021, equation 5, without its rollout);
    zeros if no weight raises the logit.
    """
    relevance = np.maximum(attention * gradient, 0).mean(1, dtype=np.float64).sum(0)
    return relevance / max(relevance.sum(), 1e-12)
