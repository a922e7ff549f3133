"""``python -m benchmarks rest``: what a server and its page take while nobody asks anything."""

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.load import processor_seconds
from benchmarks.start import app, chromium, environment, wait_for
from explorer.assets import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SETTLE_S, WATCHED_S = 65, 30
"""Seconds after the start, when the warm-up is over, and seconds that are counted."""
OPENED_S = 80
"""Seconds after which an opened page rests: it fetches for some, and Chromium then frees memory."""
FIRST = """
import resource, time
import explorer
explorer.predict("The [MASK] sat on the mat.", "mini")
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3)
"""
"""Program that prints the processor seconds and the peak megabytes of the first answer."""
Row = dict[str, float]


def add_command(commands: Any) -> None:  # noqa: ANN401 - argparse's own type is private
    """Declare the command and its flags."""
    parser = commands.add_parser("rest", help=__doc__)
    parser.set_defaults(run=run)
    parser.add_argument("--before", type=Path, help="a checkout of the build to compare with")
    parser.add_argument("--rounds", type=int, default=2, help="of each build, in turn")


def run(chosen: argparse.Namespace) -> int:
    """Print each figure of every round, this build's first, and the ratio of the medians."""
    folders = {"now": ROOT} | ({"before": chosen.before} if chosen.before else {})
    rows: dict[str, list[Row]] = {side: [] for side in folders}
    for _ in range(chosen.rounds):
        for side, folder in folders.items():
            rows[side].append(served(folder) | first_answer(folder))
    for name in rows["now"][0]:
        found = {side: [row[name] for row in measured] for side, measured in rows.items()}
        sys.stdout.write(f"{name}: {report(found)}\n")
    return 0


def report(found: dict[str, list[float]]) -> str:
    """Return the rounds of each build, and the first build's median over the other's."""
    parts = [f"{side} {', '.join(f'{n:.4g}' for n in rounds)}" for side, rounds in found.items()]
    medians = [statistics.median(rounds) for rounds in found.values()]
    if len(medians) > 1 and medians[1]:
        parts.append(f"ratio {medians[0] / medians[1]:.2f}")
    return "; ".join(parts)


def served(folder: Path) -> Row:
    """Start the server of a checkout; return its memory and the shares of a core while it rests."""
    with app(folder=folder) as (url, process):
        wait_for(url)
        time.sleep(SETTLE_S)
        memory = megabytes(process)
        resting = share(lambda: processor_seconds(process))
        with chromium() as browser:
            blank = share(lambda: browser_seconds(browser))
            page = browser.new_page()
            page.goto(url)
            page.wait_for_timeout(1e3 * OPENED_S)
            opened = share(lambda: browser_seconds(browser))
    return {
        "server, resident MB": memory["Rss"],
        "server, proportional MB": memory["Pss"],
        "server, % of a core": resting,
        "browser with the page, % of a core": opened,
        "browser without a page, % of a core": blank,
    }


def megabytes(process: int) -> dict[str, float]:
    """Return the resident and the proportional memory of a process, on Linux."""
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:]
    fields = dict(line.split(":") for line in lines)
    return {name: int(fields[name].split()[0]) / 1e3 for name in ("Rss", "Pss")}


def share(seconds: Callable[[], float]) -> float:
    """Return the percentage of a core that is used while nothing is asked."""
    before = seconds()
    time.sleep(WATCHED_S)
    return 100 * (seconds() - before) / WATCHED_S


def browser_seconds(browser: "Browser") -> float:
    """Return the processor seconds of all processes of a browser."""
    session = browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    return sum(process["cpuTime"] for process in processes)


def first_answer(folder: Path) -> Row:
    """Return the processor seconds and the peak memory of the first answer of a new process."""
    command = [sys.executable, "-W", "ignore", "-c", FIRST]
    variables = environment() | {"PYTHONPATH": str(folder)}
    seconds, peak = subprocess.check_output(command, cwd=folder, env=variables).split()
    return {"first answer, processor s": float(seconds), "first answer, peak MB": float(peak)}
