"""Measurement protocol that times calls side by side."""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from explorer.analysis.latency.ratio import paired_ratio
from explorer.models.run import read_only
from explorer.scheduling.cancel import Cancelled

Call = Callable[[], object]
QUIET_SHARE = 0.25
"""Share of a round in which some process waited for a CPU, above which it counts as disturbed.

On two cores a browser that shows the page comes to 0.13; models are timed in turn, so it slows
all alike. A process that takes a whole core comes to 0.5, and the ratios are wrong (BENCHMARKS.md).
"""
MIN_ROUNDS = 8
"""Fewest undisturbed rounds from which a time is reported as the result."""
TOO_DISTURBED = 0.5
"""Share of disturbed rounds above which wall-clock ratios are withheld."""
WARM_AGREEMENT = 0.10
CHECK_EVERY = 4
N_BLOCKS = 8
"""Number of blocks for a plan's minimum rounds; an interval needs at least 7."""
BLOCK_S = 0.5
"""Seconds after which a block ends with any number of rounds, so that slow models get blocks."""
MAX_TRIES = 5  # of one sample, if requests interrupt it repeatedly
PAUSE_S = 0.1
"""Pause between blocks, so that the machine's state may change as between two measurements."""


@dataclass(frozen=True, slots=True)
class TimedCall:
    """Named callable to time, which does its work once per call."""

    name: str
    call: Call
    stopwatch: Callable[[Call], float] | None = None
    """Own clock of the call, where it runs on another device or in another process."""
    on_cpu: "TimedCall | None" = None
    """The same work on one thread, timed by processor time, for a wall clock that is disturbed."""


@dataclass(frozen=True, slots=True)
class Instruments:
    """Clocks and callbacks of a measurement."""

    stopwatch: Callable[[Call], float]
    """Runs a call and returns its seconds; for candidates without their own clock."""
    wall: Callable[[], float]
    """Returns wall-clock seconds, for budgets and first calls."""
    stolen: Callable[[], float | None] = lambda: None
    """Returns the cumulative seconds that work waited for a CPU; None: not available."""
    pause: Callable[[float], object] = lambda _seconds: None
    """Waits for a number of seconds."""
    give_way: Callable[[], bool] = lambda: False
    """Lets waiting requests run between two samples; returns whether any ran."""
    yielded_s: Callable[[], float] = lambda: 0.0
    """Returns the cumulative seconds that requests ran for, within samples too."""


