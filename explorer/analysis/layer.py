"""One layer: its stations, what each block adds, answers without context, an LSTM."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import acos, degrees
from typing import TYPE_CHECKING

import numpy as np

from explorer.analysis.latency.family import instruments_for
from explorer.analysis.latency.measure import Latency, RoundsPlan, TimedCall, latency_rounds
from explorer.analysis.latency.ratio import Ratio, paired_ratio
from explorer.analysis.measures import log_softmax, share_interval, top_ids
from explorer.analysis.parameters.shape import shape_flops
from explorer.inference.scheduling.cancel import CancelToken
from explorer.models.choice.family import teacher_of
from explorer.models.run import READINGS, Run, read_only
from explorer.models.specs import ModelSpec
from explorer.models.tokens import spelling_of
from explorer.timing.workload import Workload

if TYPE_CHECKING:
    from explorer.models.inside.stations import LayerStations, Normalisation


def aligned_layers(specs: Sequence[ModelSpec], key: str, layer: int) -> dict[str, int]:
    """For a layer of the model of this key the layer of every model, all counted from 0.

    A student whose teacher is there stands beside the layer that it was initialised from (or the
    last one before it); any other two models at the same relative depth.
    """
    chosen = next(spec for spec in specs if spec.key == key)
    layer = min(layer, chosen.architecture.n_layers - 1)
    given, at = chosen, layer
    if (teacher := teacher_of(chosen)) and teacher in specs:
        given, at = teacher, chosen.initialised_from[layer]
    return {
        spec.key: layer if spec is chosen else _beside(specs, spec, given, at) for spec in specs
    }


def _beside(specs: Sequence[ModelSpec], spec: ModelSpec, given: ModelSpec, layer: int) -> int:
    teacher = teacher_of(spec)
    if not teacher or teacher not in specs:
        return _as_deep(spec, given, layer)
    at = _as_deep(teacher, given, layer)
    before = [i for i, origin in enumerate(spec.initialised_from) if origin <= at]
    return before[-1] if before else 0


def _as_deep(spec: ModelSpec, given: ModelSpec, layer: int) -> int:
    """The layer at the same relative depth."""
    as_deep = round((layer + 1) * spec.architecture.n_layers / given.architecture.n_layers)
    return max(0, as_deep - 1)


AMONG = 5


@dataclass(frozen=True, slots=True, eq=False)
class ContextAnswers:
    """One model at one mask, in each reading."""

    readings: tuple[str, ...]
    """Their names; without ``shuffled`` where there is nothing to shuffle."""
    words: tuple[str, ...]
    """The first answer of each reading, as a reader writes it."""
    tokens: tuple[str, ...]
    """The same as the vocabulary writes them."""
    probabilities: np.ndarray
    """float64 [reading], of that answer."""
    wanted: str
    """The word whose probability is followed."""
    wanted_id: int
    wanted_token: str
    of_wanted: np.ndarray
    """float64 [reading]: its probability."""
    ranks: np.ndarray
    """int64 [reading]: its rank; 1 where no piece is likelier."""


def context_answers(
    logits: np.ndarray,
    vocabulary: tuple[str, ...],
    wanted: int | None,
    readings: tuple[str, ...] = READINGS,
) -> ContextAnswers:
    """From logits [reading, vocabulary] at one mask.

    Args:
        logits: a row for each reading.
        vocabulary: the model's pieces.
        wanted: the id of the hidden word; None: the model's own answer with both sides.
        readings: their names.
    """
    p, spelling = np.exp(log_softmax(logits)), spelling_of(vocabulary)
    first = top_ids(p, 1)[:, 0]
    followed = int(first[0]) if wanted is None else wanted
    return ContextAnswers(
        readings,
        tuple(spelling.word(vocabulary[i]) for i in first),
        tuple(vocabulary[i] for i in first),
        read_only(p[np.arange(len(p)), first]),
        spelling.word(vocabulary[followed]),
        followed,
        vocabulary[followed],
        read_only(p[:, followed]),
        read_only(1 + (p > p[:, followed, None]).sum(-1)),
    )


@dataclass(frozen=True, slots=True)
class ContextScore:
    """One model in one reading over many sentences with a known word."""

    first: float
    """Share of sentences whose word is the first answer."""
    first_interval: tuple[float, float]
    """Its 95% interval (Wilson 1927)."""
    among: float
    """Share whose word is among the first five answers."""
    among_interval: tuple[float, float]


def context_scores(
    ranks: Mapping[str, Sequence[Sequence[int]]],
) -> dict[str, tuple[ContextScore, ...]]:
    """For every model its score in each reading, from ranks [sentence][reading]."""
    return {
        key: tuple(_score(column) for column in zip(*rows, strict=True))
        for key, rows in ranks.items()
    }


def _score(ranks: Sequence[int]) -> ContextScore:
    n = len(ranks)
    hits = [sum(rank <= limit for rank in ranks) for limit in (1, AMONG)]
    first, among = (share_interval(hit, n) for hit in hits)
    return ContextScore(hits[0] / n, first, hits[1] / n, among)


LENGTHS: tuple[int, ...] = (16, 32, 64, 128, 256, 512)
NAMES = ("encoder layer", "LSTM")
PLAN = RoundsPlan(budget_s=6.0, min_rounds=8, max_rounds=48, target=0.08, max_warm_rounds=2)
ALLOWED_S = 60.0


@dataclass(frozen=True, slots=True, eq=False)
class RecurrentPoint:
    """Both at one length."""

    length: int
    latency: Latency
    """Of ``NAMES``, in this order."""
    flops: tuple[int, int]
    """Operations of one pass of each."""
    steps: tuple[int, int]
    """How many steps must follow one another: 1, and the length."""

    @property
    def us_per_token(self) -> tuple[float, float]:
        """Median microseconds for a token: of the layer, and of the LSTM by their paired ratio."""
        median = float(sorted(self.latency.seconds[:, 0])[self.latency.n_rounds // 2])
        layer = 1e6 * median / self.length
        return layer, layer * self.ratio.ratio

    @property
    def ratio(self) -> Ratio:
        """The LSTM's time over the layer's, with its 95% interval."""
        seconds = self.latency.seconds
        return paired_ratio(seconds[:, 1], seconds[:, 0], self.latency.blocks)


def measure_recurrent(
    spec: ModelSpec,
    cancel_token: CancelToken,
    lengths: Sequence[int] = LENGTHS,
    plan: RoundsPlan = PLAN,
) -> Iterator[tuple[RecurrentPoint, ...]]:
    """Both at every length, by the latency protocol on one thread; yields after every length.

    Random weights: the time does not depend on them.
    """
    from explorer.timing.protocol import one_layer_calls

    calls = dict(zip(NAMES, one_layer_calls(spec, max(lengths)), strict=True))
    done: tuple[RecurrentPoint, ...] = ()
    yield done
    for length in lengths:
        cancel_token.set_deadline(ALLOWED_S)
        workload = Workload(length=length)
        candidates = [TimedCall(name, calls[name](length)) for name in NAMES]
        with instruments_for(workload) as (instruments, _):
            *_, latency = latency_rounds(candidates, instruments, plan, cancel_token.check)
        if latency.n_rounds < plan.min_rounds:
            return
        flops = layer_flops(spec, length), lstm_flops(spec.architecture.d_model, length)
        done = (*done, RecurrentPoint(length, latency, flops, (1, length)))
        yield done


def layer_flops(spec: ModelSpec, length: int) -> int:
    """Operations of one encoder layer over a text: 2 for a product and a sum."""
    shape = replace(spec.architecture, n_layers=1, has_pooler=False, has_projection=False)
    return shape_flops(shape, length)


def lstm_flops(width: int, length: int) -> int:
    """Four gates, each with a product of the input and one of the state before: 16 d^2 a token."""
    return 16 * width**2 * length


BEFORE: dict[str, str] = {
    "projection": "input",
    "attended": "input",
    "attention_norm": "attended",
    "feed_forward": "attention_norm",
    "summed": "attention_norm",
    "output": "summed",
}
"""The station that each vector's cosine is with."""
MOST_UNITS = 8


