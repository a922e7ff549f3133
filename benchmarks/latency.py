"""``python -m benchmarks latency``: time a family, or one model against itself."""

import argparse
import csv
import io
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from explorer.analysis.latency.family import last, measure_family, plan_for
from explorer.analysis.latency.faster import measure_faster
from explorer.analysis.latency.measure import RoundsPlan
from explorer.analysis.latency.ratio import Ratio, paired_ratio
from explorer.analysis.latency.report import Report, family_report, report_csv
from explorer.models.choice.family import all_specs, family_specs
from explorer.models.devices import available_devices
from explorer.models.specs import ModelSpec
from explorer.refusal import Refusal, Sentence
from explorer.scheduling.cancel import CancelToken
from explorer.timing.workload import DTYPE_NAMES, EVERY, Workload, clock_on
from explorer.views.latency.measure import faster_records

SAVES_ONE = Sentence(
    "saves-one", "--save writes one measurement: not with --presses or --against-itself."
)
WAYS_ARE_ROWS = Sentence("ways-are-rows", "--save writes the rows of --ways to a .csv file alone.")
ONE_PRESS = Sentence("one-press", "--presses takes two or more: one has no spread.")
APART_S = 5.0
"""Seconds between two presses."""
NEIGHBOUR = """
import sys, time
busy_s = 0.05 * float(sys.argv[1])
while True:
    end = time.monotonic() + busy_s
    while time.monotonic() < end:
        pass
    time.sleep(0.05 - busy_s)
"""
"""Program that takes a share of one core, in turns of 50 ms."""


def add_command(commands: Any) -> None:  # noqa: ANN401 - argparse's own type is private
    """Declare the command and its flags."""
    parser = commands.add_parser("latency", help=__doc__)
    parser.set_defaults(run=run)
    parser.add_argument("--family", choices=("mini", "base"), default="base")
    parser.add_argument("--models", nargs="+", metavar="NAME", choices=list(all_specs()))
    parser.add_argument("--length", type=int, default=32, help="tokens per text")
    parser.add_argument("--batch", type=int, default=1, help="texts per pass")
    parser.add_argument("--device", default="cpu", help=f"cpu, cuda, cuda:1, mps ... or {EVERY}")
    parser.add_argument("--dtype", choices=DTYPE_NAMES, default="float32")
    parser.add_argument("--head", action="store_true", help="with the masked-word head everywhere")
    parser.add_argument("--looks", action="store_true", help="with attentions and hidden states")
    parser.add_argument("--clock", choices=("compute", "wait"), default="compute")
    parser.add_argument("--budget", type=float, default=20.0, help="seconds")
    parser.add_argument("--repeats", type=int, help="exactly so many rounds, within the budget")
    parser.add_argument(
        "--against-itself",
        type=int,
        metavar="TIMES",
        help="measure the first model against itself so many times and say how far it was off",
    )
    parser.add_argument(
        "--presses",
        type=int,
        metavar="TIMES",
        help="measure the family so many times and say what separate presses differ by",
    )
    parser.add_argument(
        "--ways",
        nargs="*",
        type=int,
        metavar="BATCH",
        help="time every way to run each model too, with these numbers of texts as well",
    )
    parser.add_argument(
        "--beside",
        type=float,
        metavar="SHARE",
        help="with a process beside it that takes this share of one core, from 0 to 1",
    )
    parser.add_argument("--save", type=Path, help="write the measurement to a .json or .csv file")


def run(chosen: argparse.Namespace) -> int:
    """Measure and print the result, or save it, beside a busy process if asked."""
    with neighbour(chosen.beside) if chosen.beside else nullcontext():
        return measured(chosen)


@contextmanager
def neighbour(share: float) -> Iterator[None]:
    """Keep a process running that takes a share of one core."""
    process = subprocess.Popen([sys.executable, "-c", NEIGHBOUR, str(share)])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def check(chosen: argparse.Namespace) -> None:
    """Check the options before anything is measured.

    Raises:
        Refusal: several measurements are to be saved, or a single press is to have a spread.
    """
    if chosen.save and (chosen.against_itself or chosen.presses):
        raise Refusal(SAVES_ONE)
    if chosen.save and chosen.ways is not None and chosen.save.suffix != ".csv":
        raise Refusal(WAYS_ARE_ROWS)
    if chosen.presses == 1:
        raise Refusal(ONE_PRESS)


