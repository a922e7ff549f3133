"""Variants of a model, in other precisions and runtimes: latency and change of predictions."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from explorer.analysis.latency.family import PASS_ALLOWANCE, instruments_for
from explorer.analysis.latency.measure import RoundsPlan, TimedCall, latency_rounds
from explorer.analysis.latency.passes import process_call
from explorer.analysis.latency.summary import LatencySummary, latency_summary
from explorer.analysis.measures import kl_of_logs, log_softmax
from explorer.assets import sentences
from explorer.models.specs import ModelSpec
from explorer.scheduling.cancel import CancelToken
from explorer.timing.workload import Workload

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel
    from explorer.timing.networks import TimedNetwork
    from explorer.timing.runtimes.process import RuntimeProcess


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """One variant of a model: its name, network and workload."""

    name: str
    network: "TimedNetwork"
    workload: Workload
    process: "RuntimeProcess | None" = None
    """Process that runs the pass, if not this one; ``network`` is then the original network."""
    place: int = 0
    """Index of the pass in its process."""
    resident: int | None = None
    """Resident bytes of a process that serves only this variant; None: not known."""

    def at(self, batch: int) -> "Variant":
        """Return this variant with another batch size."""
        return replace(self, workload=replace(self.workload, batch=batch))

    def timed_call(self, cancel_token: CancelToken) -> TimedCall:
        """Return the forward pass as a timed call that checks the cancel token while it waits."""
        from explorer.timing.protocol import forward_call

        if self.process is not None:
            process, work = self.process, self.workload
            return process_call(process, self.place, self.name, work, cancel_token)
        run = forward_call(self.network.spec, self.network.network, self.workload)
        return TimedCall(self.name, run)


@dataclass(frozen=True, slots=True, eq=False)
class VariantLatency:
    """Latency of one model's variants, timed in the same rounds; ratios are the first to others."""

    spec: ModelSpec
    summary: LatencySummary
    weights: str
    resident: Mapping[str, int | None] = field(default_factory=dict)
    """Bytes of the serving process, by the variant's name."""
    batches: Mapping[int, LatencySummary] = field(default_factory=dict)
    """By batch size, those that were timed; ``summary`` is one of them."""

    def throughput(self, name: str, batch: int) -> tuple[float, float | None] | None:
        """Return texts per second and the 90th percentile of a pass, ms; None where not timed."""
        summary = self.batches.get(batch)
        for model in summary.models if summary else ():
            if model.name == name:
                return 1e3 * batch / model.median_ms, model.p90_ms
        return None


def variant_latency(
    variants: Sequence[Variant], plan: RoundsPlan, cancel_token: CancelToken
) -> VariantLatency | None:
    """Time one model's variants in the same rounds; None without a complete round or if stopped."""
    from explorer.timing.protocol import interruptible

    first = variants[0]
    spec, workload = first.network.spec, first.workload
    calls = [variant.timed_call(cancel_token) for variant in variants]
    networks = {id(v.network.network): (spec, v.network.network) for v in variants}
    plan = replace(plan, budget_s=min(plan.budget_s, cancel_token.left_s))
    cancel_token.set_deadline(PASS_ALLOWANCE * plan.budget_s)
    with ExitStack() as stack:
        instruments, _ = stack.enter_context(instruments_for(workload))
        stack.enter_context(
            interruptible([*networks.values()], workload.tokens, cancel_token.check)
        )
        latency = [*latency_rounds(calls, instruments, plan, cancel_token.check)][-1]
    if latency.ended == "stopped" or not latency.n_rounds:
        return None
    summary = latency_summary(latency, workload.clock == "wait")
    resident = {variant.name: variant.resident for variant in variants}
    batches = {workload.batch: summary}
    return VariantLatency(spec, summary, first.network.weights, resident, batches)


N_SENTENCES = 40


def bundled_sentences(n: int = N_SENTENCES) -> tuple[str, ...]:
    """Return the first bundled sentences with one masked word each."""
    return tuple(sentence["text"] for sentence in sentences()[:n])


@dataclass(frozen=True, slots=True)
class AccuracyCost:
    """Predictions of one variant compared with float32 over the same masked sentences."""

    key: str
    name: str
    same_top1: float
    """Share of masks with the same top prediction."""
    mean_kl: float
    """Mean KL(float32 || variant) over the masks, nats."""
    n_masks: int


