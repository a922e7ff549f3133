"""Lists of texts through all models of a family: in batches, part by part, after visitors."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from explorer.context import context
from explorer.inference.ask import Ask
from explorer.inference.runs import call_on_model, device_of, gather, refuse_none
from explorer.lists.labelled import Cost
from explorer.lists.roles import BadRows, LeftOut
from explorer.lists.rows import MAX_TOKENS, TextList
from explorer.models.run import HEAD_ROWS, MaskedRow, length_batches, read_only
from explorer.models.specs import ModelSpec
from explorer.refusal import Refusal, Sentence
from explorer.scheduling.cancel import CancelToken
from explorer.scheduling.measurement_lock import MEASUREMENT_LOCK

if TYPE_CHECKING:
    from explorer.lists.masked import MaskedBlock, MaskedPlan, MaskedReadings
    from explorer.lists.sentences import SentencePlan, SentenceScore

MAX_TEXTS, MAX_TOKENS_AT_ONCE = 16, 512
"""Texts, and tokens with their padding, of one batch on the processor: as much memory as one text
of 512 tokens, and a visitor waits for no more than that."""
MAX_ON_DEVICE = 64, 4096
"""The same on an accelerator, whose time for a small batch is that of starting its operations."""
MAX_TEXTS_BESIDE_VISITORS = 1
"""Texts of one batch on the processor while visitors ask, who wait for the batch in progress."""
LONG_TOKENS = 128
"""Tokens from which on a pass of one batch is longer than a visitor's own."""
BLOCK_ROWS = 64
"""Rows whose logits are held at once."""
BLOCK_SENTENCES, BLOCK_TOKENS = 16, 1_024
"""Sentences whose masked copies are held at once, and their tokens: each has a copy or two."""
PART_ROWS, PART_CHARACTERS = 64, 4_000
"""Rows of one part of the preparation, and their characters: a model's tokenizer takes about 10 ms
for them, and a visitor waits for no more than that."""
Value = TypeVar("Value")
Plan = TypeVar("Plan")


@dataclass(frozen=True, slots=True, eq=False)
class Part(Generic[Value]):
    """Results of some rows of a list."""

    rows: tuple[int, ...]
    """Indices in the list's rows."""
    value: Value


@dataclass(frozen=True, slots=True, eq=False)
class Prepared(Generic[Plan]):
    """Rows that all models can run, with each model's input."""

    texts: TextList
    specs: Mapping[str, ModelSpec]
    ask: Ask
    plans: Mapping[str, Sequence[Plan]]
    """By model, one for each row."""
    missing: Mapping[str, Refusal]
    """By model the reason why it is not asked."""
    classified: frozenset[str] = frozenset()
    """The models whose own classifier is asked in the passes of their features."""


def prepared(
    texts: TextList,
    ask: Ask,
    job: Callable[..., Any],
    inputs: Sequence[Any],
    cancel: CancelToken,
) -> Prepared[Any]:
    """Return each model's plan of every row; a row that one model cannot run is left out for all.

    Args:
        texts: The list.
        ask: The models, device and precision.
        job: Job that makes a plan, or a sentence why there is none, of each of many inputs.
        inputs: One for each row.
        cancel: Token that is checked before each part of the rows.

    Raises:
        BadRows: no row is left. Refusal: no model can be asked. Cancelled: between two parts.
    """
    plans: dict[str, list[Any]] = {key: [None] * len(inputs) for key in ask.specs}
    missing: dict[str, Refusal] = {}
    sizes = [len(row.text) + len(row.other) for row in texts.rows]
    for rows in length_batches(sizes, PART_ROWS, PART_CHARACTERS):
        cancel.check()
        part = [inputs[row] for row in rows]
        jobs = {key: partial(_plans_of, job, ask.specs[key], ask, part) for key in plans}
        _put(plans, rows, dict(zip(jobs, gather([*jobs.values()]), strict=True)), missing)
    refuse_none(plans, missing)
    reasons: dict[int, str] = {}
    for of_model in plans.values():
        for place, plan in enumerate(of_model):
            if isinstance(plan, str):
                reasons.setdefault(place, plan)
    left_out = [LeftOut(texts.rows[place].number, why) for place, why in reasons.items()]
    kept = [place for place in range(len(texts.rows)) if place not in reasons]
    if not kept:
        raise BadRows(
            Sentence(
                "no-readable-row",
                f"No row can be read. Row {left_out[0].number}: {left_out[0].reason}",
            )
        )
    return Prepared(
        texts.without(left_out),
        {key: ask.specs[key] for key in plans},
        ask,
        {key: [of_model[place] for place in kept] for key, of_model in plans.items()},
        missing,
    )


