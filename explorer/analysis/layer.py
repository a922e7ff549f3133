"""One encoder layer: its steps, the effect of each block, context, and an LSTM in its place."""

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
from explorer.models.choice.family import member, teacher_of
from explorer.models.run import READINGS, Run, read_only
from explorer.models.specs import ModelSpec
from explorer.models.tokens import spelling_of
from explorer.scheduling.cancel import CancelToken
from explorer.timing.workload import Workload

if TYPE_CHECKING:
    from explorer.models.inside.activations import LayerActivations, Normalisation


def aligned_layers(specs: Sequence[ModelSpec], key: str, layer: int) -> dict[str, int]:
    """Return for one model's layer the matching layer of every model, all counted from 0.

    A student's layer matches the teacher's layer that it was initialised from, if the teacher is
    among ``specs`` (or else the last one before it); other models match by relative depth.
    """
    chosen = next(spec for spec in specs if spec.key == key)
    layer = min(layer, chosen.architecture.n_layers - 1)
    reference, reference_layer = chosen, layer
    if teacher := member(teacher_of(chosen), specs):
        reference, reference_layer = teacher, chosen.initialised_from[layer]
    return {
        spec.key: layer
        if spec is chosen
        else _matching_layer(specs, spec, reference, reference_layer)
        for spec in specs
    }


def _matching_layer(
    specs: Sequence[ModelSpec], spec: ModelSpec, reference: ModelSpec, layer: int
) -> int:
    teacher = member(teacher_of(spec), specs)
    if teacher is None:
        return _as_deep(spec, reference, layer)
    teacher_layer = _as_deep(teacher, reference, layer)
    layers = [i for i, origin in enumerate(spec.initialised_from) if origin <= teacher_layer]
    return layers[-1] if layers else 0


def _as_deep(spec: ModelSpec, reference: ModelSpec, layer: int) -> int:
    """Return the layer at the same relative depth."""
    depth = round((layer + 1) * spec.architecture.n_layers / reference.architecture.n_layers)
    return max(0, depth - 1)


AMONG = 5


@dataclass(frozen=True, slots=True, eq=False)
class ContextAnswers:
    """One model's predictions at one mask, for each reading of the context."""

    readings: tuple[str, ...]
    """Names of the readings; without ``shuffled`` where there is nothing to shuffle."""
    words: tuple[str, ...]
    """The top prediction of each reading, spelled as a word."""
    tokens: tuple[str, ...]
    """The top prediction of each reading, spelled as in the vocabulary."""
    probabilities: np.ndarray
    """float64 [reading]: the probability of the top prediction."""
    wanted: str
    """The target word, whose probability is compared across readings."""
    wanted_id: int
    wanted_token: str
    of_wanted: np.ndarray
    """float64 [reading]: the probability of the target word."""
    ranks: np.ndarray
    """int64 [reading]: the rank of the target word; 1 where no piece is likelier."""


def context_answers(
    logits: np.ndarray,
    vocabulary: tuple[str, ...],
    wanted: int | None,
    readings: tuple[str, ...] = READINGS,
) -> ContextAnswers:
    """Compute the predictions of each reading from logits [reading, vocabulary] at one mask.

    Args:
        logits: a row for each reading.
        vocabulary: the model's pieces.
        wanted: the id of the target word; None: the top prediction with both sides.
        readings: names of the readings.
    """
    p, spelling = np.exp(log_softmax(logits)), spelling_of(vocabulary)
    first = top_ids(p, 1)[:, 0]
    target = int(first[0]) if wanted is None else wanted
    return ContextAnswers(
        readings,
        tuple(spelling.word(vocabulary[i]) for i in first),
        tuple(vocabulary[i] for i in first),
        read_only(p[np.arange(len(p)), first]),
        spelling.word(vocabulary[target]),
        target,
        vocabulary[target],
        read_only(p[:, target]),
        read_only(1 + (p > p[:, target, None]).sum(-1)),
    )


@dataclass(frozen=True, slots=True)
class ContextScore:
    """Accuracy of one model in one reading, over sentences whose masked word is known."""

    first: float
    """Share of sentences whose word is the top prediction."""
    first_interval: tuple[float, float]
    """The 95% interval of that share (Wilson 1927)."""
    among: float
    """Share of sentences whose word is among the top five predictions."""
    among_interval: tuple[float, float]


def context_scores(
    ranks: Mapping[str, Sequence[Sequence[int]]],
) -> dict[str, tuple[ContextScore, ...]]:
    """Compute each model's score in each reading from ranks [sentence][reading]."""
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
    """Measured times of an encoder layer and an LSTM at one length."""

    length: int
    latency: Latency
    """Measured times of ``NAMES``, in this order."""
    flops: tuple[int, int]
    """Floating-point operations of one forward pass, by ``NAMES``."""
    steps: tuple[int, int]
    """Sequential steps, by ``NAMES``: 1, and the length."""

    @property
    def us_per_token(self) -> tuple[float, float]:
        """The median microseconds per token of the layer, and of the LSTM by the paired ratio."""
        layer = 1e6 * float(np.median(self.latency.seconds[:, 0])) / self.length
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
    """Time an encoder layer and an LSTM at every length; yields after every length.

    Uses the latency protocol on one thread, and random weights: the time does not depend on them.
    """
    from explorer.timing.protocol import one_layer_calls

    calls = dict(zip(NAMES, one_layer_calls(spec, max(lengths)), strict=True))
    points: tuple[RecurrentPoint, ...] = ()
    yield points
    for length in lengths:
        cancel_token.set_deadline(ALLOWED_S)
        workload = Workload(length=length)
        candidates = [TimedCall(name, calls[name](length)) for name in NAMES]
        with instruments_for(workload) as (instruments, _):
            *_, latency = latency_rounds(candidates, instruments, plan, cancel_token.check)
        if latency.n_rounds < plan.min_rounds:
            return
        flops = layer_flops(spec, length), lstm_flops(spec.architecture.d_model, length)
        points = (*points, RecurrentPoint(length, latency, flops, (1, length)))
        yield points


