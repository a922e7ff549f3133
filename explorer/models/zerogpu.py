"""ZeroGPU: a GPU that the host lends for one call."""

import logging
import os
from collections.abc import Callable
from functools import wraps
from typing import Any

from explorer.refusal import Refusal, Sentence, carried

LENT_S = 60
"""Seconds that one call may hold the GPU."""
NOT_LENT = Sentence(
    "gpu-not-lent",
    "The host lends no GPU right now. Please try again later, or choose the processor.",
)
_holding = False
logger = logging.getLogger(__name__)


def is_lent() -> bool:
    """Return whether this host lends a GPU per call instead of providing one."""
    return os.getenv("SPACES_ZERO_GPU", "").lower() in ("1", "t", "true")


def may_use_gpu() -> bool:
    """Return whether this process may use a GPU that torch sees."""
    return _holding or not is_lent()


def on_lent_gpu(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function wrapped to run on a lent GPU; unchanged where no GPU is lent.

    A refusal is raised as a refusal; other errors are logged in the GPU process and raised here.
    """
    if not is_lent():
        return function
    import spaces

    @wraps(function)
    def holding(*arguments: Any) -> Any:  # noqa: ANN401 - whatever the function takes
        global _holding
        _holding = True
        try:
            return function(*arguments)
        except Exception as error:
            # The host would pass on only the text of the error.
            return carried(error)

    on_gpu = spaces.GPU(duration=LENT_S)(holding)

    @wraps(function)
    def lent(*arguments: Any) -> Any:  # noqa: ANN401 - whatever the function takes
        try:
            result = on_gpu(*arguments)
        except Exception as error:
            # Errors of the host: no GPU is free, the visitor's quota is spent, the call timed out.
            logger.warning("no GPU was lent", exc_info=error)
            raise Refusal(NOT_LENT) from error
        if isinstance(result, Exception):
            raise result
        return result

    return lent
