"""The protocol that times calls side by side, and a family's summary."""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from explorer.analysis.latency.ratio import (
    Ratio,
    block_medians,
    is_different,
    median_interval,
    p90,
    paired_ratio,
    widened,
)
from explorer.inference.scheduling.cancel import Cancelled
from explorer.models.run import read_only
from explorer.refusal import Refusal

Call = Callable[[], object]
QUIET_SHARE = 0.05
"""A round is disturbed when more than this share of it went to waiting for a processor."""
WARM_AGREEMENT = 0.10
CHECK_EVERY = 4
N_BLOCKS = 8
"""Blocks that the fewest rounds of a plan are spread over; 7 are the fewest with an interval."""
BLOCK_S = 0.5
"""A block that has lasted so long is over, however few its rounds: slow models need blocks too."""
MOST_TRIES = 5  # of one sample, where others go first in its middle again and again
PAUSE_S = 0.1
"""Between blocks, so that the machine may be in another state: what a second press would find."""


@dataclass(frozen=True, slots=True)
class TimedCall:
    """One thing to be timed: a name and a call that does its work once."""

    name: str
    call: Call
    stopwatch: Callable[[Call], float] | None = None
    """Its own clock, where it runs on another device or in another process."""


@dataclass(frozen=True, slots=True)
class Instruments:
    """What time is read from."""

    stopwatch: Callable[[Call], float]
    """Runs a call and says how many seconds it took; for candidates without their own."""
    wall: Callable[[], float]
    """Seconds on the clock on the wall: budgets, first calls."""
    stolen: Callable[[], float | None] = lambda: None
    """Seconds, ever growing, in which work had to wait for a processor; None: not visible."""
    pause: Callable[[float], object] = lambda _seconds: None
    """Lets so many seconds go by."""
    give_way: Callable[[], bool] = lambda: False
    """Between two samples: lets others go first, and says whether any did."""
    yielded_s: Callable[[], float] = lambda: 0.0
    """Seconds, ever growing, for which others went first, within samples too."""