@dataclass(frozen=True, slots=True, eq=False)
class LayerWay:
    """One word's way through one layer of one model, ready to be drawn."""

    vectors: dict[str, np.ndarray]
    """``input`` and the stations of ``BEFORE``, in their order, float32 [d_model]."""
    norms: dict[str, float]
    """Euclidean length of each."""
    cosines: dict[str, float]
    """Of each but the input, with the vector named in ``BEFORE``."""
    exponentials: np.ndarray
    """float64 [position]: of the scores minus the largest."""
    weights: np.ndarray
    """float64 [position]: the softmax, the exponentials over their sum."""
    head_lengths: np.ndarray
    """float64 [head]: how long each head's part of the projection is."""
    units: np.ndarray
    """int64 [8]: the units that write the longest vectors, longest first."""
    attention_cosine: float
    """Of the state before and after the attention block, its norm included."""
    feed_forward_cosine: float
    """The same for the feed-forward block."""

    @property
    def angles(self) -> dict[str, float]:
        """By how many degrees each block turned the state, its norm included."""
        blocks = {"attention": self.attention_cosine, "feed_forward": self.feed_forward_cosine}
        return {name: degrees(acos(min(1.0, max(-1.0, c)))) for name, c in blocks.items()}

    @property
    def changed_by(self) -> str:
        """The block that turned the state further: ``attention`` or ``feed_forward``."""
        is_attention = self.attention_cosine < self.feed_forward_cosine
        return "attention" if is_attention else "feed_forward"