def _put(
    plans: dict[str, list[Any]],
    rows: Sequence[int],
    answers: Mapping[str, list[Any] | Refusal],
    missing: dict[str, Refusal],
) -> None:
    """Put the plans of some rows in their places; a model that cannot be asked is missing."""
    for key, answer in answers.items():
        if isinstance(answer, Refusal):
            missing[key] = answer
            del plans[key]
            continue
        for row, plan in zip(rows, answer, strict=True):
            plans[key][row] = plan


def _plans_of(
    job: Callable[..., Any], spec: ModelSpec, ask: Ask, inputs: Sequence[Any]
) -> list[Any] | Refusal:
    """Return a model's plans, or the reason why it cannot be asked."""
    from explorer.models.forward import NO_HEAD, encoded_texts, word_lengths
    from explorer.models.hub import ModelUnavailable
    from explorer.models.task_heads.classifiers import tag_plans

    if job not in (encoded_texts, word_lengths, tag_plans) and not spec.has_head:
        return ModelUnavailable(spec, NO_HEAD)
    try:
        return call_on_model(job, spec, ask, inputs, MAX_TOKENS)
    except ModelUnavailable as error:
        return error


def in_batches(
    compute: Callable[[list[Any]], np.ndarray],
    items: Sequence[Any],
    lengths: Sequence[int],
    ask: Ask,
    cancel: CancelToken,
) -> np.ndarray:
    """Return the results of items, in their order, asked in batches of like length.

    Raises:
        Cancelled: between two batches.
    """
    results: list[Any] = [None] * len(items)
    is_cpu = device_of(ask) == "cpu"
    most = (MAX_TEXTS, MAX_TOKENS_AT_ONCE) if is_cpu else MAX_ON_DEVICE
    for batch in _beside_visitors(length_batches(lengths, *most), is_cpu):
        n_tokens = len(batch) * max(lengths[place] for place in batch)
        with turn_of(cancel) if is_cpu and n_tokens >= LONG_TOKENS else nullcontext():
            cancel.check()
            answers = compute([items[place] for place in batch])
        for place, result in zip(batch, answers, strict=True):
            results[place] = result
    return np.stack(results) if results else np.zeros((0, 2))


def turn_of(cancel: CancelToken) -> AbstractContextManager[None]:
    """Return the turn of a long pass in this process; other machines have workers of their own."""
    if context().backend:
        return nullcontext()
    return MEASUREMENT_LOCK.turn(bool(context().program_address()), cancel.check)


def _beside_visitors(batches: Iterator[tuple[int, ...]], is_cpu: bool) -> Iterator[tuple[int, ...]]:
    """Yield batches, in smaller ones while visitors ask: they wait for one in progress."""
    for batch in batches:
        size = MAX_TEXTS_BESIDE_VISITORS if is_cpu else len(batch)
        while batch:
            n = size if MEASUREMENT_LOCK.is_visited else len(batch)
            yield batch[:n]
            batch = batch[n:]


def prepare_masked(texts: TextList, ask: Ask, cancel: CancelToken) -> "Prepared[MaskedPlan]":
    """Return the plans of masked rows."""
    from explorer.lists.masked import masked_plans

    asked = [(row.text, row.words, len(row.accepted)) for row in texts.rows]
    return prepared(texts, ask, masked_plans, asked, cancel)


