"""``python -m benchmarks texts --fast``: lists in bfloat16, and all that they are compared with.

Each side is a process: this build, another checkout, and minicons. A round asks every side the same
rows in turn. The base shapes have random weights, and heads that prefer twelve words.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from benchmarks.fast_side import BERT, favourites
from benchmarks.served import made_up_text
from explorer import assets
from explorer.models.specs import BASE
from explorer.refusal import Refusal, Sentence

HERE = Path(__file__).parent
LENGTHS = (8, 40)
"""Tokens of a made-up masked row: lower bound, and exclusive upper bound."""
SHORT = (8, 20)
"""The same of a sentence, each of whose tokens is masked in turn."""
RANKS = (1, 5, 10)
CLOCKS = ("seconds", "work")
ENDED = Sentence("side-ended", "The process of {side} ended before it answered.")
Rows = list[dict[str, str]]
Reply = dict[str, Any]
Decision = tuple[Any, ...]
Goal = tuple[str, tuple[str, str], tuple[str, str], float]
"""What is measured, the sides above and below the line, and the goal: at most where negative."""


class Side(Protocol):
    """What answers questions: a process, or a stand-in of a test."""

    def ask(self, rows: Rows, family: str, how: str) -> Reply:
        """Return the seconds, the processor's seconds, the peak in KB, and what was found."""


@dataclass(frozen=True, slots=True)
class Process:
    """A side in a process of its own."""

    name: str
    process: "subprocess.Popen[str]"

    def ask(self, rows: Rows, family: str, how: str) -> Reply:
        """Send a question and return its answer."""
        told, said = self.process.stdin, self.process.stdout
        if told is None or said is None:
            raise Refusal(ENDED.format(side=self.name))
        told.write(json.dumps({"rows": rows, "family": family, "how": how}) + "\n")
        told.flush()
        line = said.readline()
        if not line:
            raise Refusal(ENDED.format(side=self.name))
        reply: Reply = json.loads(line)
        return reply


@dataclass(frozen=True, slots=True)
class Job:
    """Rows that several sides are asked about, and the goals of their times."""

    rows: Rows
    family: str
    asked: tuple[tuple[str, str], ...]
    """Sides, and how each is asked: "float32", "fast" or "loop"."""
    goals: tuple[Goal, ...]


@dataclass(slots=True)
class Measured:
    """Seconds by side and round, and what each side found last."""

    seconds: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    found: dict[tuple[str, str], Any] = field(default_factory=dict)


NOW, FAST, LOOP = ("now", "float32"), ("now", "fast"), ("now", "loop")
BEFORE, MINICONS = ("before", "float32"), ("minicons", "float32")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the flags of this measurement."""
    parser.add_argument("--fast", action="store_true", help="lists in bfloat16, see the module")
    parser.add_argument("--before", type=Path, help="a checkout of the build to compare with")
    parser.add_argument("--minicons", type=Path, help="a Python that has minicons")
    counts = {"masked": 640, "answers": 640, "pairs": 48, "sentences": 48}
    counts |= {"scored": 200, "listed": 600}
    parser.add_argument(
        "--clock",
        choices=CLOCKS,
        default="seconds",
        help="work: processor time, if others work too",
    )
    for name, count in counts.items():
        parser.add_argument(f"--{name}", type=int, default=count, help="rows with --fast; 0: none")


def run(chosen: argparse.Namespace) -> int:
    """Print a table of what was measured, with the goals; return 0."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as open_sides:
        sides: dict[str, Side] = {"now": open_sides.enter_context(side("now", HERE.parent, folder))}
        if chosen.before:
            sides["before"] = open_sides.enter_context(side("before", chosen.before, folder))
        sides["now"].ask(rows_of(40, LENGTHS, 0), "base", "fast")  # BERT is saved by then
        if chosen.minicons:
            sides["minicons"] = open_sides.enter_context(side("minicons", chosen.minicons, folder))
        say("| what | goal | measured | rounds: least to most |\n|---|---:|---:|---|\n")
        for job in jobs(chosen):
            found = measured(job, sides, chosen.rounds, chosen.clock)
            say("".join(time_lines(job, found)) + decision_line("made-up rows", found))
        say(listed_lines(sides["now"], chosen.listed))
        say("".join(memory_lines(chosen, folder)))
    return 0