def layer_way(state: np.ndarray, found: "LayerStations") -> LayerWay:
    """From the state [d_model] that the layer was given, and its stations."""
    vectors = {"input": state, **found.vectors}
    scores = found.scores.astype(np.float64)
    exponentials = np.exp(scores - scores.max())
    return LayerWay(
        vectors,
        {name: float(np.linalg.norm(vector)) for name, vector in vectors.items()},
        {name: cosine(vectors[name], vectors[before]) for name, before in BEFORE.items()},
        read_only(exponentials),
        read_only(exponentials / exponentials.sum()),
        read_only(np.linalg.norm(found.heads.astype(np.float64), axis=-1)),
        read_only(np.argsort(-found.unit_lengths, kind="stable")[:MOST_UNITS]),
        cosine(state, found.attention_norm.gave),
        cosine(found.attention_norm.gave, found.norm.gave),
    )


def mean_weights(run: Run, layer: int, position: int) -> np.ndarray:
    """How much one token attends to each in a layer: float64 [position], the mean of all heads."""
    return read_only(run.attention[layer, :, position].astype(np.float64).mean(0))


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    """The cosine of two vectors; 0 where one of them has no length."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / lengths if lengths else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Normalised:
    """A layer norm's arithmetic: ``(x - mean) / sqrt(variance + eps) * scale + shift``."""

    mean: float
    deviation: float
    """``sqrt(variance + eps)``, the variance over all dimensions."""
    shown: np.ndarray
    """int64: the dimensions that are written out, largest results first."""
    rows: np.ndarray
    """float64 [shown, 4]: x, scale, shift and the result of each."""


def normalised(norm: "Normalisation") -> Normalised:
    """The mean and the deviation, and the largest results in numbers."""
    x = norm.given.astype(np.float64)
    shown = np.argsort(-np.abs(norm.gave), kind="stable")[:MOST_UNITS]
    columns = (x, norm.scale, norm.shift, norm.gave)
    return Normalised(
        float(x.mean()),
        float(np.sqrt(x.var() + norm.eps)),
        read_only(shown),
        read_only(np.stack([column[shown] for column in columns], 1).astype(np.float64)),
    )


NAMED = 3
BLOCKS = ("attention", "feed_forward")


@dataclass(frozen=True, slots=True, eq=False)
class AnswerSteps:
    """The log-probability of one piece after the embedding and after every block."""

    log_probs: np.ndarray
    """float64 [1 + 2 x layers], nats: the embedding, then attention and feed-forward by turns."""

    @property
    def steps(self) -> np.ndarray:
        """float64 [2 x layers]: what each block added. First value + steps = last value."""
        return np.diff(self.log_probs)

    @property
    def largest(self) -> tuple[tuple[int, str, float], ...]:
        """The three largest steps by size: layer from 0, block, nats."""
        steps = self.steps
        order = np.argsort(-np.abs(steps), kind="stable")[:NAMED]
        return tuple((int(i) // 2, BLOCKS[i % 2], float(steps[i])) for i in order)


def answer_steps(logits: np.ndarray, token_id: int) -> AnswerSteps:
    """From the head's logits [1 + 2 x layers, vocabulary] of the states after every block."""
    return AnswerSteps(read_only(log_softmax(logits)[:, token_id]))
