"""Lists in bfloat16: rows whose decisions are close are run again in float32, model by model."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np

from explorer.inference.ask import Ask
from explorer.inference.runs import call_on_model, device_of, gather
from explorer.lists.batches import BLOCK_ROWS, Part, Prepared, of_states, states_at, turn_of
from explorer.lists.bias import sides_of, unmodified_scores
from explorer.lists.masked import MaskedPlan, MaskedReadings, WordPlan, masked_block
from explorer.lists.rows import JUDGED
from explorer.lists.rule import (
    LEAST_ROWS,
    RANKS,
    ROUNDS,
    SEED,
    FastReport,
    Seen,
    answer_margins,
    first_margin,
    n_checked,
    n_first,
)
from explorer.lists.sentences import TIE, SentencePlan
from explorer.lists.stereoset import BlankPlan, BlankScore
from explorer.models.run import MaskedRow, half_batches, half_rows, half_tokens, named_only
from explorer.models.specs import ModelSpec
from explorer.scheduling.cancel import CancelToken

SHARES = 3
"""Parts of a model's batches that run at the same time: there are as many workers."""
FAST_ROWS, FAST_SENTENCES, FAST_TOKENS = 384, 32, 2_048
"""Masked rows of a block; and sentences, and their tokens. As the copies of the layers are made for
each block and model, blocks are larger than in float32. A head reads parts of a block."""
OWN_HEADS = "its own head tags the words, which is done in float32"
TRAINED = "a regression is trained on these rows, and must not mix two precisions"
OTHER = "the models are already loaded in {dtype}"
FEW_ROWS = "{n} are fewer than {least}, and reading some of them twice would save nothing"
WIDTH = 2 + len(RANKS)
"""Numbers that are read at each piece of a word of several."""
Decided = tuple[list[float], float, int]
States = list[np.ndarray]
"""By row the last states float32 [text, d_model] of its texts."""
Readings = dict[str, list[Any]]
"""By model what was read of each row of a block."""


class _Kind(ABC):
    """Reading of the rows of a kind, and the margins of what they decide."""

    groups: tuple[int, ...] = ()
    """By margin a number; margins of one number have one bound."""
    block = FAST_ROWS, FAST_ROWS * 512
    """Rows and tokens of a block."""
    has_batches = True
    """True: a row is one text of a batch, or few more."""

    def __init__(self, ready: Prepared[Any], cancel: CancelToken) -> None:
        self.ready, self.cancel = ready, cancel

    @abstractmethod
    def lengths(self, key: str) -> list[int]:
        """Return the tokens of each row for a model."""

    @abstractmethod
    def inputs(self, key: str, row: int) -> list[tuple[MaskedRow, int]]:
        """Return the texts that a model runs of a row, with the id that each is asked for."""

    @abstractmethod
    def read(self, key: str, rows: Sequence[int], states: States, is_half: bool) -> list[Any]:
        """Return what a model's head reads of the states of some rows."""

    def states(self, key: str, rows: Sequence[int], is_half: bool) -> States:
        """Return a model's last states of the texts of some rows, which share batches."""
        texts = [[text for text, _ in self.inputs(key, row)] for row in rows]
        flat, how = [text for of_row in texts for text in of_row], (self.ready.specs[key], is_half)
        found = iter(_states_of(flat, how, self.ready.ask, self.cancel))
        return [np.array([next(found) for _ in of_row]) for of_row in texts]

    def heads(
        self, key: str, states: States, is_half: bool, job: Callable[..., Any], *more: Sequence[Any]
    ) -> Iterator[Any]:
        """Yield what a head computes of each text."""

        def head(part: np.ndarray, *given: Sequence[Any]) -> np.ndarray:
            compute: Any = job  # of any number of arguments
            return call_on_model(
                compute, self.ready.specs[key], self.ready.ask, part, *given, is_half
            )

        return iter(of_states(head, np.concatenate(states), self.cancel, *more))

    @abstractmethod
    def decisions(self, key: str, row: int, found: Any, word: int) -> Decided:  # noqa: ANN401
        """Return a row's margins, its printed number, and the id of its first word.

        Args:
            key: The model.
            row: The row.
            found: What was read of it.
            word: The first word's id in bfloat16, which the margins are about; -1: the own one.
        """

    @abstractmethod
    def value(self, rows: Sequence[int], readings: Readings) -> Any:  # noqa: ANN401
        """Return what a ``Part`` of the rows holds."""