@dataclass(frozen=True, slots=True)
class RoundsPlan:
    """Budget and stopping rule: a measurement ends when the intervals are narrow enough."""

    budget_s: float = 20.0
    min_rounds: int = 16
    max_rounds: int = 400
    target: float = 0.03
    """Relative half-width of every ratio's 95% interval at which measuring may end."""
    max_warm_rounds: int = 6
    quiet_only: bool = False
    """True to use only undisturbed rounds for ratios, for clocks that other processes affect."""
    seed: int = 0

    @property
    def block_rounds(self) -> int:
        """The number of rounds of one block."""
        return max(1, self.min_rounds // N_BLOCKS)


@dataclass(frozen=True, slots=True, eq=False)
class Latency:
    """Samples of a measurement, by round."""

    names: tuple[str, ...]
    seconds: np.ndarray
    """float64 [round, candidate]."""
    control: np.ndarray
    """float64 [round]: second sample of the first candidate in each round (A/A self-check)."""
    disturbed: np.ndarray
    """bool [round]: True where waiting for a CPU took more than ``QUIET_SHARE`` of the round."""
    first_call_s: tuple[float, ...]
    """Wall-clock seconds of each candidate's first call."""
    n_warm_rounds: int
    wall_s: float
    sees_neighbours: bool
    ended: str = "running"
    """``running``, ``settled``, ``budget``, ``rounds``, ``stopped`` or ``deadline``."""
    blocks: np.ndarray | None = None
    """int64 [round], ascending: block of each round; None: every round is its own block."""
    cpu: "Latency | None" = None
    """Rounds of processor time, taken after disturbed ones; None without any."""

    @property
    def n_rounds(self) -> int:
        """The number of complete rounds, without warm-up."""
        return len(self.control)


@dataclass(slots=True)
class _Log:
    """Samples of the current measurement so far."""

    first_call_s: list[float] = field(default_factory=list)
    rows: list[list[float]] = field(default_factory=list)
    blocks: list[int] = field(default_factory=list)
    block: int = -1
    """Index of the block of the next round."""
    block_began: float = 0.0
    disturbed: list[bool] = field(default_factory=list)
    n_warm_rounds: int = 0

    def add(self, row: list[float], is_disturbed: bool) -> None:
        """Add a round to the current block."""
        self.rows.append(row)
        self.blocks.append(self.block)
        self.disturbed.append(is_disturbed)


def latency_rounds(
    candidates: Sequence[TimedCall],
    instruments: Instruments,
    plan: RoundsPlan,
    check: Callable[[], None] = lambda: None,
) -> Iterator[Latency]:
    """Time candidates interleaved, in random order, until their ratios are precise enough.

    One round times every candidate once and the first one again: drift and other processes then
    affect all alike, and the second sample of the first shows how far two equal calls differ here.
    Rounds form short blocks with a pause before each, because what varies between measurements
    varies between blocks too; intervals are over blocks.
    After a disturbed round, the candidates that offer it are timed by processor time for as long.
    Yields the measurement after every round; the last one has the reason of its end in ``ended``.

    Args:
        candidates: calls to compare; ratios and the self-check are relative to the first.
        instruments: clocks and callbacks.
        plan: budget and stopping rule.
        check: called before every sample; ends the measurement by raising ``Cancelled``.
    """
    log, start, ended = _Log(), instruments.wall(), "running"
    rng = np.random.default_rng(plan.seed)
    cpu = _CpuRounds(candidates, instruments, plan, check, rng, start + plan.budget_s)

    def snapshot() -> Latency:
        measured = _table(candidates, log, instruments.wall() - start, ended)
        sees = instruments.stolen() is not None
        return replace(measured, sees_neighbours=sees, cpu=cpu.latency(log, measured.wall_s))

    try:
        with _no_garbage_collection():
            _first_calls(candidates, instruments, check, log)
            with _watched(instruments) as warming:
                _warm_up(candidates, instruments, plan, check, log)
            cpu.follow(warming, MIN_ROUNDS)
            while ended == "running":
                _begin_block(candidates[0], instruments, plan, check, log)
                with _watched(instruments) as watched:
                    row = _round(candidates, instruments, rng, check)
                log.add(row, watched.is_disturbed)
                cpu.follow(watched)
                ended = _why_end(snapshot(), plan)
                yield snapshot()
    except Cancelled as stopped:
        ended = stopped.reason
        yield snapshot()


@dataclass(slots=True)
class _Watched:
    """Seconds of a period, and whether other programs disturbed it."""

    wall_s: float = 0.0
    is_disturbed: bool = False


@contextmanager
def _watched(instruments: Instruments) -> Iterator[_Watched]:
    """Fill the result with how long the ``with`` block took and whether it was disturbed."""
    watched, wall, stolen = _Watched(), instruments.wall(), instruments.stolen()
    yield watched
    after, watched.wall_s = instruments.stolen(), instruments.wall() - wall
    lost = 0.0 if stolen is None or after is None else after - stolen
    watched.is_disturbed = watched.wall_s > 0 and lost / watched.wall_s > QUIET_SHARE


@dataclass(slots=True)
class _CpuRounds:
    """Rounds of processor time, which other programs hardly change, after disturbed rounds."""

    candidates: Sequence[TimedCall]
    instruments: Instruments
    plan: RoundsPlan
    check: Call
    rng: np.random.Generator
    ends: float
    """Reading of the wall clock at which the budget is used up."""
    log: _Log = field(default_factory=_Log)

    def follow(self, watched: _Watched, n_least: int = 1) -> None:
        """After a disturbed period, run ``n_least`` rounds or more, for as long as it lasted."""
        if not watched.is_disturbed or not any(one.on_cpu for one in self.candidates):
            return
        calls = [one.on_cpu or one for one in self.candidates]
        if not self.log.rows:
            for call in calls:
                self.check()
                call.call()
        wall = self.instruments.wall
        until, n_after = wall() + watched.wall_s, len(self.log.rows) + n_least
        while wall() < self.ends and (wall() < until or len(self.log.rows) < n_after):
            _begin_block(calls[0], self.instruments, self.plan, self.check, self.log)
            self.log.add(_round(calls, self.instruments, self.rng, self.check), is_disturbed=False)
            if len(self.log.rows) >= self.plan.max_rounds:
                return

    def latency(self, log: _Log, wall_s: float) -> Latency | None:
        """Return the rounds so far; None without any."""
        if not self.log.rows:
            return None
        rounds = _table(self.candidates, self.log, wall_s, "budget")
        return replace(rounds, first_call_s=tuple(log.first_call_s))


def _table(candidates: Sequence[TimedCall], log: _Log, wall_s: float, ended: str) -> Latency:
    """Return the samples of a log."""
    table = np.asarray(log.rows).reshape(-1, len(candidates) + 1)
    return Latency(
        tuple(c.name for c in candidates),
        read_only(table[:, :-1]),
        read_only(table[:, -1]),
        read_only(np.asarray(log.disturbed, bool)),
        tuple(log.first_call_s),
        log.n_warm_rounds,
        wall_s,
        False,
        ended,
        read_only(np.asarray(log.blocks, np.int64)),
    )


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
    plan: RoundsPlan,
    check: Call,
    log: _Log,
) -> None:
    """Run warm-up rounds until two in a row agree or a quarter of the budget is used."""
    previous, start = np.asarray(log.first_call_s), instruments.wall()
    while log.n_warm_rounds < plan.max_warm_rounds:
        samples = []
        for candidate in candidates:
            check()
            samples.append(_timed(candidate, instruments))
        log.n_warm_rounds += 1
        times = np.asarray(samples)
        agree = bool(np.all(np.abs(times - previous) <= WARM_AGREEMENT * previous))
        if agree or instruments.wall() - start > plan.budget_s / 4:
            return
        previous = times


