"""Stored parameters, operations and measured time of each model, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from explorer.analysis.latency.family import (
    FamilyLatency,
    pass_flops,
    stored_parameters,
)
from explorer.analysis.latency.passes import ModelOnDevice, rows_of
from explorer.analysis.latency.ratio import Ratio
from explorer.analysis.latency.summary import LatencySummary
from explorer.models.specs import ModelSpec
from explorer.timing.workload import Workload


@dataclass(frozen=True, slots=True)
class SizeVsTimeRow:
    """One model's parameters, operations and time; times are None until measured."""

    key: str
    label: str
    n_layers: int
    activation: str
    parameters: int
    """Parameters stored by encoder and pooler."""
    gflops: float
    """Operations of one forward pass, in 10^9."""
    is_shared: bool
    """True if all layers share one set of weights."""
    ms: float | None = None
    low_ms: float | None = None
    high_ms: float | None = None
    times: Ratio | None = None
    """Ratio of the model's time to the first one's, paired by round; None where not given."""


@dataclass(frozen=True, slots=True)
class SizeVsTime:
    """Rows of all models; the others are compared with the first."""

    rows: tuple[SizeVsTimeRow, ...]
    workload: Workload
    device_rows: tuple[SizeVsTimeRow, ...] = ()
    """Rows of all models on all devices; equal to ``rows`` where there is one device."""
    clock: str = ""
    """Clock of the times: the workload's, or ``compute`` where only processor time holds."""
    measurement: LatencySummary | None = None
    """Summary of the measurement; None before it has a round."""

    @property
    def shared_row(self) -> SizeVsTimeRow:
        """The first row with shared layers; without any, the last."""
        return next((row for row in self.rows if row.is_shared), self.rows[-1])

    @property
    def others(self) -> tuple[SizeVsTimeRow, ...]:
        """The rows other than the first and the star."""
        return tuple(row for row in self.rows[1:] if row is not self.shared_row)

    @property
    def measured(self) -> bool:
        """Return whether every row has a measured time."""
        return all(row.ms is not None for row in self.rows)


def size_vs_time(
    specs: Sequence[ModelSpec],
    workload: Workload,
    result: FamilyLatency | None = None,
    devices: Sequence[str] = (),
) -> SizeVsTime:
    """Compare parameters, operations and time of one forward pass of each model.

    Args:
        specs: the models.
        workload: shape and device of the forward pass.
        result: a measurement of these models on this workload, if there is one.
        devices: the devices, if several were measured.
    """
    rows, clock = [], workload.clock
    measured = result.summary if result is not None and result.latency.n_rounds else None
    reported = measured.reported if measured is not None else None
    summary = reported or measured
    if summary is not measured:
        clock = "compute"
    for index, row in enumerate(rows_of(specs, workload, devices)):
        times = () if summary is None else _times(summary, index, is_sure=reported is not None)
        rows.append(
            SizeVsTimeRow(
                row.spec.key,
                row_label(row, devices),
                row.spec.architecture.n_layers,
                row.spec.architecture.activation,
                stored_parameters(row.spec),
                pass_flops(row.spec, workload) / 1e9,
                row.spec.architecture.shares_layers,
                *times,
            )
        )
    named = zip(rows, specs, strict=False)
    first = tuple(replace(row, label=spec.label) for row, spec in named)
    return SizeVsTime(first, workload, tuple(rows), clock, measured)


def _times(
    summary: LatencySummary, index: int, is_sure: bool
) -> tuple[float, float, float, Ratio | None] | tuple[()]:
    """Return a row's median with its interval, and the ratio of its time to the first row's.

    Empty where every round was disturbed; without intervals where too few were undisturbed.
    """
    model = summary.models[index]
    if not summary.n_used:
        return ()
    if index:
        of_first = summary.ratio(model.name)
        ratio = None if of_first is None else of_first.ratio.inverse
    else:
        ratio = Ratio(1.0, 1.0, 1.0, summary.n_rounds) if summary.ratios else None
    if not is_sure:
        unsure = ratio and replace(ratio, low=0.0, high=float("inf"))
        return model.median_ms, 0.0, float("inf"), unsure
    return model.median_ms, model.low_ms, model.high_ms, ratio


def row_label(row: ModelOnDevice, devices: Sequence[str]) -> str:
    """Return a row's label: ``BERT``, or ``BERT on cuda`` where devices are compared."""
    label = row.spec.label
    return f"{label} on {row.workload.device}" if devices else label