def masked_parts(
    ready: "Prepared[MaskedPlan]", cancel: CancelToken
) -> "Iterator[Part[MaskedBlock]]":
    """Yield the answers of all models to masked rows, block by block.

    Raises:
        Cancelled: between two batches.
    """
    from explorer.lists.masked import masked_block
    from explorer.models.forward import loaded_vocabulary

    specs, ask = ready.specs, ready.ask
    vocabularies = {key: call_on_model(loaded_vocabulary, spec, ask) for key, spec in specs.items()}
    lengths = [len(plan.row.ids) for plan in next(iter(ready.plans.values()))]
    for rows in length_batches(lengths, BLOCK_ROWS, BLOCK_ROWS * MAX_TOKENS):
        plans = {key: [of_model[row] for row in rows] for key, of_model in ready.plans.items()}
        jobs = [partial(_masked_readings, specs[key], ask, plans[key], cancel) for key in specs]
        readings = dict(zip(specs, gather(jobs), strict=True))
        yield Part(rows, masked_block(plans, readings, vocabularies))


def _masked_readings(
    spec: ModelSpec, ask: Ask, plans: "Sequence[MaskedPlan]", cancel: CancelToken
) -> "MaskedReadings":
    from explorer.lists.masked import MaskedReadings
    from explorer.models.read_at import vocabulary_rows

    pieces = [
        (row, target)
        for plan in plans
        for word in plan.words
        for row, target in zip(word.pieces, word.targets, strict=False)
    ]
    states = states_at(spec, ask, [plan.row for plan in plans], cancel)

    def head(part: np.ndarray) -> np.ndarray:
        return call_on_model(vocabulary_rows, spec, ask, part, False)

    log_probs = of_states(head, states, cancel)
    return MaskedReadings(log_probs, target_scores(spec, ask, pieces, cancel))


def states_at(
    spec: ModelSpec, ask: Ask, rows: Sequence[MaskedRow], cancel: CancelToken
) -> np.ndarray:
    """Return a model's last hidden states float32 [row, d_model] at the rows' positions."""
    from explorer.models.read_at import mask_states

    def compute(batch: list[MaskedRow]) -> np.ndarray:
        return call_on_model(mask_states, spec, ask, batch, False)

    return in_batches(compute, rows, [len(row.ids) for row in rows], ask, cancel)


def of_states(
    head: Callable[..., np.ndarray], states: np.ndarray, cancel: CancelToken, *more: Sequence[Any]
) -> np.ndarray:
    """Return what a head computes of states [row, d_model], of ``HEAD_ROWS`` at once.

    Args:
        head: Job of a model's head.
        states: The states.
        cancel: Token that is checked before each part.
        more: Further arguments of the job, one for each row.
    """
    found = []
    for start in range(0, len(states), HEAD_ROWS):
        cancel.check()
        part = slice(start, start + HEAD_ROWS)
        found.append(head(states[part], *(each[part] for each in more)))
    return np.concatenate(found) if found else np.zeros((0, 2))


def target_scores(
    spec: ModelSpec, ask: Ask, rows: Sequence[tuple[MaskedRow, int]], cancel: CancelToken
) -> np.ndarray:
    """Return log-probability and rank, float64 [row, 2], of the target of each masked row."""
    from explorer.models.read_at import target_rows

    states = states_at(spec, ask, [row for row, _ in rows], cancel)

    def head(part: np.ndarray, targets: Sequence[int]) -> np.ndarray:
        return call_on_model(target_rows, spec, ask, part, targets, False)

    return of_states(head, states, cancel, [target for _, target in rows])


def prepare_sentences(
    texts: TextList, ask: Ask, cancel: CancelToken
) -> "Prepared[list[SentencePlan]]":
    """Return the plans of plain sentences, or of both sentences of pairs."""
    from explorer.lists.sentences import row_plans

    sides = [tuple(filter(None, (row.text, row.other, row.blank))) for row in texts.rows]
    return prepared(texts, ask, row_plans, sides, cancel)


