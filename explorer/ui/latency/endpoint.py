"""``/latency``: the three encoders timed side by side on this machine, as JSON."""

import time
from collections.abc import Callable, Iterator
from typing import Any

from explorer import limits
from explorer.library import latency as library
from explorer.refusal import Refusal
from explorer.scheduling.cancel import CancelToken
from explorer.scheduling.measurement_lock import MEASUREMENT_LOCK
from explorer.timing.workload import MAX_REPEATS, whole_number
from explorer.ui.kit.running import address_of_asker, left_by_now
from explorer.ui.kit.validation import page_family
from explorer.ui.latency import strings

LONGEST_S: float = limits.MEASURE_WAIT.maximum
"""Timeout of a request in seconds, its time in the queue included."""


def latency(  # noqa: PLR0913 - the endpoint's published arguments
    family: str = "mini",
    sequence_length: int = 32,
    batch_size: int = 1,
    repeats: int = 12,
    device: str = "cpu",
    dtype: str = "float32",
) -> dict[str, Any]:
    """Measure one forward pass of each encoder, and return ratios with confidence intervals.

    On a processor the time is that of one thread; on an accelerator it is the device's own.

    Args:
        family: "mini", "base", "large", or a size for each model: "bert=large,albert=xlarge".
            Where a published checkpoint is not on this machine, its shape runs with random weights.
        sequence_length: Tokens per text, 2 to 512.
        batch_size: Texts per pass, 1 to 32.
        repeats: Rounds, 1 to 200; fewer are made when 10 seconds are over.
        device: "cpu", "cuda", "cuda:1", "mps", if the machine has it.
        dtype: "float32", "bfloat16" or "float16".

    Returns:
        protocol, machine, models (times in milliseconds; p90_ms is null under 44 samples), ratios
        (ci_low and ci_high are null under 7 rounds) and cpu_time (null here). In protocol,
        reported_clock is null under 8 used_rounds: the times are then preliminary.
    """
    models = page_family(family)
    workload = library.workload_of(sequence_length, batch_size, device, dtype)
    plan = library.plan_of(workload, whole_number("The repeats", repeats, 1, MAX_REPEATS))

    def job(cancel_token: CancelToken) -> Iterator[library.Latency]:
        with MEASUREMENT_LOCK.measure():
            yield library.measured(models, workload, plan, cancel_token)

    return _queued(job).to_dict()


def _queued(job: Callable[[CancelToken], Iterator[library.Latency]]) -> library.Latency:
    """Return the result of a measurement that waits for those before it."""
    from explorer.scheduling.job_queue import MEASUREMENTS, updates

    final, deadline, is_gone = None, time.monotonic() + LONGEST_S, left_by_now()
    queued = MEASUREMENTS.start(job, address=address_of_asker())
    for update in updates(queued, has_left=lambda: is_gone() or time.monotonic() > deadline):
        final = update.partial
    if final is None:
        raise Refusal(strings.NO_ROUND if queued.done.is_set() else limits.MEASURE_WAIT.sentence())
    return final
