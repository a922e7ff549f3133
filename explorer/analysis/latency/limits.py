"""How close each model comes to what the machine can do, and which limit it meets first."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.analysis.latency.family import FamilyLatency, pass_flops
from explorer.inference.scheduling.cancel import CancelToken
from explorer.models.choice.counts import layer_counts
from explorer.models.specs import ModelSpec
from explorer.timing.workload import Workload

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, slots=True)
class Limit:
    """The machine's two limits for one model's pass, and the time each alone would need."""

    key: str
    name: str
    peak_gflops: float
    """10^9 operations per second of a large matrix product."""
    bandwidth_gb: float
    """10^9 bytes per second, read from wherever this model's layers fit."""
    streamed_bytes: int
    """Bytes of layer weights that one pass reads, a shared layer every time."""
    working_set: int
    """Bytes of different layer weights: what has to fit to stay near the processor."""
    arithmetic_ms: float
    memory_ms: float

    @property
    def bound_ms(self) -> float:
        """No pass can be faster: the larger of the two."""
        return max(self.arithmetic_ms, self.memory_ms)

    @property
    def bound_by(self) -> str:
        """``arithmetic`` or ``memory``."""
        return "arithmetic" if self.arithmetic_ms >= self.memory_ms else "memory"


def limit(spec: ModelSpec, workload: Workload, peak: float, bandwidth: float) -> Limit:
    """The limits of one pass, from operations per second and bytes per second."""
    streamed, distinct = streamed_bytes(spec, workload.dtype)
    return Limit(
        spec.key,
        spec.name,
        peak / 1e9,
        bandwidth / 1e9,
        streamed,
        distinct,
        1e3 * pass_flops(spec, workload) / peak,
        1e3 * streamed / bandwidth,
    )


def streamed_bytes(spec: ModelSpec, dtype: str) -> tuple[int, int]:
    """Bytes of layer weights read in one pass, and how many of them are different ones."""
    size = 4 if dtype == "float32" else 2
    layer = size * sum(layer_counts(spec.architecture).values())
    n_layers = spec.architecture.n_layers
    return n_layers * layer, layer * (1 if spec.architecture.shares_layers else n_layers)


def measure_limits(
    specs: "Sequence[ModelSpec]", workload: Workload, cancel_token: CancelToken
) -> "Iterator[tuple[Limit, ...]]":
    """Measure what the machine can do for each model, in a few seconds; the best is remembered."""
    from explorer.timing.limits import peak_flops, read_bandwidth

    done: tuple[Limit, ...] = ()
    for spec in specs:
        cancel_token.check()
        peak = peak_flops(workload.device, workload.dtype, workload.clock)
        working_set = streamed_bytes(spec, workload.dtype)[1]
        bandwidth = read_bandwidth(working_set, workload.device, workload.clock)
        done = (*done, limit(spec, workload, peak, bandwidth))
        yield done


def share_of_limit(result: FamilyLatency, limits: "Sequence[Limit]") -> dict[str, float]:
    """Measured speed over the possible one, by model name: 1 would be the limit itself."""
    return {
        found.name: found.bound_ms / result.summary.model(found.name).median_ms for found in limits
    }
