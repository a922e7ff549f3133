"""The paradox: what is stored, what is computed, what the clock says, model by model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from explorer.analysis.latency.family import (
    FamilyLatency,
    Row,
    pass_flops,
    rows_of,
    stored_parameters,
)
from explorer.analysis.latency.measure import LatencySummary
from explorer.analysis.latency.ratio import Ratio
from explorer.models.specs import ModelSpec
from explorer.timing.workload import Workload


@dataclass(frozen=True, slots=True)
class SizeVsTimeRow:
    """One model's three numbers; the times are None until something was measured."""

    key: str
    label: str
    n_layers: int
    activation: str
    parameters: int
    """Numbers stored by encoder and pooler."""
    gflops: float
    """Work of one pass, in 10^9 operations."""
    is_shared: bool
    """Whether it applies one stored layer again and again."""
    ms: float | None = None
    low_ms: float | None = None
    high_ms: float | None = None
    times: Ratio | None = None
    """Its time over the first one's, paired round by round; None where no ratio is given."""


@dataclass(frozen=True, slots=True)
class SizeVsTime:
    """The rows of all models; the first is the one the others are compared with."""

    rows: tuple[SizeVsTimeRow, ...]
    workload: Workload
    timed: tuple[SizeVsTimeRow, ...] = ()
    """The rows of all models on all devices; the same as ``rows`` where there is one device."""

    @property
    def star(self) -> SizeVsTimeRow:
        """The one that stores less than it applies; without any, the last."""
        return next((row for row in self.rows if row.is_shared), self.rows[-1])

    @property
    def others(self) -> tuple[SizeVsTimeRow, ...]:
        """All but the first and the star."""
        return tuple(row for row in self.rows[1:] if row is not self.star)

    @property
    def measured(self) -> bool:
        """Whether the clock has spoken."""
        return all(row.ms is not None for row in self.rows)


def size_vs_time(
    specs: Sequence[ModelSpec],
    workload: Workload,
    result: FamilyLatency | None = None,
    devices: Sequence[str] = (),
) -> SizeVsTime:
    """Parameters, work and time of one pass of each model, side by side.

    Args:
        specs: the models.
        workload: the pass.
        result: a measurement of just these models and this pass, once there is one.
        devices: where it runs, if on several.
    """
    rows = []
    summary = result.summary if result is not None and result.latency.n_rounds else None
    for index, row in enumerate(rows_of(specs, workload, devices)):
        times = () if summary is None else _times(summary, index)
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
    return SizeVsTime(first, workload, tuple(rows))


def _times(summary: LatencySummary, index: int) -> tuple[float, float, float, Ratio | None]:
    """One row's median with its interval, and its time over the first row's."""
    model = summary.models[index]
    if index:
        found = summary.ratio(model.name)
        ratio = None if found is None else found.ratio.inverse
    else:
        ratio = Ratio(1.0, 1.0, 1.0, summary.n_rounds) if summary.ratios else None
    return model.median_ms, model.low_ms, model.high_ms, ratio


def row_label(row: Row, devices: Sequence[str]) -> str:
    """``BERT``, or ``BERT on cuda`` where several devices are compared."""
    label = row.spec.label
    return f"{label} on {row.workload.device}" if devices else label