def _begin_block(
    first: TimedCall, instruments: Instruments, plan: RoundsPlan, check: Call, log: _Log
) -> None:
    """Set the block of the next round; before a new one, pause and then wake the CPU."""
    is_full = log.blocks.count(log.block) >= plan.block_rounds
    if log.block >= 0 and not is_full and instruments.wall() - log.block_began < BLOCK_S:
        return
    check()
    instruments.pause(PAUSE_S)
    log.block += 1
    log.block_began = instruments.wall()
    if log.rows and sum(log.rows[-1]) < PAUSE_S:
        # The first pass after a pause is slow, which would distort short samples.
        first.call()


def _round(
    candidates: Sequence[TimedCall],
    instruments: Instruments,
    rng: np.random.Generator,
    check: Call,
) -> list[float]:
    """Time every candidate once and the first once more, in a new random order."""
    calls = [*candidates, candidates[0]]
    row = [0.0] * len(calls)
    for position in rng.permutation(len(calls)):
        check()
        row[position] = _timed(calls[position], instruments)
    return row


def _timed(candidate: TimedCall, instruments: Instruments) -> float:
    """Take one sample; repeat it if requests ran in between."""
    stopwatch = candidate.stopwatch or instruments.stopwatch
    if instruments.give_way():
        candidate.call()  # the requests have replaced the contents of the CPU caches
    for _ in range(MAX_TRIES):
        before, sample = instruments.yielded_s(), stopwatch(candidate.call)
        if instruments.yielded_s() == before:
            break
    return sample


def _why_end(latency: Latency, plan: RoundsPlan) -> str:
    if latency.n_rounds >= plan.max_rounds:
        return "rounds"
    # The intervals are checked only now and then, so that chance seldom ends a measurement.
    is_check = (latency.n_rounds - plan.min_rounds) % CHECK_EVERY == 0
    if is_check and _settled(latency, plan):
        return "settled"
    per_round = latency.wall_s / (latency.n_rounds + latency.n_warm_rounds + 1)
    # Start no round that would exceed the budget by more than half of its time.
    return "budget" if latency.wall_s + per_round / 2 >= plan.budget_s else "running"


def _settled(latency: Latency, plan: RoundsPlan) -> bool:
    rounds = ratio_rounds(latency, plan.quiet_only)
    if len(rounds.control) < plan.min_rounds or is_too_disturbed(latency, plan.quiet_only):
        return False
    base = rounds.seconds[:, 0]
    others = [rounds.control, *rounds.seconds.T[1:]]
    ratios = (paired_ratio(base, other, rounds.blocks) for other in others)
    return all(r.high - r.low <= 2 * plan.target * r.ratio for r in ratios)


def is_too_disturbed(latency: Latency, quiet_only: bool) -> bool:
    """Return whether so many rounds were disturbed that their ratios are withheld."""
    share = float(np.mean(latency.disturbed)) if latency.sees_neighbours else 0.0
    return quiet_only and share > TOO_DISTURBED


def ratio_rounds(latency: Latency, quiet_only: bool) -> Latency:
    """Return the rounds used for ratios: all, or only the undisturbed ones."""
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
    """Disable garbage collection, which would slow down a single model's sample."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