def sentence_parts(
    ready: "Prepared[list[SentencePlan]]", cancel: CancelToken
) -> "Iterator[Part[dict[str, list[list[SentenceScore]]]]]":
    """Yield the scores of all models, by model, row and sentence of the row, block by block.

    Raises:
        Cancelled: between two batches.
    """
    specs, ask = ready.specs, ready.ask
    lengths = [plans[0].n_tokens for plans in next(iter(ready.plans.values()))]
    for rows in length_batches(lengths, BLOCK_SENTENCES, BLOCK_TOKENS):
        jobs = [
            partial(_scores, spec, ask, [ready.plans[key][row] for row in rows], cancel)
            for key, spec in specs.items()
        ]
        yield Part(rows, dict(zip(specs, gather(jobs), strict=True)))


def _scores(
    spec: ModelSpec, ask: Ask, plans: "Sequence[list[SentencePlan]]", cancel: CancelToken
) -> "list[list[SentenceScore]]":
    """Return one model's scores by row and sentence."""
    flat = [plan for of_row in plans for plan in of_row]
    scores = iter(pseudo_log_likelihoods(spec, ask, flat, cancel))
    return [[next(scores) for _ in of_row] for of_row in plans]


def pseudo_log_likelihoods(
    spec: ModelSpec, ask: Ask, plans: "Sequence[SentencePlan]", cancel: CancelToken
) -> "list[SentenceScore]":
    """Return one model's scores of sentences; the masked copies of all of them share batches."""
    rows = [plan.rows() for plan in plans]
    flat = [row for of_plan in rows for row in of_plan]
    log_probs = target_scores(spec, ask, flat, cancel)[:, 0]
    ends = np.cumsum([len(of_plan) for of_plan in rows])
    return [
        plan.score(log_probs[end - len(of_plan) : end])
        for plan, of_plan, end in zip(plans, rows, ends, strict=True)
    ]


def prepare_features(texts: TextList, ask: Ask, cancel: CancelToken) -> Prepared[Any]:
    """Return the input ids of texts."""
    from explorer.models.forward import encoded_texts

    return prepared(texts, ask, encoded_texts, [row.read for row in texts.rows], cancel)