class _Masked(_Kind):
    """Masked rows: what was read of one is a ``MaskedReadings`` of that row."""

    groups = (0,) * (1 + len(RANKS))

    def __init__(self, ready: Prepared[MaskedPlan], cancel: CancelToken) -> None:
        from explorer.models.forward import loaded_vocabulary

        super().__init__(ready, cancel)
        self.vocabularies = {
            key: call_on_model(loaded_vocabulary, spec, ready.ask)
            for key, spec in ready.specs.items()
        }

    def lengths(self, key: str) -> list[int]:
        """Return the tokens of each text."""
        return [len(plan.row.ids) for plan in self.ready.plans[key]]

    def inputs(self, key: str, row: int) -> list[tuple[MaskedRow, int]]:
        """Return the text, and the pieces of words of several."""
        plan: MaskedPlan = self.ready.plans[key][row]
        return [(plan.row, -1), *_pieces_of(plan)]

    def read(
        self, key: str, rows: Sequence[int], states: States, is_half: bool
    ) -> list[MaskedReadings]:
        """Read the texts and the pieces at their masks."""
        from explorer.models.read_at import vocabulary_rows

        logs = self.heads(key, states, is_half, vocabulary_rows)
        pieces = [_pieces_of(self.ready.plans[key][row]) for row in rows]
        return [
            MaskedReadings(next(logs), np.array([_piece(next(logs), target) for _, target in each]))
            for each in pieces
        ]

    def decisions(self, key: str, row: int, found: MaskedReadings, word: int) -> Decided:
        """Return the margins of the first word, and of the answer at each of ``RANKS``."""
        plan: MaskedPlan = self.ready.plans[key][row]
        named = named_only(found.log_probs, self.vocabularies[key])
        own = int(named.argmax())
        first, pieces = (own if word < 0 else word), iter(found.pieces)
        margins = [_word_margins(each, found.log_probs, pieces) for each in plan.words]
        known = [each for each in margins[: plan.n_answers] if each]
        best = np.max(known, 0) if known else np.full(len(RANKS), np.nan)
        margins_of_row = [first_margin(named, first), *best.tolist()]
        return margins_of_row, float(np.exp(named[own])), first

    def value(self, rows: Sequence[int], readings: Readings) -> Any:  # noqa: ANN401
        """Return the ``MaskedBlock`` of the rows."""
        plans = {key: [each[row] for row in rows] for key, each in self.ready.plans.items()}
        joined = {
            key: MaskedReadings(
                np.stack([each.log_probs for each in of_model]),
                np.concatenate([each.pieces.reshape(-1, WIDTH)[:, :2] for each in of_model]),
            )
            for key, of_model in readings.items()
        }
        return masked_block(plans, joined, self.vocabularies)


def _piece(log_probs: np.ndarray, target: int) -> list[float]:
    """Return ln P of a piece, its rank, and its margin at each of ``RANKS``."""
    own = log_probs[target]
    return [float(own), 1.0 + int((log_probs > own).sum()), *answer_margins(log_probs, target)]


def _pieces_of(plan: MaskedPlan) -> list[Any]:
    return [
        (row, target)
        for word in plan.words
        for row, target in zip(word.pieces, word.targets, strict=False)
    ]


def _word_margins(
    word: WordPlan, log_probs: np.ndarray, pieces: Iterator[np.ndarray]
) -> list[float]:
    """Return a word's margin at each rank: of several pieces the smallest; empty without any."""
    if word.pieces:
        read = [next(pieces)[2:] for _ in word.pieces]
        return np.min(read, 0).tolist()
    return answer_margins(log_probs, word.targets[0]) if word.targets else []


