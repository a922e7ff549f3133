"""A GPU that its host lends for one call: ZeroGPU."""

import logging
import os
from collections.abc import Callable
from functools import wraps
from typing import Any

from explorer.refusal import Refusal, carried

LENT_S = 60
"""How long one call may hold it."""
NOT_LENT = "The host lends no GPU right now. Please try again later, or choose the processor."
_holding = False
logger = logging.getLogger(__name__)


def is_lent() -> bool:
    """Whether this host lends a GPU and gives none for good."""
    return os.getenv("SPACES_ZERO_GPU", "").lower() in ("1", "t", "true")


def may_use_gpu() -> bool:
    """Whether a GPU that torch sees is there for this process."""
    return _holding or not is_lent()


def on_lent_gpu(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function where the host lends it a GPU; itself where no GPU is lent.

    A refusal comes back as a refusal; what else it raises is logged there and fails here.
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
            # The host would pass on its text alone.
            return carried(error)

    asked = spaces.GPU(duration=LENT_S)(holding)

    @wraps(function)
    def lent(*arguments: Any) -> Any:  # noqa: ANN401 - whatever the function takes
        try:
            found = asked(*arguments)
        except Exception as error:
            # The host's own: no GPU is free, the visitor's share is spent, the time is over.
            logger.warning("no GPU was lent", exc_info=error)
            raise Refusal(NOT_LENT) from error
        if isinstance(found, Exception):
            raise found
        return found

    return lent
