"""``python -m benchmarks click``: cost of one Compare relative to the bare forward passes."""

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.served import (
    Client,
    made_up_text,
    served_explorer,
    served_nothing,
    stand_in_family,
)
from explorer.analysis.latency.measure import (
    Instruments,
    Latency,
    RoundsPlan,
    TimedCall,
    latency_rounds,
)
from explorer.analysis.latency.ratio import Ratio, paired_ratio
from explorer.models.specs import BASE
from explorer.timing.workload import Workload

CLOCKS: dict[str, Callable[[], float]] = {"wall": time.perf_counter, "cpu": time.process_time}
GOALS = {32: 0.85, 128: 1.0}


def add_command(commands: Any) -> None:  # noqa: ANN401 - argparse's own type is private
    """Declare the command and its flags."""
    parser = commands.add_parser("click", help=__doc__)
    parser.set_defaults(run=run)
    parser.add_argument("--lengths", type=int, nargs="+", default=[32, 128], help="tokens")
    parser.add_argument(
        "--clock",
        choices=list(CLOCKS),
        default="wall",
        help="wall: what a reader waits; cpu: all threads' processor time, for busy machines",
    )
    parser.add_argument("--budget", type=float, default=60.0, help="seconds per measurement")
    parser.add_argument("--starts", type=int, default=5, help="process starts to time; 0: none")
    parser.add_argument(
        "--browser", action="store_true", help="time first paint, charts, sliders in Chromium"
    )


def run(chosen: argparse.Namespace) -> int:
    """Measure and print each ratio with its interval and its goal."""
    from benchmarks import dials, start

    stand_in_family()
    with served_explorer() as client, served_nothing() as nothing:
        for length in chosen.lengths:
            _print_click(click(client, length, chosen), length, chosen.clock)
            _print_again(again(client, nothing, length, chosen), length, chosen.clock)
    if chosen.starts:
        sys.stdout.write(start.start_report(chosen.starts))
    if chosen.browser:
        sys.stdout.write(start.first_paint_report() + start.charts_report())
        sys.stdout.write(dials.dials_report())
    return 0


def click(client: Client, length: int, chosen: argparse.Namespace) -> Latency:
    """Time new texts through the page, interleaved with three bare forward passes on all cores."""
    rng = np.random.default_rng(length)
    candidates = [
        TimedCall("bare", bare_passes(length)),
        TimedCall("click", lambda: client.compare(made_up_text(length, rng))),
    ]
    return measured(candidates, chosen)


def bare_passes(length: int) -> Callable[[], None]:
    """Return a call of the three networks in turn, head at every position, on all cores."""
    from explorer.models.loading import load_model
    from explorer.timing.protocol import forward_call, thread_width

    work = Workload(length, head=True, clock="wait")
    calls = [forward_call(spec, load_model(spec).network, work) for spec in BASE.values()]

    def call() -> None:
        with thread_width("wait"):
            for forward in calls:
                forward()

    return call


def again(client: Client, nothing: Client, length: int, chosen: argparse.Namespace) -> Latency:
    """Time a repeated text, interleaved with an event that does nothing."""
    text = made_up_text(length, np.random.default_rng(0))
    client.compare(text)
    candidates = [
        TimedCall("nothing", nothing.send),
        TimedCall("again", lambda: client.compare(text)),
    ]
    return measured(candidates, chosen)


def measured(candidates: list[TimedCall], chosen: argparse.Namespace) -> Latency:
    """Return interleaved rounds by the latency protocol, on the chosen clock."""
    from explorer.timing.protocol import clock_stopwatch, stolen_seconds

    watch = clock_stopwatch(CLOCKS[chosen.clock])
    tools = Instruments(watch, time.perf_counter, stolen_seconds, time.sleep)
    *_, final = latency_rounds(candidates, tools, RoundsPlan(budget_s=chosen.budget, target=0.02))
    return final


def _print_click(latency: Latency, length: int, clock: str) -> None:
    ratio = over_first(latency)
    bare, clicked = 1e3 * np.median(latency.seconds, axis=0)
    goal = f", goal {GOALS[length]:.2f}" if length in GOALS else ""
    _print(
        f"click, new text, {length} tokens: {clicked:.0f} ms; three bare passes {bare:.0f} ms; "
        f"{span(ratio)}{goal}",
        latency,
        clock,
    )


def _print_again(latency: Latency, length: int, clock: str) -> None:
    nothing, same = 1e3 * np.median(latency.seconds, axis=0)
    _print(
        f"same text again, {length} tokens: {same:.1f} ms; an empty event {nothing:.1f} ms; "
        f"{span(over_first(latency))}",
        latency,
        clock,
    )


def over_first(latency: Latency) -> Ratio:
    """Return the second candidate's time over the first one's, round by round."""
    return paired_ratio(latency.seconds[:, 1], latency.seconds[:, 0], latency.blocks)


def span(ratio: Ratio) -> str:
    """Format a ratio with its interval."""
    return f"ratio {ratio.ratio:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"


def _print(line: str, latency: Latency, clock: str) -> None:
    check = paired_ratio(latency.seconds[:, 0], latency.control).ratio
    disturbed = f"{latency.disturbed.mean():.0%} disturbed" if latency.sees_neighbours else "?"
    sys.stdout.write(
        f"{line} ({clock} clock, {latency.n_rounds} rounds, {disturbed}, self-check {check:.2f})\n"
    )
    sys.stdout.flush()