def measured(chosen: argparse.Namespace) -> int:
    """Measure and print the result, or save it."""
    check(chosen)
    devices = available_devices() if chosen.device == EVERY else ()
    device = devices[0] if devices else chosen.device
    clock = clock_on(device, chosen.clock)
    workload = Workload(
        chosen.length, chosen.batch, device, chosen.dtype, chosen.head, chosen.looks, clock
    )
    specs = chosen_specs(chosen)
    plan = plan_for(workload, chosen.budget, chosen.repeats)
    if chosen.against_itself:
        ratios = against_itself(specs[0], workload, chosen)
        sys.stdout.write(self_report(ratios))
        return 0
    if chosen.ways is not None:
        text = ways_csv(specs, workload, plan, chosen.ways)
        if chosen.save:
            chosen.save.write_text(text, "utf-8")
        else:
            sys.stdout.write(text)
        return 0
    if chosen.presses:
        sys.stdout.write(presses_report(separate_presses(specs, workload, chosen)))
        return 0
    report = family_report(specs, workload, plan, CancelToken(), devices)
    sys.stdout.write(printed(report))
    if chosen.save:
        as_csv = chosen.save.suffix == ".csv"
        text = report_csv(report) if as_csv else json.dumps(report, indent=1, allow_nan=False)
        chosen.save.write_text(text, "utf-8")
    return 0


def ways_csv(
    specs: tuple[ModelSpec, ...], workload: Workload, plan: RoundsPlan, batches: Sequence[int]
) -> str:
    """Return the table of "Faster inference", as the page saves it."""
    *_, measurement = measure_faster(specs, workload, plan, CancelToken(), batches)
    for line in (
        f"{row.spec.name}: {row.name} missing ({row.reason})\n" for row in measurement.missing
    ):
        sys.stderr.write(line)
    numbers, out = faster_records(measurement), io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([numbers.columns, *numbers.rows])
    return out.getvalue()


def chosen_specs(chosen: argparse.Namespace) -> tuple[ModelSpec, ...]:
    """Return the specs of the models to time: those named, else the family."""
    named = [all_specs()[name] for name in chosen.models or ()]
    return tuple(named) or family_specs(chosen.family)


def against_itself(spec: ModelSpec, workload: Workload, chosen: argparse.Namespace) -> list[Ratio]:
    """Return the self-checks of separate measurements of one model."""
    checks = []
    for number in range(chosen.against_itself):
        plan = replace(plan_for(workload, chosen.budget, chosen.repeats), seed=number)
        summary = last(measure_family([spec], workload, plan, CancelToken())).summary
        assert summary.self_check is not None or summary.refused
        if summary.self_check is not None:
            checks.append(summary.self_check)
            sys.stdout.write(f"{number + 1:3}  {_ratio(summary.self_check)}  {summary.ended}\n")
            sys.stdout.flush()
    return checks


def separate_presses(
    specs: tuple[ModelSpec, ...], workload: Workload, chosen: argparse.Namespace
) -> dict[str, list[Ratio]]:
    """Return the first model's ratio to each other one, over separate measurements."""
    ratios: dict[str, list[Ratio]] = {spec.name: [] for spec in specs[1:]}
    for number in range(chosen.presses):
        time.sleep(APART_S * (number > 0))
        plan = replace(plan_for(workload, chosen.budget, chosen.repeats), seed=number)
        final = last(measure_family(specs, workload, plan, CancelToken()))
        blocks, seconds = final.latency.blocks, final.latency.seconds
        for i, spec in enumerate(specs[1:], start=1):
            ratio = paired_ratio(seconds[:, 0], seconds[:, i], blocks)
            ratios[spec.name].append(ratio)
            sys.stdout.write(f"{number + 1:3}  {spec.name:28} {_ratio(ratio)}\n")
        sys.stdout.write(f"     {100 * final.latency.disturbed.mean():.0f}% disturbed\n")
        sys.stdout.flush()
    return ratios