class _Sentences(_Kind):
    """Sentences, or pairs of them: what was read of a row is the score of each sentence."""

    block = FAST_SENTENCES, FAST_TOKENS
    has_batches = False

    def __init__(self, ready: Prepared[Any], cancel: CancelToken, score: str) -> None:
        super().__init__(ready, cancel)
        self.score, self.is_pair = score, ready.texts.kind == "pairs"
        self.is_crows = self.is_pair and sides_of(ready.texts).is_crows
        has_blanks = any(row.blank for row in ready.texts.rows)
        self.groups = (0,) * self.is_pair + (1,) * self.is_crows + (2,) * (3 * has_blanks)
        self.has_blanks = has_blanks

    def lengths(self, key: str) -> list[int]:
        """Return the tokens of the sentences of each row."""
        return [sum(map(_tokens_of, plans)) for plans in self.ready.plans[key]]

    def inputs(self, key: str, row: int) -> list[tuple[MaskedRow, int]]:
        """Return the masked copies of all sentences of a row."""
        return [each for plan in self.ready.plans[key][row] for each in plan.rows()]

    def read(self, key: str, rows: Sequence[int], states: States, is_half: bool) -> list[Any]:
        """Read the copies at their masks."""
        from explorer.models.read_at import target_rows

        copies = [[plan.rows() for plan in self.ready.plans[key][row]] for row in rows]
        targets = [target for of_row in copies for each in of_row for _, target in each]
        found = self.heads(key, states, is_half, target_rows, targets)
        return [
            [
                plan.score(np.array([next(found)[0] for _ in each]))
                for plan, each in zip(self.ready.plans[key][row], of_row, strict=True)
            ]
            for row, of_row in zip(rows, copies, strict=True)
        ]

    def decisions(self, key: str, row: int, found: list[Any], word: int) -> Decided:
        """Return the margin of a pair, and those of the scores that its list has."""
        del key, row
        if not self.is_pair:
            return [], found[0].pll, word
        good, bad = found[:2]
        margins = [good.value(self.score) - bad.value(self.score) - TIE]
        if self.is_crows:
            more, less = unmodified_scores(good, bad)
            margins.append(more - less)
        if self.has_blanks:
            margins += _blank_margins(found[2] if found[2:] else None)
        return margins, good.pll, word

    def value(self, rows: Sequence[int], readings: Readings) -> Any:  # noqa: ANN401
        """Return the scores by model, row and sentence."""
        del rows
        return readings


def _tokens_of(plan: SentencePlan | BlankPlan) -> int:
    return plan.n_tokens if isinstance(plan, SentencePlan) else len(plan.tokens)


def _blank_margins(blank: BlankScore | None) -> list[float]:
    """Return the log-ratios that StereoSet's scores count, in nats; nan without a blank."""
    if blank is None:
        return [np.nan] * 3
    stereotype, against, unrelated = np.log(np.maximum(blank.words, 1e-300))
    return [stereotype - against, stereotype - unrelated, against - unrelated]


def _states_of(
    rows: Sequence[MaskedRow], how: tuple[ModelSpec, bool], ask: Ask, cancel: CancelToken
) -> Sequence[np.ndarray]:
    """Return the states of rows in their order; in bfloat16 in batches of one shape each."""
    from explorer.models.read_at import mask_states

    spec, is_half = how
    if not is_half:
        return list(states_at(spec, ask, rows, cancel))
    found: list[Any] = [None] * len(rows)
    lengths, device = [len(row.ids) for row in rows], device_of(ask)
    batches = list(half_batches(lengths, spec.max_tokens, device))

    def run(share: Sequence[tuple[int, ...]]) -> None:
        for batch in share:
            with turn_of(cancel) if device == "cpu" else nullcontext():
                cancel.check()
                states = call_on_model(mask_states, spec, ask, [rows[n] for n in batch], True)
            for place, state in zip(batch, states, strict=True):
                found[place] = state

    gather([partial(run, batches[n::SHARES]) for n in range(SHARES)])
    return found


def not_fast(ready: Prepared[Any], n_rows: int) -> FastReport:
    """Return the report of a list that no model runs in bfloat16."""
    reason = OTHER.format(dtype=ready.ask.dtype)
    if ready.texts.kind in JUDGED:
        reason = TRAINED
    if ready.texts.kind == "tagged":
        reason = OWN_HEADS
    exact = {key: np.full(n_rows, ready.ask.dtype == "float32") for key in ready.specs}
    return FastReport({}, dict.fromkeys(ready.specs, reason), exact)


