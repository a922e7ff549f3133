"""A GPU that the host lends for one call, as ZeroGPU Spaces do.

The page's own process has none there, although torch, once ``spaces`` has changed it, says so. A
function that is marked runs in a process of its own that holds one for some seconds; what goes in
and what comes out is pickled on the way.
"""

import os
from collections.abc import Callable
from functools import wraps
from typing import Any

LENT_S = 60
"""How long one call may hold it."""
_holding = False


def is_lent() -> bool:
    """Whether this host lends a GPU and gives none for good."""
    return os.getenv("SPACES_ZERO_GPU", "").lower() in ("1", "t", "true")


def may_use_gpu() -> bool:
    """Whether a GPU that torch sees is there for this process."""
    return _holding or not is_lent()


def on_lent_gpu(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function where the host lends it a GPU; itself where no GPU is lent."""
    if not is_lent():
        return function
    import spaces

    @wraps(function)
    def holding(*arguments: Any) -> Any:  # noqa: ANN401 - whatever the function takes
        global _holding
        _holding = True
        return function(*arguments)

    return spaces.GPU(duration=LENT_S)(holding)