@dataclass(frozen=True, slots=True)
class RoundsPlan:
    """How long to measure: until the intervals are narrow, within a budget."""

    budget_s: float = 20.0
    min_rounds: int = 16
    max_rounds: int = 400
    target: float = 0.03
    """Half-width of every ratio's 95% interval at which measuring may end."""
    max_warm_rounds: int = 6
    quiet_only: bool = False
    """Ratios from undisturbed rounds alone: for clocks that neighbours can slow down."""
    seed: int = 0

    @property
    def block_rounds(self) -> int:
        """Rounds of one block."""
        return max(1, self.min_rounds // N_BLOCKS)


@dataclass(frozen=True, slots=True, eq=False)
class Latency:
    """Every sample of a measurement, round by round."""

    names: tuple[str, ...]
    seconds: np.ndarray
    """float64 [round, candidate]."""
    control: np.ndarray
    """float64 [round]: the first candidate again, in the same round (the A/A self-check)."""
    disturbed: np.ndarray
    """bool [round]: neighbours took a visible share of the round."""
    first_call_s: tuple[float, ...]
    """Wall seconds of each candidate's very first call."""
    n_warm_rounds: int
    wall_s: float
    sees_neighbours: bool
    ended: str = "running"
    """``running``, ``settled``, ``budget``, ``rounds``, ``stopped`` or ``deadline``."""
    blocks: np.ndarray | None = None
    """int64 [round], rising: the block of each round; None: each is one of its own."""

    @property
    def n_rounds(self) -> int:
        """Complete rounds, warm-up not counted."""
        return len(self.control)


@dataclass(slots=True)
class _Log:
    """What has been timed so far, in this measurement only."""

    first_call_s: list[float] = field(default_factory=list)
    rows: list[list[float]] = field(default_factory=list)
    blocks: list[int] = field(default_factory=list)
    block: int = -1
    """The one that the coming round is of."""
    block_began: float = 0.0
    disturbed: list[bool] = field(default_factory=list)
    n_warm_rounds: int = 0


def latency_rounds(
    candidates: Sequence[TimedCall],
    instruments: Instruments,
    plan: RoundsPlan,
    check: Callable[[], None] = lambda: None,
) -> Iterator[Latency]:
    """Time candidates in turn, in random order, as often as their ratios need.

    One round times every candidate once and the first one again; drift and neighbours then hit
    all alike, and the second timing of the first shows how far two equal things differ here.
    Rounds come in short blocks with a pause before each: what differs from one press to the next
    differs from block to block too, and intervals are over blocks.
    Yields the measurement after every round; the last one says in ``ended`` why it is the last.

    Args:
        candidates: what is compared; ratios and the self-check are taken against the first.
        instruments: the clocks.
        plan: budget and stopping rule.
        check: called before every sample; ends the measurement by raising ``Stopped``.
    """
    log, start, ended = _Log(), instruments.wall(), "running"

    def snapshot() -> Latency:
        table = np.asarray(log.rows).reshape(-1, len(candidates) + 1)
        return Latency(
            tuple(c.name for c in candidates),
            read_only(table[:, :-1]),
            read_only(table[:, -1]),
            read_only(np.asarray(log.disturbed, bool)),
            tuple(log.first_call_s),
            log.n_warm_rounds,
            instruments.wall() - start,
            instruments.stolen() is not None,
            ended,
            read_only(np.asarray(log.blocks, np.int64)),
        )

    rng = np.random.default_rng(plan.seed)
    try:
        with _no_garbage_collection():
            _first_calls(candidates, instruments, check, log)
            _warm_up(candidates, instruments, (plan, check), log)
            while ended == "running":
                _begin_block(candidates[0], instruments, (plan, check), log)
                _round(candidates, instruments, (rng, check), log)
                ended = _why_end(snapshot(), plan)
                yield snapshot()
    except Cancelled as stopped:
        ended = stopped.reason
        yield snapshot()


def _first_calls(
    candidates: Sequence[TimedCall], instruments: Instruments, check: Call, log: _Log
) -> None:
    for candidate in candidates:
        check()
        before = instruments.wall() - instruments.yielded_s()
        candidate.call()
        log.first_call_s.append(instruments.wall() - instruments.yielded_s() - before)


def _warm_up(
    candidates: Sequence[TimedCall],
    instruments: Instruments,
    rule: tuple[RoundsPlan, Call],
    log: _Log,
) -> None:
    """Rounds that do not count, until two in a row agree or a quarter of the budget is gone."""
    plan, check = rule
    before, begun = np.asarray(log.first_call_s), instruments.wall()
    while log.n_warm_rounds < plan.max_warm_rounds:
        now = []
        for candidate in candidates:
            check()
            now.append(_timed(candidate, instruments))
        log.n_warm_rounds += 1
        times = np.asarray(now)
        agree = bool(np.all(np.abs(times - before) <= WARM_AGREEMENT * before))
        if agree or instruments.wall() - begun > plan.budget_s / 4:
            return
        before = times


def _begin_block(
    first: TimedCall, instruments: Instruments, rule: tuple[RoundsPlan, Call], log: _Log
) -> None:
    """See which block the coming round is of; before a new one, pause and wake the processor."""
    plan, check = rule
    is_full = log.blocks.count(log.block) >= plan.block_rounds
    if log.block >= 0 and not is_full and instruments.wall() - log.block_began < BLOCK_S:
        return
    check()
    instruments.pause(PAUSE_S)
    log.block += 1
    log.block_began = instruments.wall()
    if log.rows and sum(log.rows[-1]) < PAUSE_S:
        # The first pass after a pause is slow; among short ones that would be charged.
        first.call()


def _round(
    candidates: Sequence[TimedCall],
    instruments: Instruments,
    rule: tuple[np.random.Generator, Call],
    log: _Log,
) -> None:
    """Every candidate once and the first once more, in a fresh random order."""
    rng, check = rule
    lanes = [*candidates, candidates[0]]
    row = [0.0] * len(lanes)
    wall, stolen = instruments.wall(), instruments.stolen()
    for lane in rng.permutation(len(lanes)):
        check()
        row[lane] = _timed(lanes[lane], instruments)
    stolen_after, wall = instruments.stolen(), instruments.wall() - wall
    lost = 0.0 if stolen is None or stolen_after is None else stolen_after - stolen
    log.rows.append(row)
    log.blocks.append(log.block)
    log.disturbed.append(wall > 0 and lost / wall > QUIET_SHARE)


def _timed(candidate: TimedCall, instruments: Instruments) -> float:
    """One sample; one in whose middle others went is taken again."""
    watch = candidate.stopwatch or instruments.stopwatch
    if instruments.give_way():
        candidate.call()  # what others did lies in the caches
    for _ in range(MOST_TRIES):
        before, sample = instruments.yielded_s(), watch(candidate.call)
        if instruments.yielded_s() == before:
            break
    return sample


def _why_end(latency: Latency, plan: RoundsPlan) -> str:
    if latency.n_rounds >= plan.max_rounds:
        return "rounds"
    if _is_check(latency.n_rounds, plan) and _settled(latency, plan):
        return "settled"
    per_round = latency.wall_s / (latency.n_rounds + latency.n_warm_rounds + 1)
    # Not another round that would overrun by more than half of itself.
    return "budget" if latency.wall_s + per_round / 2 >= plan.budget_s else "running"


def _is_check(n_rounds: int, plan: RoundsPlan) -> bool:
    """Whether the intervals are looked at now: the seldomer, the less luck ends a measurement."""
    return (n_rounds - plan.min_rounds) % CHECK_EVERY == 0


def _settled(latency: Latency, plan: RoundsPlan) -> bool:
    kept = ratio_rounds(latency, plan.quiet_only)
    if len(kept.control) < plan.min_rounds:
        return False
    base = kept.seconds[:, 0]
    others = [kept.control, *kept.seconds.T[1:]]
    ratios = (paired_ratio(base, other, kept.blocks) for other in others)
    return all(r.high - r.low <= 2 * plan.target * r.ratio for r in ratios)


def ratio_rounds(latency: Latency, quiet_only: bool) -> Latency:
    """The rounds that ratios are taken from: all, or the undisturbed ones."""
    if not quiet_only:
        return latency
    quiet = ~latency.disturbed
    return replace(
        latency,
        seconds=read_only(latency.seconds[quiet]),
        control=read_only(latency.control[quiet]),
        disturbed=read_only(latency.disturbed[quiet]),
        blocks=None if latency.blocks is None else read_only(latency.blocks[quiet]),
    )


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """A collection in the middle of one sample would be charged to that model alone."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


TOO_DISTURBED = 0.5
"""Share of disturbed rounds above which wall-clock ratios are not given."""


@dataclass(frozen=True, slots=True, eq=False)
class ModelLatency:
    """One candidate's times, in milliseconds."""

    name: str
    median_ms: float
    low_ms: float
    high_ms: float
    p90_ms: float | None
    samples_ms: np.ndarray
    """Every sample, in the order taken."""
    first_call_ms: float


@dataclass(frozen=True, slots=True)
class LatencyRatio:
    """How many times longer ``of`` takes than ``over``."""

    of: str
    over: str
    ratio: Ratio
    """Its interval holds what another press would differ by, too."""
    is_different: bool
    """Whether the interval clears the difference of one model from itself."""


@dataclass(frozen=True, slots=True)
class LatencySummary:
    """Everything a reader is told about one measurement."""

    models: tuple[ModelLatency, ...]
    ratios: tuple[LatencyRatio, ...]
    """The first candidate over each other; empty when the neighbours were too loud."""
    self_check: Ratio | None
    """The first candidate over itself, timed in the same rounds."""
    n_rounds: int
    n_blocks: int
    """What the intervals are over."""
    disturbed_share: float | None
    """Share of rounds in which neighbours took visible time; None where it cannot be seen."""
    refused: bool
    """Ratios are withheld: more than half of the wall-clock rounds were disturbed."""
    ended: str
    wall_s: float

    def model(self, name: str) -> ModelLatency:
        """One candidate's times by name."""
        return next(m for m in self.models if m.name == name)

    def ratio(self, over: str) -> LatencyRatio | None:
        """The first candidate over another one, if ratios are given."""
        return next((r for r in self.ratios if r.over == over), None)


def latency_summary(latency: Latency, quiet_only: bool = False) -> LatencySummary:
    """Medians and paired ratios of a measurement with at least one round.

    Args:
        latency: the rounds.
        quiet_only: take ratios from undisturbed rounds, and none at all when these are the
            minority (the wall clock; processor time does not need it).

    Raises:
        Refusal: not one complete round.
    """
    if not latency.n_rounds:
        raise Refusal("Nothing was measured: it ended before the first round was complete.")
    share = float(np.mean(latency.disturbed)) if latency.sees_neighbours else None
    refused = quiet_only and share is not None and share > TOO_DISTURBED
    kept = latency if refused else ratio_rounds(latency, quiet_only)
    control = None if refused else paired_ratio(kept.seconds[:, 0], kept.control, kept.blocks)
    return LatencySummary(
        tuple(_model(latency, kept, i) for i in range(len(latency.names))),
        () if control is None else _ratios(kept, control),
        control,
        latency.n_rounds,
        latency.n_rounds if latency.blocks is None else len(np.unique(latency.blocks)),
        share,
        refused,
        latency.ended,
        latency.wall_s,
    )


def _ratios(kept: Latency, control: Ratio) -> tuple[LatencyRatio, ...]:
    base = kept.seconds[:, 0]
    found = []
    for i, name in enumerate(kept.names[1:], start=1):
        ratio = widened(paired_ratio(base, kept.seconds[:, i], kept.blocks))
        found.append(LatencyRatio(kept.names[0], name, ratio, is_different(ratio, control)))
    return tuple(found)


def _model(latency: Latency, kept: Latency, index: int) -> ModelLatency:
    samples = 1e3 * latency.seconds[:, index]
    used = 1e3 * kept.seconds[:, index]
    low, high = median_interval(used if kept.blocks is None else block_medians(used, kept.blocks))
    median = float(np.median(used))
    return ModelLatency(
        latency.names[index],
        median,
        # The median of all samples is not always one between the blocks' own.
        min(low, median),
        max(high, median),
        p90(used),
        samples,
        1e3 * latency.first_call_s[index],
    )
