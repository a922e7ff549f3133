"""``/latency``: a program's measurement waits for those before it, and excludes all other work."""

import time
from collections.abc import Iterator

from explorer import limits
from explorer.library import latency as library
from explorer.library.family import Family
from explorer.refusal import Refusal
from explorer.scheduling.cancel import CancelToken
from explorer.scheduling.measurement_lock import MEASUREMENT_LOCK
from explorer.timing.workload import MAX_REPEATS, whole_number
from explorer.ui.kit.running import address_of_asker, left_by_now
from explorer.ui.latency import strings

LONGEST_S: float = limits.MEASURE_WAIT.maximum
"""Timeout of a request in seconds, its time in the queue included."""


def timed(  # noqa: PLR0913 - the public function's arguments
    family: Family,
    sequence_length: int,
    batch_size: int,
    repeats: int,
    device: str,
    dtype: str,
) -> library.Latency:
    """Return what ``explorer.latency`` returns, once it is this measurement's turn.

    Raises:
        Refusal: an argument is out of range, or the time ran out.
    """
    from explorer.scheduling.job_queue import MEASUREMENTS, updates

    workload = library.workload_of(sequence_length, batch_size, device, dtype)
    plan = library.plan_of(workload, whole_number("The repeats", repeats, 1, MAX_REPEATS))

    def job(cancel_token: CancelToken) -> Iterator[library.Latency]:
        with MEASUREMENT_LOCK.measure():
            yield library.measured(family, workload, plan, cancel_token)

    final, deadline, is_gone = None, time.monotonic() + LONGEST_S, left_by_now()
    queued = MEASUREMENTS.start(job, address=address_of_asker())
    for update in updates(queued, has_left=lambda: is_gone() or time.monotonic() > deadline):
        final = update.partial
    if final is None:
        raise Refusal(strings.NO_ROUND if queued.done.is_set() else limits.MEASURE_WAIT.sentence())
    return final