def shortened(texts: TextList, ask: Ask, way: str, cancel: CancelToken) -> TextList:
    """Return a list whose long texts are cut, the same for all models; see ``cut``.

    Raises:
        Cancelled: between two parts of the rows.
    """
    from explorer.lists.cut import cut_all
    from explorer.models.forward import word_lengths
    from explorer.models.tokens import sides_of

    places = [n for n, row in enumerate(texts.rows) if len(row.text) > MAX_TOKENS // 2]
    rows, long = list(texts.rows), [texts.rows[place].text for place in places]
    for part in length_batches([len(text) for text in long], PART_ROWS, PART_CHARACTERS):
        cancel.check()
        given = [long[n] for n in part]
        parts = [sides_of(text) for text in given]
        jobs = {
            key: partial(_plans_of, word_lengths, spec, ask, parts)
            for key, spec in ask.specs.items()
        }
        found = dict(zip(jobs, gather([*jobs.values()]), strict=True))
        known = {key: each for key, each in found.items() if not isinstance(each, Refusal)}
        if not known:
            return texts  # no model can be asked, which is said when its inputs are prepared
        for n, text in zip(part, cut_all(given, known, way, MAX_TOKENS), strict=True):
            row = rows[places[n]]
            rows[places[n]] = replace(row, cut="" if text == row.text else text)
    is_cut = any(row.cut for row in rows)
    return replace(texts, rows=tuple(rows), way=way if is_cut else "")


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """One model's features of some rows, and what they cost."""

    values: np.ndarray
    """float32 [row, layer + 1, d_model]"""
    seconds: float
    logits: np.ndarray | None = None
    """float32 [row, label] of the model's own classifier; None where it is not asked."""


def feature_parts(
    ready: Prepared[Any], pooling: str, cancel: CancelToken
) -> Iterator[Part[dict[str, Features]]]:
    """Yield the features of all models.

    Raises:
        Cancelled: between two batches.
    """
    specs, ask = ready.specs, ready.ask
    lengths = [len(text.ids) for text in next(iter(ready.plans.values()))]
    features_of = {key: _classified if key in ready.classified else _features for key in specs}
    for rows in length_batches(lengths, BLOCK_ROWS, BLOCK_ROWS * MAX_TOKENS):
        jobs = [
            partial(
                features_of[key], spec, ask, [ready.plans[key][r] for r in rows], (pooling, cancel)
            )
            for key, spec in specs.items()
        ]
        yield Part(rows, dict(zip(specs, gather(jobs), strict=True)))


def _features(
    spec: ModelSpec, ask: Ask, texts: Sequence[Any], how: tuple[str, CancelToken]
) -> Features:
    from explorer.models.forward import timed_features

    pooling, cancel = how
    seconds = []

    def compute(batch: list[Any]) -> np.ndarray:
        values, took = call_on_model(timed_features, spec, ask, batch, pooling)
        seconds.append(took)
        return values

    values = in_batches(compute, texts, [len(text.ids) for text in texts], ask, cancel)
    return Features(values, sum(seconds))


def _classified(
    spec: ModelSpec, ask: Ask, texts: Sequence[Any], how: tuple[str, CancelToken]
) -> Features:
    """Return the features of some rows with the logits of the model's own classifier."""
    from explorer.models.task_heads.classifiers import timed_logits

    pooling, cancel = how
    seconds: list[float] = []
    logits: list[Any] = [None] * len(texts)

    def compute(places: list[int]) -> np.ndarray:
        batch = [texts[place] for place in places]
        values, took, found = call_on_model(timed_logits, spec, ask, batch, pooling)
        seconds.append(took)
        for place, row in zip(places, found, strict=True):
            logits[place] = row
        return values

    lengths = [len(text.ids) for text in texts]
    values = in_batches(compute, range(len(texts)), lengths, ask, cancel)
    return Features(values, sum(seconds), np.stack(logits))


def in_row_order(
    parts: Sequence[Part[Mapping[str, Features]]], n_rows: int
) -> dict[str, np.ndarray]:
    """Return features by model [row, ...] of parts that cover all rows."""
    order = [row for part in parts for row in part.rows]
    inverse = np.argsort(order)
    if len(order) != n_rows:
        raise ValueError(f"{len(order)} of {n_rows} rows are there")
    keys = parts[0].value
    return {
        key: read_only(np.concatenate([part.value[key].values for part in parts])[inverse])
        for key in keys
    }


def logits_in_row_order(parts: Sequence[Part[Mapping[str, Features]]]) -> dict[str, np.ndarray]:
    """Return the logits [row, label] of the models whose own classifier was asked."""
    inverse = np.argsort([row for part in parts for row in part.rows])
    each: dict[str, list[np.ndarray]] = {}
    for part in parts:
        for key, features in part.value.items():
            if features.logits is not None:
                each.setdefault(key, []).append(features.logits)
    return {key: read_only(np.concatenate(found)[inverse]) for key, found in each.items()}


def costs_of(
    ready: Prepared[Any], parts: Sequence[Part[Mapping[str, Features]]]
) -> dict[str, Cost]:
    """Return by model what a row's features cost, and how large the encoder is."""
    from explorer.models.forward import encoder_bytes

    n_rows = sum(len(part.rows) for part in parts)
    return {
        key: Cost(
            1e3 * sum(part.value[key].seconds for part in parts) / n_rows,
            call_on_model(encoder_bytes, spec, ready.ask) / 1e6,
        )
        for key, spec in ready.specs.items()
    }
