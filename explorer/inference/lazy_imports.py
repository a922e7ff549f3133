"""The gate: torch and transformers are imported once, in one thread; whoever needs them waits.

transformers finds its classes when they are first asked for, and that is not safe in several
threads at once: the request that comes second gets an ImportError. So nobody imports before.
"""

import logging
import threading
from collections.abc import Callable

from explorer.models.choice.family import family_specs

logger = logging.getLogger(__name__)
PATIENCE_S = 1.0
"""After so many seconds somebody who waits is told why."""
_lock = threading.Lock()
_thread: threading.Thread | None = None


def start_imports() -> threading.Thread:
    """Begin the imports, unless they have begun."""
    global _thread
    with _lock:
        if _thread is None:
            _thread = threading.Thread(target=_import_all, daemon=True, name="imports")
            _thread.start()
        return _thread


def wait_for_imports(say: Callable[[], object] = lambda: None) -> None:
    """Return when the imports are done; ``say`` is called once if that takes a while."""
    thread = start_imports()
    thread.join(PATIENCE_S)
    if thread.is_alive():
        say()
        thread.join()


def _import_all() -> None:
    """Every lazy class that a network of ours needs: a network without numbers asks for all."""
    try:
        from explorer.models.architectures import meta_network
        from explorer.models.forward import run_model, tokenize  # noqa: F401

        for spec in family_specs("mini"):
            meta_network(spec)
    except Exception:
        # Whoever waits meets the same failure and says it to the reader.
        logger.exception("the imports failed")
