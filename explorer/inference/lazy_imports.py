"""Imports of torch and transformers, done once, in one background thread that others wait for.

transformers imports its classes lazily, which is not safe in several threads at once: the second
request would get an ImportError. So no other thread imports them earlier.
"""

import logging
import threading
from collections.abc import Callable

from explorer.models.choice.family import family_specs

logger = logging.getLogger(__name__)
PATIENCE_S = 1.0
"""Seconds after which a waiting reader is told the reason."""
CHECK_EVERY_S = 0.2
_lock = threading.Lock()
_thread: threading.Thread | None = None


def start_imports() -> threading.Thread:
    """Start the import thread unless it has started, and return it."""
    global _thread
    with _lock:
        if _thread is None:
            _thread = threading.Thread(target=_import_all, daemon=True, name="imports")
            _thread.start()
        return _thread


def are_imported() -> bool:
    """Return whether the imports are done; unlike ``start_imports``, start nothing."""
    return _thread is not None and not _thread.is_alive()


def wait_for_imports(on_wait: Callable[[], object] = lambda: None) -> None:
    """Wait until the imports are done; call ``on_wait`` once after PATIENCE_S."""
    thread = start_imports()
    thread.join(PATIENCE_S)
    if thread.is_alive():
        on_wait()
        thread.join()


def check_until_imported(check: Callable[[], object]) -> None:
    """Wait until the imports are done; call ``check`` now and then, which may end the wait."""
    thread = start_imports()
    while thread.is_alive():
        check()
        thread.join(CHECK_EVERY_S)


def _import_all() -> None:
    """Import every lazy class by building each bundled network on the meta device."""
    try:
        from explorer.models.architectures import meta_network
        from explorer.models.forward import run_model, tokenize  # noqa: F401

        for spec in family_specs("mini"):
            meta_network(spec)
    except Exception:
        # Each waiting handler meets the same failure and reports it to its reader.
        logger.exception("the imports failed")
