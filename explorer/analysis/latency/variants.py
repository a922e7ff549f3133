"""Other precisions and runtimes: their latency, and what they do to the answers."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from explorer.analysis.latency.family import PASS_ALLOWANCE, instruments_for
from explorer.analysis.latency.measure import (
    LatencySummary,
    RoundsPlan,
    TimedCall,
    latency_rounds,
    latency_summary,
)
from explorer.analysis.measures import kl_of_logs, log_softmax
from explorer.assets import sentences
from explorer.inference.scheduling.cancel import CancelToken
from explorer.models.specs import ModelSpec
from explorer.timing.workload import Workload

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel
    from explorer.timing.networks import TimedNetwork
    from explorer.timing.runtimes.process import RuntimeProcess


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """One way to run a model: its name, the network and the pass."""

    name: str
    timed: "TimedNetwork"
    workload: Workload
    process: "RuntimeProcess | None" = None
    """Where the pass runs if not here; the network then says whose pass it is."""
    resident: int | None = None
    """Bytes that a process holds which runs the model this way alone; None: not known."""

    def at(self, batch: int) -> "Variant":
        """The same way to run so many texts at once."""
        return replace(self, workload=replace(self.workload, batch=batch))

    def candidate(self, cancel_token: CancelToken) -> TimedCall:
        """The pass as something to be timed, which checks the cancel token while it waits."""
        from explorer.timing.protocol import forward_call

        process = self.process
        if process is not None:
            # The process reads its own clock, so the call's answer is the time.
            def seconds(_call: object = None) -> float:
                return process.seconds(self.workload.batch, cancel_token.check)

            return TimedCall(self.name, seconds, seconds)
        run = forward_call(self.timed.spec, self.timed.network, self.workload)
        return TimedCall(self.name, run)


@dataclass(frozen=True, slots=True, eq=False)
class VariantLatency:
    """One model's ways to run, timed in the same rounds; ratios are the first over each other."""

    spec: ModelSpec
    summary: LatencySummary
    weights: str
    resident: Mapping[str, int | None] = field(default_factory=dict)
    """Bytes of the serving process, by the name of the way to run."""
    batches: Mapping[int, LatencySummary] = field(default_factory=dict)
    """By the number of texts in a pass, as far as that was asked; ``summary`` is one of them."""

    def throughput(self, name: str, batch: int) -> tuple[float, float | None] | None:
        """Texts per second and a pass's 90th percentile, ms; None where that was not timed."""
        summary = self.batches.get(batch)
        for model in summary.models if summary else ():
            if model.name == name:
                return 1e3 * batch / model.median_ms, model.p90_ms
        return None


def variant_latency(
    variants: Sequence[Variant], plan: RoundsPlan, cancel_token: CancelToken
) -> VariantLatency | None:
    """One model's ways to run in the same rounds; None without a round in time."""
    from explorer.timing.protocol import interruptible

    first = variants[0]
    spec, workload = first.timed.spec, first.workload
    calls = [variant.candidate(cancel_token) for variant in variants]
    networks = {id(v.timed.network): (spec, v.timed.network) for v in variants}
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
    return VariantLatency(spec, summary, first.timed.weights, resident, batches)


N_SENTENCES = 40


def bundled_sentences(n: int = N_SENTENCES) -> tuple[str, ...]:
    """The first bundled sentences with one masked word each."""
    return tuple(sentence["text"] for sentence in sentences()[:n])


@dataclass(frozen=True, slots=True)
class AccuracyCost:
    """One variant of a model against float32 over the same masked sentences."""

    key: str
    name: str
    same_top1: float
    """Share of masks whose first answer stays the same."""
    mean_kl: float
    """Mean KL(float32 || variant) over the masks, nats."""
    n_masks: int


def accuracy_cost(key: str, name: str, exact: np.ndarray, changed: np.ndarray) -> AccuracyCost:
    """How far a variant's predictions are from the exact ones, logits [mask, vocabulary] each.

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
    """Texts of just one length made of whole masked sentences, and where their masks are."""

    ids: np.ndarray
    """int64 [text, length]."""
    rows: np.ndarray
    """int64 [mask]: the text of each mask, in order."""
    positions: np.ndarray
    """int64 [mask]."""


def masked_texts(loaded: "LoadedModel", sentences: Sequence[str], length: int) -> MaskedTexts:
    """Sentences one after another in texts of exactly ``length`` tokens.

    What is compiled for one length runs at that length only, and padding would need a mask that
    the timed pass has not. The room after the last whole sentence of a text is filled with words
    of the first ones, whose masks do not count there; a sentence longer than a text is left out.
    """
    from explorer.models.forward import tokenize

    tokens = [tokenize(loaded, sentence) for sentence in sentences]
    fitting = [t for t in tokens if len(t.ids) <= length]
    texts: list[list[int]] = []
    rows, positions = [], []
    for t in fitting:
        if not texts or len(texts[-1]) + len(t.ids) - 1 > length:
            texts.append([t.ids[0]])
        for at in t.mask_positions:
            rows.append(len(texts) - 1)
            positions.append(len(texts[-1]) + at - 1)
        texts[-1] += t.ids[1:-1]
    filler = list(chain.from_iterable(t.ids[1:-1] for t in fitting)) * length
    shaped = [[*text, *filler[: length - 1 - len(text)], fitting[0].ids[-1]] for text in texts]
    ids = np.array(shaped, np.int64).reshape(-1, length)
    return MaskedTexts(ids, np.array(rows, np.int64), np.array(positions, np.int64))


def accuracy_costs(
    variants: Sequence["Variant"], cancel_token: CancelToken, sentences: Sequence[str] | None = None
) -> Iterator[AccuracyCost]:
    """What each way to run a model does to its answers, against the first; needs real weights.

    Yields nothing where not one of the sentences fits into a text of the timed length.

    Raises:
        ModelUnavailable: the weights cannot be had. Stopped: somebody asked for the end.
    """
    from explorer.models.loading import leased
    from explorer.timing.protocol import thread_width

    first = variants[0]
    spec, workload = first.timed.spec, first.workload
    listed = bundled_sentences() if sentences is None else sentences
    with leased(spec, workload.device) as loaded:
        texts = masked_texts(loaded, listed, workload.length)
    if not len(texts.rows):
        return
    with thread_width("compute"):
        exact = mask_logits(first, texts, cancel_token)
    for variant in variants[1:]:
        with thread_width("compute"):
            changed = mask_logits(variant, texts, cancel_token)
        yield accuracy_cost(spec.key, variant.name, exact, changed)


def mask_logits(variant: "Variant", texts: MaskedTexts, cancel_token: CancelToken) -> np.ndarray:
    """A variant's logits [mask, vocabulary], from the very pass that is timed."""
    from explorer.timing.protocol import Pass
    from explorer.timing.runtimes.table import Question, head_logits, scores_at

    batch, timed, found = variant.workload.batch, variant.timed, []
    for start in range(0, len(texts.ids), batch):
        cancel_token.check()
        here = (texts.rows >= start) & (texts.rows < start + batch)
        # A last batch that is not full is filled with its own texts again.
        ids = np.resize(texts.ids[start : start + batch], (batch, texts.ids.shape[1]))
        question = Question(ids, texts.rows[here] - start, texts.positions[here])
        if variant.process is not None:
            found.append(variant.process.scores(question, cancel_token.check))
        else:
            run = Pass(timed.spec, timed.network, variant.workload)
            found.append(scores_at(run, question, variant.workload.device))
    scores = np.concatenate(found)
    return scores if variant.workload.head else head_logits(timed.spec, timed.network, scores)
