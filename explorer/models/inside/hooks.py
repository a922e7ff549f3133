"""A hook before every module of one kind, gone again whatever happens."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from explorer.models.loading import LoadedModel


@contextmanager
def hooked(loaded: LoadedModel, pattern: str, hook: Callable[..., Any]) -> Iterator[None]:
    """Call ``hook`` before every module of the encoder whose name matches, while inside.

    The caller holds ``loaded.lock``: until the hooks are gone the network answers nobody else.
    """
    modules = loaded.network.base_model.named_modules()
    named = [module for name, module in modules if re.search(pattern, name)]
    handles = [module.register_forward_pre_hook(hook) for module in named]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