class FastList:
    """A list in bfloat16: iterate over ``parts``, then read ``report``."""

    def __init__(self, ready: Prepared[Any], score: str, cancel: CancelToken) -> None:
        """Find out which models can be run in bfloat16."""
        from explorer.models.half import half_refused

        is_masked = ready.texts.kind == "masked"
        self._kind: _Kind = (
            _Masked(ready, cancel) if is_masked else _Sentences(ready, cancel, score)
        )
        self._ready, self._cancel = ready, cancel
        n_rows = len(ready.texts.rows)
        few = FEW_ROWS.format(n=n_rows, least=LEAST_ROWS) if n_rows < LEAST_ROWS else ""
        reasons = {
            key: few or call_on_model(half_refused, spec, ready.ask)
            for key, spec in ready.specs.items()
        }
        self.reasons = {key: reason for key, reason in reasons.items() if reason}
        self._seen = {
            key: Seen(n_rows, self._kind.groups) for key in ready.specs if key not in self.reasons
        }

    @property
    def models(self) -> tuple[str, ...]:
        """The models that run in bfloat16."""
        return tuple(self._seen)

    def report(self, rows: Sequence[int]) -> FastReport:
        """Return what was done of rows so far."""
        exact = {
            key: self._seen[key].is_exact[list(rows)]
            if key in self._seen
            else np.ones(len(rows), bool)
            for key in self._ready.specs
        }
        seen = {key: each.report() for key, each in self._seen.items()}
        return FastReport(seen, self.reasons, exact)

    def parts(self) -> Iterator[Part[Any]]:
        """Yield the parts of the list; rows of a later one replace those of an earlier one.

        Raises:
            Cancelled: between two batches.
        """
        n_rows = len(self._ready.texts.rows)
        rng = np.random.default_rng(SEED)
        n = n_first(n_rows, bool(self._kind.groups)) if self._seen else 0
        first = np.sort(rng.choice(n_rows, n, replace=False)).tolist()
        more = self._filling(first)
        if first:
            yield from self._first(first, more)
        done = {*first, *more}
        yield from self._all([row for row in range(n_rows) if row not in done])
        for _ in range(ROUNDS):
            rows = self._still_close()
            if not rows:
                break
            yield from self._all(rows)
        self._check(rng, n_checked(n_rows))

    def _all(self, rows: Sequence[int]) -> Iterator[Part[Any]]:
        """Yield the parts of rows: the layers run over a block, the heads over parts of it."""
        for block in self.blocks(rows):
            states = {key: self.half_states(key, block) for key in self._seen}
            for start in range(0, len(block), BLOCK_ROWS):
                part = slice(start, start + BLOCK_ROWS)
                of_part = {key: each[part] for key, each in states.items()}
                yield self._part(block[part], of_part)

    def blocks(self, rows: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Yield blocks of rows in the order of their padded lengths for all models."""
        padded = self._padded(rows)
        most, most_tokens = self._kind.block
        block: list[int] = []
        n_tokens = 0
        for row in sorted(rows, key=lambda row: padded[row]):
            longest = max(padded[row])
            if block and (len(block) == most or n_tokens + longest > most_tokens):
                end = self._end([padded[each] for each in block])
                yield tuple(block[:end])
                block = block[end:]
                n_tokens = sum(max(padded[each]) for each in block)
            block.append(row)
            n_tokens += longest
        if block:
            yield tuple(block)

    def _padded(self, rows: Sequence[int]) -> dict[int, tuple[int, ...]]:
        """Return by row its padded length for each model."""
        tokens = [self._kind.lengths(key) for key in self._ready.specs]
        return {row: tuple(half_tokens(each[row], 10**9) for each in tokens) for row in rows}

    def _filling(self, first: Sequence[int]) -> list[int]:
        """Return other rows that fill the batches of the first ones, instead of copies."""
        if not first or not self._kind.has_batches:
            return []
        found: list[int] = []
        padded = self._padded(range(len(self._ready.texts.rows)))
        n_missing = {
            lengths: -n % half_rows(max(lengths), device_of(self._ready.ask))
            for lengths, n in Counter(padded[row] for row in first).items()
        }
        for row in sorted({*padded} - {*first}):
            if n_missing.get(padded[row], 0):
                n_missing[padded[row]] -= 1
                found.append(row)
        return found

    def _end(self, padded: Sequence[tuple[int, ...]]) -> int:
        """Return where a block ends, so that its last batch is full: it begins the next one."""
        last = padded[-1]
        size = half_rows(max(last), device_of(self._ready.ask))
        n_left = padded.count(last) % size if self._kind.has_batches else 0
        return len(padded) - n_left if n_left < len(padded) else len(padded)

    def _first(self, rows: list[int], more: list[int]) -> Iterator[Part[Any]]:
        """Run rows in both precisions, of which float32 counts; then those that share batches."""
        states = {key: self.half_states(key, [*rows, *more]) for key in self._seen}
        readings: Readings = {}
        for key in self._ready.specs:
            if key in self._seen:
                self._half(key, rows, states[key][: len(rows)])
            readings[key] = self._exact(key, rows)
        part = Part(tuple(rows), self._kind.value(rows, readings))
        for seen in self._seen.values():
            seen.is_first[rows] = seen.is_exact[rows] = True
        yield part
        if more:
            yield self._part(more, {key: each[len(rows) :] for key, each in states.items()})

    def _part(self, rows: Sequence[int], states: Mapping[str, States]) -> Part[Any]:
        """Return what all models read of rows, with those that are close in float32.

        Rows that were in float32 before still are: in bfloat16 they have the same numbers again.
        What is in float32 is kept at the end, because a list may be stopped before.
        """
        readings: Readings = {}
        exact: dict[str, list[int]] = {}
        for key in self._ready.specs:
            if key not in self._seen:
                readings[key] = self._exact(key, rows)
                continue
            readings[key], seen = self._half(key, rows, states[key]), self._seen[key]
            is_exact = seen.close(rows) | seen.is_exact[list(rows)]
            places = np.flatnonzero(is_exact).tolist()
            exact[key] = [rows[place] for place in places]
            for place, each in zip(places, self._exact(key, exact[key]), strict=True):
                readings[key][place] = each
        part = Part(tuple(rows), self._kind.value(rows, readings))
        for key, those in exact.items():
            self._seen[key].is_exact[those] = True
        return part

    def half_states(self, key: str, rows: Sequence[int]) -> States:
        """Return a model's last states of rows in bfloat16; then the copy is freed."""
        from explorer.models.half import forget_half

        try:
            return self._kind.states(key, rows, True)
        finally:
            call_on_model(forget_half, self._ready.specs[key], self._ready.ask)

    def _half(self, key: str, rows: Sequence[int], states: States) -> list[Any]:
        """Return what a model reads of rows by their states in bfloat16."""
        found = self._kind.read(key, rows, states, True)
        for row, each in zip(rows, found, strict=True):
            self._seen[key].put_half(row, *self._kind.decisions(key, row, each, -1))
        return found

    def _exact(self, key: str, rows: Sequence[int]) -> list[Any]:
        """Return what a model reads of rows in float32."""
        if not rows:
            return []
        found = self._kind.read(key, rows, self._kind.states(key, rows, False), False)
        if seen := self._seen.get(key):
            for row, each in zip(rows, found, strict=True):
                seen.put_exact(row, *self._kind.decisions(key, row, each, int(seen.word[row]))[:2])
        return found

    def _still_close(self) -> tuple[int, ...]:
        """Return the rows with a margin below the bound by all rows run in both precisions."""
        every = range(len(self._ready.texts.rows))
        close = [seen.close(every) for seen in self._seen.values()]
        return tuple(np.flatnonzero(np.any(close, 0)).tolist()) if close else ()

    def _check(self, rng: np.random.Generator, n: int) -> None:
        """Run some of the other rows in float32 too, and keep what is different."""
        for key, seen in self._seen.items():
            others = np.flatnonzero(~seen.is_exact)
            rows = np.sort(rng.choice(others, min(n, len(others)), replace=False)).tolist()
            self._exact(key, rows)
            seen.is_checked[rows] = True