def presses_report(ratios_by_model: dict[str, list[Ratio]]) -> str:
    """Report the spread of separate presses, and the part that one press's blocks do not show.

    A press's own error is taken from its interval, as wide as 2.6 standard errors on each side.
    """
    lines = []
    for name, ratios in ratios_by_model.items():
        logs = np.log([ratio.ratio for ratio in ratios])
        significant = [r for r in ratios if r.is_sure]
        errors = np.array([np.log(r.high / r.low) / 2 / 2.6 for r in significant])
        within = float(np.sqrt((errors**2).mean())) if len(errors) else 0.0
        beyond = np.sqrt(max(0.0, float(logs.var(ddof=1)) - within**2))
        lines.append(
            f"{name}: {len(ratios)} presses from {np.exp(logs.min()):.3f} to "
            f"{np.exp(logs.max()):.3f}, standard deviation {100 * logs.std(ddof=1):.1f}%, of one "
            f"press by its blocks {100 * within:.1f}%, beyond that {100 * beyond:.1f}%"
        )
    return "\n".join(lines) + "\n"


def self_report(ratios: list[Ratio]) -> str:
    """Report the errors of a model against itself over many measurements."""
    if not ratios:
        return "No ratio was given: the neighbours were too loud every time.\n"
    errors = 100 * np.abs(np.array([r.ratio for r in ratios]) - 1)
    holds = sum(r.holds_one for r in ratios)
    return (
        f"{len(ratios)} measurements of a model against itself: the interval holds 1 in {holds}; "
        f"error median {np.median(errors):.2f}%, 90th percentile "
        f"{np.percentile(errors, 90):.2f}%, largest {errors.max():.2f}%\n"
    )


def _by_cpu(timed: Report) -> list[str]:
    """Return the processor times of a measurement on the wall clock, and their ratios."""
    lines = [f"  CPU time of one thread, {timed['rounds']} rounds:"]
    for model in timed["models"]:
        ends = f"[{model['ci_low_ms']}, {model['ci_high_ms']}]"
        lines.append(f"  {model['model']:12} {model['median_ms']:.1f} ms {ends}")
    for ratio in timed["ratios"]:
        ends = f"[{ratio['ci_low']}, {ratio['ci_high']}]"
        lines.append(f"  {ratio['of']} over {ratio['over']}: {ratio['ratio']:.3f} {ends}")
    return lines


def printed(report: Report) -> str:
    """Return the measurement as a few plain lines."""
    protocol, machine = report["protocol"], report["machine"]
    lines = [
        f"{machine['processor']}, {protocol['threads']} thread(s), torch {machine['torch']}, "
        f"{protocol['dtype']} on {protocol['device']}, clock {protocol['clock']}",
        f"{protocol['batch_size']} x {protocol['sequence_length']} tokens, head "
        f"{'everywhere' if protocol['head'] else 'off'}, {protocol['rounds']} rounds in "
        f"{protocol['wall_s']:.1f} s ({protocol['ended']})",
    ]
    for model in report["models"]:
        p90 = "" if model["p90_ms"] is None else f", 90% under {model['p90_ms']:.2f}"
        lines.append(
            f"  {model['name']:28} {model['device']:4} {model['median_ms']:9.2f} ms{p90}  "
            f"{model['gflops']:8.2f} GFLOP  {model['weights']} weights"
        )
    for r in report["ratios"]:
        note = "" if r["different"] else " (no difference seen)"
        device = "" if r["of_device"] == r["over_device"] else f" on {r['over_device']}"
        lines.append(f"  {r['of']} over {r['over']}{device}: {_span(r)}{note}")
    check = protocol["self_check"]
    lines.append(
        f"  {report['models'][0]['name']} over itself: {_span(check)}"
        if check
        else "  no ratios: most rounds were disturbed; use --clock compute"
    )
    if report["cpu_time"] is not None:
        lines += _by_cpu(report["cpu_time"])
    if protocol["disturbed_share"] is not None:
        lines.append(f"  {100 * protocol['disturbed_share']:.0f}% of the rounds were disturbed")
    return "\n".join(lines) + "\n"


def _span(ratio: Report) -> str:
    if ratio["ci_low"] is None:
        return f"{ratio['ratio']:.3f} (too few rounds for an interval)"
    return f"{ratio['ratio']:.3f} [{ratio['ci_low']:.3f}, {ratio['ci_high']:.3f}]"


def _ratio(ratio: Ratio) -> str:
    return f"{ratio.ratio:.4f} [{ratio.low:.4f}, {ratio.high:.4f}] {ratio.n_rounds} rounds"
