"""Interleaved timings of the three encoders on this machine."""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from explorer import assets, limits
from explorer.analysis.digits import counted
from explorer.inference.ask import Ask
from explorer.inference.runs import get_run, round_robin
from explorer.library import strings
from explorer.library.family import Family, asked
from explorer.library.results import Result
from explorer.models.run import answer_id
from explorer.models.specs import ModelSpec
from explorer.models.tokens import spelling_of
from explorer.scheduling.cancel import CancelToken
from explorer.timing.workload import MAX_REPEATS, Workload, clock_on, whole_number
from explorer.views.notebook import Sketch

if TYPE_CHECKING:
    from explorer.analysis.latency.measure import RoundsPlan

BUDGET_S: float = limits.MEASURE.maximum
"""Upper limit of measuring in seconds, whatever the repeats."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Latency(Result):
    """One forward pass of each encoder, timed in interleaved rounds, with every sample."""

    report: Mapping[str, Any]
    """``protocol``, ``machine``, ``models`` and ``ratios``, times in milliseconds."""

    COLUMNS: ClassVar = ("model", "name", "round", "ms", "median_ms", "ci_low_ms", "ci_high_ms")
    SKETCH: ClassVar = Sketch("lines", "round", "ms")

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``/latency``.

        protocol, machine, models (times in milliseconds; p90_ms is null under 44 samples), ratios
        (ci_low and ci_high are null under 7 rounds) and cpu_time (null here). In protocol,
        reported_clock is null under 8 used_rounds: the times are then preliminary.
        """
        return deepcopy(dict(self.report))

    def rows(self) -> list[tuple[Any, ...]]:
        """Return a row for each model and round."""
        names = ("median_ms", "ci_low_ms", "ci_high_ms")
        return [
            (model["model"], model["name"], number, ms, *(model[name] for name in names))
            for model in self.report["models"]
            for number, ms in enumerate(model["samples_ms"], 1)
        ]

    def sentences(self) -> tuple[str, ...]:
        """Return each ratio of medians with its 95% interval, and what lacks rounds, and why."""
        from explorer.analysis.latency.measure import MIN_ROUNDS
        from explorer.analysis.latency.ratio import MIN_P90

        protocol = self.report["protocol"]
        counts = (protocol["rounds"], protocol["used_rounds"], protocol["ended"])
        needs = ((strings.TIME_NEEDS, MIN_ROUNDS), (strings.P90_NEEDS, MIN_P90))
        lacking = [pair for pair in needs if counts[1] < pair[1]]
        ratios = [_ratio_said(ratio) for ratio in self.report["ratios"]]
        return (*ratios, *(strings.rounds_missing(*pair, *counts) for pair in lacking[:1]))


def _ratio_said(ratio: Mapping[str, Any]) -> str:
    times = strings.RATIO.format(**ratio)
    if ratio["ci_low"] is None:
        return f"{times} {strings.NO_INTERVAL.format(rounds=counted(ratio['rounds'], 'round'))}"
    sentence = f"{times} {strings.INTERVAL.format(**ratio)}"
    return sentence if ratio["different"] else f"{sentence} {strings.NOT_DIFFERENT}"


def latency(  # noqa: PLR0913 - the endpoint's published arguments
    family: Family | str = "mini",
    sequence_length: int = 32,
    batch_size: int = 1,
    repeats: int = 12,
    device: str = "cpu",
    dtype: str = "float32",
) -> Latency:
    """Measure one forward pass of each encoder, and return ratios with confidence intervals.

    On a processor the time is that of one thread; on an accelerator it is the device's own.

    Args:
        family: What ``load`` returned, or the name of a family. Where a published checkpoint is
            not on this machine, its shape runs with random weights.
        sequence_length: Tokens per text, 2 to 512.
        batch_size: Texts per pass, 1 to 32.
        repeats: Rounds, 1 to 200; fewer are made when 10 seconds are over.
        device: "cpu", "cuda", "cuda:1", "mps", if the machine has it; not the family's own.
        dtype: "float32", "bfloat16" or "float16"; not the family's own.

    Returns:
        ``report``: the protocol, the machine, each model's samples in ms with median and p90, and
        ``ratios`` of two models with 95% intervals. With fewer than 8 rounds the protocol's
        ``reported_clock`` is None, and the sentences say why.

    Raises:
        Refusal: an argument is out of range, or not one round was complete in time.

    Example:
        >>> timed = explorer.latency(sequence_length=16, repeats=8)
        >>> [ratio["of"] for ratio in timed.report["ratios"]]
        ['bert', 'bert']
    """
    workload = workload_of(sequence_length, batch_size, device, dtype)
    repeats = whole_number("The repeats", repeats, 1, MAX_REPEATS)
    with asked(family) as models:
        return measured(models, workload, plan_of(workload, repeats), CancelToken())


def workload_of(sequence_length: int, batch_size: int, device: str, dtype: str) -> Workload:
    """Return the workload of these arguments.

    Raises:
        Refusal: one is out of range, or the machine has no such device.
    """
    return Workload(
        whole_number("The sequence length", sequence_length, 2, 512),
        whole_number("The batch size", batch_size, 1, 32),
        device,
        dtype,
        clock=clock_on(device, "compute"),
    )


def plan_of(workload: Workload, repeats: int) -> "RoundsPlan":
    """Return the plan of a measurement of at most ``BUDGET_S`` seconds."""
    from explorer.analysis.latency.family import plan_for

    return plan_for(workload, BUDGET_S, repeats)


def measured(
    family: Family, workload: Workload, plan: "RoundsPlan", cancel_token: CancelToken
) -> Latency:
    """Measure a family by a plan.

    Raises:
        Refusal: not one round was complete in time.
    """
    from explorer.analysis.latency.report import family_report

    return Latency(family_report(list(family.specs.values()), workload, plan, cancel_token))


def mean_tokens(spec: ModelSpec, ask: Ask) -> float:
    """Return a model's mean number of tokens in the bundled sentences."""
    asks = [replace(ask, text=sentence["text"]) for sentence in assets.sentences()]
    return sum(len(get_run(spec, of_one).tokens) for of_one in asks) / len(asks)


def read_sentences(specs: Sequence[ModelSpec], ask: Ask) -> Iterator[dict[str, str]]:
    """Yield for each bundled sentence every model's first word for its mask, by model name."""
    asks = [replace(ask, text=sentence["text"]) for sentence in assets.sentences()]
    yield from round_robin(
        {spec.name: [partial(first_word, spec, of_one) for of_one in asks] for spec in specs}
    )


def first_word(spec: ModelSpec, ask: Ask) -> str:
    """Return the likeliest token at the first mask, as a word in small letters."""
    run = get_run(spec, ask)
    piece = run.vocabulary[answer_id(run.mask_logits[0], run.vocabulary)]
    return spelling_of(run.vocabulary).word(piece).casefold()