def accuracy_cost(key: str, name: str, exact: np.ndarray, changed: np.ndarray) -> AccuracyCost:
    """Compare a variant's predictions with the exact ones, logits [mask, vocabulary] each.

    Raises:
        ValueError: no masks to compare.
    """
    if not len(exact):
        raise ValueError("There is no mask to compare predictions at.")
    same = np.mean(exact.argmax(1) == changed.argmax(1))
    divergences = kl_of_logs(log_softmax(exact), log_softmax(changed))
    return AccuracyCost(key, name, float(same), float(divergences.mean()), len(exact))


@dataclass(frozen=True, slots=True, eq=False)
class MaskedTexts:
    """Texts of equal length made of whole masked sentences, and the positions of the masks."""

    ids: np.ndarray
    """int64 [text, length]."""
    rows: np.ndarray
    """int64 [mask]: index of each mask's text, ascending."""
    positions: np.ndarray
    """int64 [mask]: each mask's position in its text."""


def masked_texts(loaded: "LoadedModel", sentences: Sequence[str], length: int) -> MaskedTexts:
    """Pack sentences into texts of exactly ``length`` tokens.

    A network compiled for one length runs at that length only, and padding would need an attention
    mask that the timed pass lacks. The space after the last whole sentence of a text is filled
    with tokens of the first ones, whose masks do not count; longer sentences are left out.
    """
    from explorer.models.forward import tokenize

    tokens = [tokenize(loaded, sentence) for sentence in sentences]
    usable = [encoded for encoded in tokens if len(encoded.ids) <= length]
    texts: list[list[int]] = []
    rows, positions = [], []
    for encoded in usable:
        if not texts or len(texts[-1]) + len(encoded.ids) - 1 > length:
            texts.append([encoded.ids[0]])
        for position in encoded.mask_positions:
            rows.append(len(texts) - 1)
            positions.append(len(texts[-1]) + position - 1)
        texts[-1] += encoded.ids[1:-1]
    filler = list(chain.from_iterable(encoded.ids[1:-1] for encoded in usable)) * length
    full_texts = [[*text, *filler[: length - 1 - len(text)], usable[0].ids[-1]] for text in texts]
    ids = np.array(full_texts, np.int64).reshape(-1, length)
    return MaskedTexts(ids, np.array(rows, np.int64), np.array(positions, np.int64))


def accuracy_costs(
    variants: Sequence["Variant"], cancel_token: CancelToken, sentences: Sequence[str] | None = None
) -> Iterator[AccuracyCost]:
    """Compare the predictions of each variant with the first one's; needs real weights.

    Yields nothing where no sentence fits into the timed length.

    Raises:
        ModelUnavailable: the weights are not available. Cancelled: cancelled, or out of time.
    """
    from explorer.models.loading import leased
    from explorer.timing.protocol import thread_width

    first = variants[0]
    spec, workload = first.network.spec, first.workload
    originals = bundled_sentences() if sentences is None else sentences
    with leased(spec, workload.device) as loaded:
        texts = masked_texts(loaded, originals, workload.length)
    if not len(texts.rows):
        return
    with thread_width("compute"):
        exact = mask_logits(first, texts, cancel_token)
    for variant in variants[1:]:
        with thread_width("compute"):
            changed = mask_logits(variant, texts, cancel_token)
        yield accuracy_cost(spec.key, variant.name, exact, changed)


def mask_logits(variant: "Variant", texts: MaskedTexts, cancel_token: CancelToken) -> np.ndarray:
    """Compute a variant's logits [mask, vocabulary] with the same forward pass that is timed."""
    from explorer.timing.protocol import Pass
    from explorer.timing.runtimes.table import ScoreRequest, head_logits, scores_at

    batch, timed, outputs = variant.workload.batch, variant.network, []
    for start in range(0, len(texts.ids), batch):
        cancel_token.check()
        in_batch = (texts.rows >= start) & (texts.rows < start + batch)
        # np.resize repeats the texts of an incomplete last batch.
        ids = np.resize(texts.ids[start : start + batch], (batch, texts.ids.shape[1]))
        question = ScoreRequest(ids, texts.rows[in_batch] - start, texts.positions[in_batch])
        if variant.process is not None:
            outputs.append(variant.process.scores(question, cancel_token.check, variant.place))
        else:
            run = Pass(timed.spec, timed.network, variant.workload)
            outputs.append(scores_at(run, question, variant.workload.device))
    scores = np.concatenate(outputs)
    return scores if variant.workload.head else head_logits(timed.spec, timed.network, scores)