def layer_flops(spec: ModelSpec, length: int) -> int:
    """Count the floating-point operations of one encoder layer over a text; a multiply-add is 2."""
    shape = replace(spec.architecture, n_layers=1, has_pooler=False, has_projection=False)
    return shape_flops(shape, length)


def lstm_flops(width: int, length: int) -> int:
    """Count an LSTM's floating-point operations: 16 d^2 a token, two products for each gate."""
    return 16 * width**2 * length


BEFORE: dict[str, str] = {
    "projection": "input",
    "attended": "input",
    "attention_norm": "attended",
    "feed_forward": "attention_norm",
    "summed": "attention_norm",
    "output": "summed",
}
"""The earlier step that each vector is compared with by cosine."""
MAX_UNITS = 8


@dataclass(frozen=True, slots=True, eq=False)
class LayerTrace:
    """One token's vectors at each step of one layer of one model, ready to be drawn."""

    vectors: dict[str, np.ndarray]
    """``input`` and the steps of ``BEFORE``, in order, float32 [d_model]."""
    norms: dict[str, float]
    """Euclidean norm of each vector."""
    cosines: dict[str, float]
    """Cosine of each vector but the input with the one named in ``BEFORE``."""
    exponentials: np.ndarray
    """float64 [position]: exp(score - largest score)."""
    weights: np.ndarray
    """float64 [position]: the softmax, exponentials divided by their sum."""
    head_lengths: np.ndarray
    """float64 [head]: Euclidean norm of each head's part of the projection."""
    units: np.ndarray
    """int64 [8]: the feed-forward units with the longest output vectors, longest first."""
    attention_cosine: float
    """Cosine of the state before and after the attention block, layer norm included."""
    feed_forward_cosine: float
    """Cosine of the state before and after the feed-forward block, layer norm included."""

    @property
    def angles(self) -> dict[str, float]:
        """The angle in degrees between the state before each block and after its layer norm."""
        blocks = {"attention": self.attention_cosine, "feed_forward": self.feed_forward_cosine}
        return {name: degrees(acos(min(1.0, max(-1.0, c)))) for name, c in blocks.items()}

    @property
    def changed_by(self) -> str:
        """The block with the larger angle: ``attention`` or ``feed_forward``."""
        is_attention = self.attention_cosine < self.feed_forward_cosine
        return "attention" if is_attention else "feed_forward"


def layer_trace(state: np.ndarray, activations: "LayerActivations") -> LayerTrace:
    """Build a token's steps from the layer's input state [d_model] and the recorded activations."""
    vectors = {"input": state, **activations.vectors}
    scores = activations.scores.astype(np.float64)
    exponentials = np.exp(scores - scores.max())
    return LayerTrace(
        vectors,
        {name: float(np.linalg.norm(vector)) for name, vector in vectors.items()},
        {name: cosine(vectors[name], vectors[before]) for name, before in BEFORE.items()},
        read_only(exponentials),
        read_only(exponentials / exponentials.sum()),
        read_only(np.linalg.norm(activations.heads.astype(np.float64), axis=-1)),
        read_only(np.argsort(-activations.unit_lengths, kind="stable")[:MAX_UNITS]),
        cosine(state, activations.attention_norm.outputs),
        cosine(activations.attention_norm.outputs, activations.norm.outputs),
    )


def mean_weights(run: Run, layer: int, position: int) -> np.ndarray:
    """Return one token's attention in a layer, the mean of all heads: float64 [position]."""
    return read_only(run.attention[layer, :, position].astype(np.float64).mean(0))


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    """Compute the cosine of two vectors; 0 where one of them is zero."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / lengths if lengths else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Normalised:
    """One layer norm in numbers: ``(x - mean) / sqrt(variance + eps) * scale + shift``."""

    mean: float
    deviation: float
    """``sqrt(variance + eps)``, the variance over all dimensions."""
    shown: np.ndarray
    """int64 [shown]: the listed dimensions, largest absolute results first."""
    rows: np.ndarray
    """float64 [shown, 4]: x, scale, shift and result of each listed dimension."""


def normalised(norm: "Normalisation") -> Normalised:
    """Compute a layer norm's mean and deviation, and list the dimensions with largest results."""
    x = norm.inputs.astype(np.float64)
    shown = np.argsort(-np.abs(norm.outputs), kind="stable")[:MAX_UNITS]
    columns = (x, norm.scale, norm.shift, norm.outputs)
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
    """Log-probabilities of one piece after the embedding and after every block."""

    log_probs: np.ndarray
    """float64 [1 + 2 x layers], nats: embedding, then attention and feed-forward alternating."""

    @property
    def steps(self) -> np.ndarray:
        """The change by each block, float64 [2 x layers]: first value + their sum = last value."""
        return np.diff(self.log_probs)

    @property
    def largest(self) -> tuple[tuple[int, str, float], ...]:
        """The three largest steps by absolute value: (layer from 0, block, nats)."""
        steps = self.steps
        order = np.argsort(-np.abs(steps), kind="stable")[:NAMED]
        return tuple((int(i) // 2, BLOCKS[i % 2], float(steps[i])) for i in order)


def answer_steps(logits: np.ndarray, token_id: int) -> AnswerSteps:
    """Compute the steps from the head's logits [1 + 2 x layers, vocabulary] after every block."""
    return AnswerSteps(read_only(log_softmax(logits)[:, token_id]))