@contextmanager
def side(name: str, where: Path, folder: str) -> Iterator[Process]:
    """Run a side: a checkout with this Python, or minicons with its own."""
    is_minicons = name == "minicons"
    python = str(where) if is_minicons else sys.executable
    path = {} if is_minicons else {"PYTHONPATH": str(where.resolve())}
    script = [str(HERE / "fast_side.py"), "minicons" if is_minicons else "explorer", folder]
    with subprocess.Popen(
        [python, "-P", *script],
        env={**os.environ, **path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield Process(name, process)
        finally:
            process.kill()


def jobs(chosen: argparse.Namespace) -> list[Job]:
    """Return what is asked, by the counts that were chosen."""
    found = [
        Job(
            rows_of(chosen.masked, LENGTHS, 1),
            "base",
            (FAST, NOW, BEFORE, LOOP),
            (
                *over_float32("masked rows, first words", 0.40),
                ("masked rows in float32: throughput over the loop's", LOOP, NOW, 1.0),
            ),
        ),
        in_three_ways("masked rows, ranks 1, 5 and 10", 0.45, with_answers(chosen.answers)),
        in_three_ways("pairs", 0.34, pairs_of(chosen.pairs)),
        in_three_ways("sentences", 0.34, sentences_of(chosen.sentences)),
        Job(
            sentences_of(chosen.scored),
            "bert",
            (FAST, NOW, MINICONS),
            (
                ("BERT's scores, float32: throughput over minicons'", MINICONS, NOW, 1.4),
                ("BERT's scores, fast: throughput over minicons'", MINICONS, FAST, 3.0),
            ),
        ),
    ]
    return [job for job in found if job.rows]


def in_three_ways(what: str, goal: float, rows: Rows) -> Job:
    """Return a job that is asked in bfloat16, and of both builds in float32."""
    return Job(rows, "base", (FAST, NOW, BEFORE), over_float32(what, goal))


def over_float32(what: str, goal: float) -> tuple[Goal, Goal]:
    """Return the goals of a time over that of float32, in the older build and in this one."""
    return (
        (f"{what}: fast over before", FAST, BEFORE, -goal),
        ("the same over this build's float32", FAST, NOW, -goal),
    )


def rows_of(count: int, lengths: tuple[int, int], seed: int) -> Rows:
    """Return masked rows of made-up words."""
    words = np.random.default_rng(seed)
    sizes = words.integers(*lengths, count).tolist()
    return [{"text": made_up_text(size, words)} for size in sizes]


def with_answers(count: int) -> Rows:
    """Return masked rows, each with one of the twelve words that the heads prefer."""
    rows = rows_of(count, LENGTHS, 2)
    ids = favourites(BASE["bert"].architecture.d_vocab)
    return [row | {"answer": f"w{ids[n % len(ids)] - 5}"} for n, row in enumerate(rows)]


def sentences_of(count: int) -> Rows:
    """Return made-up sentences without a mask."""
    return [{"text": row["text"].replace("[MASK]", "w7")} for row in rows_of(count, SHORT, 3)]


def pairs_of(count: int) -> Rows:
    """Return pairs of made-up sentences that differ in one word."""
    return [
        {
            role: row["text"].replace("[MASK]", word)
            for role, word in (("good", "w7"), ("bad", "w8"))
        }
        for row in rows_of(count, SHORT, 4)
    ]


def measured(job: Job, sides: dict[str, Side], rounds: int, clock: str) -> Measured:
    """Ask all sides that are there in turn, in each round in another order."""
    found = Measured()
    asked = [each for each in job.asked if each[0] in sides]
    for number in range(rounds):
        first = number % len(asked)
        for name, how in asked[first:] + asked[:first]:
            reply = sides[name].ask(job.rows, job.family, how)
            found.seconds.setdefault((name, how), []).append(reply[clock])
            found.found[name, how] = reply["found"]
    return found


def time_lines(job: Job, found: Measured) -> Iterator[str]:
    """Yield a line of the table for each goal whose sides were asked."""
    for what, over, under, goal in job.goals:
        if over in found.seconds and under in found.seconds:
            ratios = np.array(found.seconds[over]) / np.array(found.seconds[under])
            least = "at most" if goal < 0 else "at least"
            yield (
                f"| {what}, {len(job.rows)} rows | {least} {abs(goal):.2f} | "
                f"{np.median(ratios):.2f} | {len(ratios)}: {ratios.min():.2f} to "
                f"{ratios.max():.2f} |\n"
            )


def decision_line(what: str, found: Measured) -> str:
    """Return the line on decisions, or on scores where minicons was asked; empty without either."""
    if MINICONS in found.found:
        ours = np.array([row["pll"] for row in found.found[NOW]])
        off = np.abs(ours - np.array(found.found[MINICONS])).max()
        return (
            f"| scores' largest difference to minicons', {len(ours)} rows | 1e-4 | {off:.0e} | |\n"
        )
    decides = any(decisions(row) for row in found.found[NOW])
    return same_line(what, found.found[FAST], found.found[NOW]) if decides else ""


def same_line(what: str, fast: list[Reply], exact: list[Reply]) -> str:
    """Return the line on how many decisions of bfloat16 are float32's."""
    same, all_of_them = agreement(fast, exact)
    repeated = np.mean([row["precision"] == "float32" for row in fast])
    return (
        f"| decisions equal to float32's, {what} | 99.9% | {same / all_of_them:.2%} | "
        f"{all_of_them - same} of {all_of_them:,} differ; {repeated:.1%} of the rows in float32 |\n"
    )


def agreement(fast: Sequence[Reply], exact: Sequence[Reply]) -> tuple[int, int]:
    """Return how many decisions of two answers are the same, and how many there are."""
    pairs = [
        pair
        for one, other in zip(fast, exact, strict=True)
        for pair in zip(decisions(one), decisions(other), strict=True)
    ]
    return sum(one == other for one, other in pairs), len(pairs)


def decisions(row: Reply) -> Decision:
    """Return the first word and whether the answer is within each rank, or the likelier side."""
    if "margin" in row:
        return (row["margin"] > 0,)
    rank = row.get("answer_rank")
    first = (row["word"],) if "word" in row else ()
    return first + (() if rank is None else tuple(rank <= most for most in RANKS))


def listed_lines(now: Side, count: int) -> str:
    """Return the lines on five lists of real sentences, through the bundled models."""
    said = []
    for name, rows in lists(count).items():
        fast, exact = (now.ask(rows, "mini", how) for how in ("fast", "float32"))
        said.append(
            same_line(f"{name}, {len(rows)} rows, miniatures", fast["found"], exact["found"])
        )
        said.append(error_line(name, fast["report"]["models"]))
    return "".join(said)


def error_line(what: str, models: dict[str, dict[str, float]]) -> str:
    """Return the line on the differences between both precisions, by model."""
    each = "; ".join(
        f"{key} {seen['rms_of_margins'] or 0:.3f}, {seen['largest_of_numbers']:.3f}"
        for key, seen in models.items()
    )
    return f"| {what}: rms of margins in nats, and largest difference of a number | | {each} | |\n"


def lists(count: int) -> dict[str, Rows]:
    """Return five lists, each of at most so many rows; none for 0."""
    table: Callable[[str], Rows] = lambda name: csv_rows(assets.DATA / "texts" / f"{name}.csv")  # noqa: E731
    pairs = [row for name in ("agreement", "pronouns", "word_order") for row in table(name)]
    given: dict[str, Rows] = {
        "facts": [{"text": row["text"], "answer": row["answer"]} for row in table("facts")],
        "sentences of an encyclopedia": each_word(assets.plain_sentences()),
        "everyday sentences": each_word(
            [row["text"].replace("[MASK]", row["answer"]) for row in assets.sentences()]
        ),
        "reviews and topics": each_word(
            [row["text"] for name in ("reviews", "topics") for row in table(name)]
        ),
        "pairs": [{"good": row["good"], "bad": row["bad"]} for row in pairs],
    }
    return {name: rows[:count] for name, rows in given.items() if count}


def csv_rows(path: Path) -> Rows:
    """Return the rows of a file."""
    import csv

    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def each_word(sentences: Sequence[str]) -> Rows:
    """Return each sentence with each of its words masked, in an order drawn at random."""
    rows = []
    for sentence in sentences:
        for word in re.finditer(r"\b[a-z]+(?= )", sentence):
            masked = sentence[: word.start()] + "[MASK]" + sentence[word.end() :]
            rows.append({"text": masked, "answer": word.group()})
    order = np.random.default_rng(5).permutation(len(rows))
    return [rows[n] for n in order]


def memory_lines(chosen: argparse.Namespace, folder: str) -> Iterator[str]:
    """Yield the peak of a fresh process for each way to run the masked rows."""
    rows = rows_of(chosen.masked, LENGTHS, 1)
    asked = {"now": HERE.parent} | ({"before": chosen.before} if chosen.before else {})
    peaks = {}
    for name, how in (BEFORE, NOW, FAST) if rows else ():
        if name in asked:
            with side(name, asked[name], folder) as fresh:
                peaks[name, how] = fresh.ask(rows, "base", how)["peak"] / 1e3
            yield f"| peak memory, {name}, {how} | | {peaks[name, how]:.0f} MB | one run |\n"
    if BEFORE in peaks:
        copy = 2 * BASE["bert"].architecture.n_layers * 7.1
        more = peaks[FAST] - peaks[BEFORE]
        yield f"| fast: more than before | {copy:.0f} MB ({BERT}) | {more:.0f} MB | one run |\n"


def say(text: str) -> None:
    """Print at once."""
    sys.stdout.write(text)
    sys.stdout.flush()
