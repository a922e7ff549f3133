"""Contents of the first picture: a tab's finding and picture as HTML, kept or computed in time.

A new text is computed within the request for the page only while the machine is idle, one at a time
and only so many a minute; the page is sent without it after ``PATIENCE_S``, and what was computed
is there for the question that the page then asks.
"""

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace

from explorer import limits
from explorer.inference.cache import CACHE
from explorer.inference.lazy_imports import are_imported
from explorer.inference.runs import device_of, is_cheap_now
from explorer.links.codec import PACKED, from_params, to_params
from explorer.links.page_state import PageState
from explorer.models.choice.family import family_specs
from explorer.models.tokens import BadText
from explorer.refusal import Refusal
from explorer.scheduling.measurement_lock import MEASUREMENT_LOCK
from explorer.ui.predictions.opening import opening_values
from explorer.ui.shell.tabs import TABS, Tab, values_of
from explorer.views.markup import Markup, el, join

logger = logging.getLogger(__name__)
PATIENCE_S = 0.3
"""Seconds that the page waits for a text that is computed within its request."""
MINUTE_S = 60.0
Key = tuple[object, ...]


class Allowance:
    """Rate limiter: at most ``maximum`` computations a minute."""

    def __init__(self, maximum: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._times: deque[float] = deque(maxlen=maximum)
        self._clock = clock

    def take(self) -> bool:
        """Return whether one more is allowed now, and count it."""
        now = self._clock()
        if len(self._times) == self._times.maxlen and now - self._times[0] < MINUTE_S:
            return False
        self._times.append(now)
        return True


_worker = ThreadPoolExecutor(1, "first-picture")
_computing = threading.Lock()
_allowance = Allowance(limits.FIRST_PICTURES.maximum)


def state_of(params: Mapping[str, str], start: PageState) -> PageState | None:
    """Return the state that an address names; None where its texts are not in it."""
    state, repaired = from_params(params, start)
    return None if PACKED in repaired else state


async def panel_of(state: PageState, patience_s: float = PATIENCE_S) -> Markup | None:
    """Return a tab's finding and picture; None if they are neither kept nor computed in time."""
    panel = kept(state)
    if panel is not None or not _may_compute(state):
        return panel
    with suppress(TimeoutError):
        job = asyncio.get_running_loop().run_in_executor(_worker, _compute_and_release, state)
        return await asyncio.wait_for(asyncio.shield(job), patience_s)
    return None


def kept(state: PageState) -> Markup | None:
    """Return a panel that is kept, or the opening example's before any model is there."""
    if (values := opening_values(state)) is not None:
        key = ("first", "opening", state.look)
        return CACHE.memo(key, lambda: drawn(_tab(state), state, values))
    return CACHE.get(key_of_panel(state)) if are_imported() else None


def key_of_panel(state: PageState) -> Key:
    """Return the key of a panel: its models, and all that its address names."""
    names = tuple(spec.name for spec in family_specs(state.family))
    return ("first", *names, *sorted(to_params(state).items()), device_of(state.ask), state.dtype)


def is_idle() -> bool:
    """Return whether nobody waits for a run and nothing is measured."""
    return are_imported() and not (MEASUREMENT_LOCK.is_measuring or CACHE.is_waited_for)


def _may_compute(state: PageState) -> bool:
    """Take the right to compute one panel; ``_compute_and_release`` gives it back."""
    if not is_idle() or not _computing.acquire(blocking=False):
        return False
    if is_cheap_now(state.ask) and _allowance.take():
        return True
    _computing.release()
    return False


def _compute_and_release(state: PageState) -> Markup | None:
    try:
        return compute(state)
    finally:
        _computing.release()


def compute(state: PageState) -> Markup | None:
    """Compute and keep a panel; None for a text that the page will refuse."""
    state, key = replace(state, device=device_of(state.ask)), key_of_panel(state)
    try:
        tab = _tab(state)
        return CACHE.put(key, drawn(tab, state, values_of(tab, state)))
    except (BadText, Refusal):
        return None
    except Exception:
        logger.exception("the first picture of %s failed", state.tab)
        return None


def drawn(tab: Tab, state: PageState, values: list[object]) -> Markup:
    """Return a tab's values as HTML: drawn by the tab itself, else its findings alone."""
    draw = getattr(tab, "first", None)
    blocks = (
        draw(state, values) if draw else [value for value in values if isinstance(value, Markup)]
    )
    return join(*(el("div", block, class_="block") for block in blocks))


def _tab(state: PageState) -> Tab:
    return next(tab for tab in TABS if state.tab == tab.ID)
