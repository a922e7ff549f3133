"""What reading in order costs: an LSTM and one encoder layer of one width, timed over lengths."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from explorer.analysis.latency.family import instruments_for
from explorer.analysis.latency.measure import Latency, RoundsPlan, TimedCall, latency_rounds
from explorer.analysis.latency.ratio import Ratio, paired_ratio
from explorer.analysis.parameters.shape import shape_flops
from explorer.inference.scheduling.cancel import CancelToken
from explorer.models.specs import ModelSpec
from explorer.timing.workload import Workload

LENGTHS: tuple[int, ...] = (16, 32, 64, 128, 256, 512)
NAMES = ("encoder layer", "LSTM")
PLAN = RoundsPlan(budget_s=6.0, min_rounds=8, max_rounds=48, target=0.08, max_warm_rounds=2)
ALLOWED_S = 60.0


@dataclass(frozen=True, slots=True, eq=False)
class RecurrentPoint:
    """Both at one length."""

    length: int
    latency: Latency
    """Of ``NAMES``, in this order."""
    flops: tuple[int, int]
    """Operations of one pass of each."""
    steps: tuple[int, int]
    """How many steps must follow one another: 1, and the length."""

    @property
    def us_per_token(self) -> tuple[float, float]:
        """Median microseconds for a token: of the layer, and of the LSTM by their paired ratio."""
        median = float(sorted(self.latency.seconds[:, 0])[self.latency.n_rounds // 2])
        layer = 1e6 * median / self.length
        return layer, layer * self.ratio.ratio

    @property
    def ratio(self) -> Ratio:
        """The LSTM's time over the layer's, with its 95% interval."""
        seconds = self.latency.seconds
        return paired_ratio(seconds[:, 1], seconds[:, 0], self.latency.blocks)


def measure_recurrent(
    spec: ModelSpec,
    cancel_token: CancelToken,
    lengths: Sequence[int] = LENGTHS,
    plan: RoundsPlan = PLAN,
) -> Iterator[tuple[RecurrentPoint, ...]]:
    """Both at every length, by the latency protocol on one thread; yields after every length.

    Random weights: the time does not depend on them.
    """
    from explorer.timing.recurrent import one_layer_calls

    calls = dict(zip(NAMES, one_layer_calls(spec, max(lengths)), strict=True))
    done: tuple[RecurrentPoint, ...] = ()
    yield done
    for length in lengths:
        cancel_token.set_deadline(ALLOWED_S)
        workload = Workload(length=length)
        candidates = [TimedCall(name, calls[name](length)) for name in NAMES]
        with instruments_for(workload) as (instruments, _):
            *_, latency = latency_rounds(candidates, instruments, plan, cancel_token.check)
        if latency.n_rounds < plan.min_rounds:
            return
        flops = layer_flops(spec, length), lstm_flops(spec.architecture.d_model, length)
        done = (*done, RecurrentPoint(length, latency, flops, (1, length)))
        yield done


def layer_flops(spec: ModelSpec, length: int) -> int:
    """Operations of one encoder layer over a text: 2 for a product and a sum."""
    shape = replace(spec.architecture, n_layers=1, has_pooler=False, has_projection=False)
    return shape_flops(shape, length)


def lstm_flops(width: int, length: int) -> int:
    """Four gates, each with a product of the input and one of the state before: 16 d^2 a token."""
    return 16 * width**2 * length
