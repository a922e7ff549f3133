"""Guard against replacing weights by worse ones."""

import math
from typing import Any

COUNTS = {"masked_top1": "masked_count", "probe_top5": "probe_count"}
LIMIT = 1.96  # standard errors


def is_worse(now: dict[str, Any], before: dict[str, Any]) -> bool:
    """Return whether the new weights are significantly worse over all shared measures together.

    Masked accuracy and the probe count alike: their differences, each in units of its standard
    error, are added up. A gain on one may offset a loss on the other.
    """
    scores = [difference(now, before, key) for key in COUNTS if key in now and key in before]
    return bool(scores) and sum(scores) / math.sqrt(len(scores)) < -LIMIT


def difference(now: dict[str, Any], before: dict[str, Any], key: str) -> float:
    """Return the difference of two measured shares, in units of its standard error."""
    spread = sum(variance(figures[key], figures[COUNTS[key]]) for figures in (now, before))
    return (now[key] - before[key]) / math.sqrt(spread)


def variance(share: float, count: int) -> float:
    """Return the sampling variance of a share; half a success is added so that 0 and 1 have one."""
    share = (share * count + 0.5) / (count + 1)
    return share * (1 - share) / count
